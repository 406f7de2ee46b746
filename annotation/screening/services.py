"""Screening: the queue, access to its pages, and verdicts.

Verdicts are append-only; the latest one applies. Nothing here reveals labels.
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


@dataclass(frozen=True)
class ScreeningQueue:
    """The number of pages to screen, passed pages and excluded pages.

    `passed` counts only pages with a verdict, not those that were never screened.
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
    """Every page of the campaign by name, except qualification pages."""
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
    """Pages `waiting`, `passed` or `excluded`, with the key of their latest verdict."""
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
    """The next page to screen: the first after `after` by name, otherwise the first of all."""
    waiting = screenable(campaign).filter(stage=Stage.SCREENING).select_related("document")
    if after is None:
        return waiting.first()
    others = waiting.exclude(pk=after.pk)
    return others.filter(document__name__gt=after.document.name).first() or others.first()


def last_screened_by(user: int, campaign: Campaign) -> CampaignDocument | None:
    """The page of the user's last verdict, if no later verdict exists."""
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
    """All verdicts on a page, newest first."""
    return list(document.screenings.select_related("screened_by").order_by("-id"))


def screening_page(user: Any, slug: str, name: str) -> tuple[CampaignAccess, CampaignDocument]:
    """A page for screening. Anyone with a role in the campaign may see it, because it shows no
    labels.

    Pages that neither need screening nor have a verdict are only for leads and organisers, who may
    exclude them.
    """
    access = campaign_for(user, slug)
    pages = screenable(access.campaign).select_related("campaign", "document")
    if not access.may_manage:
        screened = Screening.objects.filter(campaign_document=OuterRef("pk"))
        pages = pages.filter(Q(stage=CampaignDocument.Stage.SCREENING) | Exists(screened))
    return access, get_object_or_404(pages, document__name=name)


Verdict = Screening.Verdict
STAGE_AFTER: dict[str, Stage] = {Verdict.INTACT: Stage.ANNOTATION, Verdict.FAULTY: Stage.EXCLUDED}


class ScreenedMeanwhile(Refused):
    """Another user gave a verdict after the page was opened. That verdict applies."""

    code = "screened"

    def __init__(self, last: Screening | None) -> None:
        if last is None:
            super().__init__("This document was moved back to screening in the meantime.")
        else:
            super().__init__(
                f"{display_name(last.screened_by)} already screened this document: {last.verdict}. "
                "Your verdict was not saved."
            )


@transaction.atomic
def screen_document(
    *,
    campaign_document: CampaignDocument,
    verdict: str,
    faults: Sequence[str] = (),
    reason: str = "",
    actor: User,
) -> CampaignDocument:
    """Passes a page to annotation, or excludes it as faulty.

    A page that passes is assigned at once if there are enough annotators. Repeating the same
    verdict changes nothing. Raises ScreenedMeanwhile if another user was faster, and Refused for a
    page past screening and for faults without a reason.
    """
    _check(verdict, faults, reason)
    document, campaign = _locked(campaign_document)
    last = last_screening(document)
    if document.stage != Stage.SCREENING:
        if _is_repeated(document, last, verdict, actor):
            return document
        raise ScreenedMeanwhile(last) if last else _beyond(document)
    return _record(document, campaign, verdict, faults, reason, actor)


def screen_or_exclude(
    *,
    campaign_document: CampaignDocument,
    verdict: str,
    faults: Sequence[str],
    reason: str,
    actor: User,
    may_manage: bool,
) -> CampaignDocument:
    """Like `screen_document`, but with `may_manage` also excludes a page in annotation."""
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
) -> CampaignDocument:
    """Excludes a faulty page in annotation; for leads and organisers.

    The work on it is kept, and can continue once the page is restored. Raises Refused for a settled
    page.
    """
    _check(Verdict.FAULTY, faults, reason)
    document, campaign = _locked(campaign_document)
    if document.stage == Stage.EXCLUDED:
        raise ScreenedMeanwhile(last_screening(document))
    if document.stage not in {Stage.SCREENING, Stage.ANNOTATION}:
        raise _beyond(document)
    return _record(document, campaign, Verdict.FAULTY, faults, reason, actor)


@transaction.atomic
def bring_back_document(
    *, campaign_document: CampaignDocument, reason: str, actor: User
) -> CampaignDocument:
    """Restores an excluded page to annotation; for leads and organisers."""
    if not reason.strip():
        raise Refused("Enter a reason for restoring this document.", code="reason")
    _check(Verdict.INTACT, (), reason)
    document, campaign = _locked(campaign_document)
    if document.stage != Stage.EXCLUDED:
        raise Refused("Only an excluded document can be restored.", code="stage")
    return _record(document, campaign, Verdict.INTACT, (), reason, actor)


@transaction.atomic
def undo_screening(*, campaign_document: CampaignDocument, actor: User) -> CampaignDocument:
    """Undoes the actor's verdict and moves the page back to screening.

    Raises Refused if the last verdict is by another user, or if labelling has started.
    """
    document, _ = _locked(campaign_document)
    last = last_screening(document)
    if document.stage == Stage.SCREENING:
        return document
    if last is None or last.screened_by_id != actor.pk:
        raise Refused("The last verdict on this document is not yours.", code="not_yours")
    if document.stage not in {Stage.ANNOTATION, Stage.EXCLUDED}:
        raise _beyond(document)
    work = list(document.assignments.select_for_update())
    if any(each.state != Assignment.State.ASSIGNED or each.revision for each in work) or (
        Comment.objects.filter(assignment__in=work).exists()
    ):
        raise Refused(
            "An annotator has started this document, so you cannot undo the verdict. A lead can "
            "still exclude the document.",
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
        raise Refused("The verdict must be intact or faulty.", code="verdict")
    if unknown := sorted(set(faults) - set(Screening.Fault.values)):
        known = ", ".join(Screening.Fault.values)
        raise Refused(f"Unknown fault {unknown[0]!r}. Known faults: {known}.", code="faults")
    check_reason_length(reason)
    if verdict == Verdict.INTACT and faults:
        raise Refused("An intact document has no faults.", code="faults")
    if verdict == Verdict.FAULTY and not faults:
        raise Refused("Select at least one fault.", code="faults")
    if verdict == Verdict.FAULTY and not reason.strip():
        raise Refused("Describe the fault.", code="reason")


def _locked(campaign_document: CampaignDocument) -> tuple[CampaignDocument, Campaign]:
    """The locked page and campaign. The campaign's lock keeps simultaneous assignments balanced."""
    document = CampaignDocument.objects.select_for_update().get(pk=campaign_document.pk)
    campaign = Campaign.objects.select_for_update().get(pk=document.campaign_id)
    if campaign.state != Campaign.State.OPEN:
        raise CampaignNotOpen
    if document.purpose == CampaignDocument.Purpose.QUALIFICATION:
        raise Refused("Qualification documents are not screened.", code="qualification")
    return document, campaign


def _is_repeated(
    document: CampaignDocument, last: Screening | None, verdict: str, actor: User
) -> bool:
    return (
        last is not None
        and (last.verdict, last.screened_by_id) == (verdict, actor.pk)
        and document.stage == STAGE_AFTER[verdict]
    )


def _beyond(document: CampaignDocument) -> Refused:
    if document.stage == Stage.ANNOTATION:
        return Refused("This document has already passed screening.", code="stage")
    return Refused(
        f"This document has already left screening. Its stage is “{document.stage}”.", code="stage"
    )


def _record(
    document: CampaignDocument,
    campaign: Campaign,
    verdict: str,
    faults: Sequence[str],
    reason: str,
    actor: User,
) -> CampaignDocument:
    Screening.objects.create(
        campaign_document=document,
        verdict=verdict,
        faults=[code for code in Screening.Fault.values if code in faults],
        reason=reason.strip(),
        screened_by=actor,
    )
    stage = STAGE_AFTER[verdict]
    document.stage = stage.value
    document.save(update_fields=["stage"])
    if stage == Stage.ANNOTATION:
        share_out(campaign=campaign, only=[document.pk], strict=False)
    else:
        # If it was the last page that was not gold, the final review is due.
        open_due_round(campaign=campaign)
    record_event(
        verb="screen_document", subject=document, actor=actor, verdict=str(verdict),
        stage=stage.value,
    )  # fmt: skip
    return document
