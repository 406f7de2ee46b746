"""Ending somebody's sessions. A row does not say whose session it is: all living ones are read."""

from django.contrib.auth import SESSION_KEY
from django.utils import timezone

from .models import User

_AT_ONCE = 500


def end_sessions(user: User, *, keep: str | None = None) -> int:
    """Logs the account out everywhere, but for the session with the key `keep`; returns how many
    sessions that ended."""
    # Loaded here: what runs jobs alone, without any pages, has no sessions installed.
    from django.contrib.sessions.models import Session

    mine = [
        session.session_key
        for session in Session.objects.filter(expire_date__gt=timezone.now()).iterator(_AT_ONCE)
        if session.session_key != keep and session.get_decoded().get(SESSION_KEY) == str(user.pk)
    ]
    for start in range(0, len(mine), _AT_ONCE):
        Session.objects.filter(session_key__in=mine[start : start + _AT_ONCE]).delete()
    return len(mine)
