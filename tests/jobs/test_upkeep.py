"""Pruning of finished jobs."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from portal.jobs.models import Job, JobEvent
from portal.jobs.services import enqueue_many
from portal.jobs.worker import _Next, prune, run_due_jobs, run_upkeep_when_due, sweep
from tests.jobs.conftest import Register

pytestmark = pytest.mark.django_db
State = Job.State


@pytest.fixture(autouse=True)
def _fresh(register: Register, monkeypatch: pytest.MonkeyPatch) -> None:
    register(lambda claim: None)
    monkeypatch.setattr("portal.jobs.worker._next", _Next())
    monkeypatch.setattr("portal.jobs.worker.SWEEPS", [])


def ended(group: str, *days: float, state: str = State.DONE) -> None:
    """A group of jobs that ended so many days ago each."""
    jobs = enqueue_many(kind="test", payloads=[{}] * len(days), group=group)
    for job, age in zip(jobs, days, strict=True):
        finished = timezone.now() - timedelta(days=age)
        Job.objects.filter(pk=job.pk).update(state=state, finished_at=finished)


def groups() -> set[str]:
    return set(Job.objects.values_list("group", flat=True))


@pytest.mark.parametrize("state", [State.DONE, State.FAILED, State.CANCELLED])
def test_old_jobs_go_with_their_log(state: str, settings: Any) -> None:
    settings.JOB_KEEP = timedelta(days=30)
    ended("old", 31, 31, state=state)
    ended("", 31, state=state)
    ended("new", 29, state=state)
    assert prune() == 3
    assert groups() == {"new"}
    assert set(JobEvent.objects.values_list("group", flat=True)) == {"new"}


def test_a_group_goes_as_one(settings: Any) -> None:
    settings.JOB_KEEP = timedelta(days=30)
    ended("partly", 90, 29)
    ended("going on", 90)
    enqueue_many(kind="test", payloads=[{}], group="going on")
    assert prune() == 0
    assert Job.objects.count() == 4


def test_unfinished_jobs_never_go() -> None:
    long_ago = timezone.now() - timedelta(days=900)
    enqueue_many(kind="test", payloads=[{}, {}], group="g", not_before=long_ago)
    Job.objects.update(created_at=long_ago, started_at=long_ago)
    assert prune() == 0


def test_steps_are_small_and_the_next_follows_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("portal.jobs.worker.PRUNE_AT_ONCE", 2)
    ended("old", *[99] * 5)
    left = []
    for _ in range(4):
        run_upkeep_when_due()
        left.append(Job.objects.count())
    assert left == [3, 1, 0, 0]
    assert not JobEvent.objects.exists()


def test_a_worker_prunes_and_says_nothing_of_it() -> None:
    ended("old", 99)
    assert run_due_jobs() == 0
    assert not Job.objects.exists()


def test_it_is_not_looked_at_before_a_minute_has_passed(
    django_assert_num_queries: Any,
) -> None:
    run_upkeep_when_due()
    with django_assert_num_queries(0):
        run_upkeep_when_due()


def test_a_sweep_that_fails_stops_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    looked: list[str] = []

    def fails() -> None:
        raise ValueError("away")

    def looks() -> None:
        looked.append("here")

    for look in (fails, looks, looks):
        sweep(look)
    run_upkeep_when_due()
    assert looked == ["here"]
    assert "upkeep" in caplog.text
