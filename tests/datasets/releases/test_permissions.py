"""Every role, visibility and split: which page, download and endpoint of a release is open."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from portal.accounts.models import User
from portal.datasets.models import Dataset
from portal.datasets.releases.gold import GoldItem
from portal.datasets.releases.services import freeze_release
from tests.asking import check_answers
from tests.datasets.factories import LABELS, add_image
from tests.datasets.releases.worlds import freeze_split, split_world
from tests.datasets.test_access import ROLES, cast, enrol, opened
from tests.factories import empty_dataset, make_document
from tests.fixture_types import ApiOf, ClientOf

pytestmark = pytest.mark.django_db

BASE = "/datasets/world/releases/1.0.0"

__all__ = ["cast"]

# Visibility of the release, and whether it is in two parts.
KINDS = [
    ("public", False),
    ("public", True),
    ("gold_hidden", False),
    ("gold_hidden", True),
    ("private", False),
    ("private", True),
]
# Status by kind for users other than organisers, and for organisers.
STATUSES = {
    f"{BASE}/": ((200, 200, 200, 200, 404, 404), (200,) * 6),
    f"{BASE}/diff/1.0.0/": ((200, 200, 200, 200, 404, 404), (200,) * 6),
    f"{BASE}/download/": ((200, 200, 404, 200, 404, 404), (200,) * 6),
    f"{BASE}/starter-kit/": ((404, 404, 200, 200, 404, 404), (404, 404, 200, 200, 200, 200)),
    f"{BASE}/files/gold.jsonl": ((200, 200, 404, 200, 404, 404), (200,) * 6),
    f"{BASE}/files/items.parquet": ((200, 200, 404, 200, 404, 404), (200,) * 6),
    f"{BASE}/files/croissant.json": ((200, 200, 404, 200, 404, 404), (200,) * 6),
    f"{BASE}/files/citation.bib": ((200, 200, 200, 200, 404, 404), (200,) * 6),
    f"{BASE}/files/nothing": ((404,) * 6, (404,) * 6),
    f"{BASE}/licence/": ((404,) * 6, (404,) * 6),
    "/datasets/world/documents/open/html/": ((200, 200, 404, 200, 404, 404), (200,) * 6),
    "/datasets/world/documents/secret/html/": ((200, 200, 404, 404, 404, 404), (200,) * 6),
}
PAGES_ONLY = ("/licence/", "/html/")


@pytest.mark.parametrize("kind", range(len(KINDS)))
def test_what_is_open(
    kind: int, cast: dict[str, User | None], client_of: ClientOf, api_of: ApiOf
) -> None:
    visibility, in_splits = KINDS[kind]
    terms: dict[str, Any] = {} if in_splits else {"splits": None}
    split_world(visibility, **terms)
    enrol(cast)
    wanted = {
        (role, root + path): (organisers if role == "organiser" else others)[kind]
        for role in ROLES
        for path, (others, organisers) in STATUSES.items()
        for root in (("",) if path.endswith(PAGES_ONLY) else ("", "/api/v1"))
    }
    get = opened(cast, client_of, api_of)
    check_answers(wanted, lambda key: get(*key))


def test_the_items_tell_facts_and_hashes_of_the_open_part(api_of: ApiOf) -> None:
    release = split_world()
    path = f"/api/v1{BASE}/items/"
    opened, secret = api_of(None).get(path).json()["results"]
    assert (opened["id"], opened["split"], opened["facts"]) == ("open", "dev", 2)
    assert opened["sha256"] == release.items.get(name="open").sha256
    assert (secret["id"], secret["split"], secret["facts"]) == ("secret", "test", None)
    assert secret["sha256"] is None
    listed = api_of(None).get(f"{path}?split=test").json()["results"]
    assert [item["id"] for item in listed] == ["secret"]
    shown = api_of(None).get(f"/api/v1{BASE}/").json()
    assert (shown["sha256"], shown["fact_count"], shown["item_count"]) == (None, None, 2)


def many_releases(count: int, items: int) -> Dataset:
    dataset = empty_dataset(visibility="public")
    documents = [make_document(dataset, f"d{n:03}", f"<p>{n} 1,200</p>") for n in range(items)]
    for document in documents:
        add_image(document)
    splits = {document.name: "test" if n % 2 else "dev" for n, document in enumerate(documents)}
    for number in range(count):
        freeze_release(
            dataset=dataset,
            version=f"1.{number}.0",
            items=[GoldItem(document, []) for document in documents],
            labels=LABELS,
            splits=splits,
        )
    return dataset


def test_queries_do_not_grow(client_of: ClientOf) -> None:
    paths = [
        "/datasets/{slug}/releases/",
        "/datasets/{slug}/releases/1.1.0/",
        "/datasets/{slug}/releases/1.1.0/diff/1.0.0/",
        "/api/v1/datasets/{slug}/releases/",
        "/api/v1/datasets/{slug}/releases/1.1.0/items/",
        "/api/v1/datasets/{slug}/releases/1.1.0/diff/1.0.0/",
    ]
    client = client_of(None)
    slugs = [many_releases(2, 2).slug, many_releases(6, 30).slug]

    def queries(path: str) -> int:
        with CaptureQueriesContext(connection) as asked:
            assert client.get(path).status_code == 200, path
        return len(asked)

    few, many = ({path: queries(path.format(slug=slug)) for path in paths} for slug in slugs)
    assert few == many


def test_a_diff_is_of_one_dataset(client_of: ClientOf) -> None:
    release = split_world()
    freeze_split(release.dataset, version="1.1.0")
    client = client_of(None)
    page = client.get("/datasets/world/releases/1.0.0/diff/1.1.0/").content.decode()
    assert "No changes" in page
    assert client.get("/datasets/world/releases/1.0.0/diff/9.9.9/").status_code == 404
