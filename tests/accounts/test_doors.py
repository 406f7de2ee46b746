"""One door for all log-ins: no other way in, not without the second factor, and with limits."""

from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.conf import settings
from django.core.cache import cache
from django.core.exceptions import PermissionDenied
from django.test import Client, RequestFactory
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from portal.accounts.models import User
from portal.accounts.second_factor import end_older_sessions
from tests.conftest import PASSWORD, make_user
from tests.fixture_types import ClientOf

pytestmark = pytest.mark.django_db
ADMIN = "/admin/"
LOGIN = "/accounts/login/"
AJAX = {"X-Requested-With": "XMLHttpRequest"}


@pytest.fixture(autouse=True)
def _no_attempts_yet() -> None:
    cache.clear()


@pytest.fixture
def root(db: None) -> User:
    """A superuser with an authenticator app and recovery codes."""
    user = make_user("Root", is_staff=True, is_superuser=True, is_organiser=True)
    TOTP.activate(user, generate_totp_secret())
    RecoveryCodes.activate(user)
    return user


def _answers(user: User, password: str = PASSWORD) -> dict[str, str]:
    """The fields of any log-in form: Django's, allauth's, REST framework's."""
    names = ("login", "username", "email")
    return dict.fromkeys(names, user.email) | {"password": password, "next": ADMIN}


def _is_in(client: Client) -> bool:
    return "_auth_user_id" in client.session or client.get(ADMIN).status_code == 200


def _plain_paths(patterns: Iterable[Any], prefix: str = "/") -> Iterator[str]:
    """All URLs without arguments."""
    for each in patterns:
        route = str(each.pattern)
        if "<" in route or "(" in route:
            continue
        path = prefix + route.lstrip("^").rstrip("$")
        if isinstance(each, URLResolver):
            yield from _plain_paths(each.url_patterns, path)
        elif isinstance(each, URLPattern):
            yield path


def test_no_url_lets_a_superuser_in_by_password_alone(root: User) -> None:
    paths = sorted(set(_plain_paths(get_resolver().url_patterns)))
    assert {LOGIN, "/admin/login/", "/api/v1/account/", "/accounts/reauthenticate/"} <= set(paths)
    open_doors = []
    for path in paths:
        for content_type in ({}, {"content_type": "application/json"}):
            client = Client()
            client.post(path, _answers(root), **content_type)  # type: ignore[arg-type]
            if "_auth_user_id" in client.session:
                open_doors.append(path)
    assert open_doors == []


@pytest.mark.parametrize("headers", [{}, AJAX])
def test_the_password_alone_opens_neither_pages_nor_the_api(
    root: User, headers: dict[str, str]
) -> None:
    client = Client(headers=headers)
    client.post(LOGIN, _answers(root))
    assert not _is_in(client)
    assert client.get("/api/v1/account/").status_code == 401
    assert client.get(reverse("accounts:account")).status_code == 302


def test_the_admin_is_entered_through_the_log_in_of_the_site(root: User) -> None:
    client = Client()
    page = client.get("/admin/jobs/job/", follow=True)
    assert page.redirect_chain[-1][0] == f"{LOGIN}?next=/admin/jobs/job/"
    answers = _answers(root) | {"next": "/admin/jobs/job/"}
    asked = client.post(LOGIN, answers)["Location"]
    assert asked.partition("?")[0] == reverse("mfa_authenticate")
    codes = Authenticator.objects.get(user=root, type=Authenticator.Type.RECOVERY_CODES)
    [code, *_] = RecoveryCodes(codes).get_unused_codes()
    assert client.post(asked, {"code": code})["Location"] == "/admin/jobs/job/"
    assert client.get("/admin/jobs/job/").status_code == 200
    assert client.get("/admin/login/")["Location"] == ADMIN


def test_a_member_of_staff_cannot_use_the_admin_to_become_another(
    root: User, client_of: ClientOf
) -> None:
    staff = make_user("Stella", is_staff=True)
    client = client_of(staff)
    client.post("/admin/login/", _answers(root))
    assert client.session["_auth_user_id"] == str(staff.pk)


def test_the_admin_is_closed_to_other_accounts(ann: User, client_of: ClientOf) -> None:
    assert client_of(ann).get(ADMIN, follow=True).status_code == 403
    assert client_of(ann).post("/admin/login/", _answers(ann)).status_code == 403


def test_passwords_are_changed_in_one_place(root: User, ann: User, client_of: ClientOf) -> None:
    make_user("Stella", is_staff=True)
    response = client_of(User.objects.get(name="Stella")).get("/admin/password_change/")
    assert response["Location"] == reverse("account_change_password")


def test_the_admin_checks_no_password(root: User, monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[str] = []
    monkeypatch.setattr(User, "check_password", lambda _, password: checked.append(password))
    client = Client()
    client.post("/admin/login/", _answers(root), follow=True)
    assert checked == []
    client.post(LOGIN, _answers(root))
    assert checked == [PASSWORD]


@pytest.mark.parametrize("headers", [{}, AJAX])
def test_sixty_wrong_passwords_meet_the_limit(
    root: User, headers: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    checked: list[str] = []
    monkeypatch.setattr(User, "check_password", lambda _, password: checked.append(password))
    client = Client(headers=headers)
    for number in range(60):
        client.post(LOGIN, _answers(root, f"wrong {number}"))
    assert checked == [f"wrong {number}" for number in range(5)]


def test_a_session_of_another_origin_needs_the_second_factor_too(root: User) -> None:
    client = Client()
    with pytest.raises(PermissionDenied, match="requires its second factor"):
        client.force_login(root, backend=settings.AUTHENTICATION_BACKENDS[0])
    assert not _is_in(client)


def test_turning_it_on_ends_the_sessions_without_it(
    ann: User, ben: User, client_of: ClientOf
) -> None:
    here, elsewhere, other = client_of(ann), client_of(ann), client_of(ben)
    request = RequestFactory().post("/")
    request.session = here.session
    end_older_sessions(request=request, user=ann)
    assert [_is_known(client) for client in (here, elsewhere, other)] == [True, False, True]


def _is_known(client: Client) -> bool:
    return client.get("/api/v1/account/").status_code == 200
