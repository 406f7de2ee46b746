"""Queueing, cancelling and retrying jobs, and waking workers.

If a wake-up message is lost, beat wakes the workers later.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from time import monotonic
from typing import Any, NamedTuple

from django.conf import settings
from django.db import models, transaction
from django.utils import timezone

from portal.audit.models import record_event
from portal.celery import app

from . import leases
from .handlers import HANDLERS, get_handler
from .models import Job, JobEvent, note, note_group, note_queued

logger = logging.getLogger(__name__)

TASK = "portal.jobs.wake"
# Older messages are useless: beat has sent newer ones.
EXPIRES_SECONDS = 60
TIMEOUT_SECONDS = 1.0
PAUSE_SECONDS = 5.0


@dataclass
class _Pause:
    """Skips sending for a while after the broker failed, to avoid waiting for timeouts."""

    until: float = 0.0


_pause = _Pause()


def wake() -> None:
    """Wake a worker to look for due jobs. Never raises, and never blocks for long."""
    if monotonic() < _pause.until:
        return
    try:
        _send()
    except Exception as error:  # each transport raises its own errors
        _pause.until = monotonic() + PAUSE_SECONDS
        logger.warning("No wake-up sent, the reaper will find the jobs: %r", error)


def wake_on_commit() -> None:
    """Send one message when the current transaction commits, even if called several times."""
    waiting = transaction.get_connection().run_on_commit
    # If a savepoint with a call is rolled back, the next call registers again.
    if not any(entry[1] is wake for entry in waiting):
        transaction.on_commit(wake, robust=True)


def _send() -> None:
    """Send over a separate connection that does not retry."""
    options = {
        "max_retries": 0,
        "socket_timeout": TIMEOUT_SECONDS,
        "socket_connect_timeout": TIMEOUT_SECONDS,
    }
    with app.connection_for_write(
        settings.CELERY_BROKER_URL, connect_timeout=TIMEOUT_SECONDS, transport_options=options
    ) as connection:
        app.send_task(TASK, connection=connection, retry=False, expires=EXPIRES_SECONDS)


def enqueue(
    *,
    kind: str,
    payload: Mapping[str, Any],
    group: str = "",
    total: int = 0,
    not_before: datetime | None = None,
    max_attempts: int = 3,
) -> Job:
    """Queue one job in the caller's transaction, and wake a worker when it commits.

    `total` is the number of steps of its progress; a job without a total is one step. Raises
    UnknownKind.
    """
    [job] = enqueue_many(
        kind=kind,
        payloads=[payload],
        group=group,
        totals=[total],
        not_before=not_before,
        max_attempts=max_attempts,
    )
    return job


def enqueue_many(
    *,
    kind: str,
    payloads: Sequence[Mapping[str, Any]],
    group: str = "",
    totals: Sequence[int] | None = None,
    not_before: datetime | None = None,
    max_attempts: int = 3,
) -> list[Job]:
    """Queue one job per payload, in order, with a single wake-up.

    `totals` gives each job's number of steps and must be as long as `payloads`. Raises UnknownKind.
    """
    get_handler(kind)
    jobs = [
        Job(
            kind=kind,
            payload=dict(payload),
            group=group,
            progress_total=total,
            not_before=not_before or timezone.now(),
            max_attempts=max_attempts,
        )
        for payload, total in zip(payloads, totals or [0] * len(payloads), strict=True)
    ]
    with transaction.atomic():
        created = Job.objects.bulk_create(jobs, batch_size=500)
        note_queued(created)
        wake_on_commit()
    return created


class CancelledGroup(NamedTuple):
    """The number of waiting jobs that were cancelled and of running jobs asked to stop."""

    cancelled: int
    asked: int


@transaction.atomic
def cancel_group(group: str, actor: models.Model | None) -> CancelledGroup:
    """Cancel waiting jobs and ask running jobs to stop. Raises ValueError for an empty group.

    Call it before changing other rows in the same transaction, because workers lock the job first.
    """
    if not group:
        raise ValueError("jobs without a group cannot be cancelled together")
    jobs = Job.objects.filter(group=group)
    # The lock prevents jobs from changing from running to waiting between the two steps below.
    list(jobs.unfinished().select_for_update().values_list("pk"))
    waiting, running = jobs.filter(state=Job.State.QUEUED), jobs.filter(state=Job.State.RUNNING)
    note_group(group, JobEvent.What.CANCELLED, _by_kind(waiting))
    note_group(group, JobEvent.What.CANCEL_ASKED, _by_kind(running.exclude(cancel_requested=True)))
    cancelled = _cancel_waiting(waiting)
    asked = running.update(cancel_requested=True)
    first = jobs.first()
    if first is not None:
        record_event(
            verb="cancel_jobs",
            subject=first,
            actor=actor,
            group=group,
            cancelled=cancelled,
            asked=asked,
        )
    return CancelledGroup(cancelled, asked)


def _by_kind(jobs: models.QuerySet[Job]) -> dict[str, int]:
    counted = jobs.order_by().values("kind").annotate(jobs=models.Count("id"))
    return {row["kind"]: row["jobs"] for row in counted}


def _cancel_waiting(waiting: models.QuerySet[Job]) -> int:
    """Updates in bulk, except for kinds with an `on_cancelled` hook."""
    kinds = [kind for kind, handler in HANDLERS.items() if handler.on_cancelled]
    hooked = list(waiting.filter(kind__in=kinds))
    for job in hooked:
        leases.settle(job, Job.State.CANCELLED)
    others = waiting.exclude(kind__in=kinds).update(
        state=Job.State.CANCELLED, error="", finished_at=timezone.now()
    )
    return len(hooked) + others


@transaction.atomic
def try_again(*, job: Job, actor: models.Model | None) -> bool:
    """Queue a failed job again with all its attempts. Returns False if it is not failed."""
    changed = Job.objects.filter(pk=job.pk, state=Job.State.FAILED).update(
        state=Job.State.QUEUED, attempts=0, not_before=timezone.now(), finished_at=None
    )
    if changed:
        note(job, JobEvent.What.TRIED_AGAIN)
        record_event(verb="try_job_again", subject=job, actor=actor)
        wake_on_commit()
    return changed == 1
