"""Tokens can expire or be read only, and old tokens cause warnings."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from portal.accounts import access as tokens
from portal.accounts.access import (
    TokenRefused,
    issue_token,
    recognise_token,
)
from portal.accounts.models import ApiToken, User
from tests.fixture_types import ClientOf

pytestmark = pytest.mark.django_db
ME = "/api/v1/account/"


def caller(secret: str) -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    return client


def aged(token: ApiToken, **fields: Any) -> ApiToken:
    ApiToken.objects.filter(pk=token.pk).update(**fields)
    token.refresh_from_db()
    return token


def test_a_token_says_who_one_is(ann: User) -> None:
    _, secret = issue_token(user=ann, name="script")
    assert caller(secret).get(ME).json() == {
        "email": "ann@example.org", "is_email_confirmed": True, "name": "Ann", "affiliation": "",
        "is_organiser": False,
    }  # fmt: skip


def test_the_instant_at_which_it_expires_is_outside(ann: User) -> None:
    token, _ = issue_token(user=ann, name="script", lifetime=timedelta(days=30))
    end = token.expires_at
    assert end is not None
    assert not token.has_expired(end - timedelta(microseconds=1))
    assert token.has_expired(end)
    endless, _ = issue_token(user=ann, name="for ever")
    assert not endless.has_expired(end + timedelta(days=9999))


def test_an_expired_token_opens_nothing_and_says_so(ann: User) -> None:
    token, secret = issue_token(user=ann, name="script", lifetime=timedelta(days=30))
    assert caller(secret).get(ME).status_code == 200
    aged(token, expires_at=timezone.now() - timedelta(seconds=1), last_used_at=None)
    answer = caller(secret).get(ME)
    assert answer.status_code == 401
    assert "This token expired on" in answer.json()["detail"]
    token.refresh_from_db()
    assert token.last_used_at is None
    with pytest.raises(TokenRefused):
        recognise_token(secret)


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_a_token_for_reading_changes_nothing(ann: User, method: str) -> None:
    _, secret = issue_token(user=ann, name="reader", scope=ApiToken.Scope.READ)
    client = caller(secret)
    assert client.get(ME).status_code == 200
    answer = getattr(client, method)(ME, {"name": "Eve"})
    assert answer.status_code == 403
    assert "is read only" in answer.json()["detail"]
    ann.refresh_from_db()
    assert ann.name == "Ann"


def test_a_full_token_changes_ones_own_profile_and_no_rights(ann: User) -> None:
    _, secret = issue_token(user=ann, name="script")
    for body in ({"is_organiser": True}, {"email": "eve@example.org"}):
        assert caller(secret).patch(ME, {"name": "Eve", **body}).status_code == 400
    assert caller(secret).patch(ME, {"name": "Ann Lee"}).status_code == 200
    ann.refresh_from_db()
    assert (ann.name, ann.is_organiser, ann.email) == ("Ann Lee", False, "ann@example.org")


@pytest.mark.parametrize(("choice", "days"), [("30", 30), ("90", 90), ("365", 365), ("0", None)])
def test_the_form_gives_each_lifetime(
    client_of: ClientOf, ann: User, choice: str, days: int | None
) -> None:
    before = timezone.now()
    client_of(ann).post("/account/tokens/", {"name": "s", "lifetime": choice, "scope": "read"})
    token = ApiToken.objects.get()
    assert token.scope == "read"
    if days is None:
        assert token.expires_at is None
    else:
        assert token.expires_at is not None
        assert timedelta(0) <= token.expires_at - before - timedelta(days=days) < timedelta(hours=1)


@pytest.mark.parametrize(("field", "value"), [("lifetime", "7"), ("scope", "root")])
def test_other_choices_are_refused(client_of: ClientOf, ann: User, field: str, value: str) -> None:
    page = client_of(ann).post("/account/tokens/", {"name": "s", field: value})
    assert "Select a valid choice" in page.content.decode()
    assert not ApiToken.objects.exists()


def test_a_new_token_comes_with_a_line_to_try_it(client_of: ClientOf, ann: User) -> None:
    page = client_of(ann).post("/account/tokens/", {"name": "s"}).content.decode()
    line = re.search(r"curl -H &quot;Authorization: Bearer (fb_[\w-]{43})&quot;|"
                     r"curl -H \"Authorization: Bearer (fb_[\w-]{43})\"", page)  # fmt: skip
    assert line is not None
    assert "http://testserver/api/v1/account/" in page
    assert caller(line[1] or line[2]).get(ME).status_code == 200


@pytest.mark.parametrize(
    ("made", "used", "left", "warning"),
    [
        (1, None, None, ""),
        (91, None, None, "not used for 90 days"),
        (200, 91, None, "not used for 90 days"),
        (200, 89, None, ""),
        (366, 1, None, "older than a year"),
        (366, 1, 30, ""),
        (10, 1, 13, "expires soon"),
        (10, 1, 15, ""),
        (10, 1, -1, "expired"),
    ],
)
def test_warnings(ann: User, made: int, used: int | None, left: int | None, warning: str) -> None:
    now = timezone.now()
    token, _ = issue_token(user=ann, name="script")
    aged(
        token,
        created_at=now - timedelta(days=made),
        last_used_at=now - timedelta(days=used) if used else None,
        expires_at=now + timedelta(days=left) if left else None,
    )
    [row] = ann.api_tokens.all()
    assert row.warning == warning
    assert row.is_expired is (warning == "expired")


def test_tokens_are_not_made_without_end(client_of: ClientOf, ann: User, monkeypatch: Any) -> None:
    monkeypatch.setattr(tokens, "MAX_TOKENS", 1)
    client = client_of(ann)
    client.post("/account/tokens/", {"name": "one"})
    page = client.post("/account/tokens/", {"name": "two"}).content.decode()
    assert "An account can have 1 tokens" in page
    assert ApiToken.objects.count() == 1


def test_tokens_are_listed_and_revoked_by_the_api_of_their_owner_alone(
    ann: User, ben: User
) -> None:
    token, secret = issue_token(user=ann, name="script")
    other, _ = issue_token(user=ben, name="of Ben")
    client = caller(secret)
    assert [row["name"] for row in client.get(f"{ME}tokens/").json()] == ["script"]
    assert client.delete(f"{ME}tokens/{other.pk}/").status_code == 404
    assert client.delete(f"{ME}tokens/{token.pk}/").status_code == 204
    assert client.get(ME).status_code == 401
    assert ApiToken.objects.get() == other


def test_no_token_is_made_with_a_token(ann: User) -> None:
    _, secret = issue_token(user=ann, name="script")
    assert caller(secret).post(f"{ME}tokens/", {"name": "x"}).status_code == 405
