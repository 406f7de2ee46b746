"""Limits of log-ins, sign-ups and password resets, on a network that many people share."""

from collections.abc import Iterable
from ipaddress import ip_network
from typing import Any

import pytest
from django.core import mail
from django.core.cache import cache
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from portal.accounts.models import User
from portal.accounts.networks import client_address
from portal.accounts.teams.services import invite_to_team
from portal.jobs.worker import run_due_jobs
from tests.accounts.invitations.emails import ORIGIN, secret_for
from tests.accounts.teams.people import team_of
from tests.conftest import PASSWORD

SECRET = "battery staple 7"
# The networks for documentation count as private.
ON_INTERNET = "9.9.9.9"
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


def _sign_up(email: str, path: str = "/accounts/signup/", **address: str) -> Any:
    fields = {"name": "Student", "password1": SECRET, "password2": SECRET}
    return Client(**address).post(path, {"email": email, **fields})  # type: ignore[arg-type]


def _signed_up(emails: Iterable[str], **address: str) -> int:
    """How many sign-ups in a row are accepted; the next is refused with a reason."""
    answers = [_sign_up(email, **address) for email in emails]
    accepted = [answer.status_code == 302 for answer in answers]
    assert accepted == sorted(accepted, reverse=True)
    for answer in answers[sum(accepted) :]:
        assert "which is the limit. Try again tomorrow, or ask an organiser" in answer.text
    return sum(accepted)


@pytest.mark.django_db
@pytest.mark.parametrize("domain", ["example{}.org", "gmail.com"])
def test_a_loop_of_accounts_ends_at_the_limit_of_its_network(domain: str) -> None:
    emails = [f"n{number}@{domain.format(number)}" for number in range(12)]
    assert _signed_up(emails, REMOTE_ADDR="203.0.113.7") == 10
    assert User.objects.count() == 10
    again = ["x@example.net"]
    assert _signed_up(again, REMOTE_ADDR="203.0.113.200") == 0, "the same network"
    assert _signed_up(again, REMOTE_ADDR="203.0.112.7") == 1, "another network"


@pytest.mark.django_db
def test_a_network_of_ipv6_has_64_bits() -> None:
    emails = [f"n{number}@example{number}.org" for number in range(10)]
    assert _signed_up(emails, REMOTE_ADDR="2001:db8::1") == 10
    assert _signed_up(["x@example.net"], REMOTE_ADDR="2001:db8::ffff:2") == 0
    assert _signed_up(["x@example.net"], REMOTE_ADDR="2001:db8:0:1::2") == 1


@pytest.mark.django_db
def test_a_domain_has_a_limit_over_all_networks() -> None:
    hosts = ("example.org", "a.example.org", "B.example.org")
    for number in range(22):
        email = f"n{number}@{hosts[number % 3]}"
        answer = _sign_up(email, REMOTE_ADDR=f"198.51.{number}.1")
        assert (answer.status_code == 302) is (number < 20)
    assert "an email address of example.org were created" in answer.text
    assert _signed_up(["n@example.net"], REMOTE_ADDR="198.51.100.1") == 1


@pytest.mark.django_db
def test_wrong_entries_and_log_ins_do_not_count(ann: User) -> None:
    for _ in range(12):
        fields = {"name": "", "email": "new@example.org", "password1": SECRET, "password2": SECRET}
        assert "This field is required" in Client().post("/accounts/signup/", fields).text
        assert _log_in(ann.email).status_code == 302
    assert _sign_up("new@example.org").status_code == 302


@pytest.mark.django_db
def test_behind_an_unlisted_proxy_no_network_is_known(settings: Any) -> None:
    def client(number: int, peer: str) -> dict[str, str]:
        return {"REMOTE_ADDR": peer, "HTTP_X_FORWARDED_FOR": f"198.51.{number}.1"}

    for number in range(12):
        email = f"n{number}@example{number}.org"
        assert _sign_up(email, **client(number, PROXY)).status_code == 302
    # The header of a client on the internet changes nothing.
    accepted = [
        _sign_up(f"m{number}@sample{number}.org", **client(number, ON_INTERNET)).status_code
        for number in range(12)
    ]
    assert accepted == [302] * 10 + [200] * 2
    settings.TRUSTED_PROXIES = PROXIES
    accepted = [
        _sign_up(f"o{number}@test{number}.org", **client(1, PROXY)).status_code
        for number in range(12)
    ]
    assert accepted == [302] * 10 + [200] * 2


@pytest.mark.django_db
def test_users_whom_organisers_invited_are_not_limited(organiser: User, ann: User) -> None:
    for sender, accepted in (organiser, [302] * 12), (ann, [302] * 10 + [200] * 2):
        emails = [f"s{sender.pk}-{number}@example.org" for number in range(12)]
        team = team_of(sender, name=f"Team of {sender.pk}")
        invite_to_team(team=team, emails=emails, actor=sender, origin=ORIGIN)
        run_due_jobs()
        links = [f"/accounts/signup/?next=/invitations/{secret_for(email)}/" for email in emails]
        answers = [_sign_up(*each) for each in zip(emails, links, strict=True)]
        assert [answer.status_code for answer in answers] == accepted


@pytest.mark.django_db
def test_a_class_can_start_at_one_address(ann: User, settings: Any) -> None:
    settings.SIGN_UP_DOMAINS = ["example.org"]
    password = SECRET
    for number in range(40):
        email = f"student{number}@{'cs.' if number % 2 else ''}example.org"
        assert _sign_up(email).status_code == 302
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
