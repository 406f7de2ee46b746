"""The row that is the queue."""

from datetime import datetime

from django.db import models
from django.db.models import F, Q


class JobQuerySet(models.QuerySet["Job"]):
    def due(self, now: datetime) -> "JobQuerySet":
        """Queued work whose time has come, oldest first."""
        return self.filter(state=Job.State.QUEUED, not_before__lte=now).order_by("not_before", "id")

    def abandoned(self, now: datetime) -> "JobQuerySet":
        """Running work whose worker stopped renewing its lease."""
        return self.filter(state=Job.State.RUNNING, lease_until__lt=now)

    def held(self, job_id: int, token: str) -> "JobQuerySet":
        """The job, as long as the lease with this token is still on it; else nothing."""
        return self.filter(pk=job_id, state=Job.State.RUNNING, lease_token=token)

    def unfinished(self) -> "JobQuerySet":
        return self.filter(state__in=[Job.State.QUEUED, Job.State.RUNNING])


class Job(models.Model):
    """One piece of long work. A worker owns it as long as it holds the lease token."""

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    kind = models.CharField(max_length=60)
    payload = models.JSONField(default=dict, help_text="Primary keys and plain options only.")
    group = models.CharField(max_length=80, blank=True, help_text="Jobs watched together.")
    state = models.CharField(max_length=12, choices=State, default=State.QUEUED)
    lease_token = models.CharField(max_length=32, blank=True)
    lease_until = models.DateTimeField(null=True)
    attempts = models.PositiveIntegerField(default=0)
    max_attempts = models.PositiveIntegerField(default=3)
    not_before = models.DateTimeField()
    cancel_requested = models.BooleanField(default=False)
    progress_done = models.PositiveIntegerField(default=0)
    progress_total = models.PositiveIntegerField(default=0)
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    objects = JobQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index(fields=["state", "not_before", "id"], name="job_due"),
            models.Index(fields=["state", "lease_until"], name="job_lease"),
            models.Index(fields=["group", "state"], name="job_group"),
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
