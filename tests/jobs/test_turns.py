"""The order of jobs: finishing jobs first, groups in turn, no starvation."""

from typing import Any

import pytest

from portal.jobs import leases
from portal.jobs.leases import FINISHING_IN_A_ROW, Turns
from portal.jobs.models import Job
from portal.jobs.selectors import queue_position
from portal.jobs.services import enqueue, enqueue_many
from portal.jobs.worker import run_due_jobs
from tests.jobs.conftest import Register

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _kinds(register: Register) -> None:
    register(lambda claim: None, "chunk")
    register(lambda claim: None, "last", is_finishing=True)


def queue(group: str, count: int, kind: str = "chunk") -> None:
    enqueue_many(kind=kind, payloads=[{}] * count, group=group)


def taken(count: int, turns: Turns) -> list[str]:
    jobs = (leases.take_next(["chunk", "last"], turns) for _ in range(count))
    return [f"{job.group} {job.kind}" for job in jobs if job]


def test_the_last_step_goes_before_chunks_of_later_groups(register: Register) -> None:
    """A group whose chunks are done waits for no turn of the groups that came after it."""
    order: list[str] = []

    def grade(claim: Any) -> None:
        order.append(f"{claim.payload['group']} chunk")
        if claim.payload["group"] == "small":
            enqueue(kind="last", payload={"group": "small"}, group="small")

    def finish(claim: Any) -> None:
        order.append(f"{claim.payload['group']} last")

    register(grade, "chunk")
    register(finish, "last", is_finishing=True)
    for group, count in (("small", 1), ("big", 3), ("bigger", 3)):
        enqueue_many(kind="chunk", payloads=[{"group": group}] * count, group=group)
    run_due_jobs()
    assert order[:3] == ["small chunk", "small last", "big chunk"]
    assert len(order) == 8


def test_finishing_jobs_take_turns_too() -> None:
    queue("a", 2, "last")
    queue("b", 2, "last")
    assert taken(4, Turns()) == ["a last", "b last", "a last", "b last"]


def test_any_number_of_finishing_jobs_leaves_turns_to_others() -> None:
    for number in range(3 * FINISHING_IN_A_ROW):
        queue(f"done-{number}", 1, "last")
    queue("waiting", 3)
    order = taken(3 * FINISHING_IN_A_ROW + 3, Turns())
    places = [place for place, name in enumerate(order) if name == "waiting chunk"]
    assert places == [FINISHING_IN_A_ROW, 2 * FINISHING_IN_A_ROW + 1, 3 * FINISHING_IN_A_ROW + 2]


def test_a_break_without_other_work_is_none() -> None:
    for number in range(FINISHING_IN_A_ROW + 2):
        queue(f"done-{number}", 1, "last")
    assert len(taken(FINISHING_IN_A_ROW + 2, Turns())) == FINISHING_IN_A_ROW + 2


def test_a_group_with_both_kinds_gives_its_finishing_job_first() -> None:
    queue("", 1)
    queue("", 1, "last")
    queue("other", 1)
    assert taken(3, Turns()) == [" last", "other chunk", " chunk"]


def test_a_claim_costs_as_many_queries_with_any_number_of_kinds_and_groups(
    django_assert_num_queries: Any,
) -> None:
    for size in (1, 20):
        for number in range(size):
            queue(f"{size}-{number}", size)
            queue(f"{size}-{number}", 1, "last")
        # One looks for what is due; the claim is a savepoint, an update, the row and its log line.
        with django_assert_num_queries(6):
            assert leases.take_next(["chunk", "last"], Turns())


@pytest.mark.parametrize("group", ["a", "b", "c"])
def test_place_in_the_queue_counts_finishing_jobs_first(group: str) -> None:
    queue("a", 3)
    queue("b", 3)
    queue("c", 1, "last")
    queue("b", 1, "last")
    before = queue_position(group).jobs_before
    turns = Turns()
    order = taken(Job.objects.count(), turns)
    assert before == [name.split()[0] for name in order].index(group)
