"""Accounts, invitations, teams, API tokens, and files of people's own data."""

import hashlib
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.models import AbstractUser, BaseUserManager
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.urls import reverse

from portal.web.fields import LinkField

# Addresses that belong to nobody: what is left of an account that was deleted has one of these.
DELETED_DOMAIN = "deleted.invalid"
FORMER_MEMBER = "former member"


class UserManager(BaseUserManager["User"]):
    """Accounts are named by their e-mail address."""

    use_in_migrations = True

    def create_user(self, email: str, password: str | None = None, **extra: Any) -> "User":
        if not email:
            raise ValueError("an account needs an e-mail address")
        user = self.model(email=self.normalize_email(email), **extra)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **extra: Any) -> "User":
        extra = {"is_staff": True, "is_superuser": True, "is_organiser": True} | extra
        return self.create_user(email, password, **extra)


class User(AbstractUser):
    """An account. What it may do beyond reading and submitting comes from roles.

    `is_organiser` holds for the whole site; annotator, lead and reviewer are held per campaign
    (`annotation.Membership`).
    """

    username = None  # type: ignore[assignment]
    first_name = None  # type: ignore[assignment]
    last_name = None  # type: ignore[assignment]
    email = models.EmailField("e-mail address", unique=True)
    name = models.CharField(max_length=120, blank=True, help_text="Shown to others.")
    affiliation = models.CharField(max_length=160, blank=True)
    is_organiser = models.BooleanField(
        "organiser", default=False, help_text="May manage datasets, campaigns, boards and entries."
    )
    terms_accepted_at = models.DateTimeField(
        null=True, editable=False, help_text="When the terms were accepted, at sign-up."
    )

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []
    objects: ClassVar[UserManager] = UserManager()  # type: ignore[assignment]

    class Meta:
        constraints = [
            models.UniqueConstraint(Lower("email"), name="user_email_unique_in_any_case"),
        ]

    def __str__(self) -> str:
        return display_name(self)

    def get_full_name(self) -> str:
        return self.name

    def get_short_name(self) -> str:
        return display_name(self)


def is_former(user: User) -> bool:
    """Whether the account was deleted, and only stands for whoever did the work it points at."""
    return user.email.endswith(f"@{DELETED_DOMAIN}")


def display_name(user: User) -> str:
    """The name others see: never the whole e-mail address."""
    if is_former(user):
        return FORMER_MEMBER
    return user.name or user.email.partition("@")[0]


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


class ApiToken(models.Model):
    """A secret by which a program acts as its owner. Only its hash is kept."""

    class Scope(models.TextChoices):
        FULL = "full", "read and change"
        READ = "read", "read only"

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens"
    )
    name = models.CharField(max_length=80, help_text="Where the token is used.")
    prefix = models.CharField(max_length=12, help_text="The beginning, to recognise it by.")
    digest = models.CharField(max_length=64, unique=True)
    scope = models.CharField(max_length=4, choices=Scope, default=Scope.FULL)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, help_text="Empty for a token that never expires.")
    last_used_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.prefix}… ({self.name})"

    @staticmethod
    def digest_of(secret: str) -> str:
        """SHA-256 is enough: the secret is 32 random bytes, not a password to be guessed."""
        return hashlib.sha256(secret.encode()).hexdigest()


class AccountExport(models.Model):
    """One file, made by a job and deleted some days later. Its owner alone may load it."""

    class State(models.TextChoices):
        WAITING = "waiting"
        READY = "ready"
        FAILED = "failed"

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="data_exports"
    )
    state = models.CharField(max_length=7, choices=State, default=State.WAITING)
    file = models.FileField(upload_to="account-exports/", max_length=200, blank=True)
    size = models.PositiveBigIntegerField(default=0, help_text="Bytes.")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, help_text="When the file is deleted.")

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"export {self.pk} ({self.state})"

    @property
    def path(self) -> str:
        """Of its file in the storage, whether that is there or not."""
        return str(self.file.name)

    @property
    def job_group(self) -> str:
        return f"account-export-{self.pk}"
