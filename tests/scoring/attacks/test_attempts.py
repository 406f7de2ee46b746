"""No way of submitting gives a person more scores on hidden gold than the limit."""

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import count, islice
from typing import Any

import pytest

from portal.accounts.account_data import delete_account
from portal.accounts.models import User
from portal.jobs.worker import run_due_jobs
from scoring.grading.services import cancel_grading, retry_grading
from scoring.models import Board, Phase, Submission
from scoring.submissions.services import withdraw_submission
from scoring.submissions.uploads import SubmissionRefused
from tests.accounts.teams.people import team_of
from tests.factories import empty_dataset
from tests.scoring.factories import send_file

from .world import World

pytestmark = pytest.mark.django_db
# Each way is tried this often.
TRIES, LIMIT = 5, 3


@pytest.fixture
def world(db: None) -> World:
    return World("fincriticaled", 3, in_total=LIMIT, per_day=None)


def send(world: World, user: User, phase: Phase | None = None, **more: Any) -> Submission:
    content = "".join(json.dumps(line) + "\n" for line in world.lines(world.truth))
    return send_file(phase or world.phase, user, content.encode(), **more)


Way = Callable[[World], Iterator[Submission]]


def again_and_again(world: World) -> Iterator[Submission]:
    for _ in count():
        yield send(world, world.people[0])


def with_accounts_of_one_mailbox(world: World) -> Iterator[Submission]:
    for number in count():
        yield send(world, world.sign_up(f"ann+{number}@example.org"))


def with_accounts_that_are_not_confirmed(world: World) -> Iterator[Submission]:
    for number in count():
        yield send(world, User.objects.create_user(email=f"ann{number}@example.org"))


def with_accounts_that_are_deleted(world: World) -> Iterator[Submission]:
    for _ in count():
        user = world.sign_up("ann@example.org")
        yield send(world, user)
        run_due_jobs()
        delete_account(user=user)
        run_due_jobs()


def with_teams(world: World) -> Iterator[Submission]:
    for number in count():
        user = world.people[0]
        yield send(world, user, team=team_of(user, name=f"Team {number}"))


def with_new_versions(world: World) -> Iterator[Submission]:
    submission = None
    for _ in count():
        submission = send(world, world.people[0], replaces=submission)
        yield submission


def on_other_boards(world: World) -> Iterator[Submission]:
    for number in count():
        board = world.open_board(f"board-{number}", in_total=LIMIT, per_day=None)
        yield send(world, world.people[0], first_phase(board))


def on_later_releases(world: World) -> Iterator[Submission]:
    for number in count(1):
        release = world.freeze(world.release.dataset, version=f"1.{number}.0")
        board = world.open_board(f"board-{number}", release, in_total=LIMIT, per_day=None)
        yield send(world, world.people[0], first_phase(board))


def on_variants(world: World) -> Iterator[Submission]:
    for number in count(1):
        dataset = empty_dataset(visibility="public")
        dataset.derived_from = world.release.dataset
        dataset.save()
        board = world.open_board(
            f"board-{number}", world.freeze(dataset), in_total=LIMIT, per_day=None
        )
        yield send(world, world.people[0], first_phase(board))


def that_are_withdrawn(world: World) -> Iterator[Submission]:
    for _ in count():
        submission = send(world, world.people[0])
        yield submission
        run_due_jobs()
        withdraw_submission(submission=submission, actor=world.people[0])


def that_are_cancelled_and_retried(world: World) -> Iterator[Submission]:
    user = world.people[0]
    for _ in count():
        submission = send(world, user)
        grading = submission.gradings.get()
        cancel_grading(grading=grading, actor=user)
        yield submission
        retry_grading(grading=grading, actor=user)


WAYS: Mapping[str, Way] = {
    way.__name__: way
    for way in (
        again_and_again,
        with_accounts_of_one_mailbox,
        with_accounts_that_are_not_confirmed,
        with_accounts_that_are_deleted,
        with_teams,
        with_new_versions,
        on_other_boards,
        on_later_releases,
        on_variants,
        that_are_withdrawn,
        that_are_cancelled_and_retried,
    )
}


def first_phase(board: Board) -> Phase:
    return Phase.objects.select_related("board", "release__dataset").get(board=board)


@pytest.mark.parametrize("name", WAYS)
def test_no_way_gives_more_scores(name: str, world: World) -> None:
    graded: set[int] = set()
    with pytest.raises(SubmissionRefused):
        for submission in islice(WAYS[name](world), TRIES):
            run_due_jobs()
            graded.add(submission.pk)
        raise AssertionError(f"{name}: {TRIES} submissions were taken")
    assert len(graded) == (0 if "confirmed" in name else LIMIT)
