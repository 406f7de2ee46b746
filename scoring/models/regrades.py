"""Re-grades: all scored submissions of a board's phases graded again, as one batch."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse

from portal.datasets.models import Release

from .boards import Board, Phase


class Regrade(models.Model):
    """A batch of gradings beside those that count. All of them take over at once, or none."""

    class State(models.TextChoices):
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    board = models.ForeignKey(Board, on_delete=models.CASCADE, related_name="regrades")
    state = models.CharField(max_length=10, choices=State, default=State.RUNNING)
    error = models.TextField(blank=True, help_text="Why nothing was changed; for organisers.")
    started_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["board"], condition=Q(state="running"), name="regrade_one_at_a_time"
            ),
            models.CheckConstraint(
                condition=Q(state="running", finished_at__isnull=True)
                | (~Q(state="running") & Q(finished_at__isnull=False)),
                name="regrade_ended_has_time",
            ),
        ]

    def __str__(self) -> str:
        return f"re-grade {self.pk} of {self.board_id} ({self.state})"

    def get_absolute_url(self) -> str:
        """Of its page for organisers."""
        return reverse("scoring:regrade", args=[self.board.slug, self.pk])

    @property
    def job_group(self) -> str:
        """Of the jobs that steer it; every grading has a group of its own."""
        return f"regrade:{self.pk}"

    @property
    def is_finished(self) -> bool:
        return self.state != self.State.RUNNING


class RegradedPhase(models.Model):
    """A phase that a re-grade covers: on which gold it was graded, and on which it is then."""

    regrade = models.ForeignKey(Regrade, on_delete=models.CASCADE, related_name="phases")
    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="+")
    release_before = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="+")
    release_after = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="+")
    items_changed = models.PositiveIntegerField(
        default=0, help_text="Items of the phase whose gold differs between the releases."
    )
    facts_changed = models.PositiveIntegerField(
        null=True,
        help_text="Facts, or fields, that differ in items whose gold everybody may see; empty: in "
        "none of the items that differ.",
    )

    class Meta:
        ordering = ["regrade", "phase"]
        constraints = [
            models.UniqueConstraint(fields=["regrade", "phase"], name="regraded_phase_once")
        ]

    def __str__(self) -> str:
        return f"{self.phase_id} in re-grade {self.regrade_id}"

    @property
    def changes_release(self) -> bool:
        return self.release_before_id != self.release_after_id
