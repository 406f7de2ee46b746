"""Tokens: the secrets by which programs act for people."""

import hashlib

from django.conf import settings
from django.db import models


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
