"""Teams: people who submit together."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.urls import reverse

from portal.common.fields import LinkField

from .invitations import Invitation


class Team(models.Model):
    """People who submit together. It has an owner as long as it is open.

    A team that is closed has no members any more; it stays as a name while work refers to it.
    """

    name = models.CharField(max_length=80, help_text="Shown to everybody.")
    slug = models.SlugField(max_length=80, unique=True)
    about = models.TextField(blank=True, max_length=2000, help_text="Markdown, shown to everybody.")
    link = LinkField(blank=True, help_text="Your page elsewhere.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ["name", "id"]
        constraints = [
            # Nobody shall pass for a team that exists.
            models.UniqueConstraint(
                Lower("name"),
                condition=Q(closed_at__isnull=True),
                name="team_name_unique_while_open",
                violation_error_message="There is a team with this name already.",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("teams:team", args=[self.slug])

    @property
    def is_open(self) -> bool:
        return self.closed_at is None


class TeamMember(models.Model):
    class Role(models.TextChoices):
        OWNER = "owner"
        MEMBER = "member"

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="members")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="team_memberships"
    )
    role = models.CharField(max_length=6, choices=Role, default=Role.MEMBER)
    joined_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["team", "id"]
        constraints = [
            models.UniqueConstraint(fields=["team", "user"], name="team_member_once"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} is {self.role} of {self.team_id}"

    @property
    def is_owner(self) -> bool:
        return self.role == self.Role.OWNER


class TeamInvitation(models.Model):
    """The place in a team that comes with an accepted invitation."""

    invitation = models.OneToOneField(
        Invitation, on_delete=models.CASCADE, primary_key=True, related_name="team_invitation"
    )
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="invitations")

    def __str__(self) -> str:
        return f"invitation to team {self.team_id}"
