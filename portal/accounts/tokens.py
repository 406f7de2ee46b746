"""API tokens: issue, recognise, revoke."""

import secrets
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from portal.audit.models import record_event
from portal.common.prepared import Parameter, Prepared

from .models import ApiToken, User

PREFIX = "fb_"
# Writing on every request would make each read a write; a minute is fine for "last used".
_LAST_USED_STEP = timedelta(minutes=1)

_KNOWN = Prepared(
    lambda: ApiToken.objects.select_related("user").filter(
        digest=Parameter("digest"), user__is_active=True
    )
)


@transaction.atomic
def issue_token(*, user: User, name: str) -> tuple[ApiToken, str]:
    """Makes a token; its secret is returned once and never stored."""
    secret = PREFIX + secrets.token_urlsafe(32)
    token = ApiToken.objects.create(
        user=user, name=name, prefix=secret[:8], digest=ApiToken.digest_of(secret)
    )
    record_event(verb="issue_token", subject=token, actor=user, name=name)
    return token, secret


@transaction.atomic
def revoke_token(*, token: ApiToken, actor: User) -> None:
    record_event(verb="revoke_token", subject=token, actor=actor, name=token.name)
    token.delete()


def recognise_token(secret: str) -> ApiToken | None:
    """The token of this secret, if it exists and its owner is active."""
    token = _KNOWN.first(digest=ApiToken.digest_of(secret))
    now = timezone.now()
    if token and (token.last_used_at is None or now - token.last_used_at > _LAST_USED_STEP):
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return token
