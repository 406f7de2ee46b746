"""Two-factor authentication: setting up, logging in, recovery codes, turning off."""

import re
import time
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from portal.accounts.models import User
from tests.conftest import PASSWORD

pytestmark = pytest.mark.django_db
STEP_SECONDS = 30


@pytest.fixture
def secured(client: Client, ann: User) -> Client:
    """Ann's browser, after she set up an authenticator app."""
    cache.clear()
    _log_in(client, ann)
    _confirm_password(client, reverse("mfa_activate_totp"))
    page = client.get(reverse("mfa_activate_totp")).content.decode()
    secret = re.search(r"<code>([A-Z2-7]{16,})</code>", page)
    assert secret is not None
    assert 'src="data:image/svg+xml;' in page
    code = format_hotp_value(hotp_value(secret[1], int(time.time()) // STEP_SECONDS))
    response = client.post(reverse("mfa_activate_totp"), {"code": code})
    assert response["Location"] == reverse("mfa_view_recovery_codes")
    return client


def _log_in(client: Client, user: User) -> Any:
    return client.post(reverse("account_login"), {"login": user.email, "password": PASSWORD})


def _confirm_password(client: Client, address: str) -> None:
    """Sensitive pages require reauthentication, even after a recent log-in."""
    asks = client.get(address)["Location"]
    assert asks.startswith(reverse("account_reauthenticate"))
    assert "Confirm your identity" in client.get(asks).content.decode()
    assert client.post(asks, {"password": "wrong"}).status_code == 200
    answer = client.post(asks, {"password": PASSWORD, "next": address})
    assert answer["Location"] == address


def _recovery_codes(client: Client) -> list[str]:
    page = client.get(reverse("mfa_view_recovery_codes")).content.decode()
    codes = page.partition('<ol class="codes mono">')[2].partition("</ol>")[0]
    return re.findall(r"<li>(\w+)</li>", codes)


def test_setting_up_shows_recovery_codes(secured: Client) -> None:
    assert len(_recovery_codes(secured)) == 10
    page = secured.get(reverse("mfa_index")).content.decode()
    assert "10 of 10 codes are unused" in page
    assert "Turn off" in page


def test_logging_in_asks_for_the_second_step(secured: Client, ann: User) -> None:
    [code, *_] = _recovery_codes(secured)
    fresh = Client()
    assert _log_in(fresh, ann)["Location"] == reverse("mfa_authenticate")
    assert "Two-factor authentication" in fresh.get(reverse("mfa_authenticate")).content.decode()
    assert "_auth_user_id" not in fresh.session

    wrong = fresh.post(reverse("mfa_authenticate"), {"code": "000000"})
    assert "Incorrect code" in wrong.content.decode()
    assert "_auth_user_id" not in fresh.session

    right = fresh.post(reverse("mfa_authenticate"), {"code": code})
    assert right["Location"] == reverse("home:start")
    assert fresh.session["_auth_user_id"] == str(ann.pk)


def test_a_recovery_code_opens_once(secured: Client, ann: User) -> None:
    [code, *_] = _recovery_codes(secured)
    for opens in (True, False):
        fresh = Client()
        _log_in(fresh, ann)
        fresh.post(reverse("mfa_authenticate"), {"code": code})
        assert ("_auth_user_id" in fresh.session) is opens


def test_new_recovery_codes_replace_the_old_ones(secured: Client) -> None:
    old = _recovery_codes(secured)
    warning = secured.get(reverse("mfa_generate_recovery_codes")).content.decode()
    assert "Your 10 unused codes will no longer work" in warning
    secured.post(reverse("mfa_generate_recovery_codes"))
    assert not set(old) & set(_recovery_codes(secured))


def test_turning_it_off_is_asked_first_and_then_done(secured: Client) -> None:
    asked = secured.get(reverse("mfa_deactivate_totp")).content.decode()
    assert "Turn off the authenticator app?" in asked
    secured.post(reverse("mfa_deactivate_totp"))
    assert not Authenticator.objects.exists()


def test_turning_it_off_asks_for_the_password_once_the_last_answer_is_old(
    secured: Client,
) -> None:
    session = secured.session
    for record in session["account_authentication_methods"]:
        record["at"] -= 3600
    session.save()
    _confirm_password(secured, reverse("mfa_deactivate_totp"))


def test_an_unconfirmed_address_cannot_turn_it_on(client: Client, stranger: User) -> None:
    EmailAddress.objects.filter(user=stranger).update(verified=False)
    _log_in(client, stranger)
    page = client.get(reverse("mfa_activate_totp"), follow=True).content.decode()
    assert "verified your email address" in page
