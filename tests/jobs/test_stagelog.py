"""The stage log of a group: each change once, routine events combined, no error messages."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from portal.jobs import leases
from portal.jobs.handlers import Claim, Retry
from portal.jobs.leases import Turns
from portal.jobs.models import Job, JobEvent
from portal.jobs.selectors import kind_of_error, stage_log
from portal.jobs.services import cancel_group, enqueue, enqueue_many, try_again
from portal.jobs.worker import Interrupted, run_due_jobs
from tests.jobs.conftest import Register

pytestmark = pytest.mark.django_db

SECRET = "98,765"
CHUNK: Any = {
    "nouns": ("chunk", "chunks"),
    "label": lambda payload: f"Chunk {payload['n']}",
}


@pytest.fixture
def chunks(register: Register) -> Callable[..., None]:
    def add(run: Callable[[Claim], None] = lambda claim: None, **hooks: Any) -> None:
        register(run, **CHUNK, **hooks)

    add()
    return add


def queue(count: int, **extra: Any) -> list[Job]:
    payloads = [{"n": n} for n in range(1, count + 1)]
    return enqueue_many(kind="test", payloads=payloads, group="g", **extra)


def texts() -> list[str]:
    return [line.text for line in stage_log("g").lines]


def whats() -> list[str]:
    return list(JobEvent.objects.values_list("what", flat=True))


def lose(worker_of: Job) -> None:
    """Its worker dies: the lease runs out."""
    past = timezone.now() - timedelta(seconds=1)
    Job.objects.filter(pk=worker_of.pk).update(lease_until=past)
    assert leases.reap() == 1


def test_a_group_that_fares_well_is_three_lines(chunks: Any) -> None:
    queue(40)
    run_due_jobs()
    assert texts() == ["40 chunks queued", "40 chunks started by 1 worker", "40 chunks done"]
    assert JobEvent.objects.filter(what="queued").count() == 1
    assert JobEvent.objects.filter(what="done", job__isnull=False).count() == 40


def test_ten_thousand_jobs_are_queued_with_one_line(chunks: Any) -> None:
    with CaptureQueriesContext(connection) as asked:
        queue(10_000)
    written = [query for query in asked if 'INTO "jobs_jobevent"' in query["sql"]]
    assert len(written) == 1
    assert texts() == ["10,000 chunks queued"]


def test_jobs_without_a_group_have_a_line_each(chunks: Any) -> None:
    enqueue_many(kind="test", payloads=[{}] * 3)
    assert list(JobEvent.objects.values_list("what", "count")) == [("queued", 1)] * 3
    assert not JobEvent.objects.filter(job=None).exists()


def test_a_lost_worker_is_told_and_who_took_it_up_again(chunks: Any) -> None:
    jobs = queue(2)
    taken = leases.take_next(["test"], Turns())
    assert taken == jobs[0]
    lose(jobs[0])
    run_due_jobs()
    assert texts() == [
        "2 chunks queued",
        "2 chunks started by 1 worker",
        "Chunk 1: the worker was lost in attempt 1",
        "Chunk 1: started again, attempt 2",
        "2 chunks done",
    ]
    lost = next(line for line in stage_log("g").lines if "lost" in line.text)
    assert lost.is_trouble


def test_failed_attempts_name_the_next_try_and_quote_nothing(
    chunks: Callable[..., None], make_due: Callable[[], int]
) -> None:
    def fail(claim: Claim) -> None:
        raise ValueError(f"no match for {SECRET}")

    chunks(fail)
    [job] = queue(1, max_attempts=2)
    run_due_jobs()
    job.refresh_from_db()
    due = f"{job.not_before:%H:%M:%S} UTC"
    assert f"Chunk 1: attempt 1 failed (ValueError), next attempt at {due}" in texts()
    make_due()
    run_due_jobs()
    assert texts()[-1] == "Chunk 1: failed after 2 attempts (ValueError)"
    assert not any(SECRET in text for text in texts())
    assert SECRET in stage_log("g", words=str).lines[-1].text, "staff may read it all"


def test_given_back_with_its_reason(chunks: Callable[..., None]) -> None:
    def wait(claim: Claim) -> None:
        raise Retry(f"Judge busy with {SECRET}", timedelta(minutes=1))

    chunks(wait)
    queue(1)
    run_due_jobs()
    assert "returned to the queue (an error), due again at" in texts()[-1]

    def interrupted(claim: Claim) -> None:
        raise Interrupted

    chunks(interrupted)
    Job.objects.update(not_before=timezone.now())
    with pytest.raises(Interrupted):
        run_due_jobs()
    assert "Chunk 1: returned to the queue (The worker was stopped), due again at" in texts()[-1]


def test_cancelling_is_one_line_for_what_waits_and_one_for_what_runs(
    chunks: Callable[..., None],
) -> None:
    def heed(claim: Claim) -> None:
        cancel_group("g", None)
        cancel_group("g", None)
        assert claim.cancelled()

    chunks(heed, on_cancelled=lambda payload: None)
    queue(5)
    run_due_jobs()
    assert texts() == [
        "5 chunks queued",
        "1 chunk started by 1 worker",
        "4 chunks cancelled before they started",
        "1 chunk asked to stop",
        "Chunk 1: stopped on request",
    ]


def test_trying_again_by_hand_is_told(chunks: Any) -> None:
    [job] = queue(1)
    Job.objects.update(state=Job.State.FAILED, attempts=3)
    try_again(job=job, actor=None)
    assert texts()[-1] == "Chunk 1: queued again manually"


def test_a_change_that_is_rolled_back_leaves_no_line(chunks: Callable[..., None]) -> None:
    def late(claim: Claim) -> None:
        with claim.finish():
            raise ZeroDivisionError

    chunks(late)
    queue(1)
    run_due_jobs()
    assert whats() == ["queued", "claimed", "attempt_failed"]


def test_a_worker_that_lost_its_lease_writes_nothing(chunks: Any) -> None:
    [job] = queue(1)
    stale = leases.take_next(["test"], Turns())
    assert stale is not None
    lose(job)
    before = len(whats())
    leases.attempt_failed(stale.pk, stale.lease_token, "late")
    leases.give_back(stale.pk, stale.lease_token, reason="late")
    leases.cancel(stale.pk, stale.lease_token)
    assert len(whats()) == before


def test_the_log_is_as_cheap_for_many_jobs_as_for_few(
    chunks: Any, django_assert_num_queries: Any
) -> None:
    for count in (2, 60):
        queue(count)
        run_due_jobs()
        with django_assert_num_queries(2):
            assert len(stage_log("g").lines) >= 3


def test_a_log_full_of_trouble_is_cut(chunks: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("portal.jobs.selectors.LINES_SHOWN", 5)
    [job] = queue(1, max_attempts=9)
    for _ in range(4):
        leases.take_next(["test"], Turns())
        lose(job)
    log = stage_log("g")
    assert log.is_cut
    assert [line.text for line in log.lines] == [
        "1 chunk started by 1 worker",
        "Chunk 1: the worker was lost in attempt 2",
        "Chunk 1: started again, attempt 3",
        "Chunk 1: the worker was lost in attempt 3",
        "Chunk 1: started again, attempt 4",
        "Chunk 1: the worker was lost in attempt 4",
    ]


def test_jobs_of_a_kind_that_is_gone_are_called_jobs(register: Register) -> None:
    register(lambda claim: None)
    enqueue(kind="test", payload={}, group="g")
    JobEvent.objects.update(kind="gone")
    assert texts() == ["1 job queued"]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (f"ValueError: {SECRET}", "ValueError"),
        ("KeyError", "KeyError"),
        (f"The total is {SECRET}: wrong", "an error"),
        (leases.LOST, leases.LOST),
        (leases.LOST + f"{leases.HOOK_FAILED}ValueError: {SECRET})", "an error"),
        ("", "an error"),
    ],
)
def test_an_errors_own_words_are_left_out(error: str, said: str) -> None:
    assert kind_of_error(error) == said
