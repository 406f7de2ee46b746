"""The screening queue and one page in it. Nothing here tells of labels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import OuterRef, Q, QuerySet, Subquery

from annotation.models import Campaign, CampaignDocument, Screening

Stage = CampaignDocument.Stage
FAULTS = dict(Screening.Fault.choices)


@dataclass(frozen=True)
class ScreeningQueue:
    """How far screening is: pages that wait, that passed and that were excluded.

    `passed` counts pages with a verdict, so none that came to annotation without being screened.
    """

    waiting: int
    passed: int
    excluded: int

    @property
    def screened(self) -> int:
        return self.passed + self.excluded

    @property
    def total(self) -> int:
        return self.waiting + self.screened


def screenable(campaign: Campaign) -> QuerySet[CampaignDocument]:
    """Every page of the campaign but those of the qualification, in the order of their names."""
    return (
        CampaignDocument.objects.filter(campaign=campaign)
        .exclude(purpose=CampaignDocument.Purpose.QUALIFICATION)
        .order_by("document__name")
    )


def screening_queue(campaign: Campaign) -> ScreeningQueue:
    rows = screenable(campaign)
    excluded = Q(stage=Stage.EXCLUDED)
    screened = rows.filter(screenings__isnull=False).exclude(stage=Stage.SCREENING).distinct()
    return ScreeningQueue(
        waiting=rows.filter(stage=Stage.SCREENING).count(),
        passed=screened.exclude(excluded).count(),
        excluded=rows.filter(excluded).count(),
    )


def screening_rows(campaign: Campaign, state: str) -> QuerySet[Any]:
    """Pages `waiting`, `passed` or `excluded`, with the verdict that holds; see `verdict_of`."""
    rows = screenable(campaign).select_related("document")
    last = Screening.objects.filter(campaign_document=OuterRef("pk")).order_by("-id")
    rows = rows.annotate(last_screening=Subquery(last.values("pk")[:1]))
    if state == "excluded":
        return rows.filter(stage=Stage.EXCLUDED)
    if state == "passed":
        beyond = rows.exclude(stage__in=[Stage.SCREENING, Stage.EXCLUDED])
        return beyond.filter(last_screening__isnull=False)
    return rows.filter(stage=Stage.SCREENING)


def with_verdicts(rows: Sequence[Any]) -> Sequence[Any]:
    """Sets `verdict` (a Screening or None) on each row of `screening_rows`. One query."""
    wanted = [row.last_screening for row in rows if row.last_screening]
    found = Screening.objects.select_related("screened_by").in_bulk(wanted)
    for row in rows:
        row.verdict = found.get(row.last_screening)
    return rows


def next_to_screen(
    campaign: Campaign, after: CampaignDocument | None = None
) -> CampaignDocument | None:
    """The next page that waits: the one behind `after` by name, else the first of all."""
    waiting = screenable(campaign).filter(stage=Stage.SCREENING).select_related("document")
    if after is None:
        return waiting.first()
    others = waiting.exclude(pk=after.pk)
    return others.filter(document__name__gt=after.document.name).first() or others.first()


def last_screened_by(user: int, campaign: Campaign) -> CampaignDocument | None:
    """The page that the person gave a verdict on last, if that verdict is still the last one."""
    last = (
        Screening.objects.filter(screened_by=user, campaign_document__campaign=campaign)
        .select_related("campaign_document__document")
        .order_by("-id")
        .first()
    )
    if last is None or last.campaign_document.stage == Stage.SCREENING:
        return None
    later = Screening.objects.filter(campaign_document=last.campaign_document_id, pk__gt=last.pk)
    return None if later.exists() else last.campaign_document


def verdicts_of(document: CampaignDocument) -> list[Screening]:
    """All verdicts on a page, the newest first."""
    return list(document.screenings.select_related("screened_by").order_by("-id"))


def fault_names(codes: Sequence[str]) -> list[str]:
    """Faults in words, for people."""
    return [str(FAULTS.get(code, code)) for code in codes]
