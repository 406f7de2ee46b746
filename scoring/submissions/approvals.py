"""Approvals of people on hidden gold.

In a phase that asks for it, the first submission of a person waits ungraded until an organiser
approves or rejects it. An organiser can also approve an account before it submits. An approved
person needs no confirmed email address, and later submissions do not wait. An approval holds in all
phases with the same hidden gold, like attempts do.
"""

from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.db.models import Count, F, Q, QuerySet
from django.utils import timezone

from portal.accounts.access import is_organiser
from portal.accounts.emails import person_key, send_email
from portal.accounts.models import User, display_name, is_former
from portal.audit.models import record_event
from portal.jobs.services import enqueue
from portal.web.refusals import Refused
from scoring.access import is_own
from scoring.boards.limits import attempts_of, give_back, phases_on_same_gold
from scoring.boards.protection import is_gold_hidden
from scoring.grading.services import lock_phase, start_grading
from scoring.grading.similarity import queue_comparison
from scoring.models import Approval, Attempt, Board, Phase, Submission

State = Approval.State
DECISION_KIND = "notify_of_decision"


class ApprovalRefused(Refused):
    """The submission or account cannot be approved or rejected. The message gives the reason."""


def is_approved(phase: Phase, user: User) -> bool:
    """Whether an organiser approved the person for the hidden gold of this phase. Two queries."""
    return _approvals(phase, user).filter(state=State.APPROVED).exists()


def waiting_request(phase: Phase, user: User) -> Approval | None:
    """The person's request for the hidden gold of this phase, if one waits."""
    return _approvals(phase, user).filter(state=State.WAITING).first()


def awaits_approval(phase: Phase, user: User) -> bool:
    """Whether a submission of the user to this phase waits for an approval: it asks for one, and
    the person was not approved and has no score on its hidden gold."""
    same_gold = phases_on_same_gold(phase) if phase.approves_first else set()
    if not same_gold or is_organiser(user) or is_approved(phase, user):
        return False
    attempts = Attempt.objects.filter(attempts_of(user), phase__in=same_gold)
    return not attempts.filter(state=Attempt.State.CHARGED).exists()


def _approvals(phase: Phase, user: User) -> QuerySet[Approval]:
    mine = Q(user=user) | Q(person=person_key(user))
    return Approval.objects.filter(mine, phase__in=phases_on_same_gold(phase))


def request_approval(submission: Submission) -> Approval:
    """Asks organisers to approve a stored submission, instead of grading it. Its attempt stays
    held."""
    approval = Approval.objects.create(
        phase=submission.phase,
        user=submission.owner,
        person=person_key(submission.owner),
        submission=submission,
    )
    record_event(verb="request_approval", subject=submission, actor=submission.owner)
    # Organisers see before they decide whether it is like the submission of another account.
    queue_comparison(submission.pk)
    return approval


@transaction.atomic
def approve_submission(*, submission: Submission, actor: User, origin: str) -> None:
    """Approves the submitter and queues the grading, also after the phase closed. Approving twice
    changes nothing. `origin` is the base URL for links in the email.

    Raises ApprovalRefused for a submission that does not wait.
    """
    approval = _locked(submission, actor)
    if approval.state == State.APPROVED:
        return
    if approval.state == State.REFUSED:
        raise ApprovalRefused("This submission was already rejected. It can be submitted again.")
    _decide(approval, State.APPROVED, actor)
    start_grading(submission=submission, actor=actor)
    record_event(verb="approve_submission", subject=submission, actor=actor)
    _queue_notice(approval, origin)


@transaction.atomic
def refuse_submission(*, submission: Submission, reason: str, actor: User, origin: str) -> None:
    """Rejects a waiting submission, which is never graded. Its attempt counts as failed, and the
    submitter can submit again, which waits again. Rejecting twice changes nothing.

    Raises ApprovalRefused without a reason, and for a submission that does not wait.
    """
    reason = reason.strip()
    if not reason:
        raise ApprovalRefused("Enter a reason. The submitter sees it.", field="reason")
    approval = _locked(submission, actor)
    if approval.state == State.REFUSED:
        return
    if approval.state == State.APPROVED:
        raise ApprovalRefused("This submission was already approved, and its grading has started.")
    _decide(approval, State.REFUSED, actor, reason)
    give_back(submission_id=submission.pk)
    record_event(verb="refuse_submission", subject=submission, actor=actor, reason=reason)
    _queue_notice(approval, origin)


def _locked(submission: Submission, actor: User) -> Approval:
    """The approval of a submission, locked after its phase, as everywhere."""
    if is_own(submission, actor):
        raise ApprovalRefused(
            "You cannot decide about your own submission or your team’s. Ask another organiser."
        )
    lock_phase(submission.phase_id)
    locked = Submission.objects.select_for_update(of=("self",), no_key=True).get(pk=submission.pk)
    approvals = Approval.objects.select_for_update(of=("self",), no_key=True)
    approval = approvals.filter(submission=locked).first()
    if locked.withdrawn_at is not None:
        raise ApprovalRefused("This submission was withdrawn.")
    if approval is None:
        raise ApprovalRefused("This submission does not wait for an approval.")
    return approval


def _decide(approval: Approval, state: Approval.State, actor: User, reason: str = "") -> None:
    approval.state, approval.reason = state, reason
    approval.decided_by, approval.decided_at = actor, timezone.now()
    approval.save(update_fields=["state", "reason", "decided_by", "decided_at"])


@transaction.atomic
def approve_account(*, phase: Phase, email: str, actor: User) -> Approval:
    """Approves an account for the hidden gold of the phase before it submits. A second time changes
    nothing.

    Raises ApprovalRefused if there is no such account, if the gold is public, or if its submission
    waits.
    """
    user = User.objects.filter(email__iexact=email.strip(), is_active=True).first()
    if user is None or is_former(user):
        raise ApprovalRefused(
            f"There is no active account with the email address {email.strip()}.", field="email"
        )
    if not phases_on_same_gold(phase):
        raise ApprovalRefused(
            f"The gold of “{phase.title}” is public, so no approval is needed.", field="phase"
        )
    # The lock serialises simultaneous approvals.
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if waiting := waiting_request(phase, user):
        raise ApprovalRefused(
            f"Submission {waiting.submission_id} of this account waits for approval. Approve or "
            "reject it."
        )
    approval = _approvals(phase, user).filter(state=State.APPROVED).first()
    if approval is None:
        now = timezone.now()
        approval = Approval.objects.create(
            phase=phase, user=user, person=person_key(user), state=State.APPROVED,
            decided_by=actor, decided_at=now,
        )  # fmt: skip
        record_event(verb="approve_account", subject=user, actor=actor, phase=phase.pk)
    return approval


def drop_request(submission: Submission) -> None:
    """After a waiting submission is withdrawn or deleted, its attempt counts as failed."""
    if Approval.objects.filter(submission=submission, state=State.WAITING).delete()[0]:
        give_back(submission_id=submission.pk)


def phases_to_approve(phases: Iterable[Phase]) -> list[Phase]:
    """The phases with hidden gold."""
    return [phase for phase in phases if is_gold_hidden(phase.release, phase.split)]


def board_approvals(board: Board) -> QuerySet[Approval]:
    """The approvals of a board, waiting ones first, then the newest."""
    approvals = Approval.objects.filter(phase__board=board)
    related = approvals.select_related("phase", "user", "submission", "decided_by")
    # The states sort as waiting, refused, approved.
    return related.order_by("-state", "-id")


def waiting_by_board() -> "QuerySet[Any, dict[str, Any]]":
    """The `slug` and `title` of boards with submissions that wait, and how many `wait`. One
    query."""
    board = "phase__board__"
    approvals: QuerySet[Any] = Approval.objects.all()
    counted: QuerySet[Any, dict[str, Any]] = (
        approvals.filter(state=State.WAITING)
        .order_by(f"{board}title")
        .values(slug=F(f"{board}slug"), title=F(f"{board}title"))
        .annotate(wait=Count("pk"))
    )
    return counted


def _queue_notice(approval: Approval, origin: str) -> None:
    enqueue(
        kind=DECISION_KIND,
        payload={"approval": approval.pk, "origin": origin},
        group=f"notices:{approval.submission_id}",
    )


def send_decision(approval: Approval, origin: str) -> None:
    """Emails the decision to the submitter. Passes on errors of the mail server."""
    submission = approval.submission
    if submission is None or not approval.user.is_active:
        return
    words = "approved" if approval.state == State.APPROVED else "rejected"
    send_email(
        to=approval.user.email,
        subject=f"“{submission.name}” was {words}",
        template="scoring/submissions/decision.txt",
        origin=origin,
        context={
            "name": display_name(approval.user),
            "submission": submission,
            "approval": approval,
            "link": origin + submission.get_absolute_url(),
        },
    )
