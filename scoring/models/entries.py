"""Entries (the rows of a leaderboard), their resampled figures, and their rank changes."""

from django.db import models
from django.db.models import Q

from portal.web.fields import LinkField

from .boards import Board, Phase
from .gradings import MOST_SIGNATURE, Grading, Regrade
from .submissions import ModelCard, Submission


class Entry(ModelCard):
    """A row of the leaderboard: graded here, reported by a paper, or a human upper bound."""

    class Kind(models.TextChoices):
        GRADED = "graded", "graded here"
        REPORTED = "reported", "reported by the paper"
        HUMAN = "human", "human upper bound"

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
        default=dict, help_text="Column to [low, high], 95 % over documents, in the unit of scores."
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
    verdict_reason = models.TextField(blank=True, help_text="Public.")
    is_pinned = models.BooleanField(default=False)
    is_sample = models.BooleanField(default=False)
    published_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["board", "id"]
        verbose_name_plural = "entries"
        constraints = [
            models.CheckConstraint(
                condition=Q(kind="graded", grading__isnull=False, phase__isnull=False)
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


class Replicate(models.Model):
    """One figure of a finished grading, resampled. Entries are compared and ranked by it.

    Rows with the same `key` use the same draws, so that they can be compared resample by resample.
    """

    grading = models.ForeignKey(Grading, on_delete=models.CASCADE, related_name="replicates")
    figure = models.CharField(max_length=60, help_text="A column's key.")
    key = models.CharField(max_length=64)
    value = models.FloatField(null=True, help_text="The figure itself; empty: nothing counted.")
    low = models.FloatField(null=True, help_text="Lower end of the 95 % interval over documents.")
    high = models.FloatField(null=True)
    values = models.BinaryField(help_text="One little-endian float64 per resample.")

    class Meta:
        ordering = ["grading", "figure"]
        constraints = [models.UniqueConstraint(fields=["grading", "figure"], name="replicate_once")]

    def __str__(self) -> str:
        return f"{self.figure} of grading {self.grading_id}, resampled"


class RankMove(models.Model):
    """A row's rank and deciding score before and after a re-grade, even if they are the same.

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
