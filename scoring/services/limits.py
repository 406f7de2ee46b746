"""Places in the limits of a phase: held by a submission, used up by its score, given back.

Who asks for a place has the row of the account locked, so that two tabs cannot both take the last.
"""

from django.db import transaction
from django.utils import timezone

from portal.accounts.access import is_organiser
from portal.accounts.models import User
from scoring.models import Attempt, Submission
from scoring.selectors.limits import standing

State = Attempt.State


class LimitReached(Exception):
    """Nothing more is taken now. The message says of what, and when there is more."""


@transaction.atomic
def hold_place(*, submission: Submission, actor: User) -> Attempt:
    """Takes a place for a submission, or takes up again the one that it gave back.

    No limit stops an organiser, who may see the gold. Raises LimitReached.
    """
    # no_key: rows that refer to the account take a weaker lock, which must not collide with it.
    user = User.objects.select_for_update(no_key=True).get(pk=submission.owner_id)
    attempt = Attempt.objects.filter(submission=submission).first()
    if attempt is not None and attempt.state != State.FAILED:
        return attempt
    if not is_organiser(actor) and (refusal := standing(submission.phase, user).refusal):
        raise LimitReached(refusal)
    if attempt is None:
        return Attempt.objects.create(submission=submission, phase=submission.phase, user=user)
    attempt.state, attempt.settled_at = State.HELD, None
    attempt.save(update_fields=["state", "settled_at"])
    return attempt


def charge(*, submission_id: int) -> None:
    """The submission has its score. Of a submission that is graded again nothing is taken twice."""
    _settle(submission_id, State.CHARGED)


def give_back(*, submission_id: int) -> None:
    """The submission ended without a score: its place is free, and a failed attempt is counted."""
    _settle(submission_id, State.FAILED)


def _settle(submission_id: int, state: Attempt.State) -> None:
    held = Attempt.objects.filter(submission_id=submission_id, state=State.HELD)
    held.update(state=state, settled_at=timezone.now())
