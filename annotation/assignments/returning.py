"""Undoing a submission: an annotator takes it back, or a lead returns it with a reason."""

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
    """Whether the annotator may take the submission back: within TAKE_BACK_MINUTES, and before the
    page was compared with the work of others. At most one query.
    """
    submitted_at = assignment.submitted_at
    if submitted_at is None or not may_return(assignment):
        return False
    if timezone.now() - submitted_at > timedelta(minutes=TAKE_BACK_MINUTES):
        return False
    document = assignment.campaign_document
    return document.stage == Stage.ANNOTATION or document.assignments.active().count() == 1


def may_return(assignment: Assignment) -> bool:
    """Whether a lead may return the submission, as far as loaded rows show. No query."""
    document = assignment.campaign_document
    return (
        assignment.is_submitted
        and document.campaign.state == Campaign.State.OPEN
        and document.purpose != CampaignDocument.Purpose.QUALIFICATION
        and document.stage in {Stage.ANNOTATION, Stage.ADJUDICATION, Stage.GOLD}
        and document.review_round_id is None
    )


def submissions_set_aside(campaign: Campaign) -> int:
    """The number of returned untouched submissions, which do not count for agreement."""
    works = Assignment.objects.filter(campaign_document__campaign=campaign)
    return Event.objects.filter(
        verb="return_submission",
        subject_type=Assignment._meta.label_lower,
        subject_id__in=works.values_list(Cast("pk", CharField())),
        data__first_submission="set aside",
    ).count()


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
            f"You can withdraw a submission for {TAKE_BACK_MINUTES} minutes only. Ask the lead to "
            "return it.",
            code="late",
        )
    if document.stage != Stage.ANNOTATION:
        if document.assignments.active().count() > 1:
            raise Refused(
                "All annotators have submitted this page. Ask the lead to return it.",
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
        raise Refused("This page is not submitted.", code="state")
    if document.purpose == CampaignDocument.Purpose.QUALIFICATION:
        raise Refused(
            "Qualification pages cannot be returned. Allow another attempt instead.",
            code="qualification",
        )
    if document.stage == Stage.VALIDATION:
        raise Refused("This page is in validation. Return it on the Validation page.", code="stage")
    if document.stage == Stage.EXCLUDED:
        raise Refused("This page is excluded.", code="stage")
    _check_unused(document)


def _check_unused(document: CampaignDocument) -> None:
    """Raises Refused if decisions, a review or a release depend on the submission."""
    if Decision.objects.filter(
        Q(decided_by__isnull=False), case__campaign_document=document
    ).exists():
        raise Refused(
            "Adjudication of this page has started. Decide or reopen its cases instead.",
            code="adjudicated",
        )
    if document.review_round_id or document.review_items.exists():
        raise Refused("This page is in a domain review. Correct it in the review.", code="reviewed")
    items = ReleaseItem.objects.filter(document=document.document_id)
    if document.gold_at and items.filter(release__frozen_at__gte=document.gold_at).exists():
        raise Refused("This page was released. Reopen it as a case instead.", code="released")


def _check_blind(document: CampaignDocument, actor: User) -> None:
    """Raises Refused if someone could continue labelling after seeing the labels of others."""
    team = list(document.assignments.active().values_list("annotator", flat=True))
    if len(team) == 1:
        return
    if actor.pk in team:
        raise Refused(
            "You label this page yourself. Ask another lead to return it.",
            code="own",
        )
    if document.stage == Stage.GOLD and document.gold_spans.exists():
        raise Refused(
            "This page is gold, and its annotators can see the gold. Reopen it as a case instead.",
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
