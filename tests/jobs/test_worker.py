"""The state of jobs after their handlers succeed, fail or crash."""

import os
import signal
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from portal.audit.models import Event
from portal.jobs.handlers import HANDLERS, Claim, Retry, handler
from portal.jobs.models import Job
from portal.jobs.services import cancel_group, enqueue, enqueue_many
from portal.jobs.worker import Interrupted, _process, run_due_jobs
from tests.jobs.conftest import Register

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _no_end_is_asked() -> Iterator[None]:
    yield
    _process.end_is_asked = False


State = Job.State


def effect(name: str) -> None:
    Event.objects.create(verb=name, subject_type="x", subject_id="1")


def effects(name: str) -> int:
    return Event.objects.filter(verb=name).count()


def test_a_handler_gets_its_payload_and_attempt(register: Register) -> None:
    seen: list[tuple[Any, int]] = []
    register(lambda claim: seen.append((claim.payload, claim.attempt)))
    enqueue(kind="test", payload={"grading": 3})
    assert run_due_jobs() == 1
    assert seen == [({"grading": 3}, 1)]


def test_a_handler_that_just_returns_is_done(register: Register) -> None:
    register(lambda claim: None)
    job = enqueue(kind="test", payload={})
    run_due_jobs()
    job.refresh_from_db()
    assert (job.state, job.attempts, job.error) == (State.DONE, 1, "")


def test_every_real_handler_is_registered_at_start() -> None:
    assert "import_files" in HANDLERS


def test_two_handlers_of_one_kind_are_refused(register: Register) -> None:
    def one(claim: Claim) -> None: ...
    def another(claim: Claim) -> None: ...

    register(one)
    handler("test")(one)  # a module imported twice does no harm
    with pytest.raises(ValueError, match="two handlers for jobs of kind 'test'"):
        handler("test")(another)


class TestFailure:
    @pytest.fixture(autouse=True)
    def _failing(self, register: Register) -> None:
        def fail(claim: Claim) -> None:
            with claim.finish():
                effect("half done")
                raise ValueError("line 3: not a number\nwith details")

        def failed(payload: dict[str, Any], error: str) -> None:
            effect(f"failed {payload['n']}: {error}")

        register(fail, on_failed=failed)

    def test_waits_before_the_next_attempt(self) -> None:
        job = enqueue(kind="test", payload={"n": 1})
        assert run_due_jobs() == 1, "the second attempt is not due yet"
        job.refresh_from_db()
        assert (job.state, job.attempts) == (State.QUEUED, 1)
        assert job.error == "ValueError: line 3: not a number"
        wait = (job.not_before - timezone.now()).total_seconds()
        assert 0 < wait <= 2
        assert effects("half done") == 0

    def test_ends_after_the_last_attempt_and_tells_the_app(
        self, make_due: Callable[[], int]
    ) -> None:
        job = enqueue(kind="test", payload={"n": 1}, max_attempts=3)
        for _ in range(5):
            run_due_jobs()
            make_due()
        job.refresh_from_db()
        assert (job.state, job.attempts) == (State.FAILED, 3)
        assert job.finished_at is not None
        assert effects("failed 1: ValueError: line 3: not a number") == 1
        assert effects("half done") == 0

    def test_is_no_failure_any_more_when_somebody_cancelled(self) -> None:
        job = enqueue(kind="test", payload={"n": 1}, group="g")
        Job.objects.update(cancel_requested=True)
        run_due_jobs()
        job.refresh_from_db()
        assert job.state == State.CANCELLED

    def test_logs_the_whole_traceback(self, caplog: pytest.LogCaptureFixture) -> None:
        enqueue(kind="test", payload={"n": 1})
        run_due_jobs()
        assert "with details" in caplog.text
        assert "Traceback" in caplog.text


def test_a_hook_that_fails_does_not_keep_its_job_alive(register: Register) -> None:
    def fail(claim: Claim) -> None:
        raise ValueError("bad")

    def broken(payload: dict[str, Any], error: str) -> None:
        effect("from the hook")
        raise KeyError("worse")

    register(fail, on_failed=broken)
    job = enqueue(kind="test", payload={}, max_attempts=1)
    run_due_jobs()
    job.refresh_from_db()
    assert job.state == State.FAILED
    assert job.error == "ValueError: bad (and the hook: KeyError: 'worse')"
    assert effects("from the hook") == 0


def test_an_error_after_finish_changes_nothing(register: Register) -> None:
    def late(claim: Claim) -> None:
        with claim.finish():
            effect("done")
        raise ValueError("too late")

    register(late)
    job = enqueue(kind="test", payload={})
    run_due_jobs()
    job.refresh_from_db()
    assert (job.state, job.error) == (State.DONE, "")
    assert effects("done") == 1


def test_retry_gives_the_row_back_without_using_an_attempt(
    register: Register, make_due: Callable[[], int]
) -> None:
    def wait(claim: Claim) -> None:
        raise Retry("The judge is busy.", timedelta(minutes=2))

    register(wait)
    job = enqueue(kind="test", payload={}, max_attempts=1)
    for _ in range(3):
        assert run_due_jobs() == 1
        job.refresh_from_db()
        assert (job.state, job.attempts, job.error) == (State.QUEUED, 0, "The judge is busy.")
        assert 100 < (job.not_before - timezone.now()).total_seconds() <= 120
        make_due()


def test_a_handler_that_heeds_the_wish_to_stop_is_cancelled(register: Register) -> None:
    def stop(claim: Claim) -> None:
        cancel_group("g", None)
        if claim.cancelled():
            return
        raise AssertionError("not asked to stop")

    register(stop, on_cancelled=lambda payload: effect(f"cancelled {payload['n']}"))
    job = enqueue(kind="test", payload={"n": 5}, group="g")
    run_due_jobs()
    job.refresh_from_db()
    assert (job.state, job.error) == (State.CANCELLED, "")
    assert effects("cancelled 5") == 1


def test_a_worker_that_lost_its_lease_leaves_the_row_to_the_other(register: Register) -> None:
    def outlived(claim: Claim) -> None:
        Job.objects.update(lease_token="of another worker")
        with claim.finish():
            effect("double")

    register(outlived)
    job = enqueue(kind="test", payload={})
    run_due_jobs()
    job.refresh_from_db()
    assert (job.state, job.lease_token) == (State.RUNNING, "of another worker")
    assert effects("double") == 0


@pytest.mark.parametrize("interruption", [Interrupted, KeyboardInterrupt])
def test_an_interrupted_job_is_given_back(
    register: Register, interruption: type[BaseException]
) -> None:
    def interrupted(claim: Claim) -> None:
        with claim.finish():
            effect("half done")
            raise interruption

    register(interrupted)
    job = enqueue(kind="test", payload={}, max_attempts=1)
    with pytest.raises(interruption):
        run_due_jobs()
    job.refresh_from_db()
    assert (job.state, job.attempts) == (State.QUEUED, 0)
    assert effects("half done") == 0


class TestLoop:
    @pytest.fixture(autouse=True)
    def _lost_kind(self, register: Register) -> None:
        register(lambda claim: None, "lost")

    def test_takes_groups_in_turn(self, register: Register) -> None:
        order: list[str] = []
        register(lambda claim: order.append(claim.payload["name"]))
        for group, count in (("big", 6), ("small", 2), ("", 1)):
            enqueue_many(
                kind="test",
                payloads=[{"name": f"{group}{n}"} for n in range(count)],
                group=group,
            )
        assert run_due_jobs() == 9
        assert order == ["big0", "small0", "0", "big1", "small1", "big2", "big3", "big4", "big5"]

    def test_passes_the_word_on_once_when_there_is_more(self, register: Register) -> None:
        register(lambda claim: None)
        calls: list[int] = []

        def on_more() -> None:
            calls.append(Job.objects.due(timezone.now()).count())

        enqueue(kind="test", payload={})
        run_due_jobs(on_more=on_more)
        assert calls == []
        enqueue_many(kind="test", payloads=[{}] * 4)
        run_due_jobs(on_more=on_more)
        assert calls == [3]

    def test_stops_after_the_present_job(self, register: Register) -> None:
        register(lambda claim: None)
        enqueue_many(kind="test", payloads=[{}] * 4)
        answers = iter([False, False, True])
        assert run_due_jobs(should_stop=lambda: next(answers)) == 2
        assert Job.objects.filter(state=State.QUEUED).count() == 2

    @pytest.mark.parametrize(("reap_every", "run"), [(0, 2), (3600, 1)])
    def test_takes_up_lost_jobs_while_it_is_busy(
        self, register: Register, settings: Any, reap_every: int, run: int
    ) -> None:
        settings.JOB_REAP_EVERY = timedelta(seconds=reap_every)
        later = timezone.now() + timedelta(hours=1)
        lost = enqueue(kind="lost", payload={}, not_before=later)

        def meanwhile_another_worker_dies(claim: Claim) -> None:
            Job.objects.filter(pk=lost.pk).update(
                state=State.RUNNING,
                attempts=1,
                lease_token="dead",
                lease_until=timezone.now() - timedelta(seconds=1),
            )

        register(meanwhile_another_worker_dies)
        enqueue(kind="test", payload={})
        assert run_due_jobs() == run


def test_run_jobs_command_says_how_many(
    register: Register, capsys: pytest.CaptureFixture[str]
) -> None:
    register(lambda claim: None)
    enqueue_many(kind="test", payloads=[{}, {}, {}])
    call_command("run_jobs")
    assert capsys.readouterr().out == "Jobs run: 3\n"


def test_run_jobs_forever_ends_when_told_to(
    register: Register, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(claim: Claim) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    register(interrupted)
    enqueue(kind="test", payload={})
    call_command("run_jobs", forever=True)
    assert capsys.readouterr().out == "Stopped.\n"
    assert Job.objects.get().state == State.QUEUED
