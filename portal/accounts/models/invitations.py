"""Invitations: letters that bring somebody to the site."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Lower


class Invitation(models.Model):
    """A letter to somebody, who may or may not have an account. Only the secret's hash is kept.

    What comes with it is said by the rows that point at it, such as a role in a campaign.
    """

    email = models.EmailField("e-mail address")
    digest = models.CharField(max_length=64, unique=True)
    invited_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.SET_NULL,
        related_name="invitations_sent",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True)
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.SET_NULL,
        related_name="invitations_accepted",
    )
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(Lower("email"), name="invitation_email")]

    def __str__(self) -> str:
        return f"invitation of {self.email}"
