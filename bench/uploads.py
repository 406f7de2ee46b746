"""Makes the board that `bench.submitting` submits to; runs in the Django of its site."""

import time

from bench.generated import fcmbench_lines
from portal.accounts.access import issue_token
from portal.accounts.models import User
from portal.datasets.models import Dataset, Release
from portal.datasets.releases.services import freeze_lines
from portal.jobs.models import Job
from scoring.boards.protection import NewPhase
from scoring.boards.services import create_board, set_board_state
from scoring.grading.services import cancel_grading
from scoring.models import Submission

LONGEST_SECONDS = 120


def make_board(items: int) -> str:
    """A board with this many items of FCMBench, and the token of a user who may submit."""
    dataset = Dataset.objects.create(
        slug="bench", title="Bench", visibility=Dataset.Visibility.PUBLIC
    )
    release = freeze_lines(
        dataset=dataset,
        version="1.0.0",
        benchmark="fcmbench",
        lines={gold["id"]: gold for gold, _ in fcmbench_lines(items)},
        visibility=Release.Visibility.PUBLIC,
    )
    board = create_board(
        slug="bench",
        title="Bench",
        benchmark="fcmbench",
        phase=NewPhase(slug="test", title="Test", release=release),
        actor=None,
    )
    set_board_state(board=board, state=board.State.OPEN, actor=None)
    user = User.objects.create_user(email="bench@example.org", password=None, name="Bench")
    _, secret = issue_token(user=user, name="bench")
    return secret


def wait_for(pk: int) -> float:
    """When the first job of the submission's grading was taken up, as a time stamp. The rest is
    cancelled, so that the next submission finds the workers idle."""
    grading = Submission.objects.get(pk=pk).gradings.get()
    end = time.monotonic() + LONGEST_SECONDS
    while True:
        begun = Job.objects.filter(group=grading.job_group, started_at__isnull=False)
        first = begun.order_by("started_at").values_list("started_at", flat=True).first()
        if first is not None:
            break
        if time.monotonic() > end:
            raise RuntimeError(f"not begun within {LONGEST_SECONDS} s")
        time.sleep(0.1)
    _stop(pk)
    return first.timestamp()


def _stop(pk: int) -> None:
    grading = Submission.objects.get(pk=pk).gradings.get()
    if not grading.is_finished:
        cancel_grading(grading=grading, actor=None)
    while Job.objects.filter(group=grading.job_group).unfinished().exists():
        time.sleep(0.1)
