"""Gradings: one run of a benchmark over one submission, and its item scores."""

from django.db import models
from django.db.models import Q

from portal.datasets.models import Release, ReleaseItem

from .regrades import Regrade
from .submissions import Submission

# Twenty labels of 64 characters, a judge by name, and everything else.
MOST_SIGNATURE = 2_000


class GradingQuerySet(models.QuerySet["Grading"]):
    def in_force(self) -> "GradingQuerySet":
        """Those that count: not of a re-grade that is under way or came to nothing."""
        return self.filter(Q(regrade__isnull=True) | Q(regrade__state=Regrade.State.DONE))

    def done(self) -> "GradingQuerySet":
        return self.filter(state=Grading.State.DONE)

    def live(self) -> "GradingQuerySet":
        """Those that will still change of themselves."""
        return self.filter(state__in=[Grading.State.QUEUED, Grading.State.RUNNING])


class Grading(models.Model):
    """A re-grade is a new row: history is never rewritten."""

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="gradings")
    release = models.ForeignKey(
        Release, on_delete=models.PROTECT, related_name="+", help_text="Whose gold it is against."
    )
    regrade = models.ForeignKey(
        Regrade,
        null=True,
        on_delete=models.PROTECT,
        related_name="gradings",
        help_text="The batch it was made in; empty: made for the submission itself.",
    )
    signature = models.CharField(max_length=MOST_SIGNATURE)
    options = models.JSONField(default=dict)
    state = models.CharField(max_length=12, choices=State, default=State.QUEUED)
    items_total = models.PositiveIntegerField()
    missing = models.PositiveIntegerField(default=0, help_text="Items without a prediction.")
    scores = models.JSONField(default=dict, help_text="Column to value in [0, 1], unrounded.")
    counts = models.JSONField(default=dict, help_text="What was counted, such as facts and errors.")
    subsets = models.JSONField(default=dict, help_text="Figures of parts: part, then figure.")
    parts = models.JSONField(
        default=dict, help_text="Of a phase in parts: public and private, each column to value."
    )
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    objects = GradingQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"grading {self.pk} ({self.state})"

    @property
    def items(self) -> "models.QuerySet[ReleaseItem]":
        """What is graded: the items of its release that the phase is about."""
        return self.submission.phase.items_of(self.release_id)

    @property
    def job_group(self) -> str:
        return f"grading:{self.pk}"

    @property
    def is_finished(self) -> bool:
        return self.state in {self.State.DONE, self.State.FAILED, self.State.CANCELLED}


# Between and around the names of errors, so that one of them can be looked for in SQL.
ERROR_MARK = "|"


class ItemScore(models.Model):
    """What the benchmark's item scorer returned for one item, and in short what lists sort and
    filter by: see `scoring.benchmarks.items.ItemSummary`."""

    grading = models.ForeignKey(Grading, on_delete=models.CASCADE, related_name="item_scores")
    item = models.ForeignKey(ReleaseItem, on_delete=models.PROTECT, related_name="+")
    result = models.JSONField()
    score = models.FloatField(
        null=True, help_text="Of the item alone, higher is better; empty: nothing to score."
    )
    missing = models.BooleanField(default=False, help_text="Whether there is no prediction.")
    part = models.CharField(  # noqa: DJ001 - null says another thing than empty
        max_length=200,
        null=True,
        help_text="Its document type, task or subset; null while nobody has looked.",
    )
    errors = models.TextField(blank=True, help_text="Its kinds of errors, such as |scale|sign|.")
    figures = models.JSONField(
        null=True,
        help_text="Of the item alone: headline column to value, where there is one; null while "
        "nobody has looked.",
    )

    class Meta:
        ordering = ["grading", "item"]
        constraints = [models.UniqueConstraint(fields=["grading", "item"], name="item_score_once")]
        indexes = [
            models.Index(
                fields=["id"], condition=Q(figures__isnull=True), name="item_score_not_summarised"
            )
        ]

    def __str__(self) -> str:
        return f"item score {self.pk}"

    @property
    def error_names(self) -> list[str]:
        return [name for name in self.errors.split(ERROR_MARK) if name]
