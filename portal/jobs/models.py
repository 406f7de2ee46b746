"""The job queue and its stage log. Log entries are written in the transaction of the change."""

import os
import socket
from collections.abc import Sequence
from datetime import datetime
from typing import Generic, Self, TypeVar

from django.db import models
from django.db.models import F, Q

Row = TypeVar("Row", bound=models.Model)


class WorkQuerySet(models.QuerySet[Row], Generic[Row]):
    def unfinished(self) -> Self:
        return self.filter(state__in=[Work.State.QUEUED, Work.State.RUNNING])


class Work(models.Model):
    """The state of a job, or of the work that a group of jobs carries out."""

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    state = models.CharField(max_length=12, choices=State, default=State.QUEUED)
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True
        ordering = ["-id"]

    @property
    def is_finished(self) -> bool:
        return self.state not in {self.State.QUEUED, self.State.RUNNING}


class JobQuerySet(WorkQuerySet["Job"]):
    def due(self, now: datetime) -> "JobQuerySet":
        """Queued jobs that may run now, oldest first."""
        return self.filter(state=Job.State.QUEUED, not_before__lte=now).order_by("not_before", "id")

    def abandoned(self, now: datetime) -> "JobQuerySet":
        """Running jobs whose lease has expired."""
        return self.filter(state=Job.State.RUNNING, lease_until__lt=now)

    def held(self, job_id: int, token: str) -> "JobQuerySet":
        """The job with this primary key, if it still has this lease token."""
        return self.filter(pk=job_id, state=Job.State.RUNNING, lease_token=token)


class Job(Work):
    """A background job. A worker owns it as long as it holds the lease token."""

    kind = models.CharField(max_length=60)
    payload = models.JSONField(default=dict, help_text="Primary keys and plain options only.")
    group = models.CharField(max_length=80, blank=True, help_text="Jobs watched together.")
    lease_token = models.CharField(max_length=32, blank=True)
    lease_until = models.DateTimeField(null=True)
    attempts = models.PositiveIntegerField(default=0)
    max_attempts = models.PositiveIntegerField(default=3)
    not_before = models.DateTimeField()
    cancel_requested = models.BooleanField(default=False)
    progress_done = models.PositiveIntegerField(default=0)
    progress_total = models.PositiveIntegerField(default=0)
    worker = models.CharField(max_length=80, blank=True, help_text="Who has or had it last.")
    started_at = models.DateTimeField(null=True)

    objects = JobQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index(fields=["state", "not_before", "id"], name="job_due"),
            models.Index(fields=["state", "lease_until"], name="job_lease"),
            models.Index(fields=["group", "state"], name="job_group"),
            models.Index(fields=["finished_at"], name="job_finished"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=~Q(state="running") | (Q(lease_until__isnull=False) & ~Q(lease_token="")),
                name="job_running_has_lease",
            ),
            models.CheckConstraint(
                condition=Q(attempts__lte=F("max_attempts")), name="job_attempts_bounded"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk} ({self.state})"


class JobEvent(models.Model):
    """An entry of the stage log: a change of the state of one job, or of many at once.

    Changes to a whole group (queueing, cancelling) are one entry with a `count` and no job;
    changes by a worker are entries of the job.
    """

    class What(models.TextChoices):
        QUEUED = "queued"
        CLAIMED = "claimed"
        GIVEN_BACK = "given_back"
        LOST = "lost"
        ATTEMPT_FAILED = "attempt_failed"
        DONE = "done"
        FAILED = "failed"
        CANCEL_ASKED = "cancel_asked"
        CANCELLED = "cancelled"
        TRIED_AGAIN = "tried_again"

    job = models.ForeignKey(Job, null=True, on_delete=models.CASCADE, related_name="events")
    group = models.CharField(max_length=80, blank=True)
    kind = models.CharField(max_length=60)
    what = models.CharField(max_length=16, choices=What)
    count = models.PositiveIntegerField(default=1, help_text="How many jobs changed.")
    attempt = models.PositiveIntegerField(default=0)
    worker = models.CharField(max_length=80, blank=True)
    # May quote data of the job, so pages show it only through `stage_log`.
    error = models.TextField(blank=True)
    next_at = models.DateTimeField(null=True, help_text="When it is tried again.")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["group", "what"], name="job_event_group")]

    def __str__(self) -> str:
        return f"{self.kind} {self.job_id}: {self.what}"


What = JobEvent.What


def worker_name() -> str:
    """The name of this process in the log. Not cached, because pool processes are forked."""
    return f"{socket.gethostname()[:60]}:{os.getpid()}"


def note(
    job: Job, what: JobEvent.What, *, error: str = "", next_at: datetime | None = None
) -> None:
    """Write an entry for one job, with its current attempt and worker."""
    JobEvent.objects.create(
        job_id=job.pk,
        group=job.group,
        kind=job.kind,
        what=what,
        attempt=job.attempts,
        worker=job.worker,
        error=error,
        next_at=next_at,
    )


def note_queued(jobs: Sequence[Job]) -> None:
    """Write one entry for all jobs of a group, or one entry per job without a group."""
    if jobs and jobs[0].group:
        one = jobs[0] if len(jobs) == 1 else None
        _note_many(jobs[0].group, jobs[0].kind, What.QUEUED, len(jobs), one)
        return
    lines = [JobEvent(job=job, kind=job.kind, what=What.QUEUED) for job in jobs]
    JobEvent.objects.bulk_create(lines, batch_size=500)


def note_group(group: str, what: JobEvent.What, counts: dict[str, int]) -> None:
    """Write one entry for each kind with a count above 0."""
    for kind, count in counts.items():
        if count:
            _note_many(group, kind, what, count)


def _note_many(
    group: str, kind: str, what: JobEvent.What, count: int, job: Job | None = None
) -> None:
    JobEvent.objects.create(job=job, group=group, kind=kind, what=what, count=count)
