"""Rank moves: what a re-grade did to each row of the leaderboard."""

from django.db import models

from .boards import Phase
from .gradings import Grading
from .regrades import Regrade
from .submissions import Submission


class RankMove(models.Model):
    """A row's rank and deciding score before and after a re-grade; also of rows that stayed.

    A rank is None where the row was not ranked. Scores are as the leaderboard told them.
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
