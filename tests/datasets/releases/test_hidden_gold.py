"""No page, download or endpoint of a release reveals hidden gold of its test split."""

import pytest

from portal.accounts.models import User
from portal.datasets.models import Release
from tests.asking import in_turn
from tests.datasets.factories import SECRET, SECRET_COMPANY
from tests.datasets.releases.worlds import (
    OPEN,
    SECRET_IN_IMAGE,
    freeze_split,
    shown_text,
    split_world,
)
from tests.datasets.test_access import body
from tests.fixture_types import ApiOf, ClientOf

pytestmark = pytest.mark.django_db


BASE = "/datasets/world/releases"
FILES = [
    "gold.jsonl",
    "facts.jsonl",
    "gold.zip",
    "items.parquet",
    "labelstudio.json",
    "croissant.json",
    "citation.bib",
    "CITATION.cff",
]
PAGES = [
    "/datasets/",
    "/datasets/world/",
    "/datasets/world/documents/",
    "/datasets/world/documents/secret/",
    "/datasets/world/documents/secret/images/1/",
    "/datasets/world/statistics/",
    f"{BASE}/",
    f"{BASE}/1.0.0/",
    f"{BASE}/1.0.0/?split=test",
    f"{BASE}/1.1.0/diff/1.0.0/",
    f"{BASE}/1.0.0/diff/1.1.0/?kind=changed",
    f"{BASE}/1.0.0/download/",
    f"{BASE}/1.0.0/download/?images=1",
    f"{BASE}/1.0.0/starter-kit/",
    *(f"{BASE}/1.0.0/files/{name}" for name in FILES),
]
ENDPOINTS = [
    "/datasets/world/",
    "/datasets/world/documents/",
    "/datasets/world/documents/secret/",
    "/datasets/world/documents/secret/images/1/",
    f"{BASE}/",
    f"{BASE}/1.0.0/",
    f"{BASE}/1.0.0/items/",
    f"{BASE}/1.0.0/items/?split=test",
    f"{BASE}/1.1.0/diff/1.0.0/",
    f"{BASE}/1.0.0/download/",
    f"{BASE}/1.0.0/download/?images=1",
    f"{BASE}/1.0.0/starter-kit/",
    *(f"{BASE}/1.0.0/files/{name}" for name in FILES),
]
ADDRESSES = [*PAGES, *(f"/api/v1{path}" for path in ENDPOINTS)]


@pytest.fixture
def release() -> Release:
    """Adds 1.1.0 with other facts and notes."""
    release = split_world()
    freeze_split(release.dataset, version="1.1.0", notes="Second.", marked_less=True)
    return release


def secrets_of(release: Release) -> list[str]:
    found = [SECRET, SECRET_COMPANY, "secret-source", "secret/path"]
    for each in release.dataset.releases.all():
        item = each.items.select_related("document").get(name="secret")
        document = item.document
        assert document is not None
        found += [item.sha256, each.sha256]
        found += [document.html_sha256, document.text_sha256, document.source_sha256]
    return found


def test_the_test_part_leaks_nowhere(
    release: Release, stranger: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    secrets = secrets_of(release)

    def check(user: User | None) -> None:
        page, endpoint = client_of(user), api_of(user)
        for path in ADDRESSES:
            response = (endpoint if path.startswith("/api") else page).get(path)
            text = shown_text(body(response))
            assert response.status_code == 200, path
            assert [secret for secret in secrets if secret in text] == [], path
            if "secret/images" in path or "starter-kit" in path:
                assert SECRET_IN_IMAGE not in text

    in_turn([stranger, None], check)


def test_organisers_get_all_of_it(
    release: Release, organiser: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    """The search above finds the strings if they are shown."""
    item = release.items.get(name="secret")
    for path, secret in (
        (f"{BASE}/1.0.0/", release.sha256),
        (f"{BASE}/1.0.0/download/?images=1", SECRET),
        (f"{BASE}/1.0.0/files/items.parquet", item.sha256),
        (f"{BASE}/1.0.0/files/labelstudio.json", SECRET),
        (f"{BASE}/1.0.0/files/gold.zip", SECRET),
        (f"{BASE}/1.1.0/diff/1.0.0/", SECRET),
        (f"/api/v1{BASE}/1.0.0/items/", item.sha256),
        (f"/api/v1{BASE}/1.1.0/diff/1.0.0/", SECRET),
        ("/datasets/world/documents/secret/images/1/", SECRET_IN_IMAGE),
    ):
        client = (api_of if path.startswith("/api") else client_of)(organiser)
        assert secret in shown_text(body(client.get(path))), path


def test_the_open_part_is_there_for_everybody(release: Release, client_of: ClientOf) -> None:
    client = client_of(None)
    for name in FILES[:5]:
        assert OPEN in shown_text(body(client.get(f"{BASE}/1.0.0/files/{name}"))), name
    archive = shown_text(body(client.get(f"{BASE}/1.0.0/download/?images=1")))
    assert OPEN in archive
    assert "secret.png" in archive
    kit = shown_text(body(client.get(f"{BASE}/1.0.0/starter-kit/")))
    assert OPEN not in kit
    assert "images/secret.png" in kit


def test_the_diff_does_not_compare_hidden_items(
    release: Release, organiser: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    answer = api_of(None).get(f"/api/v1{BASE}/1.1.0/diff/1.0.0/").json()
    assert answer["items"] == {"added": 0, "removed": 0, "changed": 1}
    assert answer["facts"] == {"added": 0, "removed": 1, "changed": 0}
    assert (answer["hidden"], answer["unchanged"]) == (1, 0)
    (opened,) = answer["results"]
    assert [fact["before"]["value"] for fact in opened["facts"]] == [OPEN]
    for query in ("", "?change=changed", "?change=removed"):
        url = f"{BASE}/1.1.0/diff/1.0.0/{query}"
        assert "secret" not in api_of(None).get(f"/api/v1{url}").content.decode()
        assert "secret" not in client_of(None).get(url).content.decode()
    whole = api_of(organiser).get(f"/api/v1{BASE}/1.1.0/diff/1.0.0/").json()
    assert [row["id"] for row in whole["results"]] == ["open", "secret"]
    page = client_of(None).get(f"{BASE}/1.1.0/diff/1.0.0/").content.decode()
    assert "1 item with hidden gold is not compared." in page
    assert f"<q>{OPEN}</q>" in page
