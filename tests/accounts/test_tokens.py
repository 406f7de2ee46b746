"""API tokens: shown once, stored as a hash, revoked only by their owner."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.test import APIRequestFactory
from rest_framework.views import APIView

from portal.accounts.access import issue_token, recognise_token, revoke_token
from portal.accounts.models import ApiToken, User
from portal.audit.models import Event
from tests.fixture_types import ClientOf

pytestmark = pytest.mark.django_db


class WhoAmI(APIView):
    """An endpoint that requires authentication."""

    permission_classes = [IsAuthenticated]

    def get(self, request: Request) -> Response:
        return Response({"name": str(request.user)})


def _call(authorization: str) -> Response:
    request = APIRequestFactory().get("/", headers={"authorization": authorization})
    response = WhoAmI.as_view()(request)
    assert isinstance(response, Response)
    return response


def _make_token(client: Client, name: str = "script") -> str:
    page = client.post(reverse("accounts:create-token"), {"name": name})
    shown = re.search(r"fb_[\w-]{43}", page.content.decode())
    assert shown is not None
    assert page["Cache-Control"] == "no-store"
    return shown[0]


def test_a_new_token_is_shown_once_and_only_its_hash_is_kept(
    client_of: ClientOf, ann: User
) -> None:
    client = client_of(ann)
    secret = _make_token(client)
    token = ApiToken.objects.get()
    assert token.user == ann
    assert token.digest == ApiToken.digest_of(secret)
    assert secret not in {str(value) for value in vars(token).values()}
    again = client.get(reverse("accounts:account")).content.decode()
    assert secret not in again
    assert token.prefix in again


def test_a_token_needs_a_name(client_of: ClientOf, ann: User) -> None:
    page = client_of(ann).post(reverse("accounts:create-token"), {"name": ""})
    assert "This field is required" in page.content.decode()
    assert not ApiToken.objects.exists()


def test_a_token_acts_as_its_owner(ann: User) -> None:
    _, secret = issue_token(user=ann, name="script")
    response = _call(f"Bearer {secret}")
    assert response.status_code == 200
    assert response.data == {"name": "Ann"}
    assert ApiToken.objects.get().last_used_at is not None


def test_last_use_is_written_at_most_once_a_minute(ann: User) -> None:
    token, secret = issue_token(user=ann, name="script")
    recently = timezone.now() - timedelta(seconds=30)
    ApiToken.objects.update(last_used_at=recently)
    recognise_token(secret)
    token.refresh_from_db()
    assert token.last_used_at == recently
    ApiToken.objects.update(last_used_at=recently - timedelta(minutes=1))
    recognise_token(secret)
    token.refresh_from_db()
    assert token.last_used_at > recently


@pytest.mark.parametrize(
    ("authorization", "words"),
    [
        ("Bearer fb_unknown", "does not exist or was revoked"),
        ("Bearer", "must be: Bearer TOKEN"),
        ("Bearer a b", "must be: Bearer TOKEN"),
        ("Bearer \xff\xfe", "does not exist or was revoked"),
        ("", "credentials were not provided"),
    ],
)
def test_a_call_without_a_valid_token_says_why(ann: User, authorization: str, words: str) -> None:
    issue_token(user=ann, name="script")
    response = _call(authorization)
    assert response.status_code == 401
    assert response["WWW-Authenticate"] == "Bearer"
    assert words in str(response.data)


def test_a_revoked_token_opens_nothing(client_of: ClientOf, ann: User) -> None:
    client = client_of(ann)
    secret = _make_token(client)
    token = ApiToken.objects.get()
    response = client.post(reverse("accounts:revoke-token", args=[token.pk]), follow=True)
    assert "“script” revoked" in response.content.decode()
    assert _call(f"Bearer {secret}").status_code == 401


def test_a_token_of_an_account_switched_off_opens_nothing(ann: User) -> None:
    _, secret = issue_token(user=ann, name="script")
    User.objects.filter(pk=ann.pk).update(is_active=False)
    assert _call(f"Bearer {secret}").status_code == 401


def test_nobody_revokes_or_sees_the_token_of_another(
    client_of: ClientOf, ann: User, organiser: User
) -> None:
    token, _ = issue_token(user=ann, name="script of Ann")
    client = client_of(organiser)
    assert client.post(reverse("accounts:revoke-token", args=[token.pk])).status_code == 404
    assert ApiToken.objects.filter(pk=token.pk).exists()
    assert "script of Ann" not in client.get(reverse("accounts:account")).content.decode()


@pytest.mark.parametrize("name", ["accounts:create-token", "accounts:revoke-token"])
def test_tokens_change_by_post_of_their_owner_alone(
    client: Client, client_of: ClientOf, ann: User, name: str
) -> None:
    token, _ = issue_token(user=ann, name="script")
    address = reverse(name, args=[token.pk] if "revoke" in name else [])
    assert client.post(address)["Location"].startswith(reverse("account_login"))
    assert client_of(ann).get(address).status_code == 405
    assert ApiToken.objects.count() == 1


def test_issuing_and_revoking_are_logged_without_the_secret(ann: User) -> None:
    token, secret = issue_token(user=ann, name="script")
    key = str(token.pk)
    revoke_token(token=token, actor=ann)
    events = Event.objects.filter(subject_type="accounts.apitoken", subject_id=key)
    assert {event.verb for event in events} == {"issue_token", "revoke_token"}
    assert all(event.actor == ann and secret not in str(event.data) for event in events)


def test_the_profile_is_saved_for_its_owner(client_of: ClientOf, ann: User) -> None:
    client = client_of(ann)
    response = client.post(
        reverse("accounts:account"), {"name": "Ann Lee", "affiliation": "Uni"}, follow=True
    )
    assert "Profile saved." in response.content.decode()
    ann.refresh_from_db()
    assert (ann.name, ann.affiliation, ann.is_organiser) == ("Ann Lee", "Uni", False)


def test_the_profile_form_cannot_make_an_organiser(client_of: ClientOf, ann: User) -> None:
    client_of(ann).post(reverse("accounts:account"), {"name": "Ann", "is_organiser": "on"})
    ann.refresh_from_db()
    assert not ann.is_organiser
