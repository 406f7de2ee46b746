"""API tokens: creating, listing and revoking them, and authentication."""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from portal.audit.models import record_event
from portal.web.prepared import Parameter, Prepared

from .models import ApiToken, User

PREFIX = "fb_"
# Well above normal use; each token gives access to the account.
MAX_TOKENS = 50
# Avoids a database write on every request.
_LAST_USED_STEP = timedelta(minutes=1)

_KNOWN = Prepared(
    lambda: ApiToken.objects.select_related("user").filter(
        digest=Parameter("digest"), user__is_active=True
    )
)


class TokenRefused(Exception):
    """The token cannot be created, or is no longer valid. The message is shown to the user."""


@transaction.atomic
def issue_token(
    *,
    user: User,
    name: str,
    lifetime: timedelta | None = None,
    scope: ApiToken.Scope = ApiToken.Scope.FULL,
) -> tuple[ApiToken, str]:
    """Create a token and return it with its secret, which is not stored.

    Without a lifetime it never expires. Raises TokenRefused if the user has MAX_TOKENS tokens.
    """
    # The lock prevents simultaneous requests from exceeding the limit.
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if user.api_tokens.count() >= MAX_TOKENS:
        raise TokenRefused(f"An account can have {MAX_TOKENS} tokens. Revoke one first.")
    secret = PREFIX + secrets.token_urlsafe(32)
    token = ApiToken.objects.create(
        user=user,
        name=name,
        prefix=secret[:8],
        digest=ApiToken.digest_of(secret),
        scope=scope,
        expires_at=timezone.now() + lifetime if lifetime else None,
    )
    record_event(verb="issue_token", subject=token, actor=user, name=name, scope=str(scope))
    return token, secret


@transaction.atomic
def revoke_token(*, token: ApiToken, actor: User) -> None:
    record_event(verb="revoke_token", subject=token, actor=actor, name=token.name)
    token.delete()


def has_expired(token: ApiToken, now: datetime) -> bool:
    """A token is expired from `expires_at` on."""
    return token.expires_at is not None and token.expires_at <= now


def recognise_token(secret: str) -> ApiToken | None:
    """Return the token with this secret, if it exists and its owner is active.

    Raises TokenRefused if it has expired.
    """
    token = _KNOWN.first(digest=ApiToken.digest_of(secret))
    if token is None:
        return None
    now = timezone.now()
    if has_expired(token, now):
        raise TokenRefused(
            f"This token expired on {token.expires_at:%Y-%m-%d}. Create a new one on your account "
            "page."
        )
    if token.last_used_at is None or now - token.last_used_at > _LAST_USED_STEP:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return token


# A token that is unused for this long is probably forgotten.
IDLE = timedelta(days=90)
SOON = timedelta(days=14)
# Tokens older than this should be replaced.
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
    """Why the token needs attention, or empty."""


def own_tokens(user: User) -> list[TokenRow]:
    """Newest first. One query."""
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


class TokenAuthentication(BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        parts = get_authorization_header(request).split()
        if not parts or parts[0].lower() != b"bearer":
            return None
        if len(parts) != 2:
            raise AuthenticationFailed("The Authorization header must be: Bearer TOKEN")
        try:
            token = recognise_token(parts[1].decode("ascii", errors="replace"))
        except TokenRefused as refusal:
            raise AuthenticationFailed(str(refusal)) from refusal
        if token is None:
            raise AuthenticationFailed("This token does not exist or was revoked.")
        if token.scope == ApiToken.Scope.READ and request.method not in SAFE_METHODS:
            raise PermissionDenied("This token is read only. Use one that may change things.")
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """Describes bearer tokens in the OpenAPI document."""

    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}
