"""Handing work over: from an annotator who abandoned it, or leaves, to another one."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from annotation.balance import replacements
from annotation.models import Assignment, Campaign, CampaignDocument, Comment
from annotation.selectors.annotators import active_annotators
from portal.accounts.models import User, display_name
from portal.audit.models import record_event

from .assigning import teams_of
from .errors import CampaignNotOpen, Refused
from .settling import settle_document

State = Assignment.State
Stage = CampaignDocument.Stage
Purpose = CampaignDocument.Purpose
UNFINISHED = (State.ASSIGNED, State.IN_PROGRESS)


@dataclass(frozen=True)
class HandedOver:
    """`assignment` is the heir's; None where a calibration page was taken from somebody, since
    everybody has it already. `stage` is what the document has reached by it.
    """

    assignment: Assignment | None
    stage: str


@transaction.atomic
def hand_over(*, assignment: Assignment, heir: User | None, actor: User) -> HandedOver:
    """Gives somebody's unfinished work to `heir`, or to the least loaded annotator.

    Begun work is withdrawn: it is kept, but nobody sees it and it counts nowhere; the heir begins
    anew, or goes on with what was withdrawn from them before. Untouched work simply moves. A page
    of the calibration set, which all annotators have, is only withdrawn; that may settle it.

    Raises Refused for work that is submitted or was handed over before, for a page that is not in
    annotation, and when the heir, or everybody, is on the page already or may not get work.
    """
    document = _locked(assignment.campaign_document_id)
    work = _unfinished(document, assignment)
    chosen = _heir(document, heir)
    return _pass_on(document, work, chosen, actor)


@transaction.atomic
def hand_over_everything(*, campaign: Campaign, annotator: User, actor: User) -> int:
    """Gives all of somebody's unfinished work to the others, begun or not; returns how many.

    Raises Refused when there is none, when the campaign is not open, or when nobody is left.
    """
    if not Campaign.objects.filter(pk=campaign.pk, state=Campaign.State.OPEN).exists():
        raise CampaignNotOpen
    handed = hand_over_all(campaign=campaign, leaving=annotator, actor=actor, begun=True)
    if not handed:
        message = f"{display_name(annotator)} has no unfinished work here."
        raise Refused(message, code="nothing")
    return handed


def hand_over_all(
    *, campaign: Campaign, leaving: User, actor: User | None, begun: bool = False
) -> int:
    """Gives all unfinished work of somebody who leaves to the least loaded of the others; returns
    how many documents that concerned.

    Runs in the caller's transaction. Raises Refused when nobody is left for one of them, and for
    begun work unless `begun` says that it goes, too.
    """
    documents = _lock_work_of(campaign, leaving)
    Campaign.objects.select_for_update().get(pk=campaign.pk)
    works = {
        work.campaign_document_id: work
        for work in Assignment.objects.select_for_update()
        .filter(campaign_document__in=documents, annotator=leaving, state__in=UNFINISHED)
        .order_by("id")
    }
    if not begun:
        _refuse_begun(leaving, works.values())
    heirs = _heirs_for(campaign, leaving, [pk for pk in works if _has_heir(documents[pk])])
    for pk, work in works.items():
        _pass_on(documents[pk], work, heirs.get(pk), actor)
    return len(works)


def _lock_work_of(campaign: Campaign, user: User) -> dict[int, CampaignDocument]:
    """The pages on which `user` has work left, locked in one order so that nobody waits in turn."""
    mine = Assignment.objects.filter(annotator=user, state__in=UNFINISHED)
    rows = CampaignDocument.objects.filter(
        campaign=campaign, pk__in=mine.values("campaign_document")
    )
    locked = rows.select_for_update(of=("self",)).select_related("campaign", "document")
    return {row.pk: row for row in locked.order_by("id")}


def _refuse_begun(leaving: User, works: Iterable[Assignment]) -> None:
    begun = sum(
        work.state == State.IN_PROGRESS and work.campaign_document.purpose != Purpose.QUALIFICATION
        for work in works
    )
    if begun:
        raise Refused(
            f"{leaving} has begun {begun} document{'s' if begun > 1 else ''} and not submitted "
            f"{'them' if begun > 1 else 'it'}. Let that work be submitted first, or hand it over "
            "with the rest: others then begin anew.",
            code="holds_work",
        )


def _has_heir(document: CampaignDocument) -> bool:
    """A page of the calibration set is with everybody, qualification with everybody apart."""
    return document.purpose == Purpose.WORK


def _heirs_for(campaign: Campaign, leaving: User, documents: list[int]) -> dict[int, int]:
    others = [pk for pk in active_annotators(campaign) if pk != leaving.pk]
    teams = teams_of(campaign)
    existing = teams | {pk: [*teams.get(pk, []), *_withdrawn_from(pk)] for pk in documents}
    try:
        return replacements(existing, documents, others)
    except ValueError as error:
        raise Refused(
            f"{leaving} has documents to do that no other annotator could take over. "
            "Add an annotator first.",
            code="too_few_annotators",
        ) from error


def _locked(pk: int) -> CampaignDocument:
    rows = CampaignDocument.objects.select_for_update(of=("self",))
    return rows.select_related("campaign", "document").get(pk=pk)


def _unfinished(document: CampaignDocument, assignment: Assignment) -> Assignment:
    """The assignment as it is now, locked, when it can be handed over at all."""
    now = Assignment.objects.select_for_update().get(pk=assignment.pk)
    if document.campaign.state != Campaign.State.OPEN:
        raise CampaignNotOpen
    if now.state == State.WITHDRAWN or now.annotator_id != assignment.annotator_id:
        raise Refused("This work was handed over before.", code="reassigned")
    if now.state == State.SUBMITTED:
        raise Refused("This work was submitted: it is final and stays.", code="submitted")
    if document.stage != Stage.ANNOTATION:
        raise Refused(f"This page is not in annotation but {document.stage}.", code="stage")
    if document.purpose == Purpose.QUALIFICATION:
        raise Refused("A qualification page is everybody's own.", code="qualification")
    return now


def _heir(document: CampaignDocument, heir: User | None) -> int | None:
    """Who gets the page; None for a calibration page, which all the others have."""
    team = list(document.assignments.standing().values_list("annotator", flat=True))
    free = [pk for pk in active_annotators(document.campaign) if pk not in team]
    if heir is not None:
        _check_heir(heir, team, free)
        return heir.pk
    if document.purpose == Purpose.CALIBRATION:
        return None
    gone = _withdrawn_from(document.pk)
    try:
        existing = teams_of(document.campaign) | {document.pk: [*team, *gone]}
        return replacements(existing, [document.pk], free)[document.pk]
    except ValueError as error:
        raise Refused(
            "No other annotator could take this page over. Add an annotator first.",
            code="too_few_annotators",
        ) from error


def _check_heir(heir: User, team: list[int], free: list[int]) -> None:
    if heir.pk in team:
        raise Refused(f"{display_name(heir)} has this page already.", code="heir")
    if heir.pk not in free:
        message = f"{display_name(heir)} is no annotator who gets work in this campaign."
        raise Refused(message, code="heir")


def _withdrawn_from(document: int) -> list[int]:
    gone = Assignment.objects.filter(campaign_document=document, state=State.WITHDRAWN)
    return list(gone.values_list("annotator", flat=True))


def _pass_on(
    document: CampaignDocument, work: Assignment, heir: int | None, actor: User | None
) -> HandedOver:
    former, begun = work.annotator_id, is_begun(work)
    given = _move(document, work, heir, begun)
    record_event(
        verb="hand_over", subject=document, actor=actor, former=former, heir=heir,
        assignment=work.pk, begun=begun,
    )  # fmt: skip
    stage = document.stage
    if heir is None and document.purpose != Purpose.QUALIFICATION:
        # Nobody takes the place over, and the others may all have submitted already.
        stage = settle_document(campaign_document=document)
    return HandedOver(given, str(stage))


def _move(
    document: CampaignDocument, work: Assignment, heir: int | None, begun: bool
) -> Assignment | None:
    former = document.assignments.filter(annotator=heir, state=State.WITHDRAWN).first()
    if heir is None or begun or former is not None:
        # Untouched work is withdrawn, too, where nobody gets it: it says who gave the page up.
        work.state = State.WITHDRAWN
        work.save(update_fields=["state"])
    if heir is None:
        return None
    if former is not None:
        former.state = State.IN_PROGRESS if former.revision else State.ASSIGNED
        former.save(update_fields=["state"])
        return former
    if begun:
        return Assignment.objects.create(campaign_document=document, annotator_id=heir)
    work.annotator_id = heir
    work.flag, work.flag_reason = Assignment.Flag.NONE, ""
    work.active_seconds, work.created_at = 0, timezone.now()
    work.save(update_fields=["annotator", "flag", "flag_reason", "active_seconds", "created_at"])
    return work


def is_begun(work: Assignment) -> bool:
    """Whether the annotator left anything of their own in it, if only a comment."""
    return (
        work.state == State.IN_PROGRESS
        or work.revision > 0
        or Comment.objects.filter(assignment=work).exists()
    )
