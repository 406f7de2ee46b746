"""Django's database sessions, read by a query that is compiled once."""

from typing import Any

from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.contrib.sessions.models import Session
from django.db.models import DateTimeField
from django.utils import timezone

from portal.web.queries import Parameter, Prepared

_ALIVE = Prepared(
    lambda: Session.objects.filter(
        session_key=Parameter("key"), expire_date__gt=Parameter("now", DateTimeField())
    )
)


class SessionStore(DatabaseStore):
    """Django signs sessions with the name of this class: renaming it would end all sessions."""

    def _get_session_from_db(self) -> Session | None:
        key: Any = self.session_key
        session = _ALIVE.first(key=key, now=timezone.now())
        if session is None:
            self._session_key = None
        return session
