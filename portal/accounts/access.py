"""Who makes a request and what they may do: the role of organiser, and API tokens.

A site always keeps one organiser.
"""

import secrets
from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeGuard, cast

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework import exceptions
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from portal.audit.models import record_event
from portal.web.queries import Parameter, Prepared
from portal.web.refusals import Refused

from .models import ApiToken, User

P = ParamSpec("P")


class UserRequest(HttpRequest):
    """A request with a logged-in user, for type checkers."""

    user: User


def is_organiser(user: Any) -> TypeGuard[User]:
    return bool(user.is_authenticated and user.is_organiser)


def organiser_required(
    view: Callable[Concatenate[UserRequest, P], HttpResponseBase],
) -> Callable[Concatenate[HttpRequest, P], HttpResponseBase]:
    """Redirects anonymous visitors to log in; other users without the role get 403."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not is_organiser(request.user):
            raise PermissionDenied("This page is for organisers.")
        return view(cast("UserRequest", request), *args, **kwargs)

    return cast("Callable[Concatenate[HttpRequest, P], HttpResponseBase]", login_required(guarded))


class IsOrganiser(BasePermission):
    message = "Only organisers may do this."

    def has_permission(self, request: Request, view: object) -> bool:
        return is_organiser(request.user)


def is_only_organiser(user: User) -> bool:
    others = User.objects.filter(is_organiser=True, is_active=True).exclude(pk=user.pk)
    return user.is_organiser and not others.exists()


def lock_organisers() -> None:
    """Until the transaction ends, so that two organisers cannot both stop being one."""
    organisers = User.objects.select_for_update(no_key=True).filter(
        is_organiser=True, is_active=True
    )
    list(organisers.order_by("pk"))


@transaction.atomic
def make_organiser(*, user: User) -> None:
    """Give the account the role. A second time changes nothing."""
    user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if user.is_organiser:
        return
    if not user.is_active:
        raise Refused(f"The account {user.email} is deactivated.")
    user.is_organiser = True
    user.save(update_fields=["is_organiser"])
    record_event(verb="make_organiser", subject=user)


@transaction.atomic
def withdraw_organiser(*, user: User) -> None:
    """Take the role from the account. Raises Refused for the only organiser."""
    lock_organisers()
    user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if is_only_organiser(user):
        raise Refused(
            "This is the only organiser of the site. Make another user an organiser first."
        )
    if not user.is_organiser:
        return
    user.is_organiser = False
    user.save(update_fields=["is_organiser"])
    record_event(verb="withdraw_organiser", subject=user)


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
            raise exceptions.AuthenticationFailed("The Authorization header must be: Bearer TOKEN")
        try:
            token = recognise_token(parts[1].decode("ascii", errors="replace"))
        except TokenRefused as refusal:
            raise exceptions.AuthenticationFailed(refusal.message) from refusal
        if token is None:
            raise exceptions.AuthenticationFailed("This token does not exist or was revoked.")
        if token.scope == ApiToken.Scope.READ and request.method not in SAFE_METHODS:
            raise exceptions.PermissionDenied(
                "This token is read only. Use one with the scope “Read and write”."
            )
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """Describes bearer tokens in the OpenAPI document."""

    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}
