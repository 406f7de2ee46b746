"""People and the tokens with which their programs act for them."""

import hashlib
from typing import Any, ClassVar

from django.contrib.auth.models import AbstractUser, BaseUserManager
from django.db import models
from django.db.models.functions import Lower


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


def display_name(user: User) -> str:
    """The name others see: never the whole e-mail address."""
    return user.name or user.email.partition("@")[0]


class ApiToken(models.Model):
    """A secret by which a program acts as its owner. Only its hash is kept."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80, help_text="Where the token is used.")
    prefix = models.CharField(max_length=12, help_text="The beginning, to recognise it by.")
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.prefix}… ({self.name})"

    @staticmethod
    def digest_of(secret: str) -> str:
        """SHA-256 is enough: the secret is 32 random bytes, not a password to be guessed."""
        return hashlib.sha256(secret.encode()).hexdigest()


class Invitation(models.Model):
    """A letter to somebody, who may or may not have an account. Only the secret's hash is kept.

    What comes with it is said by the rows that point at it, such as a role in a campaign.
    """

    email = models.EmailField("e-mail address")
    digest = models.CharField(max_length=64, unique=True)
    invited_by = models.ForeignKey(
        User, null=True, on_delete=models.SET_NULL, related_name="invitations_sent"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True)
    accepted_by = models.ForeignKey(
        User, null=True, on_delete=models.SET_NULL, related_name="invitations_accepted"
    )
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(Lower("email"), name="invitation_email")]

    def __str__(self) -> str:
        return f"invitation of {self.email}"
