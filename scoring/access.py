"""Access rules of scoring.

An object that the user may not see answers 404, as if it did not exist. An action that needs a role
the user lacks answers 403.

A submission for a team belongs to the team. Its members can read all of it, manage it and submit
new versions. Only the submitter and the team's owners can withdraw it, because that is final. A
submitter who has left the team can still read the submission but can no longer change it. Once the
team is closed, only the submitter can change it.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef
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
    """Published boards; for organisers, drafts too."""
    return Board.objects.all() if is_organiser(user) else Board.objects.published()


def board_for(user: Viewer, slug: str) -> Board:
    return get_object_or_404(visible_boards(user), slug=slug)


def visible_submissions(user: Viewer) -> SubmissionQuerySet:
    """Published submissions and those of the user and their teams; for organisers, all."""
    if is_organiser(user):
        return Submission.objects.all()
    public = Submission.objects.public()
    return public | Submission.objects.kept_by(user) if user.is_authenticated else public


def submission_for(user: Viewer, pk: int) -> Submission:
    """A submission the user may see, with its board, release, owner, team and run manifest."""
    submissions = visible_submissions(user).select_related(
        "phase__board", "phase__release__dataset", "owner", "team", "manifest", "approval"
    )
    reruns = Submission.objects.filter(rerun_of=OuterRef("pk"))
    submissions = submissions.annotate(has_reruns=Exists(reruns))
    return get_object_or_404(submissions.defer("manifest__items"), pk=pk)


@dataclass(frozen=True)
class Rights:
    """The rights of a user on a submission, beyond reading its published part."""

    is_keeper: bool = False
    """Can read the file, the stage log and the items as far as the phase shows them."""
    may_steer: bool = False
    """Can cancel and retry the grading, publish and unpublish the result."""
    may_withdraw: bool = False
    may_replace: bool = False
    """Can submit a new version."""


def rights_for(user: Viewer, submission: Submission) -> Rights:
    """One query for a submission of a team, none for others."""
    own = _own_rights(user, submission) if user.is_authenticated else Rights()
    if submission.is_human_run or submission.rerun_of_id is not None:
        # A new version of a human run would be graded on all items; a re-run is repeated instead.
        own = replace(own, may_replace=False)
    if not is_organiser(user):
        return own
    # Even organisers replace only their own submissions.
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


def is_own(submission: Submission, user: User) -> bool:
    """Whether it is the user's or belongs to one of their teams. At most one query."""
    teams = TeamMember.objects.filter(team=submission.team_id, user=user)
    return submission.owner_id == user.pk or teams.exists()


def kept_submission(user: Viewer, pk: int) -> Submission:
    """A submission the user may read in full, file included. Raises PermissionDenied for a
    published submission of others."""
    submission = submission_for(user, pk)
    if not rights_for(user, submission).is_keeper:
        raise PermissionDenied("This submission belongs to another user.")
    return submission


def steered_submission(user: Viewer, pk: int) -> Submission:
    """A submission the user may manage. Raises PermissionDenied if they may only read it."""
    submission = submission_for(user, pk)
    if not rights_for(user, submission).may_steer:
        raise PermissionDenied(_not_yours(user, submission))
    return submission


def submission_to_withdraw(user: Viewer, pk: int) -> Submission:
    submission = submission_for(user, pk)
    rights = rights_for(user, submission)
    if rights.may_steer and not rights.may_withdraw:
        raise PermissionDenied(
            "Only the submitter and the owners of the team can withdraw this submission."
        )
    if not rights.may_withdraw:
        raise PermissionDenied(_not_yours(user, submission))
    return submission


def submission_to_replace(user: User, board: Board, pk: int) -> Submission:
    """A submission to this board, of the user or their teams, that they may replace."""
    kept = Submission.objects.kept_by(user).filter(phase__board=board)
    submission = get_object_or_404(kept.select_related("team"), pk=pk)
    if not rights_for(user, submission).may_replace:
        raise PermissionDenied(_not_yours(user, submission))
    return submission


def _not_yours(user: Viewer, submission: Submission) -> str:
    if submission.owner_id == user.pk:
        return "This submission belongs to a team that you have left."
    return "This submission belongs to another user."


def may_publish(user: User) -> bool:
    """Whether the user may publish results: organisers, and users with a confirmed email address.
    At most one query."""
    return is_organiser(user) or is_email_confirmed(user)


def may_open_release(user: Viewer, release: Release) -> bool:
    """Whether the user may see the page of the release and the ids of its items."""
    return is_release_open(release) or is_organiser(user)


def is_release_open(release: Release) -> bool:
    """Whether the release and the ids of its items are public."""
    is_listed = release.visibility != Release.Visibility.PRIVATE
    return is_listed and release.dataset.visibility == Dataset.Visibility.PUBLIC


def may_open_items(phase: Phase, release: Release) -> bool:
    """Whether individual items of a submission graded against the release can be made public: the
    phase shows them to submitters, and their gold is public."""
    return (
        phase.diagnostics != Phase.Diagnostics.AGGREGATES
        and phase.score_decimals is None
        and not phase.has_parts
        and is_release_open(release)
        and release.opens(phase.split)
    )


def are_items_open(submission: Submission, release: Release) -> bool:
    """Whether the submission's individual items, graded against the release, are public."""
    is_public = submission.publication == Submission.Publication.PUBLIC
    return is_public and submission.has_open_items and may_open_items(submission.phase, release)


def are_scores_due(phase: Phase) -> bool:
    """Whether the phase shows its scores by now."""
    return phase.scores_after is None or timezone.now() >= phase.scores_after


def are_scores_shown(user: Viewer, phase: Phase) -> bool:
    """Whether the user may see the phase's scores; organisers always may."""
    return is_organiser(user) or are_scores_due(phase)


def is_rounding(user: Viewer, phase: Phase) -> bool:
    """Whether the user sees the phase's scores rounded; organisers see all digits."""
    return phase.score_decimals is not None and not is_organiser(user)


def sees_exact_times(user: Viewer, phase: Phase) -> bool:
    """Whether the user sees the times of gradings to the second. On hidden gold only organisers do,
    because how long a grading takes may depend on the gold."""
    return is_organiser(user) or phase.release.opens(phase.split)


def full_minute(at: datetime) -> datetime:
    return at.replace(second=0, microsecond=0)


def diagnostics_for(user: Viewer, submission: Submission, release: Release) -> Phase.Diagnostics:
    """How much this user may see of the individual items graded against the release.

    Organisers see everything, keepers what the phase allows, all others only totals unless the
    items are public. Where the phase rounds scores, delays them or splits them in parts, single
    items would reveal the hidden figures, so that only totals are shown.
    """
    phase = submission.phase
    if is_organiser(user):
        return Phase.Diagnostics.FACTS
    if is_rounding(user, phase) or phase.has_parts or not are_scores_shown(user, phase):
        return Phase.Diagnostics.AGGREGATES
    if are_items_open(submission, release) or rights_for(user, submission).is_keeper:
        return Phase.Diagnostics(submission.phase.diagnostics)
    return Phase.Diagnostics.AGGREGATES


def require_items(user: Viewer, submission: Submission, release: Release) -> Phase.Diagnostics:
    """The level of diagnostics; raises Http404 if it does not include individual items."""
    level = diagnostics_for(user, submission, release)
    if level == Phase.Diagnostics.AGGREGATES:
        raise Http404("This phase shows totals only.")
    return level


def shows_pages(level: Phase.Diagnostics, release: Release, split: str) -> bool:
    """Whether page images and marked predictions may be shown with the facts of an item of this
    split. They need public gold."""
    return level == Phase.Diagnostics.FACTS and release.opens(split)
