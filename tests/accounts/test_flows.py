"""Sign-up, log-in, log-out and password reset."""

import re
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from portal.accounts.emails import email_route
from portal.accounts.models import User
from tests.conftest import PASSWORD
from tests.fixture_types import ClientOf

pytestmark = pytest.mark.django_db
NEW_PASSWORD = "battery staple 7"


def _sign_up(client: Client, **changes: str) -> Any:
    data = {
        "name": "Nora",
        "email": "nora@example.org",
        "password1": NEW_PASSWORD,
        "password2": NEW_PASSWORD,
    }
    return client.post(reverse("account_signup"), data | changes)


def test_signing_up_makes_an_account_and_leads_to_the_start_page(client: Client) -> None:
    response = _sign_up(client)
    assert response.status_code == 302
    assert response["Location"] == reverse("home:start")
    user = User.objects.get(email="nora@example.org")
    assert user.name == "Nora"
    assert user.check_password(NEW_PASSWORD)
    assert not user.is_organiser
    assert client.session["_auth_user_id"] == str(user.pk)


def test_signing_up_sends_a_link_that_confirms_the_address(client: Client) -> None:
    _sign_up(client)
    [message] = mail.outbox
    assert message.to == ["nora@example.org"]
    assert "Nora" in message.body
    link = re.search(r"http://testserver(\S+)", str(message.body))
    assert link is not None
    assert "Is nora@example.org your email address?" in client.get(link[1]).content.decode()
    client.post(link[1])
    assert EmailAddress.objects.get(email="nora@example.org").verified


CONSOLE, DUMMY, SMTP = (
    f"django.core.mail.backends.{n}.EmailBackend" for n in ("console", "dummy", "smtp")
)


def _notice_after_sign_up(client: Client) -> str:
    _sign_up(client)
    return " ".join(client.get(reverse("home:start")).content.decode().split())


def test_signing_up_says_that_a_link_was_sent(client: Client) -> None:
    assert "We sent a confirmation link to nora@example.org." in _notice_after_sign_up(client)


def test_no_page_claims_an_email_that_was_only_printed(client: Client, settings: Any) -> None:
    settings.EMAIL_BACKEND = CONSOLE
    pages = [_notice_after_sign_up(client)]
    for name in ("account_email_verification_sent", "account_reset_password_done"):
        pages.append(" ".join(Client().get(reverse(name)).content.decode().split()))
    for page in pages:
        assert "This site does not send email" in page
        assert "the server’s log" in page
        assert "We sent" not in page
        assert "spam" not in page
    asked = Client().get(reverse("account_reset_password")).content.decode()
    assert "We will send" not in asked
    assert "Send link" not in asked


@pytest.mark.parametrize(
    ("backend", "expected"),
    [(SMTP, (True, "")), (CONSOLE, (False, "the server’s log")), (DUMMY, (False, ""))],
)
def test_the_way_of_emails(settings: Any, backend: str, expected: tuple[bool, str]) -> None:
    settings.EMAIL_BACKEND = backend
    assert email_route() == expected


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": ""}, "This field is required"),
        ({"email": "nobody"}, "Enter a valid email address"),
        ({"password2": "something else 8"}, "same password"),
        ({"password1": "12345678", "password2": "12345678"}, "too common"),
    ],
)
def test_signing_up_says_what_is_wrong(client: Client, change: dict[str, str], words: str) -> None:
    response = _sign_up(client, **change)
    assert response.status_code == 200
    assert words in response.content.decode()
    assert not User.objects.exists()


def test_signing_up_with_a_taken_address_changes_nothing(client: Client, ann: User) -> None:
    response = _sign_up(client, email=ann.email.upper())
    assert "already registered with this email address" in response.content.decode()
    assert User.objects.count() == 1
    ann.refresh_from_db()
    assert ann.name == "Ann"


def test_where_addresses_must_be_confirmed_sign_up_tells_only_their_owner(
    client: Client, ann: User, settings: Any
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    fresh, taken = _sign_up(Client()), _sign_up(client, email=ann.email)
    assert fresh["Location"] == taken["Location"] == reverse("account_email_verification_sent")
    ann.refresh_from_db()
    assert ann.name == "Ann"
    assert [message.to for message in mail.outbox] == [["nora@example.org"], [ann.email]]


def _log_in(client: Client, user: User, password: str = PASSWORD, **extra: str) -> Any:
    return client.post(
        reverse("account_login"), {"login": user.email, "password": password} | extra
    )


def test_logging_in_leads_to_the_start_page(client: Client, ann: User) -> None:
    response = _log_in(client, ann)
    assert response["Location"] == reverse("home:start")
    page = client.get(reverse("home:start")).content.decode()
    assert "Hello, Ann" in page


def test_logging_in_takes_the_address_in_any_case(client: Client, ann: User) -> None:
    response = client.post(
        reverse("account_login"), {"login": ann.email.upper(), "password": PASSWORD}
    )
    assert response.status_code == 302


def test_logging_in_goes_on_to_the_page_that_asked(client: Client, ann: User) -> None:
    asked = client.get(reverse("accounts:account"))
    assert asked["Location"] == "/accounts/login/?next=/account/"
    assert _log_in(client, ann, next="/account/")["Location"] == "/account/"


def test_logging_in_goes_to_no_other_site(client: Client, ann: User) -> None:
    response = _log_in(client, ann, next="https://elsewhere.example/")
    assert response["Location"] == reverse("home:start")


def test_a_wrong_password_is_refused(client: Client, ann: User) -> None:
    response = _log_in(client, ann, password="wrong")
    assert response.status_code == 200
    assert "incorrect" in response.content.decode()
    assert "_auth_user_id" not in client.session


def test_guessing_is_stopped(client: Client, ann: User) -> None:
    for _ in range(10):
        _log_in(client, ann, password="wrong")
    response = _log_in(client, ann)
    assert "Too many failed login attempts" in response.content.decode()
    assert "_auth_user_id" not in client.session


def test_too_many_sign_ups_from_one_place_get_a_page(client: Client) -> None:
    for number in range(101):
        response = _sign_up(client, email=f"n{number}@example.org", password2="different 9")
    assert response.status_code == 429
    assert "Too many attempts" in response.content.decode()


def test_an_account_switched_off_cannot_log_in(client: Client, ann: User) -> None:
    User.objects.filter(pk=ann.pk).update(is_active=False)
    response = _log_in(client, ann)
    assert "_auth_user_id" not in client.session
    assert response["Location"] == reverse("account_inactive")
    assert "deactivated" in client.get(response["Location"]).content.decode()


def test_logging_out_needs_a_post(client_of: ClientOf, ann: User) -> None:
    client = client_of(ann)
    assert "Log out?" in client.get(reverse("account_logout")).content.decode()
    assert "_auth_user_id" in client.session
    response = client.post(reverse("account_logout"))
    assert response["Location"] == reverse("home:home")
    assert "_auth_user_id" not in client.session


def test_a_reset_link_sets_a_new_password_once(client: Client, ann: User) -> None:
    response = client.post(reverse("account_reset_password"), {"email": ann.email})
    assert response["Location"] == reverse("account_reset_password_done")
    [message] = mail.outbox
    assert message.subject == "[Factboard] Choose a new password"
    link = re.search(r"http://testserver(\S+)", str(message.body))
    assert link is not None

    form = client.get(link[1], follow=True)
    assert "Choose a new password" in form.content.decode()
    done = client.post(
        form.request["PATH_INFO"],
        {"password1": NEW_PASSWORD, "password2": NEW_PASSWORD},
        follow=True,
    )
    assert "Password changed" in done.content.decode()
    ann.refresh_from_db()
    assert ann.check_password(NEW_PASSWORD)

    again = Client().get(link[1], follow=True)
    assert "This link no longer works" in again.content.decode()


def test_a_reset_does_not_tell_whether_an_account_exists(client: Client, ann: User) -> None:
    known = client.post(reverse("account_reset_password"), {"email": ann.email}, follow=True)
    unknown = client.post(
        reverse("account_reset_password"), {"email": "nobody@example.org"}, follow=True
    )
    assert known.status_code == unknown.status_code == 200
    assert known.redirect_chain == unknown.redirect_chain


def test_changing_the_password_asks_for_the_old_one(client_of: ClientOf, ann: User) -> None:
    client = client_of(ann)
    data = {"oldpassword": "wrong", "password1": NEW_PASSWORD, "password2": NEW_PASSWORD}
    client.post(reverse("account_change_password"), data)
    ann.refresh_from_db()
    assert ann.check_password(PASSWORD)
    client.post(reverse("account_change_password"), data | {"oldpassword": PASSWORD})
    ann.refresh_from_db()
    assert ann.check_password(NEW_PASSWORD)


PUBLIC_PAGES = [
    "account_login",
    "account_signup",
    "account_reset_password",
    "account_reset_password_done",
    "account_reset_password_from_key_done",
    "account_email_verification_sent",
    "account_inactive",
]
OWN_PAGES = [
    "accounts:account",
    "account_email",
    "account_change_password",
    "account_logout",
    "mfa_index",
]


@pytest.mark.parametrize("name", PUBLIC_PAGES)
def test_pages_before_logging_in_have_one_heading(client: Client, name: str) -> None:
    page = client.get(reverse(name)).content.decode()
    assert page.count("<h1>") == 1
    assert 'href="/accounts/login/"' in page


@pytest.mark.parametrize("name", OWN_PAGES)
def test_pages_of_the_account_are_for_their_owner(
    client: Client, client_of: ClientOf, ann: User, name: str
) -> None:
    page = client_of(ann).get(reverse(name)).content.decode()
    assert page.count("<h1>") == 1
    if name != "account_logout":
        assert client.get(reverse(name))["Location"].startswith(reverse("account_login"))


def test_the_account_page_asks_the_database_the_same_for_many_tokens(
    client_of: ClientOf, ann: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    client = client_of(ann)
    for count in (1, 5):
        for number in range(count):
            client.post(reverse("accounts:create-token"), {"name": f"{count}/{number}"})
        # Session, user, tokens, teams, email address, second factor; membership for the navigation.
        with django_assert_num_queries(7):
            client.get(reverse("accounts:account"))
