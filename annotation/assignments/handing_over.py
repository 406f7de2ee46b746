"""Work that changes hands: handed over to another annotator, taken back, or returned by a lead."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from annotation.adjudication.settling import settle_document
from annotation.errors import CampaignNotOpen, Reassigned, Refused, check_reason
from annotation.models import (
    Assignment,
    Campaign,
    CampaignDocument,
    Decision,
    FirstSubmission,
    Membership,
)
from portal.accounts.models import User, display_name
from portal.audit.models import Event, record_event
from portal.datasets.models import ReleaseItem

from .balancing import replacements
from .selectors import (
    TAKE_BACK_MINUTES,
    UNFINISHED,
    active_annotators,
    teams_of,
    unqualified_annotators,
)
from .sharing import is_begun

State = Assignment.State
Stage = CampaignDocument.Stage
Purpose = CampaignDocument.Purpose


@dataclass(frozen=True)
class HandedOver:
    """The result of a handover: the new assignment, or None for a calibration page, which is only
    withdrawn; and the new stage of the document.
    """

    assignment: Assignment | None
    stage: str


@transaction.atomic
def hand_over(*, assignment: Assignment, heir: User | None, actor: User) -> HandedOver:
    """Gives an unfinished assignment to `heir`, or to the annotator with the least work.

    Started work is withdrawn: kept, but neither shown nor counted. The heir starts again, or
    continues an assignment that was withdrawn from them. Untouched work moves. A calibration page,
    which all annotators have, is only withdrawn; that may settle it.

    Raises Refused for work that is submitted or already handed over, for a page that is not in
    annotation, and if the heir, or everyone, already has the page or may not get work.
    """
    document = CampaignDocument.objects.locked().get(pk=assignment.campaign_document_id)
    work = _unfinished(document, assignment)
    chosen = _heir(document, heir)
    return _pass_on(document, work, chosen, actor)


@transaction.atomic
def hand_over_everything(*, campaign: Campaign, annotator: User, actor: User) -> int:
    """Gives all unfinished work of an annotator to the others; returns the number of documents.

    Raises Refused if there is none, the campaign is not open, or no one can take over.
    """
    if not Campaign.objects.filter(pk=campaign.pk, state=Campaign.State.OPEN).exists():
        raise CampaignNotOpen
    handed = hand_over_all(
        campaign=campaign, leaving=annotator, actor=actor, begun=True, stays=True
    )
    if not handed:
        message = f"{display_name(annotator)} has no unfinished tasks in this campaign."
        raise Refused(message, code="nothing")
    return handed


def hand_over_all(
    *,
    campaign: Campaign,
    leaving: User,
    actor: User | None,
    begun: bool = False,
    stays: bool = False,
) -> int:
    """Gives all unfinished work of a leaving annotator to those with the least work; returns the
    number of documents, as the overview counts them.

    Qualification pages and excluded documents are withdrawn, unless the annotator `stays`. Runs in
    the caller's transaction. Raises Refused if no one can take over a document, and for started
    work without `begun`.
    """
    documents = _lock_work_of(campaign, leaving)
    if stays:
        documents = {pk: row for pk, row in documents.items() if row.is_in_work}
    Campaign.objects.select_for_update().get(pk=campaign.pk)
    works = {
        work.campaign_document_id: work
        for work in Assignment.objects.select_for_update()
        .filter(campaign_document__in=documents, annotator=leaving, state__in=UNFINISHED)
        .order_by("id")
    }
    counted = {pk: work for pk, work in works.items() if documents[pk].is_in_work}
    if not begun:
        _refuse_begun(leaving, counted.values())
    heirs = _heirs_for(
        campaign,
        # Everyone has calibration and qualification pages: those need no one else.
        [pk for pk in counted if documents[pk].purpose == Purpose.WORK],
        [pk for pk in active_annotators(campaign) if pk != leaving.pk],
        f"No other annotator can take over the documents of {leaving}. {_remedy(campaign)}",
    )
    for pk, work in works.items():
        _pass_on(documents[pk], work, heirs.get(pk), actor)
    return len(counted)


def _lock_work_of(campaign: Campaign, user: User) -> dict[int, CampaignDocument]:
    """The pages with unfinished work of `user`, locked in a fixed order to avoid deadlocks."""
    mine = Assignment.objects.filter(annotator=user, state__in=UNFINISHED)
    rows = CampaignDocument.objects.filter(
        campaign=campaign, pk__in=mine.values("campaign_document")
    )
    return {row.pk: row for row in rows.locked().order_by("id")}


def _refuse_begun(leaving: User, works: Iterable[Assignment]) -> None:
    begun = sum(work.state == State.IN_PROGRESS for work in works)
    if begun:
        raise Refused(
            f"{leaving} has started {begun} document{'s' if begun > 1 else ''} and not submitted "
            f"{'them' if begun > 1 else 'it'}. Wait for the submission, or reassign all tasks; "
            "the new annotators start without labels.",
            code="holds_work",
        )


def _heirs_for(
    campaign: Campaign, documents: Sequence[int], annotators: Sequence[int], refusal: str
) -> dict[int, int]:
    """Those of `annotators` with the least work who take over each document. Former annotators of
    a document do not get it again, nor do leads who could see its labels. Raises Refused if no one
    is left.
    """
    teams = teams_of(campaign)
    existing = teams | {
        pk: [*teams.get(pk, []), *_withdrawn_from(pk), *_informed(campaign, pk)] for pk in documents
    }
    try:
        return replacements(existing, documents, annotators)
    except ValueError as error:
        raise Refused(refusal, code="too_few_annotators") from error


def _unfinished(document: CampaignDocument, assignment: Assignment) -> Assignment:
    """The locked assignment. Raises Refused if it cannot be handed over."""
    now = Assignment.objects.select_for_update().get(pk=assignment.pk)
    if document.campaign.state != Campaign.State.OPEN:
        raise CampaignNotOpen
    if now.state == State.WITHDRAWN or now.annotator_id != assignment.annotator_id:
        raise Refused("This document was already reassigned.", code="reassigned")
    if now.state == State.SUBMITTED:
        raise Refused("This document is already submitted.", code="submitted")
    if document.stage != Stage.ANNOTATION:
        raise Refused(
            f"This document is not in annotation. Its stage is “{document.stage}”.", code="stage"
        )
    if document.purpose == Purpose.QUALIFICATION:
        raise Refused("Qualification documents cannot be reassigned.", code="qualification")
    return now


def _heir(document: CampaignDocument, heir: User | None) -> int | None:
    """The new annotator; None for a calibration page, which all others already have."""
    team = list(document.assignments.active().values_list("annotator", flat=True))
    free = [pk for pk in active_annotators(document.campaign) if pk not in team]
    if heir is not None:
        _check_heir(document, heir, team, free)
        return heir.pk
    if document.purpose == Purpose.CALIBRATION:
        return None
    remedy = _remedy(document.campaign)
    refusal = f"No other annotator can take over this document. {remedy}"
    return _heirs_for(document.campaign, [document.pk], free, refusal)[document.pk]


def _remedy(campaign: Campaign) -> str:
    """A hint for leads if no one can take over a document."""
    count = unqualified_annotators(campaign)
    if count == 1:
        return "1 annotator has not passed the qualification."
    if count:
        return f"{count} annotators have not passed the qualification."
    return "Invite an annotator first."


def _check_heir(document: CampaignDocument, heir: User, team: list[int], free: list[int]) -> None:
    name = display_name(heir)
    if heir.pk in free and heir.pk in _informed(document.campaign, document.pk):
        message = f"{name} is a lead and could see the labels of this document. Choose another one."
        raise Refused(message, code="heir")
    if heir.pk in free:
        return
    members = document.campaign.memberships.filter(role=Membership.Role.ANNOTATOR)
    if heir.pk in team:
        message = f"{name} already has this document."
    elif not members.filter(user=heir).exists():
        message = f"{name} is not an annotator of this campaign."
    elif not heir.is_active:
        message = f"The account of {name} is not active."
    else:
        message = f"{name} has not passed the qualification."
    raise Refused(message, code="heir")


def _informed(campaign: Campaign, document: int) -> list[int]:
    """The leads, if the document was compared before its work was returned: they could see it."""
    compared = Event.objects.filter(
        verb__in=["settle_document", "fail_validation"],
        subject_type=CampaignDocument._meta.label_lower,
        subject_id=str(document),
    )
    leads = campaign.memberships.filter(role=Membership.Role.LEAD)
    return list(leads.values_list("user", flat=True)) if compared.exists() else []


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
    if heir is None and document.purpose != Purpose.QUALIFICATION:
        # Without a new annotator, all remaining ones may already have submitted.
        settle_document(campaign_document=document)
    return HandedOver(given, str(document.stage))


def _move(
    document: CampaignDocument, work: Assignment, heir: int | None, begun: bool
) -> Assignment | None:
    former = document.assignments.filter(annotator=heir, state=State.WITHDRAWN).first()
    if heir is None or begun or former is not None:
        # Untouched work without a new annotator is also withdrawn, to record the former one.
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


# An empty page that is submitted in less time was submitted by mistake.
_UNTOUCHED_SECONDS = 10


@transaction.atomic
def take_back(*, assignment: Assignment, actor: User) -> Assignment:
    """Reopens an annotator's own submission.

    The next submission counts as the first, because no one has seen or used this one. Raises
    Refused after TAKE_BACK_MINUTES, if all annotators have submitted, for a qualification page, and
    if a review or a release used the page; also CampaignNotOpen and Reassigned.
    """
    document, work = _locked(assignment)
    if work.annotator_id != actor.pk:
        raise Reassigned
    _check_returnable(document, work)
    submitted_at = _submitted_at(work)
    if timezone.now() - submitted_at > timedelta(minutes=TAKE_BACK_MINUTES):
        raise Refused(
            f"You can withdraw a submission only within {TAKE_BACK_MINUTES} minutes. Ask a lead to "
            "return it.",
            code="late",
        )
    if document.stage != Stage.ANNOTATION:
        if document.assignments.active().count() > 1:
            raise Refused(
                "All annotators have submitted this document. Ask a lead to return it.",
                code="stage",
            )
        _unsettle(document)
    _forget_first(work)
    _give_back(work, reason="")
    record_event(verb="take_back", subject=work, actor=actor, submitted_at=submitted_at.isoformat())
    return work


@transaction.atomic
def return_submission(*, assignment: Assignment, reason: str, actor: User) -> Assignment:
    """Returns a submitted page to its annotator, with a reason.

    A settled page goes back to annotation. Its automatic gold and undecided cases are deleted, and
    created again from the next submission. The first submission still counts for agreement, unless
    the page was submitted untouched: then the next one is the first. Raises Refused without a
    reason, if a case was decided or the page reviewed or released, for gold of several annotators,
    and if the lead labels the page as well; also CampaignNotOpen.
    """
    why = check_reason(reason)
    document, work = _locked(assignment)
    _check_returnable(document, work)
    gone = (0, 0)
    if document.stage != Stage.ANNOTATION:
        _check_blind(document, actor)
        gone = _unsettle(document)
    untouched = _is_untouched(work)
    if untouched:
        _forget_first(work)
    _give_back(work, reason=why)
    record_event(
        verb="return_submission", subject=work, actor=actor, reason=why, cases=gone[0],
        gold=gone[1], first_submission="set aside" if untouched else "kept",
    )  # fmt: skip
    return work


def _locked(assignment: Assignment) -> tuple[CampaignDocument, Assignment]:
    """The locked page and assignment. Lock order: the page first, as in submitting."""
    document = CampaignDocument.objects.locked().get(pk=assignment.campaign_document_id)
    return document, Assignment.objects.select_for_update().get(pk=assignment.pk)


def _check_returnable(document: CampaignDocument, work: Assignment) -> None:
    if document.campaign.state != Campaign.State.OPEN:
        raise CampaignNotOpen
    if not work.is_submitted:
        raise Refused("This document is not submitted.", code="state")
    if document.purpose == CampaignDocument.Purpose.QUALIFICATION:
        raise Refused(
            "Qualification documents cannot be returned. Allow another attempt instead.",
            code="qualification",
        )
    if document.stage == Stage.VALIDATION:
        raise Refused(
            "This document is in validation. Return it on the Validation page.", code="stage"
        )
    if document.stage == Stage.EXCLUDED:
        raise Refused("This document is excluded.", code="stage")
    _check_unused(document)


def _check_unused(document: CampaignDocument) -> None:
    """Raises Refused if decisions, a review or a release depend on the submission."""
    if Decision.objects.filter(
        Q(decided_by__isnull=False), case__campaign_document=document
    ).exists():
        raise Refused(
            "Adjudication of this document has started. Decide or reopen its cases instead.",
            code="adjudicated",
        )
    if document.review_round_id or document.review_items.exists():
        raise Refused("This document is under review. Correct it there.", code="reviewed")
    items = ReleaseItem.objects.filter(document=document.document_id)
    if document.gold_at and items.filter(release__frozen_at__gte=document.gold_at).exists():
        raise Refused(
            "This document was released. Create a case to correct its gold.", code="released"
        )


def _check_blind(document: CampaignDocument, actor: User) -> None:
    """Raises Refused if someone could continue labelling after seeing the labels of others."""
    team = list(document.assignments.active().values_list("annotator", flat=True))
    if len(team) == 1:
        return
    if actor.pk in team:
        raise Refused(
            "You are an annotator of this document. Ask another lead to return it.",
            code="own",
        )
    if document.stage == Stage.GOLD and document.gold_spans.exists():
        raise Refused(
            "The annotators of this document can already see its gold. Reopen a case instead.",
            code="stage",
        )


def _unsettle(document: CampaignDocument) -> tuple[int, int]:
    """Moves the page back to annotation; returns the numbers of deleted cases and gold facts."""
    gold, cases = document.gold_spans.count(), document.cases.count()
    document.gold_spans.all().delete()
    document.cases.all().delete()
    document.stage = Stage.ANNOTATION
    document.settled_at = document.gold_at = None
    document.save(update_fields=["stage", "settled_at", "gold_at"])
    return cases, gold


def _is_untouched(work: Assignment) -> bool:
    return (
        work.revision == 0 and work.active_seconds < _UNTOUCHED_SECONDS and not work.spans.exists()
    )


def _submitted_at(work: Assignment) -> datetime:
    assert work.submitted_at is not None, "the constraint assignment_submitted_has_time"
    return work.submitted_at


def _forget_first(work: Assignment) -> None:
    """Deletes the record of the first submission if it is this one, not an earlier one."""
    first = FirstSubmission.objects.filter(assignment=work, submitted_at=_submitted_at(work))
    first.delete()


def _give_back(work: Assignment, *, reason: str) -> None:
    work.state, work.submitted_at = Assignment.State.IN_PROGRESS, None
    work.return_reason = reason
    work.save(update_fields=["state", "submitted_at", "return_reason"])
