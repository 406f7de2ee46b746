"""People on their way into a campaign, and reminders to those who are in it."""

from django.conf import settings
from django.db import models

from portal.accounts.models import Invitation

from .campaigns import Campaign, Membership


class CampaignInvitation(models.Model):
    """The role in a campaign that comes with an accepted invitation."""

    invitation = models.OneToOneField(
        Invitation, on_delete=models.CASCADE, primary_key=True, related_name="campaign_invitation"
    )
    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=10, choices=Membership.Role)

    def __str__(self) -> str:
        return f"{self.role} of {self.campaign}"


class Reminder(models.Model):
    """An e-mail that told somebody what waits for them. Append-only: it limits how often."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="reminders")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    waiting = models.PositiveIntegerField(help_text="Pieces of work that waited then.")
    sent_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    sent_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["campaign", "user"], name="reminder_campaign_user")]

    def __str__(self) -> str:
        return f"reminder to {self.user_id} in {self.campaign}"
