"""Who may see and change what in scoring.

What one may not see answers 404, as if it were not there; a role one lacks on a thing one may see
answers 403.

A submission for a team belongs to the team. Its members read all of it, steer it and send new
versions; withdrawing, which is for good, is for who submitted it and for the team's owners. Who has
left the team still reads what they submitted, but no longer decides in the team's name. Once the
team is closed, who submitted it decides alone.
"""

from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils import timezone

from portal.accounts.access import is_organiser
from portal.accounts.emails import is_email_confirmed
from portal.accounts.models import TeamMember, User
from portal.datasets.models import Dataset, Release

from .models import Board, Phase, Submission
from .models.boards import BoardQuerySet
from .models.submissions import SubmissionQuerySet

Viewer = User | AnonymousUser


def visible_boards(user: Viewer) -> BoardQuerySet:
    """Published boards for everybody, drafts for organisers too."""
    return Board.objects.all() if is_organiser(user) else Board.objects.published()


def board_for(user: Viewer, slug: str) -> Board:
    return get_object_or_404(visible_boards(user), slug=slug)


def visible_submissions(user: Viewer) -> SubmissionQuerySet:
    """One's own, those of one's teams and the published; all of them for organisers."""
    if is_organiser(user):
        return Submission.objects.all()
    public = Submission.objects.public()
    return public | Submission.objects.kept_by(user) if user.is_authenticated else public


def submission_for(user: Viewer, pk: int) -> Submission:
    """A submission to be read, with its board, release, owner and team."""
    submissions = visible_submissions(user).select_related(
        "phase__board", "phase__release__dataset", "owner", "team"
    )
    return get_object_or_404(submissions, pk=pk)


@dataclass(frozen=True)
class Rights:
    """What somebody may do with a submission beyond reading what is published of it."""

    is_keeper: bool = False
    """Reads the file, the stage log and as much of the items as the phase shows."""
    may_steer: bool = False
    """Cancels its grading and takes it up again, publishes the result and takes that back."""
    may_withdraw: bool = False
    may_replace: bool = False
    """Sends a new version of it."""


def rights_for(user: Viewer, submission: Submission) -> Rights:
    """At most one query, and that only for a submission of a team."""
    own = _own_rights(user, submission) if user.is_authenticated else Rights()
    if not is_organiser(user):
        return own
    # Organisers, too, replace only their own.
    return Rights(True, True, True, may_replace=own.may_replace)


def _own_rights(user: User, submission: Submission) -> Rights:
    is_submitter = submission.owner_id == user.pk
    if submission.team is None:
        return Rights(is_submitter, is_submitter, is_submitter, is_submitter)
    member = TeamMember.objects.filter(team=submission.team, user=user).first()
    decides = member is not None if submission.team.is_open else is_submitter
    return Rights(
        is_keeper=is_submitter or member is not None,
        may_steer=decides,
        may_withdraw=decides and (is_submitter or (member is not None and member.is_owner)),
        may_replace=decides,
    )


def kept_submission(user: Viewer, pk: int) -> Submission:
    """A submission to be read wholly, its file included; a published one answers others 403."""
    submission = submission_for(user, pk)
    if not rights_for(user, submission).is_keeper:
        raise PermissionDenied("This submission belongs to somebody else.")
    return submission


def steered_submission(user: Viewer, pk: int) -> Submission:
    """A submission to be steered; 403 for who only reads it."""
    submission = submission_for(user, pk)
    if not rights_for(user, submission).may_steer:
        raise PermissionDenied(_not_yours(user, submission))
    return submission


def submission_to_withdraw(user: Viewer, pk: int) -> Submission:
    submission = submission_for(user, pk)
    rights = rights_for(user, submission)
    if rights.may_steer and not rights.may_withdraw:
        raise PermissionDenied(
            "Withdrawing is for good: only who submitted it and the owners of its team may."
        )
    if not rights.may_withdraw:
        raise PermissionDenied(_not_yours(user, submission))
    return submission


def submission_to_replace(user: User, board: Board, pk: int) -> Submission:
    """A submission of one's own, or of one's teams, to this board, to send a new version of."""
    kept = Submission.objects.kept_by(user).filter(phase__board=board)
    submission = get_object_or_404(kept.select_related("team"), pk=pk)
    if not rights_for(user, submission).may_replace:
        raise PermissionDenied(_not_yours(user, submission))
    return submission


def _not_yours(user: Viewer, submission: Submission) -> str:
    if submission.owner_id == user.pk:
        return "This submission belongs to a team that you have left."
    return "This submission belongs to somebody else."


def may_publish(user: User) -> bool:
    """Whether results may appear in public in this account's name: its email address is confirmed.
    Organisers vouch for what they publish. At most one query."""
    return is_organiser(user) or is_email_confirmed(user)


def may_open_release(user: Viewer, release: Release) -> bool:
    """Whether the page of the release, its ids and what it gives away are open to the user."""
    return is_release_open(release) or is_organiser(user)


def is_release_open(release: Release) -> bool:
    """Whether anyone may know of the release and of the ids of its items."""
    is_listed = release.visibility != Release.Visibility.PRIVATE
    return is_listed and release.dataset.visibility == Dataset.Visibility.PUBLIC


def may_open_items(phase: Phase, release: Release) -> bool:
    """Whether everybody may be let read the single items of a submission that was graded against
    the release: where the phase shows them to who sent them, and their gold is public."""
    return (
        phase.diagnostics != Phase.Diagnostics.AGGREGATES
        and phase.score_decimals is None
        and not phase.has_parts
        and is_release_open(release)
        and release.opens(phase.split)
    )


def are_items_open(submission: Submission, release: Release) -> bool:
    """Whether everybody may read the single items that were graded against the release."""
    is_public = submission.publication == Submission.Publication.PUBLIC
    return is_public and submission.has_open_items and may_open_items(submission.phase, release)


def are_scores_due(phase: Phase) -> bool:
    """Whether the time has come at which the phase tells its scores."""
    return phase.scores_after is None or timezone.now() >= phase.scores_after


def are_scores_shown(user: Viewer, phase: Phase) -> bool:
    """Whether the user may read the phase's scores; organisers read them before the time."""
    return is_organiser(user) or are_scores_due(phase)


def is_rounding(user: Viewer, phase: Phase) -> bool:
    """Whether the user reads the phase's scores rounded; organisers read all of their digits."""
    return phase.score_decimals is not None and not is_organiser(user)


def diagnostics_for(user: Viewer, submission: Submission, release: Release) -> Phase.Diagnostics:
    """How much this user may see of the single items that were graded against the release:
    organisers all, its keepers what the phase allows, everybody else the totals unless the items
    were opened. Single items would undo what the phase rounds, keeps for later or tells in
    parts."""
    phase = submission.phase
    if is_organiser(user):
        return Phase.Diagnostics.FACTS
    if is_rounding(user, phase) or phase.has_parts or not are_scores_shown(user, phase):
        return Phase.Diagnostics.AGGREGATES
    if are_items_open(submission, release) or rights_for(user, submission).is_keeper:
        return Phase.Diagnostics(submission.phase.diagnostics)
    return Phase.Diagnostics.AGGREGATES


def require_items(user: Viewer, submission: Submission, release: Release) -> Phase.Diagnostics:
    """The level of diagnostics if it reaches single items; 404 if it does not."""
    level = diagnostics_for(user, submission, release)
    if level == Phase.Diagnostics.AGGREGATES:
        raise Http404("This phase shows totals only.")
    return level


def shows_pages(level: Phase.Diagnostics, release: Release, split: str) -> bool:
    """Whether page images and marked predictions may stand beside the facts of an item of this
    split: where its gold is public."""
    return level == Phase.Diagnostics.FACTS and release.opens(split)
