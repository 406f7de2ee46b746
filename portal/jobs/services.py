"""What the rest of the site may ask of the queue."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db import models, transaction
from django.utils import timezone

from portal.audit.models import record_event
from portal.jobs import leases
from portal.jobs.events import note, note_group, note_queued
from portal.jobs.handlers import HANDLERS, get_handler
from portal.jobs.models import Job, JobEvent
from portal.jobs.wakeup import wake_on_commit


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
