"""Accounts, and the name others see."""

from typing import Any, ClassVar

from django.contrib.auth.models import AbstractUser, BaseUserManager
from django.db import models
from django.db.models.functions import Lower

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
