"""Progress of groups, compared with manual counts."""

from typing import Any

import pytest

from portal.jobs.models import Job
from portal.jobs.selectors import group_progress
from portal.jobs.services import enqueue_many
from tests.jobs.conftest import Register

pytestmark = pytest.mark.django_db
State = Job.State


def test_group_progress_counts_steps_and_jobs(
    register: Register, django_assert_num_queries: Any
) -> None:
    register(lambda claim: None)
    payloads: list[dict[str, Any]] = [{}] * 6
    jobs = enqueue_many(kind="test", payloads=payloads, group="g", totals=[25, 25, 25, 10, 0, 0])
    enqueue_many(kind="test", payloads=payloads, group="another", totals=[1000] * 6)

    def put(index: int, state: str, **extra: Any) -> None:
        Job.objects.filter(pk=jobs[index].pk).update(state=state, **extra)

    put(0, State.DONE, progress_done=25)
    put(1, State.RUNNING, progress_done=7, lease_token="t", lease_until="2100-01-01T00:00Z")
    put(3, State.FAILED, progress_done=4)
    put(4, State.DONE)
    put(5, State.QUEUED, progress_done=3)  # reported steps although it declared none
    with django_assert_num_queries(1):
        progress = group_progress("g")
    # The finished chunk, the running, the failed one; of the two without a total one step each.
    assert progress.done == 25 + 7 + 4 + 1 + 1
    assert progress.total == 25 + 25 + 25 + 10 + 1 + 1
    assert (progress.queued, progress.running, progress.failed, progress.cancelled) == (2, 1, 1, 0)
    assert progress.states == {"queued": 2, "running": 1, "done": 2, "failed": 1, "cancelled": 0}
    assert progress.unfinished == 3


def test_group_progress_of_nothing_is_zero() -> None:
    progress = group_progress("nobody")
    assert (progress.done, progress.total, progress.unfinished) == (0, 0, 0)
