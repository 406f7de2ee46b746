"""What the rest of the site may ask of the queue, and the messages that wake workers.

A lost message costs time only: beat wakes workers anyway.
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
# A message nobody took within this time is worthless: beat has sent newer ones.
EXPIRES_SECONDS = 60
TIMEOUT_SECONDS = 1.0
PAUSE_SECONDS = 5.0


@dataclass
class _Pause:
    """While the broker is away every sender would wait in vain, so for a while none tries."""

    until: float = 0.0


_pause = _Pause()


def wake() -> None:
    """Asks some worker to look for due jobs. Never raises and never waits for long."""
    if monotonic() < _pause.until:
        return
    try:
        _send()
    except Exception as error:  # every transport has errors of its own
        _pause.until = monotonic() + PAUSE_SECONDS
        logger.warning("No wake-up sent, the reaper will take the jobs up: %r", error)


def wake_on_commit() -> None:
    """Sends one message when the present transaction commits, however often it is called before."""
    waiting = transaction.get_connection().run_on_commit
    # A call made inside a savepoint is forgotten with it, and the next call then registers anew.
    if not any(entry[1] is wake for entry in waiting):
        transaction.on_commit(wake, robust=True)


def _send() -> None:
    """Sends over a connection of its own, which gives up at once where a worker's tries on."""
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
    """Queues one job in the caller's transaction and wakes a worker when that commits.

    `total` is the number of steps its progress counts; a job without is one step. Raises
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
    """Queues one job per payload, in that order, with one wake-up for all.

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
    """How many waiting jobs were cancelled and how many running ones were asked to stop."""

    cancelled: int
    asked: int


@transaction.atomic
def cancel_group(group: str, actor: models.Model | None) -> CancelledGroup:
    """Cancels what waits and asks what runs to stop. Raises ValueError for the empty group.

    Call it before changing rows of your own in the same transaction: workers lock the job first and
    then what they work on.
    """
    if not group:
        raise ValueError("jobs without a group cannot be cancelled together")
    jobs = Job.objects.filter(group=group)
    # No job may slip from running back to waiting between the two steps below.
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
    """Row by row only where a handler wants to be told: a group may have thousands of jobs."""
    with_hook = [kind for kind, handler in HANDLERS.items() if handler.on_cancelled]
    told = list(waiting.filter(kind__in=with_hook))
    for job in told:
        leases.settle(job, Job.State.CANCELLED)
    untold = waiting.exclude(kind__in=with_hook).update(
        state=Job.State.CANCELLED, error="", finished_at=timezone.now()
    )
    return len(told) + untold


@transaction.atomic
def try_again(*, job: Job, actor: models.Model | None) -> bool:
    """Queues a failed job anew with all its attempts; False when it is no longer failed."""
    changed = Job.objects.filter(pk=job.pk, state=Job.State.FAILED).update(
        state=Job.State.QUEUED, attempts=0, not_before=timezone.now(), finished_at=None
    )
    if changed:
        note(job, JobEvent.What.TRIED_AGAIN)
        record_event(verb="try_job_again", subject=job, actor=actor)
        wake_on_commit()
    return changed == 1
