"""Limits of log-ins, sign-ups and password resets, on a network that many people share."""

from ipaddress import ip_network
from typing import Any

import pytest
from django.core import mail
from django.core.cache import cache
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from portal.accounts.adapter import client_address
from portal.accounts.models import User
from tests.conftest import PASSWORD

PROXY, PROXIES = "10.0.0.5", [ip_network("10.0.0.0/8"), ip_network("fd00::/8")]
LIMITED = "Too many failed login attempts"


@pytest.fixture(autouse=True)
def _no_attempts_yet() -> None:
    cache.clear()


@pytest.mark.parametrize(
    ("peer", "forwarded", "expected"),
    [
        ("203.0.113.7", "", "203.0.113.7"),
        (PROXY, "203.0.113.7", "203.0.113.7"),
        # A client that writes the header itself cannot choose its IP address.
        ("203.0.113.7", "198.51.100.1", "203.0.113.7"),
        (PROXY, "198.51.100.1, 203.0.113.7", "203.0.113.7"),
        (PROXY, "198.51.100.1,203.0.113.7,10.0.0.9", "203.0.113.7"),
        # Only proxies: the first of them.
        (PROXY, "10.0.0.8, 10.0.0.9", "10.0.0.8"),
        # Values that are no IP address: the proxy that sent them.
        (PROXY, "", PROXY),
        (PROXY, "203.0.113.7, unknown", PROXY),
        (PROXY, "203.0.113.7, _hidden, 10.0.0.9", "10.0.0.9"),
        # Ports, and IPv6.
        (PROXY, "203.0.113.7:4711", "203.0.113.7"),
        ("fd00::1", "[2001:db8::7]:4711", "2001:db8::7"),
        ("::ffff:10.0.0.5", "2001:db8::7", "2001:db8::7"),
        (PROXY, "::ffff:203.0.113.7", "203.0.113.7"),
    ],
)
def test_the_address_of_a_client(peer: str, forwarded: str, expected: str) -> None:
    assert client_address(peer, forwarded, PROXIES) == expected


@given(st.text(), st.ip_addresses().map(str))
def test_only_what_a_trusted_proxy_appended_counts(invented: str, client: str) -> None:
    direct = client_address(client, "", [])
    assert client_address(client, invented, []) == direct
    assert client_address("192.0.2.1", f"{invented}, {client}", [ip_network("192.0.2.1")]) == direct


def _log_in(email: str, password: str = PASSWORD, **address: str) -> Any:
    return Client(**address).post(  # type: ignore[arg-type]
        "/accounts/login/", {"login": email, "password": password}
    )


def _is_limited(response: Any) -> bool:
    assert response.status_code in {200, 302}
    return response.status_code == 200 and LIMITED in response.content.decode()


@pytest.mark.django_db
def test_wrong_passwords_of_others_do_not_lock_out_the_owner(ann: User, ben: User) -> None:
    there, here = {"REMOTE_ADDR": "203.0.113.7"}, {"REMOTE_ADDR": "203.0.113.8"}
    refused = [_is_limited(_log_in(ann.email, "wrong", **there)) for _ in range(10)]
    assert refused == [False] * 5 + [True] * 5
    assert _is_limited(_log_in(ann.email, **there))
    assert _log_in(ann.email, **here).status_code == 302
    assert _log_in(ben.email, **there).status_code == 302, "another account at the same address"


@pytest.mark.django_db
def test_clients_of_a_trusted_proxy_are_told_apart(ann: User, settings: Any) -> None:
    mallory = {"REMOTE_ADDR": PROXY, "HTTP_X_FORWARDED_FOR": "203.0.113.7"}
    owner = {"REMOTE_ADDR": PROXY, "HTTP_X_FORWARDED_FOR": "203.0.113.8"}
    for trusted, status in ([], 200), (PROXIES, 302):
        cache.clear()
        settings.TRUSTED_PROXIES = trusted
        for _ in range(5):
            _log_in(ann.email, "wrong", **mallory)
        assert _log_in(ann.email, **owner).status_code == status


@pytest.mark.django_db
def test_an_invented_address_does_not_reset_the_limit(ann: User, settings: Any) -> None:
    settings.TRUSTED_PROXIES = PROXIES
    for peer, real in (("203.0.113.7", ""), (PROXY, ", 203.0.113.8")):
        for number in range(5):
            header = f"198.51.100.{number}{real}"
            _log_in(ann.email, "wrong", REMOTE_ADDR=peer, HTTP_X_FORWARDED_FOR=header)
        last = _log_in(ann.email, REMOTE_ADDR=peer, HTTP_X_FORWARDED_FOR=f"192.0.2.1{real}")
        assert _is_limited(last)


@pytest.mark.django_db
def test_trying_many_accounts_from_one_address_is_limited() -> None:
    refused = [_is_limited(_log_in(f"u{number}@example.org", "wrong")) for number in range(102)]
    assert refused == [False] * 100 + [True] * 2


@pytest.mark.django_db
def test_a_class_can_start_at_one_address(ann: User) -> None:
    password = "battery staple 7"
    fields = {"password1": password, "password2": password}
    for number in range(40):
        email = f"student{number}@example.org"
        answer = Client().post("/accounts/signup/", {"name": "Student", "email": email, **fields})
        assert answer.status_code == 302
        assert _log_in(email, password).status_code == 302
        assert Client().post("/accounts/password/reset/", {"email": email}).status_code == 302
    assert User.objects.filter(name="Student").count() == 40
    assert all(_log_in(ann.email).status_code == 302 for _ in range(40))


@pytest.mark.django_db
def test_resets_of_one_account_are_limited(ann: User) -> None:
    reset = {"email": ann.email}
    codes = [Client().post("/accounts/password/reset/", reset).status_code for _ in range(6)]
    assert codes == [302] * 5 + [429]
    assert len(mail.outbox) == 5
