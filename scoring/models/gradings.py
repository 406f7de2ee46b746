"""Gradings with their item scores; re-grades, which are batches of gradings; and the entries of
leaderboards, with their resampled figures and rank changes."""

from django.db import models
from django.db.models import Q
from django.urls import reverse

from portal.accounts.models import user_field
from portal.datasets.models import Release, ReleaseItem
from portal.jobs.models import Work, WorkQuerySet
from portal.web.fields import LinkField

from .boards import Board, Phase
from .submissions import ModelCard, Submission


class Regrade(models.Model):
    """A batch of gradings that replaces the current ones all at once, or not at all."""

    class State(models.TextChoices):
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    board = models.ForeignKey(Board, on_delete=models.CASCADE, related_name="regrades")
    state = models.CharField(max_length=10, choices=State, default=State.RUNNING)
    error = models.TextField(blank=True, help_text="Why it failed; for organisers.")
    started_by = user_field()
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
        """The URL of its page for organisers."""
        return reverse("scoring:regrade", args=[self.board.slug, self.pk])

    @property
    def job_group(self) -> str:
        """The group of the jobs that advance it. Each grading has its own group."""
        return f"regrade:{self.pk}"

    @property
    def is_finished(self) -> bool:
        return self.state != self.State.RUNNING


class RegradedPhase(models.Model):
    """A phase of a re-grade, with its release before and after."""

    regrade = models.ForeignKey(Regrade, on_delete=models.CASCADE, related_name="phases")
    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="+")
    release_before = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="+")
    release_after = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="+")
    items_changed = models.PositiveIntegerField(
        default=0, help_text="Items of the phase whose gold differs between the releases."
    )
    facts_changed = models.PositiveIntegerField(
        null=True,
        help_text="Facts or fields that differ in items with public gold; empty: the gold of all "
        "changed items is hidden.",
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


# Room for twenty labels of 64 characters, the name of a judge, and all other parts.
MOST_SIGNATURE = 2_000


class GradingQuerySet(WorkQuerySet["Grading"]):
    def in_force(self) -> "GradingQuerySet":
        """Gradings that count: all but those of an unfinished or failed re-grade."""
        return self.filter(Q(regrade__isnull=True) | Q(regrade__state=Regrade.State.DONE))

    def done(self) -> "GradingQuerySet":
        return self.filter(state=Grading.State.DONE)


class Grading(Work):
    """One grading of a submission. A re-grade adds a new row and keeps the old one."""

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="gradings")
    release = models.ForeignKey(
        Release, on_delete=models.PROTECT, related_name="+", help_text="The release with the gold."
    )
    regrade = models.ForeignKey(
        Regrade,
        null=True,
        on_delete=models.PROTECT,
        related_name="gradings",
        help_text="The batch it belongs to; empty: none.",
    )
    signature = models.CharField(max_length=MOST_SIGNATURE)
    options = models.JSONField(default=dict)
    items_total = models.PositiveIntegerField()
    missing = models.PositiveIntegerField(default=0, help_text="Items without a prediction.")
    scores = models.JSONField(default=dict, help_text="Column to value in [0, 1], unrounded.")
    counts = models.JSONField(default=dict, help_text="Counts, such as facts and errors.")
    subsets = models.JSONField(default=dict, help_text="Subset to figures.")
    parts = models.JSONField(
        default=dict, help_text="For a phase in parts: public and private, each column to value."
    )
    shares = models.JSONField(
        default=dict,
        help_text="Part to column to the largest shares that one item and one fact have in it; "
        "empty: not computed yet. See `scoring.leaderboard.disclosure`.",
    )
    answers_sha256 = models.CharField(
        max_length=64, blank=True, help_text="Of all predictions; chooses how scores are rounded."
    )

    objects = GradingQuerySet.as_manager()

    def __str__(self) -> str:
        return f"grading {self.pk} ({self.state})"

    @property
    def items(self) -> "models.QuerySet[ReleaseItem]":
        """The items of the release that are graded."""
        return self.submission.items_of(self.release_id)

    @property
    def job_group(self) -> str:
        return f"grading:{self.pk}"


# Placed between and around the names of errors, so that SQL can search for one of them.
ERROR_MARK = "|"


def error_names(errors: str) -> list[str]:
    """
    >>> error_names("|scale|sign|"), error_names("")
    (['scale', 'sign'], [])
    """
    return [name for name in errors.split(ERROR_MARK) if name]


class ItemScore(models.Model):
    """The result of the benchmark's item scorer for one item, with a summary that lists sort and
    filter by; see `scoring.benchmarks.items.ItemSummary`."""

    grading = models.ForeignKey(Grading, on_delete=models.CASCADE, related_name="item_scores")
    item = models.ForeignKey(ReleaseItem, on_delete=models.PROTECT, related_name="+")
    result = models.JSONField()
    score = models.FloatField(
        null=True, help_text="Score of the item, higher is better; empty: nothing to score."
    )
    missing = models.BooleanField(default=False, help_text="Whether there is no prediction.")
    part = models.CharField(  # noqa: DJ001 - null and empty have different meanings
        max_length=200,
        null=True,
        help_text="Document type, task or subset; null: not computed yet.",
    )
    errors = models.TextField(blank=True, help_text="Kinds of errors, such as |scale|sign|.")
    figures = models.JSONField(
        null=True,
        help_text="Headline columns of the item, column to value; null: not computed yet.",
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
        return error_names(self.errors)


class Entry(ModelCard):
    """A row of the leaderboard: graded by Factboard, a result from a paper, or a human baseline."""

    class Kind(models.TextChoices):
        GRADED = "graded", "graded by Factboard"
        REPORTED = "reported", "result from a paper"
        HUMAN = "human", "human baseline"

    board = models.ForeignKey(Board, on_delete=models.CASCADE, related_name="entries")
    phase = models.ForeignKey(Phase, null=True, on_delete=models.CASCADE, related_name="entries")
    kind = models.CharField(max_length=10, choices=Kind)
    grading = models.OneToOneField(
        Grading, null=True, on_delete=models.CASCADE, related_name="entry"
    )
    scores = models.JSONField(default=dict, help_text="Column to value in [0, 1], unrounded.")
    parts = models.JSONField(
        default=dict,
        help_text="For a phase in parts: public, private and all, each column to value; `scores` "
        "are the public ones.",
    )
    intervals = models.JSONField(
        default=dict, help_text="Column to [low, high], 95% over documents, in the unit of scores."
    )
    ranks = models.JSONField(
        default=dict,
        help_text="Column to 1 plus the number of significantly better entries.",
    )
    ranked_among = models.CharField(
        max_length=32, blank=True, help_text="Which gradings the ranks compare; see `field_key`."
    )
    signature = models.CharField(max_length=MOST_SIGNATURE, blank=True)
    provenance = models.CharField(max_length=300, blank=True)
    provenance_url = LinkField(blank=True)
    verdict = models.CharField(
        max_length=12, choices=Submission.Verdict, blank=True, default=Submission.Verdict.NONE
    )
    verdict_reason = models.TextField(blank=True, help_text="Shown publicly.")
    is_pinned = models.BooleanField(default=False)
    is_entered = models.BooleanField(
        default=False, help_text="Entered by an organiser, not from the benchmark's own tables."
    )
    is_sample = models.BooleanField(default=False)
    published_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["board", "id"]
        verbose_name_plural = "entries"
        constraints = [
            models.CheckConstraint(
                condition=Q(kind="graded", grading__isnull=False, phase__isnull=False)
                | (Q(kind="human", grading__isnull=False, phase__isnull=False) & ~Q(provenance=""))
                | (~Q(kind="graded") & Q(grading__isnull=True) & ~Q(provenance="")),
                name="entry_graded_or_sourced",
            )
        ]
        indexes = [models.Index(fields=["board", "kind"], name="entry_board_kind")]

    def __str__(self) -> str:
        return f"{self.name} on {self.board_id}"

    @property
    def is_disqualified(self) -> bool:
        """Shown with its reason, and never counted for a rank or a best value."""
        return self.verdict == Submission.Verdict.DISQUALIFIED

    @property
    def is_verified(self) -> bool:
        return self.verdict == Submission.Verdict.VERIFIED

    @property
    def is_ranked(self) -> bool:
        """Whether it takes part in the ranks of its section."""
        return not (self.is_disqualified or self.is_entered or self.kind == self.Kind.HUMAN)

    @property
    def is_graded(self) -> bool:
        """Whether its figures were computed here: also those of a human run."""
        return self.grading_id is not None


class Replicate(models.Model):
    """One figure of a finished grading, resampled. Entries are compared and ranked by it.

    Rows with the same `key` use the same draws, so that they can be compared resample by resample.
    """

    grading = models.ForeignKey(Grading, on_delete=models.CASCADE, related_name="replicates")
    figure = models.CharField(max_length=60, help_text="A column's key.")
    key = models.CharField(max_length=64)
    value = models.FloatField(null=True, help_text="The figure itself; empty: nothing counted.")
    low = models.FloatField(null=True, help_text="Lower end of the 95% interval over documents.")
    high = models.FloatField(null=True)
    values = models.BinaryField(help_text="One little-endian float64 per resample.")

    class Meta:
        ordering = ["grading", "figure"]
        constraints = [models.UniqueConstraint(fields=["grading", "figure"], name="replicate_once")]

    def __str__(self) -> str:
        return f"{self.figure} of grading {self.grading_id}, resampled"


class RankMove(models.Model):
    """A row's rank and main score before and after a re-grade, even if they are the same.

    A rank is None if the row was not ranked. Scores are as shown on the leaderboard.
    """

    regrade = models.ForeignKey(Regrade, on_delete=models.CASCADE, related_name="moves")
    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="+")
    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="moves")
    grading_before = models.ForeignKey(Grading, on_delete=models.CASCADE, related_name="+")
    grading_after = models.ForeignKey(Grading, on_delete=models.CASCADE, related_name="+")
    rank_before = models.PositiveIntegerField(null=True)
    rank_after = models.PositiveIntegerField(null=True)
    score_before = models.FloatField(null=True)
    score_after = models.FloatField(null=True)

    class Meta:
        ordering = ["regrade", "phase", "rank_after", "id"]
        constraints = [
            models.UniqueConstraint(fields=["regrade", "submission"], name="rank_move_once")
        ]

    def __str__(self) -> str:
        return f"{self.submission_id}: rank {self.rank_before} to {self.rank_after}"
