"""Leases: only the holder may write."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError
from django.utils import timezone

from portal.audit.models import Event
from portal.jobs import leases
from portal.jobs.handlers import Claim, LeaseLost
from portal.jobs.leases import Turns, heartbeat
from portal.jobs.models import Job
from portal.jobs.services import cancel_group, enqueue
from tests.jobs.conftest import Register

pytestmark = pytest.mark.django_db
State = Job.State


@pytest.fixture(autouse=True)
def _kind(register: Register) -> None:
    register(lambda claim: None)


def take() -> Job:
    job = leases.take_next(["test"], Turns())
    assert job is not None
    return job


def lose(job: Job) -> None:
    """The reaper and another worker, while the first worker is believed to be dead."""
    Job.objects.filter(pk=job.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert leases.reap() == 1
    assert take().pk == job.pk


def test_a_claim_is_exclusive() -> None:
    job = enqueue(kind="test", payload={})
    assert leases._claim(job.pk) is not None
    assert leases._claim(job.pk) is None
    assert leases.take_next(["test"], Turns()) is None


def test_a_claim_starts_afresh(settings: Any) -> None:
    job = enqueue(kind="test", payload={"n": 1}, total=9)
    Job.objects.filter(pk=job.pk).update(progress_done=5, error="the attempt before")
    before = timezone.now()
    taken = take()
    assert (taken.state, taken.attempts, taken.progress_done, taken.error) == ("running", 1, 0, "")
    assert taken.lease_until is not None
    assert taken.lease_until >= before + settings.JOB_LEASE
    assert len(taken.lease_token) == 32


def test_what_is_not_due_or_of_another_kind_is_left_alone() -> None:
    enqueue(kind="test", payload={}, not_before=timezone.now() + timedelta(minutes=1))
    assert leases.take_next(["test"], Turns()) is None
    enqueue(kind="test", payload={})
    assert leases.take_next(["another"], Turns()) is None


def test_finish_writes_effects_and_state_together() -> None:
    enqueue(kind="test", payload={}, total=4)
    job = take()
    claim = Claim(job)
    with claim.finish():
        Event.objects.create(verb="effect", subject_type="x", subject_id="1")
    job.refresh_from_db()
    assert (job.state, job.lease_token, job.lease_until) == (State.DONE, "", None)
    assert job.progress_done == 4
    assert job.finished_at is not None
    assert claim.finished
    assert Event.objects.filter(verb="effect").exists()


def test_an_error_inside_finish_leaves_neither() -> None:
    enqueue(kind="test", payload={})
    claim = Claim(take())

    def fail_in_the_middle() -> None:
        with claim.finish():
            Event.objects.create(verb="effect", subject_type="x", subject_id="1")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_in_the_middle()
    assert not Event.objects.filter(verb="effect").exists()
    assert Job.objects.get().state == State.RUNNING
    assert not claim.finished


@pytest.mark.parametrize("write", [Claim.finish, Claim.keep], ids=["finish", "keep"])
def test_a_lost_lease_leaves_no_effects(
    write: Callable[[Claim], AbstractContextManager[Any]],
) -> None:
    enqueue(kind="test", payload={})
    job = take()
    claim = Claim(job)
    lose(job)
    with pytest.raises(LeaseLost), write(claim):
        Event.objects.create(verb="effect", subject_type="x", subject_id="1")
    assert not Event.objects.filter(verb="effect").exists()
    assert Job.objects.get().state == State.RUNNING, "the second worker still has it"


def test_a_lease_lost_at_the_last_moment_rolls_the_effects_back() -> None:
    enqueue(kind="test", payload={})
    claim = Claim(take())

    def lose_it_in_the_middle() -> None:
        with claim.finish():
            Event.objects.create(verb="effect", subject_type="x", subject_id="1")
            Job.objects.update(lease_token="of another worker")

    with pytest.raises(LeaseLost):
        lose_it_in_the_middle()
    assert not Event.objects.filter(verb="effect").exists()
    assert Job.objects.get().state == State.RUNNING
    assert not claim.finished


def test_a_part_that_is_kept_leaves_the_job_running() -> None:
    enqueue(kind="test", payload={})
    claim = Claim(take())
    with claim.keep() as job:
        Event.objects.create(verb="effect", subject_type="x", subject_id="1")
    assert job.pk == claim.job_id
    assert Job.objects.get().state == State.RUNNING
    assert Event.objects.filter(verb="effect").exists()
    assert not claim.finished


def test_a_job_given_back_is_queued_again_unless_it_was_to_stop() -> None:
    enqueue(kind="test", payload={})
    job = take()
    leases.give_back(job.pk, job.lease_token, reason="the worker stops")
    job.refresh_from_db()
    assert (job.state, job.attempts, job.error) == (State.QUEUED, 0, "the worker stops")

    job = take()
    Job.objects.update(cancel_requested=True)
    leases.give_back(job.pk, job.lease_token, reason="the worker stops")
    job.refresh_from_db()
    assert (job.state, job.lease_token) == (State.CANCELLED, "")


def test_progress_and_cancelled_notice_a_lost_lease() -> None:
    enqueue(kind="test", payload={})
    job = take()
    claim = Claim(job)
    lose(job)
    with pytest.raises(LeaseLost):
        claim.progress(1, 2)
    with pytest.raises(LeaseLost):
        claim.cancelled()


def test_progress_is_stored_but_not_at_every_step(django_assert_max_num_queries: Any) -> None:
    enqueue(kind="test", payload={})
    claim = Claim(take())
    with django_assert_max_num_queries(3):
        for done in range(1, 1001):
            claim.progress(done, 1000)
    job = Job.objects.get()
    assert (job.progress_done, job.progress_total) == (1000, 1000)


def test_progress_without_total_keeps_the_declared_one() -> None:
    enqueue(kind="test", payload={}, total=7)
    Claim(take()).progress(3)
    job = Job.objects.get()
    assert (job.progress_done, job.progress_total) == (3, 7)


def test_cancelled_is_true_once_somebody_asked() -> None:
    enqueue(kind="test", payload={}, group="g")
    claim = Claim(take())
    assert claim.cancelled() is False
    cancel_group("g", None)
    assert claim.cancelled() is True


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"state": "running"}, "job_running_has_lease"),
        ({"attempts": 4}, "job_attempts_bounded"),
    ],
)
def test_the_database_refuses_impossible_rows(change: dict[str, Any], name: str) -> None:
    enqueue(kind="test", payload={})
    with pytest.raises(IntegrityError, match=name):
        Job.objects.update(**change)


class TestReaper:
    def test_takes_up_what_a_dead_worker_left(self) -> None:
        job = enqueue(kind="test", payload={})
        take()
        assert leases.reap() == 0, "the lease is valid"
        Job.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
        assert leases.reap() == 1
        job.refresh_from_db()
        assert (job.state, job.attempts, job.lease_token) == (State.QUEUED, 1, "")
        assert "worker was lost" in job.error
        assert take().pk == job.pk

    def test_fails_what_killed_all_its_workers(self, register: Register) -> None:
        told: list[tuple[dict[str, Any], str]] = []
        register(lambda claim: None, on_failed=lambda *told_of: told.append(told_of))
        job = enqueue(kind="test", payload={"n": 1}, max_attempts=2)
        for _ in range(2):
            take()
            Job.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
            leases.reap()
        job.refresh_from_db()
        assert (job.state, job.attempts) == (State.FAILED, 2)
        assert told == [({"n": 1}, "The worker was lost: its lease expired.")]

    def test_cancels_what_was_to_be_cancelled(self) -> None:
        job = enqueue(kind="test", payload={}, group="g")
        take()
        cancel_group("g", None)
        Job.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
        leases.reap()
        job.refresh_from_db()
        assert job.state == State.CANCELLED

    def test_leaves_a_lease_that_was_renewed_meanwhile(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        enqueue(kind="test", payload={})
        job = take()
        Job.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
        locked = leases._locked

        def renewed_first(job_id: int, token: str) -> Any:
            assert leases.renew(job_id, token)
            return locked(job_id, token)

        monkeypatch.setattr(leases, "_locked", renewed_first)
        assert leases.reap() == 0
        assert Claim(job).cancelled() is False, "the lease still holds"


def test_backoff_grows_and_is_bounded() -> None:
    waits = [leases.backoff(n).total_seconds() for n in (1, 2, 3, 4, 5, 1000)]
    assert waits == [2, 8, 32, 128, 300, 300]


def test_errors_are_described_in_one_short_line() -> None:
    assert leases.describe(ValueError("first\nsecond")) == "ValueError: first"
    assert leases.describe(KeyError()) == "KeyError"
    assert len(leases.describe(ValueError("x" * 10_000))) == leases.ERROR_CHARS


@pytest.mark.django_db(transaction=True)
class TestHeartbeat:
    def test_renews_the_lease_while_the_work_goes_on(self, settings: Any) -> None:
        settings.JOB_LEASE = timedelta(seconds=0.6)
        enqueue(kind="test", payload={})
        job = take()
        with heartbeat(Claim(job)):
            time.sleep(1.2)
            assert leases.reap() == 0
            assert Job.objects.get().lease_until > job.lease_until  # type: ignore[operator]
        claimed_until = Job.objects.get().lease_until
        time.sleep(0.4)
        assert Job.objects.get().lease_until == claimed_until, "and not any longer"

    def test_ends_when_the_lease_is_lost(
        self, settings: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        settings.JOB_LEASE = timedelta(seconds=0.15)
        calls: list[str] = []

        def renew(job_id: int, token: str) -> bool:
            calls.append(token)
            return False

        monkeypatch.setattr(leases, "renew", renew)
        enqueue(kind="test", payload={})
        with heartbeat(Claim(take())):
            time.sleep(0.4)
        assert len(calls) == 1

    def test_goes_on_when_the_database_is_away_for_a_moment(
        self, settings: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        settings.JOB_LEASE = timedelta(seconds=0.3)
        answers: list[Any] = [DatabaseError("database is locked"), True, False]

        def renew(job_id: int, token: str) -> bool:
            answer = answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return bool(answer)

        monkeypatch.setattr(leases, "renew", renew)
        enqueue(kind="test", payload={})
        with heartbeat(Claim(take())):
            time.sleep(0.8)
        assert answers == []
        assert "could not renew the lease: DatabaseError: database is locked" in caplog.text


def test_idempotent_after_done(run_jobs: Callable[[], int]) -> None:
    enqueue(kind="test", payload={})
    assert run_jobs() == 1
    assert run_jobs() == 0
    assert leases.reap() == 0
    assert Job.objects.get().state == State.DONE
