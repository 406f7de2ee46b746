"""The licence that is accepted before a download, once."""

from urllib.parse import quote

import pytest
from rest_framework.test import APIClient

from portal.accounts.models import User
from portal.audit.models import Event
from portal.datasets.models import LicenceAcceptance, Release
from tests.datasets.releases.worlds import split_world
from tests.datasets.test_access import body
from tests.fixture_types import ApiOf, ClientOf

pytestmark = pytest.mark.django_db

BASE = "/datasets/world/releases/1.0.0/"
LICENCE = f"{BASE}licence/"
GUARDED = ["download/", "download/?images=1", "starter-kit/", "files/gold.jsonl",
           "files/items.parquet", "files/labelstudio.json", "files/gold.zip"]  # fmt: skip
OPEN = ["files/croissant.json", "files/citation.bib", "files/CITATION.cff"]


@pytest.fixture
def release() -> Release:
    return split_world(licence="CC-BY-4.0 and no resale")


@pytest.mark.parametrize("path", GUARDED)
def test_every_download_leads_to_the_licence_first(
    path: str, release: Release, researcher: User, client_of: ClientOf
) -> None:
    for user in (None, researcher):
        answer = client_of(user).get(f"{BASE}{path}")
        assert answer.status_code == 302
        assert answer["Location"] == f"{LICENCE}?next={quote(f'{BASE}{path}', safe='')}"
    client = client_of(researcher)
    page = client.get(answer["Location"])
    assert "CC-BY-4.0 and no resale" in page.content.decode()
    accepted = client.post(LICENCE, {"accept": "on", "next": f"{BASE}{path}"})
    assert accepted["Location"] == f"{BASE}#downloads"
    response = client.get(f"{BASE}{path}")
    body(response)
    assert response.status_code == 200


def test_what_only_describes_needs_no_licence(release: Release, client_of: ClientOf) -> None:
    for path in OPEN:
        response = client_of(None).get(f"{BASE}{path}")
        body(response)
        assert response.status_code == 200, path


def test_organisers_need_not_accept(
    release: Release, organiser: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    for client in (client_of(organiser), api_of(organiser)):
        prefix = "/api/v1" if isinstance(client, APIClient) else ""
        response = client.get(f"{prefix}{BASE}download/")
        body(response)
        assert response.status_code == 200


def test_it_is_kept_once(release: Release, researcher: User, client_of: ClientOf) -> None:
    client = client_of(researcher)
    for _ in range(2):
        client.post(LICENCE, {"accept": "on"})
    assert LicenceAcceptance.objects.get().user == researcher
    assert Event.objects.get(verb="accept_licence").data["licence"] == "CC-BY-4.0 and no resale"
    assert client.get(LICENCE).status_code == 302


def test_without_the_tick_nothing_is_kept(
    release: Release, researcher: User, client_of: ClientOf
) -> None:
    answer = client_of(researcher).post(LICENCE, {})
    assert answer.status_code == 400
    assert "Accept the licence to download the release." in answer.content.decode()
    assert not LicenceAcceptance.objects.exists()


def test_those_who_are_not_signed_in_are_asked_to(release: Release, client_of: ClientOf) -> None:
    page = client_of(None).get(LICENCE)
    assert "Log in</a> to accept" in page.content.decode()
    answer = client_of(None).post(LICENCE, {"accept": "on"})
    assert answer["Location"].startswith("/accounts/login/")
    assert not LicenceAcceptance.objects.exists()


def test_it_does_not_lead_to_other_sites(
    release: Release, researcher: User, client_of: ClientOf
) -> None:
    client = client_of(researcher)
    client.post(LICENCE, {"accept": "on"})
    assert client.get(f"{LICENCE}?next=https://example.org/")["Location"] == BASE


def test_a_release_without_a_licence_has_no_such_page(client_of: ClientOf) -> None:
    split_world()
    assert client_of(None).get(LICENCE).status_code == 404


def test_the_api_says_where_to_accept(release: Release, researcher: User, api_of: ApiOf) -> None:
    path = f"/api/v1{BASE}accept-licence/"
    api = api_of(researcher)
    refused = api.get(f"/api/v1{BASE}download/")
    assert refused.status_code == 403
    assert 'POST {"version": "1.0.0"} to ' in refused.json()["detail"]
    assert path in refused.json()["detail"]
    assert api.post(path, {"version": "1.0.1"}, format="json").status_code == 400
    assert api.post(path, {}, format="json").status_code == 400
    assert not LicenceAcceptance.objects.exists()
    accepted = api.post(path, {"version": "1.0.0"}, format="json")
    assert accepted.json()["licence"] == "CC-BY-4.0 and no resale"
    for guarded in GUARDED:
        response = api.get(f"/api/v1{BASE}{guarded}")
        body(response)
        assert response.status_code == 200, guarded


def test_the_api_asks_strangers_who_they_are(release: Release, api_of: ApiOf) -> None:
    assert api_of(None).get(f"/api/v1{BASE}files/gold.jsonl").status_code == 401
    path = f"/api/v1{BASE}accept-licence/"
    assert api_of(None).post(path, {"version": "1.0.0"}, format="json").status_code == 401
