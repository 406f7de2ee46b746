"""Makes the board that `bench.leaderboards` reads; runs in the Django of its site."""

import random

from django.db import transaction

from portal.accounts.models import User
from portal.datasets.models import Dataset, Release
from portal.datasets.releases.services import freeze_lines
from scoring.boards.protection import NewPhase
from scoring.boards.services import create_board, set_board_state
from scoring.models import Board, Category, Entry, Grading, Phase, Submission
from scoring.submissions.services import publish_submission

FIGURES = ("r1", "rl", "edit_distance", "general", "n_ffa", "t_ffa", "ffa")


def make_board() -> str:
    """A board of FinCriticalED, six figures and two ranks, without rows; its slug."""
    dataset = Dataset.objects.create(
        slug="bench", title="Bench", visibility=Dataset.Visibility.PUBLIC
    )
    release = freeze_lines(
        dataset=dataset,
        version="1.0.0",
        benchmark="fincriticaled",
        lines={"page-1": {"id": "page-1"}},
        visibility=Release.Visibility.PUBLIC,
    )
    board = create_board(
        slug="bench",
        title="Bench",
        benchmark="fincriticaled",
        phase=NewPhase(slug="test", title="Test", release=release),
        actor=None,
    )
    set_board_state(board=board, state=Board.State.OPEN, actor=None)
    User.objects.create_user(email="bench@example.org", password=None, name="Bench")
    return board.slug


@transaction.atomic
def add_rows(first: int, end: int) -> None:
    """Rows with these numbers, by the service that the site uses."""
    draw = random.Random(first)  # noqa: S311 - the same rows each time, no secret
    for number in range(first, end):
        figures = {figure: draw.uniform(0, 0.9) for figure in FIGURES}
        _publish(_graded(f"System {number}", number, figures))


def add_best(number: int) -> str:
    """A row with better figures than all others, so that it is on the first page; its name."""
    figures = dict.fromkeys(FIGURES, 0.91 + number / 1000)
    return _publish(_graded(f"Best {number}", number, figures)).name


def _publish(submission: Submission) -> Entry:
    """By the service that the site uses; with intervals, which a worker would find out later."""
    entry = publish_submission(submission=submission, actor=None)
    entry.intervals = {
        figure: [score * 0.9, score * 0.9 + 0.1] for figure, score in entry.scores.items()
    }
    entry.save(update_fields=["intervals"])
    return entry


def _graded(name: str, number: int, figures: dict[str, float]) -> Submission:
    user, phase = User.objects.get(email="bench@example.org"), Phase.objects.get()
    spec = phase.board.spec
    submission = Submission.objects.create(
        phase=phase,
        owner=user,
        name=name,
        organisation=f"Organisation {number % 40}",
        size=f"{1 + number % 90}B",
        category=Category.values[number % len(Category.values)],
    )
    Grading.objects.create(
        submission=submission,
        release=phase.release,
        signature=spec.signature(spec.check_options(phase.options)),
        state=Grading.State.DONE,
        items_total=1,
        scores=figures,
    )
    return submission
