"""Custom model fields: links, and encrypted secrets.

Secrets, such as API keys of services, are encrypted at rest with keys derived from SECRET_KEY, and
from SECRET_KEY_FALLBACKS for older values. They cannot be read with the database alone.
"""

import base64
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import models

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet


class LinkField(models.URLField):  # type: ignore[type-arg]
    """A URL field. URLs without a scheme get https, as in Django 6."""

    def formfield(self, **kwargs: Any) -> Any:
        return super().formfield(**{"assume_scheme": "https", **kwargs})

    def deconstruct(self) -> Any:
        """Migrations use the plain field: the two differ in forms only."""
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.URLField", args, kwargs


# Separates these keys from other keys derived from the same secret.
_PURPOSE = b"factboard: sealed values"


class Unsealable(Exception):
    """The value was encrypted with an unknown SECRET_KEY, or is damaged."""


def seal(text: str) -> str:
    """Encrypt a text with SECRET_KEY. Returns ASCII, different every time."""
    return _keys().encrypt(text.encode("utf-8")).decode("ascii")


def unseal(token: str) -> str:
    """Decrypt a text. Raises Unsealable."""
    # Imported here because most processes never need it.
    from cryptography.fernet import InvalidToken

    try:
        return _keys().decrypt(token.encode("utf-8")).decode("utf-8")
    except InvalidToken:
        # Without the cause, because tracebacks are logged.
        raise Unsealable("sealed under another SECRET_KEY") from None


def _keys() -> "MultiFernet":
    return _derived((settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS))


@lru_cache(maxsize=1)
def _derived(secrets: tuple[str, ...]) -> "MultiFernet":
    """The first key encrypts; all keys can decrypt."""
    from cryptography.fernet import Fernet, MultiFernet
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    def key(secret: str) -> bytes:
        derivation = HKDF(algorithm=SHA256(), length=32, salt=None, info=_PURPOSE)
        return base64.urlsafe_b64encode(derivation.derive(secret.encode("utf-8")))

    return MultiFernet([Fernet(key(secret)) for secret in secrets])


class SealedField(models.TextField):  # type: ignore[type-arg]
    """Stores a result of `seal`, or nothing. `manage.py dumpdata` leaves it out."""

    def value_to_string(self, obj: models.Model) -> str:
        return ""

    def deconstruct(self) -> Any:
        """Migrations use the plain field."""
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.TextField", args, kwargs
