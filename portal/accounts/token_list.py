"""What an account's tokens look like to their owner, and what is worth a warning."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from .models import ApiToken, User
from .tokens import has_expired

# Unused for so long, a token is more likely forgotten than needed.
IDLE = timedelta(days=90)
SOON = timedelta(days=14)
# A secret that never changes should not be older than this.
OLD = timedelta(days=365)


@dataclass(frozen=True)
class TokenRow:
    pk: int
    name: str
    prefix: str
    scope: str
    created_at: datetime
    last_used_at: datetime | None
    expires_at: datetime | None
    is_expired: bool
    warning: str
    """What its owner should look at; empty if nothing."""


def own_tokens(user: User) -> list[TokenRow]:
    """The newest first. One query."""
    now = timezone.now()
    return [_row(token, now) for token in user.api_tokens.all()]


def _row(token: ApiToken, now: datetime) -> TokenRow:
    return TokenRow(
        pk=token.pk,
        name=token.name,
        prefix=token.prefix,
        scope=token.get_scope_display(),
        created_at=token.created_at,
        last_used_at=token.last_used_at,
        expires_at=token.expires_at,
        is_expired=has_expired(token, now),
        warning=_warning(token, now),
    )


def _warning(token: ApiToken, now: datetime) -> str:
    if token.expires_at is not None and token.expires_at <= now:
        return "expired"
    if token.expires_at is not None and token.expires_at - now <= SOON:
        return "expires soon"
    if now - (token.last_used_at or token.created_at) > IDLE:
        return "not used for 90 days"
    if token.expires_at is None and now - token.created_at > OLD:
        return "older than a year"
    return ""
