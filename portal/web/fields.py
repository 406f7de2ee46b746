"""Model fields of our own: web addresses, and secrets of others that must be read again.

Secrets, such as keys to services, are encrypted at rest. The keys are derived from SECRET_KEY, and
from SECRET_KEY_FALLBACKS for what was sealed before it was changed. Whoever has the database alone
reads nothing.
"""

import base64
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import models

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet


class LinkField(models.URLField):  # type: ignore[type-arg]
    """A web address; one typed without a scheme is taken as https, as Django 6 will."""

    def formfield(self, **kwargs: Any) -> Any:
        return super().formfield(**{"assume_scheme": "https", **kwargs})

    def deconstruct(self) -> Any:
        """In migrations it is the plain field: the two differ in forms only."""
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.URLField", args, kwargs


# Tells these keys apart from all others that are made from the same secret.
_PURPOSE = b"factboard: sealed values"


class Unsealable(Exception):
    """It was sealed under a SECRET_KEY that is no longer known, or it was damaged."""


def seal(text: str) -> str:
    """The text encrypted under SECRET_KEY, in ASCII; another one every time."""
    return _keys().encrypt(text.encode("utf-8")).decode("ascii")


def unseal(token: str) -> str:
    """The text that was sealed; raises Unsealable."""
    # Loaded when it is needed, as most processes never seal anything.
    from cryptography.fernet import InvalidToken

    try:
        return _keys().decrypt(token.encode("utf-8")).decode("utf-8")
    except InvalidToken:
        # Without what it comes from: tracebacks stand in logs.
        raise Unsealable("sealed under another SECRET_KEY") from None


def _keys() -> "MultiFernet":
    return _derived((settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS))


@lru_cache(maxsize=1)
def _derived(secrets: tuple[str, ...]) -> "MultiFernet":
    """The first one seals; any of them unseals."""
    from cryptography.fernet import Fernet, MultiFernet
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    def key(secret: str) -> bytes:
        derivation = HKDF(algorithm=SHA256(), length=32, salt=None, info=_PURPOSE)
        return base64.urlsafe_b64encode(derivation.derive(secret.encode("utf-8")))

    return MultiFernet([Fernet(key(secret)) for secret in secrets])


class SealedField(models.TextField):  # type: ignore[type-arg]
    """Holds what `seal` gave, or nothing. Dumps of `manage.py dumpdata` leave it out."""

    def value_to_string(self, obj: models.Model) -> str:
        return ""

    def deconstruct(self) -> Any:
        """In migrations it is the plain field."""
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.TextField", args, kwargs
