"""Places in the limits of a phase: held by a submission, used up by its score, given back.

Who asks for a place has the rows of the team and of the account locked, so that neither two tabs
nor two members of a team can both take the last one.
"""

from django.db import transaction
from django.utils import timezone

from portal.accounts.access import is_organiser
from portal.accounts.models import Team, User
from scoring.models import Attempt, Submission
from scoring.selectors.limits import SUBMITTER, YOU, refusal_for

State = Attempt.State


class LimitReached(Exception):
    """Nothing more is taken now. The message says of what, and when there is more."""


def lock_team(submission: Submission) -> None:
    """Until the transaction ends nobody joins or leaves the submission's team, if it has one."""
    # no_key: rows that refer to it take a weaker lock, which must not collide with it.
    if submission.team_id is not None:
        Team.objects.select_for_update(no_key=True).get(pk=submission.team_id)


@transaction.atomic
def hold_place(*, submission: Submission, actor: User) -> Attempt:
    """Takes a place for a submission, or takes up again the one that it gave back.

    No limit stops an organiser, who may see the gold. Raises LimitReached.
    """
    # First the team, then the account: the order in which invitations to teams lock them, too.
    lock_team(submission)
    User.objects.select_for_update(no_key=True).get(pk=submission.owner_id)
    attempt = Attempt.objects.filter(submission=submission).first()
    if attempt is not None and attempt.state != State.FAILED:
        return attempt
    if not is_organiser(actor):
        _refuse_spent(submission, actor)
    if attempt is None:
        return Attempt.objects.create(
            submission=submission,
            phase=submission.phase,
            user=submission.owner,
            team=submission.team,
        )
    attempt.state, attempt.settled_at = State.HELD, None
    attempt.save(update_fields=["state", "settled_at"])
    return attempt


def _refuse_spent(submission: Submission, actor: User) -> None:
    holder = YOU if actor.pk == submission.owner_id else SUBMITTER
    refusal = refusal_for(submission.phase, submission.owner, submission.team, holder=holder)
    if refusal:
        raise LimitReached(refusal)


def charge(*, submission_id: int) -> None:
    """The submission has its score. Of a submission that is graded again nothing is taken twice."""
    _settle(submission_id, State.CHARGED)


def give_back(*, submission_id: int) -> None:
    """The submission ended without a score: its place is free, and a failed attempt is counted."""
    _settle(submission_id, State.FAILED)


def _settle(submission_id: int, state: Attempt.State) -> None:
    held = Attempt.objects.filter(submission_id=submission_id, state=State.HELD)
    held.update(state=state, settled_at=timezone.now())
