"""Pairs of submissions whose predictions are almost the same. For organisers alone."""

from django.db import models
from django.db.models import F, Q

from .submissions import Submission


class Likeness(models.Model):
    """Of `compared` items that both answered, `same` have the same answer in both."""

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="likenesses")
    counterpart = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="+")
    same = models.PositiveIntegerField()
    compared = models.PositiveIntegerField()
    found_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "likenesses"
        constraints = [
            models.UniqueConstraint(fields=["submission", "counterpart"], name="likeness_once"),
            models.CheckConstraint(
                condition=Q(submission__gt=F("counterpart")), name="likeness_later_first"
            ),
            models.CheckConstraint(
                condition=Q(compared__gt=0, same__lte=F("compared")), name="likeness_is_a_share"
            ),
        ]

    def __str__(self) -> str:
        return f"submissions {self.submission_id} and {self.counterpart_id}"

    @property
    def share(self) -> float:
        return self.same / self.compared
