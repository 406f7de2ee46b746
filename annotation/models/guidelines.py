"""Guidelines: every text a campaign ever had."""

from django.conf import settings
from django.db import models

from .campaigns import Campaign


class GuidelinesVersion(models.Model):
    """The guidelines as they were from one moment on. Append-only, numbered from 1."""

    campaign = models.ForeignKey(
        Campaign, on_delete=models.CASCADE, related_name="guidelines_versions"
    )
    number = models.PositiveIntegerField()
    text = models.TextField(blank=True, help_text="Markdown.")
    note = models.CharField(max_length=300, blank=True, help_text="What changed, and why.")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["campaign", "-number"]
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "number"], name="guidelines_version_number_once"
            )
        ]

    def __str__(self) -> str:
        return f"guidelines {self.number} of {self.campaign}"
