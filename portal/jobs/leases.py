"""The order of jobs, and all changes of a job's state except completion (`Claim.finish`).

Each change is a conditional update or happens under the row's lock, so that only one worker can
succeed. Hosts compare leases with their own clocks, which must agree to within a fraction of
JOB_LEASE. `heartbeat` renews a lease while a handler runs.
"""

import logging
import threading
import uuid
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import F, Min
from django.utils import timezone

from .handlers import HANDLERS, Claim
from .models import Job, JobEvent, note, worker_name

# After this many finishing jobs in a row, another job gets a turn, so that it cannot starve.
FINISHING_IN_A_ROW = 4


@dataclass(frozen=True)
class Head:
    """A group's oldest due job of one kind."""

    group: str
    kind: str
    job_id: int

    @property
    def is_finishing(self) -> bool:
        handler = HANDLERS.get(self.kind)
        return handler is not None and handler.is_finishing


def due_heads(kinds: Collection[str], now: datetime) -> list[Head]:
    """The oldest due job of each group and kind. One query, however many jobs are due."""
    due = Job.objects.due(now).filter(kind__in=kinds).order_by()
    firsts = due.values("group", "kind").annotate(first=Min("id"))
    return [Head(*row) for row in firsts.values_list("group", "kind", "first")]


@dataclass
class Turns:
    """A worker's record of served groups, which decides the order of jobs.

    Finishing jobs go first. Otherwise groups take turns, least recently served first, so that a
    large group does not delay small ones.
    """

    served: dict[str, int] = field(default_factory=dict)
    finishing: int = 0
    """Finishing jobs taken in a row."""

    def order(self, heads: Iterable[Head]) -> list[Head]:
        is_break_due = self.finishing >= FINISHING_IN_A_ROW

        def place(head: Head) -> tuple[bool, int, int]:
            is_later = head.is_finishing is is_break_due
            return is_later, self.served.get(head.group, -1), head.job_id

        return sorted(heads, key=place)

    def took(self, head: Head) -> None:
        self.served[head.group] = max(self.served.values(), default=-1) + 1
        self.finishing = self.finishing + 1 if head.is_finishing else 0


logger = logging.getLogger(__name__)

BACKOFF_FIRST = timedelta(seconds=2)
BACKOFF_FACTOR = 4
BACKOFF_MOST = timedelta(minutes=5)
REAP_AT_ONCE = 100
ERROR_CHARS = 500
LOST = "The worker was lost: its lease expired."
STOPPED = "The worker was stopped."
HOOK_FAILED = " (and the hook: "


def backoff(attempts: int) -> timedelta:
    """The delay after the given number of failed attempts (1 or more): 2 s, 8 s, 32 s … 5 min."""
    # The exponent is bounded so that the timedelta cannot overflow.
    factor: int = BACKOFF_FACTOR ** min(attempts - 1, 10)
    return min(BACKOFF_FIRST * factor, BACKOFF_MOST)


def describe(error: BaseException) -> str:
    """The type and first line of an error, for the row; the traceback is logged."""
    first = next(iter(str(error).strip().splitlines()), "")
    text = f"{type(error).__name__}: {first}" if first else type(error).__name__
    return text if len(text) <= ERROR_CHARS else text[: ERROR_CHARS - 1] + "…"


def take_next(kinds: Collection[str], turns: Turns) -> Job | None:
    """Claim one due job of these kinds, in the order of `turns`. Returns None if none is due."""
    while heads := due_heads(kinds, timezone.now()):
        for head in turns.order(heads):
            if job := _claim(head.job_id):
                turns.took(head)
                return job
    return None


@transaction.atomic
def _claim(job_id: int) -> Job | None:
    """Return the job with a new lease, or None if another worker was faster."""
    now, token = timezone.now(), uuid.uuid4().hex
    changed = (
        Job.objects.due(now)
        .filter(pk=job_id)
        .update(
            state=Job.State.RUNNING,
            lease_token=token,
            lease_until=now + settings.JOB_LEASE,
            attempts=F("attempts") + 1,
            progress_done=0,
            error="",
            started_at=now,
            worker=worker_name(),
        )
    )
    if changed != 1:
        return None
    job = Job.objects.get(pk=job_id)
    note(job, JobEvent.What.CLAIMED)
    return job


def renew(job_id: int, token: str) -> bool:
    """Renew the lease. Returns False if it is lost."""
    until = timezone.now() + settings.JOB_LEASE
    return Job.objects.held(job_id, token).update(lease_until=until) == 1


@contextmanager
def _locked(job_id: int, token: str) -> Iterator[Job | None]:
    """Open a transaction with the current row, locked; None if the lease is lost."""
    with transaction.atomic():
        yield Job.objects.select_for_update().held(job_id, token).first()


def give_back(job_id: int, token: str, *, reason: str, delay: timedelta = timedelta(0)) -> None:
    """Queue the job again without counting the attempt."""
    with _locked(job_id, token) as job:
        if job is None:
            return
        if job.cancel_requested:
            end(job, Job.State.CANCELLED)
            return
        not_before = timezone.now() + delay
        note(job, JobEvent.What.GIVEN_BACK, error=reason, next_at=not_before)
        job.attempts -= 1
        _queue_again(job, not_before, reason)


def attempt_failed(job_id: int, token: str, error: str) -> None:
    """Queue the job again after a delay, or mark it as failed after its last attempt."""
    with _locked(job_id, token) as job:
        if job is None or _ended(job, error):
            return
        not_before = timezone.now() + backoff(job.attempts)
        note(job, JobEvent.What.ATTEMPT_FAILED, error=error, next_at=not_before)
        _queue_again(job, not_before, error)


def cancel(job_id: int, token: str) -> None:
    """Cancel a running job whose handler stopped when asked to."""
    with _locked(job_id, token) as job:
        if job is not None:
            end(job, Job.State.CANCELLED)


def reap() -> int:
    """Queue jobs again whose workers stopped renewing the lease. Returns the number of jobs."""
    abandoned = Job.objects.abandoned(timezone.now()).values_list("pk", "lease_token")
    count = 0
    for job_id, token in abandoned[:REAP_AT_ONCE]:
        with _locked(job_id, token) as job:
            # The worker may have renewed its lease since the query.
            if job is None or job.lease_until is None or job.lease_until >= timezone.now():
                continue
            logger.warning("%s: its worker was lost, attempt %s", job, job.attempts)
            note(job, JobEvent.What.LOST)
            if not _ended(job, LOST):
                _queue_again(job, timezone.now(), LOST)
            count += 1
    return count


def _ended(job: Job, error: str) -> bool:
    """End a job that was cancelled or has no attempts left. Returns False for other jobs."""
    if job.cancel_requested:
        end(job, Job.State.CANCELLED)
    elif job.attempts >= job.max_attempts:
        end(job, Job.State.FAILED, error)
    else:
        return False
    return True


def _queue_again(job: Job, not_before: datetime, error: str) -> None:
    """Queue a locked job again; the error explains the reason."""
    job.state, job.not_before, job.error = Job.State.QUEUED, not_before, error
    job.lease_token, job.lease_until = "", None
    job.save()


def end(job: Job, state: Job.State, error: str = "") -> None:
    """End a locked job without success, and log it."""
    note(job, JobEvent.What(state), error=error)
    settle(job, state, error)


def settle(job: Job, state: Job.State, error: str = "") -> None:
    """End a locked job and run the app's hook in the same transaction, after the update."""
    job.state, job.error, job.finished_at = state, error, timezone.now()
    job.lease_token, job.lease_until = "", None
    job.save()
    try:
        with transaction.atomic():
            _call_hook(job)
    except Exception as fault:
        # A hook that always fails must not prevent the job from ending.
        logger.exception("%s: its %s hook failed", job, state)
        job.error = f"{error}{HOOK_FAILED}{describe(fault)})".strip()
        job.save(update_fields=["error"])


def _call_hook(job: Job) -> None:
    handler = HANDLERS.get(job.kind)
    if handler is None:
        return
    if job.state == Job.State.FAILED and handler.on_failed:
        handler.on_failed(job.payload, job.error)
    if job.state == Job.State.CANCELLED and handler.on_cancelled:
        handler.on_cancelled(job.payload)


@contextmanager
def heartbeat(claim: Claim) -> Iterator[None]:
    """Renew the lease every third of JOB_LEASE in a thread, until the block ends.

    A handler that blocks the interpreter for longer than two thirds of JOB_LEASE loses its lease.
    `Claim.finish` then raises LeaseLost, and another attempt runs.
    """
    stop = threading.Event()
    thread = threading.Thread(target=_beat, args=(claim, stop), name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _beat(claim: Claim, stop: threading.Event) -> None:
    interval = settings.JOB_LEASE.total_seconds() / 3
    try:
        while not stop.wait(interval) and _renewed(claim):
            pass
    finally:
        connection.close()  # each thread must close its own connection


def _renewed(claim: Claim) -> bool:
    """Returns False if the lease is lost. Database errors are logged and retried later."""
    try:
        return renew(claim.job_id, claim.token)
    except DatabaseError as error:
        logger.warning("%s: could not renew the lease: %s", claim, describe(error))
        connection.close()
        return True
