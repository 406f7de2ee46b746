"""The REST API of datasets."""

import hashlib
import io
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from portal.accounts.models import User
from portal.datasets.models import Dataset, Document
from tests.datasets.factories import (
    add_image,
    make_release,
    make_world,
    meta_lines,
    page,
    png,
    zip_upload,
)
from tests.factories import empty_dataset, make_document
from tests.fixture_types import ApiOf, RunJobs

pytestmark = pytest.mark.django_db


def test_import_by_api_from_upload_to_report(
    organiser: User, api_of: ApiOf, run_jobs: RunJobs
) -> None:
    api = api_of(organiser)
    created = api.post("/api/v1/datasets/", {"slug": "set", "title": "Set"})
    assert (created.status_code, created.json()["visibility"]) == (201, "private")

    line = meta_lines({"id": "a", "company": "Acme", "fiscal_year": 2024})
    files = {"pages/a.html": page(), "pages/b.html": b"", "meta.jsonl": line, "x/y": b""}
    started = api.post(
        "/api/v1/datasets/set/imports/", {"file": zip_upload(files)}, format="multipart"
    )
    assert (started.status_code, started.json()["state"]) == (202, "queued")
    run_jobs()

    path = f"/api/v1/datasets/set/imports/{started.json()['id']}/"
    report = api.get(path).json()
    assert report["state"] == "done"
    assert report["outcomes"] == {
        "imported": 1,
        "updated": 0,
        "unchanged": 0,
        "kept": 0,
        "refused": 1,
    }
    assert (report["done"], report["total"], report["ignored"]) == (2, 2, {"x/": 1})
    (left_out,) = report["left_out"]
    assert (left_out["folder"], left_out["files"]) == ("x/", 1)
    assert left_out["hint"].startswith("This format does not use")
    items = api.get(f"{path}items/?outcome=refused").json()
    assert items["results"] == [
        {
            "name": "pages/b.html",
            "outcome": "refused",
            "code": "empty",
            "reason": "the file is empty",
            "document": None,
        }
    ]
    assert api.get(f"{path}items/?outcome=eaten").status_code == 400
    assert api.get("/api/v1/datasets/set/imports/").json()["count"] == 1

    document = api.get("/api/v1/datasets/set/documents/a/").json()
    assert (document["company"], document["fiscal_year"]) == ("Acme", 2024)
    assert document["html"] == "<p>Net sales 1,200 at March 31, 2025</p>"
    assert document["text_sha256"] == hashlib.sha256(document["text"].encode()).hexdigest()


@pytest.mark.parametrize(
    "place",
    "batches disputes documents duplicates imports personal-data releases selections tasks"
    " variants".split(),
)
def test_lists_describe_themselves(place: str, organiser: User, api_of: ApiOf) -> None:
    dataset = empty_dataset()
    response = api_of(organiser).options(f"/api/v1/datasets/{dataset.slug}/{place}/")
    assert response.status_code == 200
    assert response.json()["description"]


def test_cancelling_by_api(organiser: User, api_of: ApiOf) -> None:
    empty_dataset(slug="set")
    api = api_of(organiser)
    upload = zip_upload({"pages/a.html": page()})
    started = api.post("/api/v1/datasets/set/imports/", {"file": upload}, format="multipart")
    path = f"/api/v1/datasets/set/imports/{started.json()['id']}/cancel/"
    assert api.post(path).json()["state"] == "cancelled"


def test_card_counts_documents_and_releases(api_of: ApiOf) -> None:
    dataset = empty_dataset(slug="set", title="Set", visibility="public")
    make_document(dataset, "a", "<p>1,200</p>")
    make_release(dataset)
    make_release(dataset, version="1.1.0", visibility="private")
    assert api_of(None).get("/api/v1/datasets/set/").json() == {
        "slug": "set",
        "title": "Set",
        "description": "",
        "licence": "",
        "visibility": "public",
        "is_sample": False,
        "derived_from": None,
        "derivation": None,
        "simulated_as": "",
        "documents": 1,
        "types": [{"doc_type": "other", "documents": 1}],
        "releases": ["1.0.0"],
    }


def test_changes_name_the_field_at_fault(organiser: User, api_of: ApiOf) -> None:
    empty_dataset(slug="set", title="Old")
    api = api_of(organiser)
    answer = api.patch("/api/v1/datasets/set/", {"title": "New", "slug": "other"})
    assert (answer.status_code, list(answer.json())) == (400, ["slug"])
    answer = api.patch("/api/v1/datasets/set/", {"title": "New"})
    assert answer.status_code == 200
    assert (answer.json()["title"], answer.json()["slug"]) == ("New", "set")
    assert list(api.patch("/api/v1/datasets/set/", {"visibility": "x"}).json()) == ["visibility"]
    for slug in ("new", "set", "a b", ""):
        answer = api.post("/api/v1/datasets/", {"slug": slug, "title": "X"})
        assert (answer.status_code, list(answer.json())) == (400, ["slug"])
    assert Dataset.objects.count() == 1


def test_hidden_documents_show_name_type_and_images_only(api_of: ApiOf, organiser: User) -> None:
    make_world("public", "gold_hidden")
    [row] = api_of(None).get("/api/v1/datasets/world/documents/").json()["results"]
    assert row == {
        "name": "secret",
        "doc_type": "other",
        "images": 1,
        "readable": False,
        "company": None,
        "form_type": None,
        "fiscal_year": None,
        "source": None,
        "language": None,
        "category": None,
        "subset": None,
        "condition": None,
        "text_chars": None,
    }
    answer = api_of(None).get("/api/v1/datasets/world/documents/secret/").json()
    assert answer.keys() == {"name", "doc_type", "images", "readable", "prompt"}
    [image] = answer["images"]
    assert image["url"].endswith("/api/v1/datasets/world/documents/secret/images/1/")
    full = api_of(organiser).get("/api/v1/datasets/world/documents/secret/").json()
    assert full["readable"] is True
    assert "4,711,000" in full["html"]


def test_documents_are_filtered_and_paged(api_of: ApiOf) -> None:
    dataset = empty_dataset(slug="set", visibility="public")
    for number in range(5):
        make_document(dataset, f"d{number}", f"<p>{number}</p>")
    Document.objects.filter(name="d3").update(doc_type="tax_form", company="Acme")
    path = "/api/v1/datasets/set/documents/"

    def names(query: str) -> list[str]:
        return [row["name"] for row in api_of(None).get(f"{path}?{query}").json()["results"]]

    assert names("q=acm") == names("doc_type=tax_form") == names("company=Acme") == ["d3"]
    assert names("limit=2&offset=3") == ["d3", "d4"]


def test_documents_make_few_queries(
    api_of: ApiOf, django_assert_max_num_queries: Callable[[int], Any]
) -> None:
    dataset = empty_dataset(slug="set", visibility="public")
    for number in range(30):
        add_image(make_document(dataset, f"d{number}", f"<p>{number}</p>"))
    make_release(dataset)
    for path, budget in (("documents", 6), ("releases", 4), ("releases/1.0.0/items", 6)):
        with django_assert_max_num_queries(budget):
            api_of(None).get(f"/api/v1/datasets/set/{path}/")


def test_release_shows_hashes_and_facts_where_gold_is_open(api_of: ApiOf) -> None:
    dataset = empty_dataset(slug="set", visibility="public")
    add_image(make_document(dataset, "a", "<p>Total 1,200</p>"), png(40, 30))
    release = make_release(dataset)
    answer = api_of(None).get("/api/v1/datasets/set/releases/1.0.0/").json()
    assert (answer["sha256"], answer["fact_count"]) == (release.sha256, 1)
    [item] = api_of(None).get("/api/v1/datasets/set/releases/1.0.0/items/").json()["results"]
    assert (item["id"], item["facts"]) == ("a", 1)
    assert item["sha256"] == release.items.get().sha256
    assert [(image["width"], image["height"]) for image in item["images"]] == [(40, 30)]


def test_release_with_hidden_gold_shows_ids_and_images(api_of: ApiOf) -> None:
    make_world("public", "gold_hidden")
    assert api_of(None).get("/api/v1/datasets/world/releases/1.0.0/").json()["sha256"] is None
    [item] = api_of(None).get("/api/v1/datasets/world/releases/1.0.0/items/").json()["results"]
    assert (item["id"], item["facts"], item["sha256"]) == ("secret", None, None)
    assert len(item["images"]) == 1


def test_release_is_downloaded_with_images_if_wanted(api_of: ApiOf) -> None:
    make_world("public", "public")
    path = "/api/v1/datasets/world/releases/1.0.0/download/"
    for query, images in (("", 0), ("?images=true", 1), ("?images=0", 0)):
        response = api_of(None).get(path + query)
        archive = zipfile.ZipFile(io.BytesIO(response.getvalue()))
        assert sum(name.startswith("images/") for name in archive.namelist()) == images
    assert api_of(None).get(f"{path}?images=perhaps").status_code == 400
