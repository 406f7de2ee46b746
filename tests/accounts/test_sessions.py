"""Sessions behave like Django's, but are read by a query that is compiled once."""

from datetime import timedelta
from importlib import import_module

import pytest
from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from portal.accounts.models import User

pytestmark = pytest.mark.django_db

SessionStore = import_module(settings.SESSION_ENGINE).SessionStore


def test_session_that_django_wrote_is_read() -> None:
    written = DatabaseStore()
    written["colour"] = "green"
    written.create()
    assert SessionStore(written.session_key)["colour"] == "green"


def test_session_that_is_over_is_not_read_and_gets_another_key() -> None:
    session = SessionStore()
    session["colour"] = "green"
    session.create()
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    again = SessionStore(session.session_key)
    assert "colour" not in again
    assert again.session_key is None


def test_ended_session_logs_its_owner_out_at_once(
    client: Client, django_user_model: type[User]
) -> None:
    user = django_user_model.objects.create_user(email="o@example.org")
    client.force_login(user)
    assert client.get("/account/").status_code == 200
    Session.objects.all().delete()
    assert client.get("/account/").status_code == 302
