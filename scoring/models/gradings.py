"""Gradings: one run of a benchmark over one submission, and its item scores."""

from django.db import models

from portal.datasets.models import ReleaseItem

from .submissions import Submission


class Grading(models.Model):
    """A re-grade is a new row: history is never rewritten."""

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="gradings")
    signature = models.CharField(max_length=300)
    options = models.JSONField(default=dict)
    state = models.CharField(max_length=12, choices=State, default=State.QUEUED)
    items_total = models.PositiveIntegerField()
    missing = models.PositiveIntegerField(default=0, help_text="Items without a prediction.")
    scores = models.JSONField(default=dict, help_text="Column to value in [0, 1], unrounded.")
    counts = models.JSONField(default=dict, help_text="What was counted, such as facts and errors.")
    subsets = models.JSONField(default=dict, help_text="Figures of parts: part, then figure.")
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"grading {self.pk} ({self.state})"

    @property
    def job_group(self) -> str:
        return f"grading:{self.pk}"

    @property
    def is_finished(self) -> bool:
        return self.state in {self.State.DONE, self.State.FAILED, self.State.CANCELLED}


class ItemScore(models.Model):
    """What the benchmark's item scorer returned for one item."""

    grading = models.ForeignKey(Grading, on_delete=models.CASCADE, related_name="item_scores")
    item = models.ForeignKey(ReleaseItem, on_delete=models.PROTECT, related_name="+")
    result = models.JSONField()

    class Meta:
        ordering = ["grading", "item"]
        constraints = [models.UniqueConstraint(fields=["grading", "item"], name="item_score_once")]

    def __str__(self) -> str:
        return f"item score {self.pk}"
