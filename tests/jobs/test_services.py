"""Enqueueing, waking, cancelling, trying again."""

import logging
import socket
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.db import transaction

from portal.accounts.models import User
from portal.audit.models import Event
from portal.celery import app
from portal.jobs.handlers import Claim, UnknownKind
from portal.jobs.models import Job
from portal.jobs.services import _Pause, cancel_group, enqueue, enqueue_many, try_again, wake
from tests.jobs.conftest import Register

pytestmark = pytest.mark.django_db
State = Job.State


def do_nothing(claim: Claim) -> None:
    """A handler without effects."""


@pytest.fixture(autouse=True)
def _kind(register: Register, monkeypatch: pytest.MonkeyPatch) -> None:
    register(do_nothing)
    monkeypatch.setattr("portal.jobs.services._pause", _Pause())


def test_enqueue_writes_a_due_row() -> None:
    job = enqueue(kind="test", payload={"grading": 7}, group="grading:7", total=25)
    job.refresh_from_db()
    assert (job.state, job.payload, job.group) == (State.QUEUED, {"grading": 7}, "grading:7")
    assert (job.attempts, job.max_attempts, job.progress_total) == (0, 3, 25)
    assert job.lease_token == ""


def test_enqueue_names_the_nearest_kind(register: Register) -> None:
    register(do_nothing, "grade_chunk")
    with pytest.raises(UnknownKind, match="'grade_chunks'; did you mean 'grade_chunk'"):
        enqueue(kind="grade_chunks", payload={})
    assert not Job.objects.exists()


def test_enqueue_many_keeps_order_and_totals() -> None:
    jobs = enqueue_many(kind="test", payloads=[{"n": 1}, {"n": 2}], totals=[25, 3], group="g")
    stored = Job.objects.order_by("pk").values_list("pk", "payload", "progress_total")
    assert list(stored) == [(jobs[0].pk, {"n": 1}, 25), (jobs[1].pk, {"n": 2}, 3)]


def test_enqueue_many_refuses_totals_of_another_length() -> None:
    with pytest.raises(ValueError, match="shorter"):
        enqueue_many(kind="test", payloads=[{}, {}], totals=[1])


def test_many_enqueues_in_one_transaction_send_one_message(
    django_capture_on_commit_callbacks: Any,
) -> None:
    with django_capture_on_commit_callbacks() as callbacks, transaction.atomic():
        for _ in range(5):
            enqueue(kind="test", payload={})
        enqueue_many(kind="test", payloads=[{}, {}])
    assert callbacks == [wake]


def test_a_rolled_back_savepoint_does_not_swallow_the_wake_up(
    django_capture_on_commit_callbacks: Any,
) -> None:
    with django_capture_on_commit_callbacks() as callbacks:
        with transaction.atomic():
            enqueue(kind="test", payload={})
            transaction.set_rollback(True)
        enqueue(kind="test", payload={})
    assert callbacks == [wake]
    assert Job.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_wake_up_is_sent_when_the_transaction_commits_and_not_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent: list[int] = []
    monkeypatch.setattr("portal.jobs.services._send", lambda: sent.append(Job.objects.count()))
    with transaction.atomic():
        enqueue(kind="test", payload={})
        assert sent == []
    assert sent == [1]


@pytest.mark.parametrize("scheme", ["redis", "amqp"])
def test_a_broker_that_is_down_neither_fails_nor_delays(
    scheme: str, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.CELERY_BROKER_URL = f"{scheme}://127.0.0.1:1/"
    start = time.monotonic()
    wake()
    assert time.monotonic() - start < 1
    assert "No wake-up sent" in caplog.text
    assert "refused" in caplog.text


@pytest.mark.parametrize("scheme", ["redis", "amqp"])
def test_a_broker_that_is_silent_delays_for_a_moment_only_and_once(
    scheme: str, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings.CELERY_BROKER_URL = f"{scheme}://127.0.0.1:{silent.getsockname()[1]}/"
        start = time.monotonic()
        wake()
        first = time.monotonic() - start
        for _ in range(10):
            wake()
        further = time.monotonic() - start - first
    assert first < 3
    assert further < 0.1
    assert len([r for r in caplog.records if r.levelno == logging.WARNING]) == 1


def test_a_message_reaches_the_broker(settings: Any) -> None:
    settings.CELERY_BROKER_URL = "memory://"
    with app.connection_for_read("memory://") as connection:
        queue = connection.SimpleQueue("celery")
        queue.clear()
        wake()
        message = queue.get(timeout=1)
        message.ack()
    assert message.headers["task"] == "portal.jobs.wake"
    assert message.headers["expires"]


def _in_state(state: str, **extra: Any) -> Job:
    job = enqueue(kind="test", payload={"n": 1}, group="g")
    Job.objects.filter(pk=job.pk).update(state=state, **extra)
    return job


def test_cancel_group_cancels_what_waits_and_asks_what_runs(
    register: Register, organiser: User
) -> None:
    told: list[dict[str, Any]] = []
    register(do_nothing, on_cancelled=told.append)
    register(do_nothing, "quiet")
    waiting, done = _in_state(State.QUEUED), _in_state(State.DONE)
    quiet = enqueue(kind="quiet", payload={}, group="g")
    running = _in_state(State.RUNNING, lease_token="t", lease_until="2100-01-01T00:00Z")
    other = enqueue(kind="test", payload={}, group="other")

    assert cancel_group("g", organiser) == (2, 1)

    states = dict(Job.objects.values_list("pk", "state"))
    assert states[waiting.pk] == State.CANCELLED
    assert states[quiet.pk] == State.CANCELLED
    assert states[done.pk] == State.DONE
    assert states[running.pk] == State.RUNNING
    assert states[other.pk] == State.QUEUED
    assert Job.objects.get(cancel_requested=True).pk == running.pk
    assert told == [{"n": 1}]
    event = Event.objects.get(verb="cancel_jobs")
    assert event.actor_id == organiser.pk
    assert event.data == {"group": "g", "cancelled": 2, "asked": 1}


def test_cancel_group_refuses_the_empty_group(organiser: User) -> None:
    job = enqueue(kind="test", payload={})
    with pytest.raises(ValueError, match="without a group"):
        cancel_group("", organiser)
    job.refresh_from_db()
    assert job.state == State.QUEUED


def test_try_again_queues_a_failed_job_with_all_its_attempts(
    organiser: User, run_jobs: Callable[[], int]
) -> None:
    job = _in_state(State.FAILED, attempts=3, error="ValueError: bad")
    assert try_again(job=job, actor=organiser)
    assert not try_again(job=job, actor=organiser), "the second press of the button does nothing"
    run_jobs()
    job.refresh_from_db()
    assert (job.state, job.attempts, job.error) == (State.DONE, 1, "")
    assert Event.objects.filter(verb="try_job_again").count() == 1
