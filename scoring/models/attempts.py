"""Attempts: what a submission takes of the limits of its phase."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from .boards import Phase
from .submissions import Submission


class Attempt(models.Model):
    """One place in a phase's limits: held while the submission is graded, used up by its score.

    An attempt that ends without a score gives its place back and counts as a failed one.
    """

    class State(models.TextChoices):
        HELD = "held", "held while it is graded"
        CHARGED = "charged", "used up by a score"
        FAILED = "failed", "ended without a score"

    submission = models.OneToOneField(Submission, on_delete=models.CASCADE, related_name="attempt")
    phase = models.ForeignKey(Phase, on_delete=models.PROTECT, related_name="attempts")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    team = models.ForeignKey(
        "accounts.Team",
        null=True,
        on_delete=models.PROTECT,
        related_name="attempts",
        help_text="The team of the submission, whose limits it uses up as well.",
    )
    state = models.CharField(max_length=8, choices=State, default=State.HELD)
    held_at = models.DateTimeField(auto_now_add=True)
    settled_at = models.DateTimeField(null=True, help_text="When it was charged, or failed.")

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index(fields=["phase", "user", "state"], name="attempt_standing"),
            models.Index(fields=["phase", "team", "state"], name="attempt_team_standing"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(state="held", settled_at__isnull=True)
                | (~Q(state="held") & Q(settled_at__isnull=False)),
                name="attempt_settled_has_time",
            )
        ]

    def __str__(self) -> str:
        return f"attempt of submission {self.submission_id}: {self.state}"
