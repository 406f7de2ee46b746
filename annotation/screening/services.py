"""Pre-screening: is a page fit for annotation? The queue, who may see a page of it, and verdicts.

Verdicts are append-only; the last one holds. Nothing here tells of labels.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.shortcuts import get_object_or_404

from annotation.access import CampaignAccess, campaign_for
from annotation.assignments.sharing import share_out
from annotation.errors import CampaignNotOpen, Refused, check_reason_length
from annotation.models import Assignment, Campaign, CampaignDocument, Comment, Screening
from annotation.review.services import open_due_round
from portal.accounts.models import User, display_name
from portal.audit.models import record_event

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


def screening_page(user: Any, slug: str, name: str) -> tuple[CampaignAccess, CampaignDocument]:
    """A page of a campaign in which the user holds a role: anybody there may screen, for a page
    without labels tells nothing.

    Pages that nobody has to screen and nobody has screened are open to leads and organisers alone,
    who may exclude them.
    """
    access = campaign_for(user, slug)
    pages = screenable(access.campaign).select_related("campaign", "document")
    if not access.may_manage:
        screened = Screening.objects.filter(campaign_document=OuterRef("pk"))
        pages = pages.filter(Q(stage=CampaignDocument.Stage.SCREENING) | Exists(screened))
    return access, get_object_or_404(pages, document__name=name)


Verdict = Screening.Verdict


class ScreenedMeanwhile(Refused):
    """Somebody gave a verdict after the page was opened; theirs holds."""

    code = "screened"

    def __init__(self, last: Screening | None) -> None:
        if last is None:
            super().__init__("This page was put back into screening meanwhile.")
        else:
            super().__init__(
                f"{display_name(last.screened_by)} screened this page meanwhile: {last.verdict}. "
                "Nothing was changed now."
            )


@dataclass(frozen=True)
class Screened:
    """The verdict, and the stage the page has reached by it."""

    screening: Screening
    stage: str


@transaction.atomic
def screen_document(
    *,
    campaign_document: CampaignDocument,
    verdict: str,
    faults: Sequence[str] = (),
    reason: str = "",
    actor: User,
) -> Screened:
    """Passes a page on to annotation, or excludes it as faulty with what is wrong and why.

    A page that passes gets its annotators at once, if there are enough of them. The same verdict by
    the same person again is answered as the first time. Raises ScreenedMeanwhile when somebody else
    was faster, Refused for a page that is beyond screening and for faults without a reason.
    """
    _check(verdict, faults, reason)
    document, campaign = _locked(campaign_document)
    last = last_screening(document)
    if document.stage != Stage.SCREENING:
        if _is_repeated(document, last, verdict, actor):
            assert last is not None
            return Screened(last, document.stage)
        raise ScreenedMeanwhile(last) if last else _beyond(document)
    stage = Stage.ANNOTATION if verdict == Verdict.INTACT else Stage.EXCLUDED
    return _record(document, campaign, verdict, faults, reason, stage, actor)


def screen_or_exclude(
    *,
    campaign_document: CampaignDocument,
    verdict: str,
    faults: Sequence[str],
    reason: str,
    actor: User,
    may_manage: bool,
) -> Screened:
    """As `screen_document`; those who manage also exclude a page that is being labelled."""
    if may_manage and verdict == Verdict.FAULTY and campaign_document.stage == Stage.ANNOTATION:
        return exclude_document(
            campaign_document=campaign_document, faults=faults, reason=reason, actor=actor
        )
    return screen_document(
        campaign_document=campaign_document,
        verdict=verdict,
        faults=faults,
        reason=reason,
        actor=actor,
    )


@transaction.atomic
def exclude_document(
    *, campaign_document: CampaignDocument, faults: Sequence[str], reason: str, actor: User
) -> Screened:
    """Excludes a page that is being labelled and turns out to be faulty; for those who manage.

    The work on it stays as it is and can be gone on with when the page is brought back. Raises
    Refused for a page that everybody has submitted.
    """
    _check(Verdict.FAULTY, faults, reason)
    document, campaign = _locked(campaign_document)
    if document.stage == Stage.EXCLUDED:
        raise ScreenedMeanwhile(last_screening(document))
    if document.stage not in {Stage.SCREENING, Stage.ANNOTATION}:
        raise _beyond(document)
    return _record(document, campaign, Verdict.FAULTY, faults, reason, Stage.EXCLUDED, actor)


@transaction.atomic
def bring_back_document(
    *, campaign_document: CampaignDocument, reason: str, actor: User
) -> Screened:
    """Overrules a verdict: an excluded page goes to annotation after all; for those who manage."""
    if not reason.strip():
        raise Refused("Say why the page is fit for annotation after all.", code="reason")
    _check(Verdict.INTACT, (), reason)
    document, campaign = _locked(campaign_document)
    if document.stage != Stage.EXCLUDED:
        raise Refused("Only an excluded page can be brought back.", code="stage")
    return _record(document, campaign, Verdict.INTACT, (), reason, Stage.ANNOTATION, actor)


@transaction.atomic
def undo_screening(*, campaign_document: CampaignDocument, actor: User) -> CampaignDocument:
    """Takes one's own last verdict back: the page is to be screened again.

    Raises Refused when the last verdict is somebody else's, or the page is being labelled already.
    """
    document, _ = _locked(campaign_document)
    last = last_screening(document)
    if document.stage == Stage.SCREENING:
        return document
    if last is None or last.screened_by_id != actor.pk:
        raise Refused("The last verdict on this page is not yours.", code="not_yours")
    if document.stage not in {Stage.ANNOTATION, Stage.EXCLUDED}:
        raise _beyond(document)
    work = list(document.assignments.select_for_update())
    if any(each.state != Assignment.State.ASSIGNED or each.revision for each in work) or (
        Comment.objects.filter(assignment__in=work).exists()
    ):
        raise Refused(
            "This page is being labelled already: its verdict stands. A lead may exclude it.",
            code="begun",
        )
    document.assignments.all().delete()
    document.stage = Stage.SCREENING
    document.save(update_fields=["stage"])
    record_event(verb="undo_screening", subject=document, actor=actor, screening=last.pk)
    return document


def last_screening(document: CampaignDocument) -> Screening | None:
    return document.screenings.select_related("screened_by").order_by("-id").first()


def _check(verdict: str, faults: Sequence[str], reason: str) -> None:
    if verdict not in Verdict.values:
        raise Refused("The verdict is intact or faulty.", code="verdict")
    if unknown := sorted(set(faults) - set(Screening.Fault.values)):
        known = ", ".join(Screening.Fault.values)
        raise Refused(f"{unknown[0]!r} is none of {known}.", code="faults")
    check_reason_length(reason)
    if verdict == Verdict.INTACT and faults:
        raise Refused("An intact page has no faults.", code="faults")
    if verdict == Verdict.FAULTY and not faults:
        raise Refused("Say which faults the page has.", code="faults")
    if verdict == Verdict.FAULTY and not reason.strip():
        raise Refused("Say in a few words what is wrong with the page.", code="reason")


def _locked(campaign_document: CampaignDocument) -> tuple[CampaignDocument, Campaign]:
    """The page, then its campaign, whose lock makes pages that pass at once share out evenly."""
    document = CampaignDocument.objects.select_for_update().get(pk=campaign_document.pk)
    campaign = Campaign.objects.select_for_update().get(pk=document.campaign_id)
    if campaign.state != Campaign.State.OPEN:
        raise CampaignNotOpen
    if document.purpose == CampaignDocument.Purpose.QUALIFICATION:
        raise Refused("A page of the qualification round is not screened.", code="qualification")
    return document, campaign


def _is_repeated(
    document: CampaignDocument, last: Screening | None, verdict: str, actor: User
) -> bool:
    stage = Stage.ANNOTATION if verdict == Verdict.INTACT else Stage.EXCLUDED
    return (
        last is not None
        and (last.verdict, last.screened_by_id) == (verdict, actor.pk)
        and document.stage == stage
    )


def _beyond(document: CampaignDocument) -> Refused:
    if document.stage == Stage.ANNOTATION:
        return Refused("This page has passed screening already.", code="stage")
    return Refused(
        f"This page is beyond screening: it is in the stage “{document.stage}”.", code="stage"
    )


def _record(
    document: CampaignDocument,
    campaign: Campaign,
    verdict: str,
    faults: Sequence[str],
    reason: str,
    stage: str,
    actor: User,
) -> Screened:
    screening = Screening.objects.create(
        campaign_document=document,
        verdict=verdict,
        faults=[code for code in Screening.Fault.values if code in faults],
        reason=reason.strip(),
        screened_by=actor,
    )
    document.stage = stage
    document.save(update_fields=["stage"])
    if stage == Stage.ANNOTATION:
        share_out(campaign=campaign, only=[document.pk], strict=False)
    else:
        # It may have been the last page that was not gold, for which the last review waited.
        open_due_round(campaign=campaign)
    record_event(
        verb="screen_document", subject=document, actor=actor, verdict=str(verdict),
        stage=str(stage),
    )  # fmt: skip
    return Screened(screening, str(stage))
