"""Functions that test processes run inside the site's Django, with JSON results."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Count

from portal.accounts.models import User
from portal.jobs.models import Job, JobEvent
from scoring.grading.regrades import start_regrade
from scoring.grading.selectors import grading_stages
from scoring.models import Board, Entry, Grading, ItemScore, Regrade, Submission
from scoring.submissions.services import publish_submission

from .factories import GOLD, lines_of, make_board, make_release, make_submission, plain
from .regrading import next_release, release_of


def make(names: Sequence[str]) -> None:
    """A board with an item for each name, and no submission yet."""
    make_board(make_release({name: f"<p>{name}</p>{GOLD['page-1']}" for name in names}))


def predictions(names: Sequence[str]) -> str:
    """A perfect submission as JSON Lines."""
    return lines_of({name: f"<p>{name}</p>{plain(GOLD['page-1'])}" for name in names}).decode()


def submit(names: Sequence[str], email: str) -> int:
    """The primary key of a new grading of a perfect submission."""
    owner = User.objects.get(email=email)
    pages = {name: f"<p>{name}</p>{plain(GOLD['page-1'])}" for name in names}
    submission = make_submission(Board.objects.get(), owner, pages)
    return submission.gradings.get().pk


def state(pk: int) -> dict[str, Any]:
    """The state of the grading, and its owner's view."""
    grading = Grading.objects.get(pk=pk)
    doubles = ItemScore.objects.values("grading", "item").annotate(n=Count("id")).filter(n__gt=1)
    jobs = Job.objects.filter(group=grading.job_group)
    done = JobEvent.objects.filter(group=grading.job_group, what="done")
    return {
        "state": grading.state,
        "error": grading.error,
        "scores": grading.scores,
        "items": list(grading.item_scores.order_by("item").values_list("item__name", flat=True)),
        "doubles": len(doubles),
        "jobs": list(jobs.values_list("state", flat=True)),
        "done twice": done.values("job").annotate(n=Count("id")).filter(n__gt=1).count(),
        "log": [line.text for line in grading_stages(grading).lines],
    }


def publish_all() -> None:
    for submission in Submission.objects.order_by("pk"):
        publish_submission(submission=submission, actor=None)


def regrade() -> None:
    """Of the whole board, on a release without the loss of each page."""
    board = Board.objects.get()
    start_regrade(board=board, release=next_release(release_of(board)), actor=None)


def regrade_state() -> dict[str, Any]:
    """The state of the re-grade, and the board's rows."""
    found = Regrade.objects.get()
    scores = ItemScore.objects.filter(grading__regrade=found)
    doubles = scores.values("grading", "item").annotate(n=Count("id")).filter(n__gt=1)
    return {
        "state": found.state,
        "error": found.error,
        "items": scores.count(),
        "doubles": len(doubles),
        "entries": [
            [entry.grading.release.version, entry.scores["ffa"]]
            for entry in Entry.objects.select_related("grading__release").order_by("pk")
            if entry.grading
        ],
        "gradings": found.gradings.count(),
        "moves": [[move.rank_before, move.rank_after] for move in found.moves.all()],
    }
