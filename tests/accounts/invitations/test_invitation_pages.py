"""The recipient's page of an invitation, sign-up with it, and the organisers' list."""

from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client

from portal.accounts.invitations.services import make_invitation, revoke_invitation
from portal.accounts.models import Invitation, User
from portal.jobs.models import Job
from tests.conftest import PASSWORD
from tests.fixture_types import ApiOf, ClientOf

from .emails import ORIGIN, expire, invite

pytestmark = pytest.mark.django_db
NORA = "nora@example.org"
NEW = {"name": "Nora", "password1": "battery staple 7", "password2": "battery staple 7"}


@pytest.fixture
def invited(organiser: User) -> tuple[Invitation, str]:
    return invite(NORA, organiser)


@pytest.fixture
def by_invitation(settings: Any) -> None:
    settings.SIGN_UP = "invited"


def page(client: Client, secret: str) -> str:
    return client.get(f"/invitations/{secret}/").content.decode()


def sign_up(client: Client, secret: str | None, **changes: str) -> Any:
    data = NEW | ({"next": f"/invitations/{secret}/"} if secret else {}) | changes
    return client.post("/accounts/signup/", data)


# --- the page ----------------------------------------------------------------------------------


def test_visitors_see_the_offer_and_both_ways_in(
    client: Client, invited: tuple[Invitation, str]
) -> None:
    text = page(client, invited[1])
    assert "Olga invited nora@example.org to become a member of Factboard" in " ".join(text.split())
    assert f'href="/accounts/signup/?next=/invitations/{invited[1]}/"' in text
    assert f'href="/accounts/login/?next=/invitations/{invited[1]}/"' in text


def test_page_does_not_tell_whether_the_address_has_an_account(
    client: Client, organiser: User, ann: User, invited: tuple[Invitation, str]
) -> None:
    known, secret = invite("sam@example.org", organiser)
    User.objects.create_user(email="sam@example.org", password="x", name="Sam")
    texts = [
        page(client, each[1]).replace(each[1], "").replace(each[0].email, "")
        for each in (invited, (known, secret))
    ]
    assert texts[0] == texts[1]


def test_unknown_link_has_a_page(client: Client) -> None:
    response = client.get("/invitations/no-such-secret/")
    assert response.status_code == 404
    assert "replaced by the link in a newer email" in response.content.decode()


def test_page_is_not_kept_by_caches(client: Client, invited: tuple[Invitation, str]) -> None:
    assert "no-store" in client.get(f"/invitations/{invited[1]}/")["Cache-Control"]


@pytest.mark.parametrize("end", ["expired", "revoked", "accepted"])
def test_ended_invitations_say_so(
    client: Client, organiser: User, ann: User, invited: tuple[Invitation, str], end: str
) -> None:
    invitation, secret = invited
    if end == "expired":
        expire(invitation)
    elif end == "revoked":
        revoke_invitation(invitation=invitation, actor=organiser)
    else:
        sign_up(client, secret)
        client.post(f"/invitations/{secret}/accept/")
        client.logout()
    response = client.get(f"/invitations/{secret}/")
    assert response.status_code == 410
    words = {"expired": "has expired", "revoked": "was withdrawn", "accepted": "was already used"}
    assert words[end] in response.content.decode()
    assert "Sign up" not in response.content.decode().split("<main")[1]


def test_other_account_sees_the_choice_and_cannot_accept(
    client_of: ClientOf, stranger: User, invited: tuple[Invitation, str]
) -> None:
    client, secret = client_of(stranger), invited[1]
    text = page(client, secret)
    assert "sam@example.org" in text
    assert "Log out and continue as the invited user" in text
    assert "/accept/" not in text
    refused = client.post(f"/invitations/{secret}/accept/", follow=True)
    assert "you are logged in as sam@example.org" in refused.content.decode()
    out = client.post("/accounts/logout/", {"next": f"/invitations/{secret}/"})
    assert out["Location"] == f"/invitations/{secret}/"
    assert Invitation.objects.get().accepted_at is None


def test_existing_account_logs_in_comes_back_and_accepts(
    client: Client, organiser: User, ann: User
) -> None:
    _, secret = invite(ann.email, organiser)
    address = f"/invitations/{secret}/"
    assert client.post(f"{address}accept/")["Location"] == address
    entered = client.post(
        "/accounts/login/", {"login": ann.email, "password": PASSWORD, "next": address}
    )
    assert entered["Location"] == address
    assert "Accept" in page(client, secret)
    done = client.post(f"{address}accept/", follow=True)
    assert "You are now a member of Factboard." in done.content.decode()
    again = client.post(f"{address}accept/", follow=True)
    assert "was already used" in again.content.decode()
    assert "You accepted this invitation" in again.content.decode()


def test_accepting_needs_a_post(client_of: ClientOf, ann: User, organiser: User) -> None:
    _, secret = invite(ann.email, organiser)
    assert client_of(ann).get(f"/invitations/{secret}/accept/").status_code == 405


# --- sign-up -----------------------------------------------------------------------------------


def test_sign_up_takes_the_invited_address_and_no_other(
    client: Client, invited: tuple[Invitation, str]
) -> None:
    secret = invited[1]
    form = client.get(f"/accounts/signup/?next=/invitations/{secret}/").context["form"]
    assert form.fields["email"].disabled
    assert form["email"].value() == NORA
    before = len(mail.outbox)
    response = sign_up(client, secret, email="other@example.org")
    assert response["Location"] == f"/invitations/{secret}/"
    user = User.objects.get(name="Nora")
    assert user.email == NORA
    addresses = EmailAddress.objects.filter(user=user)
    assert list(addresses.values_list("email", "verified")) == [(NORA, True)]
    assert len(mail.outbox) == before, "the email address is already confirmed"
    assert "Accept" in page(client, secret)


def test_confirmed_address_lets_in_where_addresses_must_be_confirmed(
    client: Client, invited: tuple[Invitation, str], settings: Any
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    assert sign_up(client, invited[1])["Location"] == f"/invitations/{invited[1]}/"


def test_open_sign_up_needs_no_invitation(client: Client) -> None:
    assert sign_up(client, None, email="free@example.org").status_code == 302
    assert EmailAddress.objects.get().verified is False


@pytest.mark.usefixtures("by_invitation")
def test_closed_sign_up_says_what_to_do(client: Client) -> None:
    text = client.get("/accounts/signup/").content.decode()
    assert "Sign-up is by invitation" in text
    assert "to invite you" in text


CLOSED = {
    "nothing": {},
    "unknown": {"next": "/invitations/no-such-secret/"},
    "another page": {"next": "/boards/"},
    "another site": {"next": "https://elsewhere.example/invitations/x/"},
}


@pytest.mark.usefixtures("by_invitation")
@pytest.mark.parametrize("data", CLOSED.values(), ids=CLOSED)
@pytest.mark.parametrize("headers", [{}, {"x-requested-with": "XMLHttpRequest"}])
def test_closed_sign_up_takes_nobody(
    client: Client,
    invited: tuple[Invitation, str],
    data: dict[str, str],
    headers: dict[str, str],
) -> None:
    client.get(f"/invitations/{invited[1]}/")  # viewing an invitation does not open sign-up
    response = client.post("/accounts/signup/", NEW | {"email": NORA} | data, headers=headers)
    assert "by invitation" in response.content.decode()
    assert not User.objects.filter(email=NORA).exists()


@pytest.mark.usefixtures("by_invitation")
@pytest.mark.parametrize("end", ["expired", "revoked", "used"])
def test_closed_sign_up_takes_nobody_with_an_ended_invitation(
    organiser: User, invited: tuple[Invitation, str], end: str
) -> None:
    invitation, secret = invited
    if end == "expired":
        expire(invitation)
    elif end == "revoked":
        revoke_invitation(invitation=invitation, actor=organiser)
    else:
        first = Client()
        sign_up(first, secret)
        first.post(f"/invitations/{secret}/accept/")
        User.objects.filter(email=NORA).update(email="moved@example.org")
    response = sign_up(Client(), secret, name="Second")
    assert "by invitation" in response.content.decode()
    assert not User.objects.filter(name="Second").exists()


@pytest.mark.usefixtures("by_invitation")
def test_closed_sign_up_opens_for_the_invited(invited: tuple[Invitation, str]) -> None:
    client = Client()
    assert sign_up(client, invited[1])["Location"] == f"/invitations/{invited[1]}/"
    assert User.objects.filter(email=NORA).exists()


def test_api_makes_no_accounts(api_of: ApiOf) -> None:
    """All ways to sign up check whether sign-up is open."""
    paths = api_of(None).get("/api/v1/schema/?format=json").json()["paths"]
    assert "/api/v1/invitations/{secret}/accept/" in paths
    assert [path for path in paths if "sign-up" in path or "signup" in path] == []
    parts = {part for path in paths for part in path.split("/")}
    assert parts.isdisjoint({"accounts", "users", "auth", "register"})


# --- API ---------------------------------------------------------------------------------------


def test_api_shows_and_accepts(api_of: ApiOf, organiser: User, ann: User, stranger: User) -> None:
    _, secret = invite(ann.email, organiser)
    address = f"/api/v1/invitations/{secret}/"
    assert api_of(None).get(address).status_code == 401
    assert api_of(None).post(f"{address}accept/").status_code == 401
    seen = api_of(ann).get(address).json()
    assert (seen["state"], seen["invited_by"], seen["is_mine"]) == ("pending", "Olga", True)
    assert api_of(stranger).get(address).json()["is_mine"] is False
    refused = api_of(stranger).post(f"{address}accept/")
    assert (refused.status_code, refused.json()["code"]) == (409, "other_account")
    assert api_of(ann).post(f"{address}accept/").json()["state"] == "accepted"
    assert api_of(ann).post(f"{address}accept/").json()["code"] == "accepted"
    assert api_of(ann).get("/api/v1/invitations/guessed/").status_code == 404


# --- organisers' list --------------------------------------------------------------------------


def test_organiser_invites_several_at_once(client_of: ClientOf, organiser: User, ann: User) -> None:
    client = client_of(organiser)
    text = f"new@example.org\n\n  NEW@example.org \n{ann.email}\nsecond@example.org"
    shown = client.post("/invitations/", {"emails": text}, follow=True).content.decode()
    assert "Invited: new@example.org, second@example.org." in shown
    assert "Already invited or registered: ann@example.org." in shown
    assert "sending" in shown
    emails = Invitation.objects.values_list("email", flat=True)
    assert sorted(emails) == ["new@example.org", "second@example.org"]


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("", ["This field is required."]),
        ("\n  \n", ["Enter at least one email address."]),
        (
            "a@example.org\nnobody\n\nb@\n",
            [
                "Line 2: “nobody” is not an email address.",
                "Line 4: “b@” is not an email address.",
            ],
        ),
        (
            "\n".join(f"a{number}@example.org" for number in range(51)),
            ["You can invite at most 50 people at once, not 51."],
        ),
        ("a@example.org, b@example.org", None),
        (f"{'a' * 64}@{'b.' * 100}example.org", None),
    ],
)
def test_all_faults_are_listed_and_nobody_is_invited(
    client_of: ClientOf, organiser: User, text: str, faults: list[str] | None
) -> None:
    response = client_of(organiser).post("/invitations/", {"emails": text})
    errors = response.context["form"].errors["emails"]
    assert errors == faults if faults else errors
    assert not Invitation.objects.exists()
    assert not Job.objects.exists()


def test_organiser_withdraws_and_sends_again(client_of: ClientOf, organiser: User) -> None:
    client = client_of(organiser)
    invitation = make_invitation(email=NORA, actor=organiser, origin=ORIGIN)
    again = client.post(f"/invitations/{invitation.pk}/resend/", follow=True)
    assert "was just sent" in again.content.decode()
    gone = client.post(f"/invitations/{invitation.pk}/revoke/", follow=True)
    assert "withdrawn." in gone.content.decode()
    assert "Invitations appear here until they are accepted" in gone.content.decode()


ORGANISERS = [
    ("GET", "/invitations/"),
    ("POST", "/invitations/"),
    ("POST", "/invitations/{pk}/resend/"),
    ("POST", "/invitations/{pk}/revoke/"),
]


@pytest.mark.parametrize(("method", "address"), ORGANISERS)
def test_list_is_for_organisers(
    client_of: ClientOf, organiser: User, lead: User, method: str, address: str
) -> None:
    invitation = make_invitation(email=NORA, actor=organiser, origin=ORIGIN)
    path = address.format(pk=invitation.pk)
    statuses = [
        client_of(user).generic(method, path).status_code for user in (None, lead, organiser)
    ]
    assert statuses == [302, 403, 302 if "{pk}" in address else 200]
