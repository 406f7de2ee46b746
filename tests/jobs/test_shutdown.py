"""Stopping a worker."""

import os
import signal
import threading
from collections.abc import Iterator

import pytest

from portal.jobs import tasks
from portal.jobs.handlers import Claim
from portal.jobs.models import Job
from portal.jobs.services import enqueue, enqueue_many
from portal.jobs.worker import Interrupted, _process, _stopping, breakable, heeding, stop_is_asked
from tests.jobs.conftest import Register


@pytest.fixture(autouse=True)
def _running() -> Iterator[None]:
    yield
    _stopping[0] = 0
    _process.end_is_asked = False


def terminate() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def test_a_signal_breaks_off_where_that_is_allowed() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with heeding(signal.SIGTERM):
        with pytest.raises(Interrupted), breakable():
            terminate()
        terminate()  # does nothing more: the tidying up is not to be broken off
        assert stop_is_asked()
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_signal_before_the_block_is_not_forgotten() -> None:
    with heeding(signal.SIGTERM):
        terminate()
        with pytest.raises(Interrupted), breakable():
            raise AssertionError("the block must not be entered")


def test_an_earlier_signal_does_not_stop_the_next_message() -> None:
    with heeding(signal.SIGTERM):
        terminate()
    with heeding(signal.SIGTERM):
        assert not stop_is_asked()


def test_a_thread_works_without_signals() -> None:
    entered = []

    def work() -> None:
        with heeding(signal.SIGTERM), breakable():
            entered.append(threading.current_thread())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert entered == [thread]


@pytest.mark.django_db
def test_a_job_claimed_as_the_signal_comes_is_given_back(
    register: Register, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "wake", terminate)  # called between the claim and the work
    ran: list[int] = []
    register(lambda claim: ran.append(claim.job_id))
    enqueue_many(kind="test", payloads=[{}, {}])
    tasks.run_woken()
    assert ran == []
    assert set(Job.objects.values_list("state", "attempts")) == {(Job.State.QUEUED, 0)}


@pytest.mark.django_db
def test_a_woken_worker_survives_the_interruption_of_its_job(register: Register) -> None:
    def terminated(claim: Claim) -> None:
        terminate()

    register(terminated)
    enqueue(kind="test", payload={})
    tasks.run_woken()
    job = Job.objects.get()
    assert (job.state, job.attempts) == (Job.State.QUEUED, 0)


@pytest.mark.django_db
def test_a_worker_that_is_shutting_down_begins_nothing(register: Register) -> None:
    register(lambda claim: None)
    enqueue_many(kind="test", payloads=[{}, {}])
    tasks._stop_after_this_job()
    tasks.run_woken()
    assert set(Job.objects.values_list("state", flat=True)) == {Job.State.QUEUED}
