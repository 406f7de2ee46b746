"""API tokens: creating, listing and revoking them, and authentication."""

import secrets
from datetime import timedelta

from django.db import transaction
from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from portal.audit.models import record_event
from portal.web.prepared import Parameter, Prepared
from portal.web.refusals import Refused

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


class TokenRefused(Refused):
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


def recognise_token(secret: str) -> ApiToken | None:
    """Return the token with this secret, if it exists and its owner is active.

    Raises TokenRefused if it has expired.
    """
    token = _KNOWN.first(digest=ApiToken.digest_of(secret))
    if token is None:
        return None
    now = timezone.now()
    if token.has_expired(now):
        raise TokenRefused(
            f"This token expired on {token.expires_at:%Y-%m-%d}. Create a new one on your account "
            "page."
        )
    if token.last_used_at is None or now - token.last_used_at > _LAST_USED_STEP:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return token


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
            raise AuthenticationFailed(refusal.message) from refusal
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
