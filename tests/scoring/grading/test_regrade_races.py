"""Re-grades with concurrent actions, and with data of an older site."""

import threading
from collections.abc import Callable

import pytest
from django.db import connection

from portal.accounts.models import User
from portal.jobs.models import Job
from portal.jobs.worker import run_due_jobs
from scoring.grading.regrade_changes import RegradeRefused
from scoring.grading.regrades import advance_regrade, start_regrade
from scoring.leaderboard.services import are_being_resampled
from scoring.models import Board, Entry, RankMove, Regrade, Submission
from scoring.submissions.services import publish_submission, unpublish_submission
from tests.scoring.factories import FLAWED, make_board, make_submission
from tests.scoring.regrading import next_release, release_of, three_results

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.race]


def at_once(*acts: Callable[[], object]) -> list[BaseException]:
    """Runs them in threads that begin together; what they raised."""
    barrier, raised = threading.Barrier(len(acts)), []

    def run(act: Callable[[], object]) -> None:
        try:
            barrier.wait()
            act()
        except BaseException as error:
            raised.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


def ready(board: Board) -> Regrade:
    """Its gradings are done and resampled, and nothing has taken over yet."""
    regrade = start_regrade(board=board, release=next_release(release_of(board)), actor=None)
    while _is_under_way(regrade):
        run_due_jobs(should_stop=_Once().over)
    assert Regrade.objects.get().state == "running"
    return regrade


def _is_under_way(regrade: Regrade) -> bool:
    batch = regrade.gradings.all()
    return not batch.exists() or batch.unfinished().exists() or are_being_resampled(batch)


class _Once:
    """Lets one job through."""

    def __init__(self) -> None:
        self.asked = 0

    def over(self) -> bool:
        self.asked += 1
        return self.asked > 1


def test_two_steps_at_once_take_over_once(researcher: User) -> None:
    board = make_board()
    three_results(board, researcher)
    regrade = ready(board)
    assert at_once(*[lambda: advance_regrade(regrade.pk)] * 3) == []
    assert Regrade.objects.get().state == "done"
    assert RankMove.objects.count() == 3


def test_two_organisers_start_one(researcher: User) -> None:
    board = make_board()
    three_results(board, researcher)
    [refused] = at_once(*[lambda: start_regrade(board=board, actor=None)] * 2)
    assert isinstance(refused, RegradeRefused)
    assert Regrade.objects.count() == 1


@pytest.mark.parametrize("times", range(3))
def test_publishing_and_submitting_during_the_takeover_lose_nothing(
    researcher: User, times: int
) -> None:
    board = make_board()
    flawed = three_results(board, researcher)["Flawed"]
    unpublish_submission(submission=flawed, actor=None)
    regrade = ready(board)
    raised = at_once(
        lambda: advance_regrade(regrade.pk),
        lambda: publish_submission(submission=flawed, actor=None),
        lambda: make_submission(board, researcher, FLAWED, name="New"),
    )
    assert raised == []
    run_due_jobs()
    assert Regrade.objects.get().state == "done"
    new = Submission.objects.get(name="New")
    publish_submission(submission=new, actor=None)
    assert {entry.grading.release.version for entry in Entry.objects.all() if entry.grading} == {
        "1.1.0"
    }
    assert {entry.name: entry.scores["ffa"] for entry in Entry.objects.all()} == {
        "Perfect": 1.0,
        "Slip": 0.75,
        "Flawed": 1.0,
        "New": 1.0,
    }
    assert not Job.objects.filter(state="failed").exists()
