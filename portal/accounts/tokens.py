"""API tokens: issue, recognise, revoke."""

import secrets
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from portal.audit.models import record_event
from portal.common.prepared import Parameter, Prepared

from .models import ApiToken, User

PREFIX = "fb_"
# More than anybody uses; each is a way into the account.
MAX_TOKENS = 50
# Writing on every request would make each read a write; a minute is fine for "last used".
_LAST_USED_STEP = timedelta(minutes=1)

_KNOWN = Prepared(
    lambda: ApiToken.objects.select_related("user").filter(
        digest=Parameter("digest"), user__is_active=True
    )
)


class TokenRefused(Exception):
    """Why a token cannot be made, or opens nothing any more. The message is for people."""


@transaction.atomic
def issue_token(
    *,
    user: User,
    name: str,
    lifetime: timedelta | None = None,
    scope: ApiToken.Scope = ApiToken.Scope.FULL,
) -> tuple[ApiToken, str]:
    """Makes a token; its secret is returned once and never stored. Without a lifetime it is good
    for ever.

    Raises TokenRefused where there are MAX_TOKENS already.
    """
    # Two tabs at once shall not get past the limit together.
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if user.api_tokens.count() >= MAX_TOKENS:
        raise TokenRefused(f"An account has {MAX_TOKENS} tokens at most: revoke one first.")
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
    """The instant at which it expires is outside."""
    return token.expires_at is not None and token.expires_at <= now


def recognise_token(secret: str) -> ApiToken | None:
    """The token of this secret, if it exists and its owner is active.

    Raises TokenRefused when it has expired: who holds the secret may know that.
    """
    token = _KNOWN.first(digest=ApiToken.digest_of(secret))
    if token is None:
        return None
    now = timezone.now()
    if has_expired(token, now):
        raise TokenRefused(
            f"This token expired on {token.expires_at:%Y-%m-%d}. Make a new one on your account "
            "page."
        )
    if token.last_used_at is None or now - token.last_used_at > _LAST_USED_STEP:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return token
