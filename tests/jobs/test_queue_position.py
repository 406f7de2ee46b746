"""Place in the queue, expected wait, rate: against figures counted by hand and the queue itself."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from portal.jobs import leases
from portal.jobs.leases import Turns
from portal.jobs.models import Job
from portal.jobs.selectors import queue_position
from portal.jobs.services import enqueue_many
from tests.jobs.conftest import Register

pytestmark = pytest.mark.django_db
State = Job.State


@pytest.fixture(autouse=True)
def _kinds(register: Register) -> None:
    register(lambda claim: None)
    register(lambda claim: None, "slow")


def queue(group: str, count: int, kind: str = "test", **extra: Any) -> list[Job]:
    return enqueue_many(kind=kind, payloads=[{}] * count, group=group, **extra)


def ended(
    group: str, seconds: float, *, kind: str = "test", worker: str = "w", ago: float = 5
) -> None:
    """A job that was done `ago` seconds ago and had taken `seconds`."""
    [job] = queue(group, 1, kind, totals=[10])
    finished = timezone.now() - timedelta(seconds=ago)
    Job.objects.filter(pk=job.pk).update(
        state=State.DONE,
        worker=worker,
        progress_done=10,
        started_at=finished - timedelta(seconds=seconds),
        finished_at=finished,
    )


def running(
    group: str, since: float, *, kind: str = "test", worker: str = "w", done: int = 0
) -> None:
    [job] = queue(group, 1, kind, totals=[10])
    now = timezone.now()
    Job.objects.filter(pk=job.pk).update(
        state=State.RUNNING,
        worker=worker,
        progress_done=done,
        attempts=1,
        lease_token="t",
        lease_until=now + timedelta(hours=1),
        started_at=now - timedelta(seconds=since),
    )


def seconds(duration: timedelta | None) -> float:
    assert duration is not None
    return duration.total_seconds()


@pytest.mark.parametrize("group", ["a", "b", "c", ""])
@pytest.mark.parametrize("steps", range(5))
def test_jobs_before_are_those_that_the_queue_serves_before(group: str, steps: int) -> None:
    """Whatever was served so far, the place is the number of jobs taken before the group's own."""
    for name, count in (("a", 6), ("b", 6), ("", 6), ("c", 6)):
        queue(name, count)
    turns = Turns()
    for _ in range(steps):
        leases.take_next(["test"], turns)
    before = queue_position(group).jobs_before
    taken = 0
    while (job := leases.take_next(["test"], turns)) and job.group != group:
        taken += 1
    assert before == taken


def test_what_is_not_due_has_no_place_and_what_is_unknown_is_none() -> None:
    queue("g", 1, not_before=timezone.now() + timedelta(minutes=1))
    position = queue_position("g")
    assert position.jobs_before is None
    assert position.expected_wait is None
    queue("h", 1)
    position = queue_position("h")
    assert (position.jobs_before, position.workers, position.expected_wait) == (0, 0, None)
    assert (position.rate, position.time_left) == (None, None)


def test_wait_is_the_work_before_it_shared_by_the_workers() -> None:
    for taken in (2.0, 4.0, 90.0):  # of which the median is 4
        ended("old", taken)
    ended("old", 10.0, kind="slow")
    queue("first", 3)
    queue("second", 1, "slow")
    queue("mine", 2)
    running("other", 3.0, worker="w")
    position = queue_position("mine")
    assert (position.jobs_before, position.workers, position.running) == (2, 1, 0)
    # The running job has 4 - 3 seconds to go, then one of the first (4) and of the second (10).
    assert seconds(position.expected_wait) == pytest.approx(15, abs=0.5)

    running("another", 0.0, worker="x")  # its four seconds lie ahead
    position = queue_position("mine")
    assert position.workers == 2
    assert seconds(position.expected_wait) == pytest.approx(1 + 14 / 2, abs=0.5)


def test_a_kind_that_never_ended_before_makes_the_wait_unknown() -> None:
    ended("old", 2.0)
    queue("first", 1, "slow")
    queue("mine", 1)
    assert queue_position("mine").jobs_before == 1
    assert queue_position("mine").expected_wait is None


def test_workers_not_seen_for_a_minute_are_not_counted() -> None:
    ended("old", 2.0, worker="gone", ago=90)
    ended("old", 2.0, worker="here", ago=10)
    queue("mine", 1)
    assert queue_position("mine").workers == 1


def test_rate_and_time_left_count_steps() -> None:
    ended("g", 5.0)  # 10 steps in 5 s
    running("g", 5.0, done=6)  # and 6 in 5 s: 1.6 a second for each of two
    running("g", 5.0, done=4, worker="x")
    queue("g", 2, totals=[10, 0])
    position = queue_position("g")
    assert position.rate == pytest.approx(20 / 15 * 2, rel=0.05)
    # 4 and 6 of the running, 10, and one of the job without a total.
    assert seconds(position.time_left) == pytest.approx(21 / (20 / 15 * 2), rel=0.05)


def test_standing_costs_the_same_for_many_jobs_and_groups(django_assert_num_queries: Any) -> None:
    for size in (1, 30):
        for number in range(size):
            queue(f"{size}-{number}", size)
            ended(f"{size}-{number}", 1.0)
        queue("mine", size)
        with django_assert_num_queries(6):
            assert queue_position("mine").jobs_before is not None
