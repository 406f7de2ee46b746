"""Who may see and change what in scoring.

What one may not see answers 404, as if it were not there; a role one lacks on a thing one may see
answers 403.
"""

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils import timezone

from portal.accounts.access import is_organiser
from portal.accounts.models import User
from portal.datasets.models import Release

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
    """One's own and the published; all of them for organisers."""
    if is_organiser(user):
        return Submission.objects.all()
    public = Submission.objects.public()
    return public | Submission.objects.of(user) if user.is_authenticated else public


def submission_for(user: Viewer, pk: int) -> Submission:
    """A submission to be read, with its board, release and owner."""
    submissions = visible_submissions(user).select_related(
        "phase__board", "phase__release__dataset", "owner"
    )
    return get_object_or_404(submissions, pk=pk)


def is_keeper(user: Viewer, submission: Submission) -> bool:
    """Whether the user may steer the submission and read more than its published summary."""
    return is_organiser(user) or (user.is_authenticated and submission.owner_id == user.pk)


def kept_submission(user: Viewer, pk: int) -> Submission:
    """A submission to be steered: its owner's and the organisers'; a published one answers 403."""
    submission = submission_for(user, pk)
    if not is_keeper(user, submission):
        raise PermissionDenied("This submission belongs to somebody else.")
    return submission


def own_submission(user: User, board: Board, pk: int) -> Submission:
    """A submission of one's own to this board; organisers, too, replace only their own."""
    return get_object_or_404(Submission.objects.of(user).filter(phase__board=board), pk=pk)


def is_time_to_tell(phase: Phase) -> bool:
    """Whether the time has come at which the phase tells its scores."""
    return phase.scores_after is None or timezone.now() >= phase.scores_after


def are_scores_told(user: Viewer, phase: Phase) -> bool:
    """Whether the user may read the phase's scores; organisers read them before the time."""
    return is_organiser(user) or is_time_to_tell(phase)


def is_rounding(user: Viewer, phase: Phase) -> bool:
    """Whether the user reads the phase's scores rounded; organisers read all of their digits."""
    return phase.score_decimals is not None and not is_organiser(user)


def diagnostics_for(user: Viewer, submission: Submission) -> Phase.Diagnostics:
    """How much of the single items this user may see: organisers all, owners what the phase allows,
    everybody else the totals. Single items would undo what the phase rounds or keeps for later."""
    phase = submission.phase
    if is_organiser(user):
        return Phase.Diagnostics.FACTS
    if is_rounding(user, phase) or not are_scores_told(user, phase):
        return Phase.Diagnostics.AGGREGATES
    if is_keeper(user, submission):
        return Phase.Diagnostics(submission.phase.diagnostics)
    return Phase.Diagnostics.AGGREGATES


def require_items(user: Viewer, submission: Submission) -> Phase.Diagnostics:
    """The level of diagnostics if it reaches single items; 404 if it does not."""
    level = diagnostics_for(user, submission)
    if level == Phase.Diagnostics.AGGREGATES:
        raise Http404("This phase shows totals only.")
    return level


def shows_pages(level: Phase.Diagnostics, release: Release, split: str) -> bool:
    """Whether page images and marked predictions may stand beside the facts of an item of this
    split: where its gold is public."""
    return level == Phase.Diagnostics.FACTS and release.opens(split)
