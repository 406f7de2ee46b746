"""The loop of a worker: claim what is due, run it, until nothing is left."""

import logging
from collections.abc import Callable
from time import monotonic

from django.conf import settings
from django.db import close_old_connections, connection
from django.utils import timezone

from portal.jobs import leases, upkeep
from portal.jobs.claims import Claim
from portal.jobs.handlers import HANDLERS, LeaseLost, Retry
from portal.jobs.heartbeat import heartbeat
from portal.jobs.models import Job
from portal.jobs.shutdown import Interrupted, breakable
from portal.jobs.turns import Turns

logger = logging.getLogger(__name__)


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
            upkeep.run_when_due()
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
