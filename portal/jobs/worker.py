"""The worker loop: claim and run due jobs until none is left. Also upkeep and shutdown.

Upkeep runs once a minute: pruning, and sweeps registered by apps. A worker that is asked to stop
starts no further job, and may interrupt the current one.
"""

import logging
import mmap
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic

from django.conf import settings
from django.db import close_old_connections, connection, transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from . import leases
from .handlers import HANDLERS, Claim, LeaseLost, Retry
from .leases import Turns, heartbeat
from .models import Job, JobEvent

# One byte of memory shared with the pool's forked processes. Not a multiprocessing.Event, because a
# process killed while it holds the Event's lock would block all others.
_stopping = mmap.mmap(-1, 1)


@dataclass
class _Process:
    """Whether this process was asked to stop, and may be interrupted at this point."""

    end_is_asked: bool = False
    breakable: bool = False


_process = _Process()


class Interrupted(BaseException):
    """Stops the current job, which is queued again."""


def ask_to_stop() -> None:
    """Prevent all processes of this worker from starting another job."""
    _stopping[0] = 1


def stop_is_asked() -> bool:
    """Whether this process must not start another job."""
    return _stopping[0] != 0 or _process.end_is_asked


def hold_back(*signals: signal.Signals) -> None:
    """Block the signals while this pool process is idle.

    Idle processes wait for a lock shared by the pool. A process killed while it acquires that lock
    would never release it, and the worker would hang on shutdown. The worker's main process ends
    idle processes itself.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)


@contextmanager
def heeding(*signals: signal.Signals) -> Iterator[None]:
    """Inside the block, signals ask to stop, and raise Interrupted inside `breakable`.

    Signals blocked by `hold_back` are delivered when the block starts.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # Python handles signals in the main thread only
        return
    _process.end_is_asked = False
    before = {number: signal.signal(number, _end) for number in signals}
    mask = signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def breakable() -> Iterator[None]:
    """Signals raise Interrupted inside this block, even if they arrived just before it."""
    _process.breakable = True
    try:
        if _process.end_is_asked:
            raise Interrupted
        yield
    finally:
        _process.breakable = False


def _end(*_: object) -> None:
    _process.end_is_asked = True
    if _process.breakable:
        _process.breakable = False  # once is enough: only clean-up follows
        raise Interrupted


logger = logging.getLogger(__name__)

EVERY_SECONDS = 60.0
# Small batches, so that other writers do not wait for long.
PRUNE_AT_ONCE = 500


@dataclass
class _Next:
    """The next time of upkeep in this process."""

    at: float = 0.0


_next = _Next()
SWEEPS: list[Callable[[], object]] = []


def sweep(look: Callable[[], object]) -> Callable[[], object]:
    """Register a function that repairs rows of an app that do not match their jobs."""
    if look.__qualname__ not in {known.__qualname__ for known in SWEEPS}:
        SWEEPS.append(look)
    return look


def run_upkeep_when_due() -> None:
    """Never raises, so that it cannot stop the worker."""
    if monotonic() < _next.at:
        return
    _next.at = monotonic() + EVERY_SECONDS
    for look in [_prune_step, *SWEEPS]:
        try:
            look()
        except Exception:
            logger.exception("upkeep: %s failed", look.__qualname__)


def _prune_step() -> None:
    if prune() == PRUNE_AT_ONCE:
        _next.at = 0.0  # there is more to prune: continue at the next opportunity


@transaction.atomic
def prune() -> int:
    """Delete jobs that ended more than JOB_KEEP ago, with their log. Returns the number of jobs.

    A group is deleted as a whole, and never while one of its jobs is waiting or running, so that
    pages show complete groups. Workers that prune simultaneously skip each other's rows.
    """
    kept_from = timezone.now() - settings.JOB_KEEP
    live = Q(state__in=[Job.State.QUEUED, Job.State.RUNNING]) | Q(finished_at__gte=kept_from)
    in_group = Job.objects.filter(live, group=OuterRef("group")).exclude(group="")
    old = Job.objects.filter(finished_at__lt=kept_from).exclude(live).exclude(Exists(in_group))
    chosen = old.order_by("finished_at").select_for_update(skip_locked=True)
    jobs = dict(chosen.values_list("pk", "group")[:PRUNE_AT_ONCE])
    JobEvent.objects.filter(job__in=jobs).delete()
    Job.objects.filter(pk__in=jobs).delete()
    groups = set(jobs.values()) - {""}
    gone = groups - set(Job.objects.filter(group__in=groups).values_list("group", flat=True))
    JobEvent.objects.filter(job=None, group__in=gone).delete()
    return len(jobs)


def never() -> bool:
    return False


def nothing() -> None:
    """The default `on_more`: wakes no other worker."""


def run_due_jobs(
    *, should_stop: Callable[[], bool] = never, on_more: Callable[[], object] = nothing
) -> int:
    """Run due jobs in this process until none is left or `should_stop()`. Returns their number.

    `on_more` is called once, if more jobs are due when the first one is claimed. Workers use it to
    wake further workers.
    """
    turns = Turns()
    count, next_reap = 0, 0.0
    while not should_stop():
        if not connection.in_atomic_block:  # always true in tests
            close_old_connections()
        if monotonic() >= next_reap:
            leases.reap()
            run_upkeep_when_due()
            next_reap = monotonic() + settings.JOB_REAP_EVERY.total_seconds()
        job = leases.take_next(HANDLERS, turns)
        if job is None:
            break
        if count == 0 and Job.objects.due(timezone.now()).exists():
            on_more()
        run_job(job)
        count += 1
    return count


def run_job(job: Job) -> None:
    """Run a claimed job and update its row, even if the handler fails."""
    claim = Claim(job)
    try:
        with breakable(), heartbeat(claim):
            HANDLERS[job.kind].run(claim)
            if not claim.finished and not claim.saw_cancel:
                with claim.finish():
                    pass
    except LeaseLost as lost:
        logger.warning("%s", lost)
    except Retry as retry:
        leases.give_back(job.pk, claim.token, reason=retry.reason, delay=retry.delay)
    except (Interrupted, KeyboardInterrupt):
        _give_back_interrupted(claim)
        raise
    except Exception as error:
        logger.exception("%s failed", claim)
        leases.attempt_failed(job.pk, claim.token, leases.describe(error))
    else:
        if not claim.finished:
            leases.cancel(job.pk, claim.token)


def _give_back_interrupted(claim: Claim) -> None:
    """Queue the job again over a new connection, because the driver may have been interrupted."""
    if not connection.in_atomic_block:
        connection.close()
    logger.info("%s: given back, this worker stops", claim)
    leases.give_back(claim.job_id, claim.token, reason=leases.STOPPED)
