"""Taking a submission back: by its annotator, or by a lead who returns it with a reason."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import CharField, Q
from django.db.models.functions import Cast
from django.utils import timezone

from annotation.errors import CampaignNotOpen, Reassigned, Refused, check_reason
from annotation.models import Assignment, Campaign, CampaignDocument, Decision, FirstSubmission
from portal.accounts.models import User
from portal.audit.models import Event, record_event
from portal.datasets.models import ReleaseItem

TAKE_BACK_MINUTES = 10
Stage = CampaignDocument.Stage


def may_take_back(assignment: Assignment) -> bool:
    """Whether its annotator is offered to take the submission back: soon, and not once the page
    was compared with others' work. One query at most.
    """
    submitted_at = assignment.submitted_at
    if submitted_at is None or not may_return(assignment):
        return False
    if timezone.now() - submitted_at > timedelta(minutes=TAKE_BACK_MINUTES):
        return False
    document = assignment.campaign_document
    return document.stage == Stage.ANNOTATION or document.assignments.active().count() == 1


def may_return(assignment: Assignment) -> bool:
    """Whether a lead is offered to return the submission. Asks for no row."""
    document = assignment.campaign_document
    return (
        assignment.is_submitted
        and document.campaign.state == Campaign.State.OPEN
        and document.purpose != CampaignDocument.Purpose.QUALIFICATION
        and document.stage in {Stage.ANNOTATION, Stage.ADJUDICATION, Stage.GOLD}
        and document.review_round_id is None
    )


def submissions_set_aside(campaign: Campaign) -> int:
    """How many untouched submissions a lead returned: agreement is not computed from them."""
    works = Assignment.objects.filter(campaign_document__campaign=campaign)
    return Event.objects.filter(
        verb="return_submission",
        subject_type=Assignment._meta.label_lower,
        subject_id__in=works.values_list(Cast("pk", CharField())),
        data__first_submission="set aside",
    ).count()


# Nobody reads a page in less time: an empty page submitted sooner was submitted by mistake.
_UNTOUCHED_SECONDS = 10


@transaction.atomic
def take_back(*, assignment: Assignment, actor: User) -> Assignment:
    """Gives an annotator's own submission back to them, so that they can go on with it.

    The next submission counts as the first: nobody has seen or used this one. Raises Refused when
    more than TAKE_BACK_MINUTES have passed, when the other annotators have submitted too, for a
    qualification page, and when a review or a release has used the page; CampaignNotOpen and
    Reassigned.
    """
    document, work = _locked(assignment)
    if work.annotator_id != actor.pk:
        raise Reassigned
    _check_returnable(document, work)
    submitted_at = _submitted_at(work)
    if timezone.now() - submitted_at > timedelta(minutes=TAKE_BACK_MINUTES):
        raise Refused(
            f"A submission can be taken back for {TAKE_BACK_MINUTES} minutes. Ask the lead to "
            "return it.",
            code="late",
        )
    if document.stage != Stage.ANNOTATION:
        if document.assignments.active().count() > 1:
            raise Refused(
                "All annotators have submitted this page, and it was compared. Ask the lead to "
                "return it.",
                code="stage",
            )
        _unsettle(document)
    _forget_first(work)
    _give_back(work, reason="")
    record_event(verb="take_back", subject=work, actor=actor, submitted_at=submitted_at.isoformat())
    return work


@transaction.atomic
def return_submission(*, assignment: Assignment, reason: str, actor: User) -> Assignment:
    """Gives a submitted page back to its annotator, who reads the reason.

    A page that was compared goes back to annotation; its automatic gold and undecided cases go, and
    are made again from the next submission. The first submission stays as it was, for agreement,
    unless the page was submitted untouched: then it was no answer, and the next one is the first.
    Raises Refused without a reason, once somebody has decided a case of the page, reviewed or
    released it, for gold that several annotators made, and for a lead who labels the page as well;
    CampaignNotOpen.
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
    """The page and the work as they are now. The page first, as submitting locks them."""
    documents = CampaignDocument.objects.select_for_update(of=("self",))
    document = documents.select_related("campaign").get(pk=assignment.campaign_document_id)
    return document, Assignment.objects.select_for_update().get(pk=assignment.pk)


def _check_returnable(document: CampaignDocument, work: Assignment) -> None:
    if document.campaign.state != Campaign.State.OPEN:
        raise CampaignNotOpen
    if not work.is_submitted:
        raise Refused("This page is not submitted: there is nothing to return.", code="state")
    if document.purpose == CampaignDocument.Purpose.QUALIFICATION:
        raise Refused(
            "A qualification page was compared with its answer at once. Give another try instead.",
            code="qualification",
        )
    if document.stage == Stage.VALIDATION:
        raise Refused(
            "This page waits for validation: send it back there, with its faults.", code="stage"
        )
    if document.stage == Stage.EXCLUDED:
        raise Refused("This page was excluded and needs no more work.", code="stage")
    _check_unused(document)


def _check_unused(document: CampaignDocument) -> None:
    """Raises Refused when somebody built on what was submitted."""
    if Decision.objects.filter(
        Q(decided_by__isnull=False), case__campaign_document=document
    ).exists():
        raise Refused(
            "Adjudication of this page has begun: decide its cases, or open one again.",
            code="adjudicated",
        )
    if document.review_round_id or document.review_items.exists():
        raise Refused("This page is in a domain review. Correct it there.", code="reviewed")
    items = ReleaseItem.objects.filter(document=document.document_id)
    if document.gold_at and items.filter(release__frozen_at__gte=document.gold_at).exists():
        raise Refused("This page was released. Open a case on it instead.", code="released")


def _check_blind(document: CampaignDocument, actor: User) -> None:
    """Raises Refused where somebody could go on labelling after a look at others' labels."""
    team = list(document.assignments.active().values_list("annotator", flat=True))
    if len(team) == 1:
        return
    if actor.pk in team:
        raise Refused(
            "You label this page yourself and could have seen the others' labels. Ask another lead "
            "to return it.",
            code="own",
        )
    if document.stage == Stage.GOLD and document.gold_spans.exists():
        raise Refused(
            "This page is gold, which its annotators can see. Open a case on it instead.",
            code="stage",
        )


def _unsettle(document: CampaignDocument) -> tuple[int, int]:
    """Takes the page back to annotation; returns how many cases and gold facts went with that."""
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
    """The submission that comes back is the first no more; an earlier one, returned before, is."""
    first = FirstSubmission.objects.filter(assignment=work, submitted_at=_submitted_at(work))
    first.delete()


def _give_back(work: Assignment, *, reason: str) -> None:
    work.state, work.submitted_at = Assignment.State.IN_PROGRESS, None
    work.return_reason = reason
    work.save(update_fields=["state", "submitted_at", "return_reason"])
