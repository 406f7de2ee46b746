"""The loop of a worker: claim what is due, run it, until nothing is left. Its upkeep; its end.

Upkeep, once a minute, is pruning and the apps' own sweeps. A worker that is told to stop begins no
further job, and may break off the one at hand.
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

# One byte shared with the pool's processes, which are forked from the one that gets the signal.
# Plain memory rather than a multiprocessing.Event: a process killed while it holds an Event's lock
# would block all the others.
_stopping = mmap.mmap(-1, 1)


@dataclass
class _Process:
    """What this very process was told, and whether it may be broken off at this point."""

    told_to_end: bool = False
    breakable: bool = False


_process = _Process()


class Interrupted(BaseException):
    """This process is to end now: the job at hand is broken off and its row given back."""


def ask_to_stop() -> None:
    """No process of this worker shall begin another job."""
    _stopping[0] = 1


def stop_is_asked() -> bool:
    """Whether this process should begin no further job."""
    return _stopping[0] != 0 or _process.told_to_end


def hold_back(*signals: signal.Signals) -> None:
    """Keeps the signals waiting while this process of the pool is idle.

    It waits for work at a lock that the whole pool shares. A signal to the process group that ended
    it in the moment of getting that lock would leave the lock taken for ever, and the worker would
    hang in its shutdown. Nothing is lost by waiting: the worker's main process ends its idle
    processes itself.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)


@contextmanager
def heeding(*signals: signal.Signals) -> Iterator[None]:
    """Inside the block the signals ask to stop, and raise Interrupted where that is `breakable`.

    Signals that were held back until then (`hold_back`) come through when the block begins.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # Python handles signals in the main thread only
        return
    _process.told_to_end = False
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
    """A block that a signal may leave with Interrupted, also one that came just before it."""
    _process.breakable = True
    try:
        if _process.told_to_end:
            raise Interrupted
        yield
    finally:
        _process.breakable = False


def _end(*_: object) -> None:
    _process.told_to_end = True
    if _process.breakable:
        _process.breakable = False  # once is enough: what follows is tidying up
        raise Interrupted


logger = logging.getLogger(__name__)

EVERY_SECONDS = 60.0
# So few at a time that no other writer waits for long.
PRUNE_AT_ONCE = 500


@dataclass
class _Next:
    """When this process looks again."""

    at: float = 0.0


_next = _Next()
SWEEPS: list[Callable[[], object]] = []


def sweep(look: Callable[[], object]) -> Callable[[], object]:
    """Registers a function that finds and settles what an app's rows and its jobs disagree on."""
    if look.__qualname__ not in {known.__qualname__ for known in SWEEPS}:
        SWEEPS.append(look)
    return look


def run_upkeep_when_due() -> None:
    """Never raises: the jobs matter more than the tidying."""
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
        _next.at = 0.0  # there is more: the next step follows with the next look for lost jobs


@transaction.atomic
def prune() -> int:
    """Removes jobs that ended more than JOB_KEEP ago, with their log; returns how many.

    A group goes as one, when its last job ended so long ago, and never while a job of it waits or
    runs: what a page says of a group is then true or gone. Two workers that prune at the same time
    skip each other's rows.
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
    """Nobody else is to be told that there is more to do."""


def run_due_jobs(
    *, should_stop: Callable[[], bool] = never, on_more: Callable[[], object] = nothing
) -> int:
    """Runs due jobs in this process until none is left or `should_stop()`; returns how many it ran.

    `on_more` is called once, when the first job is claimed and others are due as well: a worker
    passes the word on, so that one wake-up message rouses as many workers as there is work for.
    """
    turns = Turns()
    count, next_reap = 0, 0.0
    while not should_stop():
        if not connection.in_atomic_block:  # as it is in a test
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
    """Runs a claimed job and settles its row, whatever the handler does."""
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
    """It may have struck inside the database driver: the row is given back by a new connection."""
    if not connection.in_atomic_block:
        connection.close()
    logger.info("%s: given back, this worker stops", claim)
    leases.give_back(claim.job_id, claim.token, reason=leases.STOPPED)
