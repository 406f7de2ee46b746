"""Models for accounts, invitations, teams, API tokens and data exports."""

import hashlib
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.models import AbstractUser, BaseUserManager
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.urls import reverse
from django.utils import timezone

from portal.web.fields import LinkField

# Deleted accounts that are kept as placeholders have email addresses in this reserved domain.
DELETED_DOMAIN = "deleted.invalid"
FORMER_MEMBER = "former member"


def user_field(related_name: str = "+") -> "models.ForeignKey[User | None, User | None]":
    """A field for the account that did something; empty once the account is deleted."""
    return models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name=related_name
    )


class UserManager(BaseUserManager["User"]):
    """Creates accounts identified by email address."""

    use_in_migrations = True

    def create_user(self, email: str, password: str | None = None, **extra: Any) -> "User":
        if not email:
            raise ValueError("an account needs an email address")
        user = self.model(email=self.normalize_email(email), **extra)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **extra: Any) -> "User":
        extra = {"is_staff": True, "is_superuser": True, "is_organiser": True} | extra
        return self.create_user(email, password, **extra)


class User(AbstractUser):
    """An account. Permissions beyond reading and submitting come from roles.

    `is_organiser` applies to the whole site; annotator, lead and reviewer are roles in a campaign
    (`annotation.Membership`).
    """

    username = None  # type: ignore[assignment]
    first_name = None  # type: ignore[assignment]
    last_name = None  # type: ignore[assignment]
    email = models.EmailField("email address", unique=True)
    name = models.CharField(max_length=120, blank=True, help_text="Shown to others.")
    affiliation = models.CharField(max_length=160, blank=True)
    is_organiser = models.BooleanField(
        "organiser", default=False, help_text="Can manage datasets, campaigns, boards and rows."
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
    """Whether the account was deleted and kept only as a placeholder for its work."""
    return user.email.endswith(f"@{DELETED_DOMAIN}")


def display_name(user: User) -> str:
    """The name shown to others: never the full email address."""
    if is_former(user):
        return FORMER_MEMBER
    return user.name or user.email.partition("@")[0]


class Invitation(models.Model):
    """An invitation by email. Only the hash of its secret is stored.

    Related rows of other apps hold what it offers, such as a role in a campaign.
    """

    email = models.EmailField("email address")
    digest = models.CharField(max_length=64, unique=True)
    invited_by = user_field("invitations_sent")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True)
    accepted_by = user_field("invitations_accepted")
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(Lower("email"), name="invitation_email")]

    def __str__(self) -> str:
        return f"invitation of {self.email}"


class Team(models.Model):
    """Users who submit together. An open team always has an owner.

    A closed team has no members; the row is kept while other rows refer to it.
    """

    name = models.CharField(max_length=80, help_text="Shown publicly.")
    slug = models.SlugField(max_length=80, unique=True)
    about = models.TextField(
        blank=True, max_length=2000, help_text="Shown publicly. You can use Markdown."
    )
    link = LinkField(blank=True, help_text="The team’s website. Shown publicly.")
    created_by = user_field()
    created_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ["name", "id"]
        constraints = [
            # Prevents impersonating an existing team.
            models.UniqueConstraint(
                Lower("name"),
                condition=Q(closed_at__isnull=True),
                name="team_name_unique_while_open",
                violation_error_message="A team with this name already exists.",
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
    """Team membership offered by an invitation."""

    invitation = models.OneToOneField(
        Invitation, on_delete=models.CASCADE, primary_key=True, related_name="team_invitation"
    )
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="invitations")

    def __str__(self) -> str:
        return f"invitation to team {self.team_id}"


# A token that is unused for this long is probably forgotten.
TOKEN_IDLE = timedelta(days=90)
TOKEN_EXPIRES_SOON = timedelta(days=14)
# Tokens older than this should be replaced.
TOKEN_OLD = timedelta(days=365)


class ApiToken(models.Model):
    """A secret that lets a program act as its owner. Only its hash is stored."""

    class Scope(models.TextChoices):
        FULL = "full", "Read and write"
        READ = "read", "Read only"

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens"
    )
    name = models.CharField(max_length=80, help_text="Where the token is used.")
    prefix = models.CharField(max_length=12, help_text="First characters of the token.")
    digest = models.CharField(max_length=64, unique=True)
    scope = models.CharField(max_length=4, choices=Scope, default=Scope.FULL)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, help_text="Empty if the token never expires.")
    last_used_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.prefix}… ({self.name})"

    def has_expired(self, now: datetime) -> bool:
        """A token is expired from `expires_at` on."""
        return self.expires_at is not None and self.expires_at <= now

    @property
    def is_expired(self) -> bool:
        return self.has_expired(timezone.now())

    @property
    def warning(self) -> str:
        """Why the token needs attention, or empty."""
        now = timezone.now()
        if self.has_expired(now):
            return "expired"
        if self.has_expired(now + TOKEN_EXPIRES_SOON):
            return "expires soon"
        if now - (self.last_used_at or self.created_at) > TOKEN_IDLE:
            return "not used for 90 days"
        if self.expires_at is None and now - self.created_at > TOKEN_OLD:
            return "older than a year"
        return ""

    @staticmethod
    def digest_of(secret: str) -> str:
        """SHA-256 is enough, because the secret is 32 random bytes and cannot be guessed."""
        return hashlib.sha256(secret.encode()).hexdigest()


class AccountExport(models.Model):
    """A file with the user's data, created by a job and deleted after some days."""

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
        """The path in the storage, whether or not the file exists."""
        return str(self.file.name)

    @property
    def job_group(self) -> str:
        return f"account-export-{self.pk}"
