"""Gradings and their item scores, and re-grades, which are batches of gradings."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse

from portal.datasets.models import Release, ReleaseItem

from .boards import Board, Phase
from .submissions import Submission


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
