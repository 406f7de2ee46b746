"""Freezing without a campaign, by page and by the API."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext

from portal.accounts.models import User
from portal.datasets.access import ALL_GOLD
from portal.datasets.models import Document, DocumentRecord, Release
from portal.datasets.releases.exports import release_archive
from portal.datasets.releases.freezing import gold_of_records
from portal.datasets.releases.gold import ReleaseError
from tests.datasets.releases.worlds import RECORDS, page_records, record_world
from tests.fixture_types import ApiOf, ClientOf

pytestmark = pytest.mark.django_db

NEW = "/datasets/records/releases/new/"
API = "/api/v1/datasets/records/releases/"


def form(source: str = "records:fincriticaled", **fields: Any) -> dict[str, Any]:
    return {
        "source": source,
        "labels": "Number, Date",
        "version": "1.0.0",
        "visibility": "gold_hidden",
        "split": "none",
        **fields,
    }


def test_organisers_freeze_pages_of_records(organiser: User, client_of: ClientOf) -> None:
    page_records()
    answer = client_of(organiser).post(
        NEW,
        form(
            split="draw",
            test_share="50",
            seed="3",
            licence="CC-BY-4.0",
            authors="Doe, Jane\n\nInstitute of Records",
            year="2024",
            doi="10.5281/zenodo.1",
            notes="First.",
        ),
    )
    release = Release.objects.get()
    assert answer["Location"] == release.get_absolute_url()
    assert (release.item_count, release.fact_count, release.frozen_by) == (4, 4, organiser)
    assert release.citation == {
        "authors": ["Doe, Jane", "Institute of Records"],
        "year": 2024,
        "doi": "10.5281/zenodo.1",
    }
    assert sorted(release.items.values_list("split", flat=True)) == ["dev", "dev", "test", "test"]
    page = client_of(organiser).get(answer["Location"]).content.decode()
    assert "10.5281/zenodo.1" in page
    # The next form starts with the values of this release.
    again = client_of(organiser).get(NEW).content.decode()
    assert 'value="1.0.1"' in again
    assert "Institute of Records" in again


@pytest.mark.parametrize("benchmark", list(RECORDS))
def test_records_of_other_benchmarks_are_read_by_them(
    benchmark: str, organiser: User, client_of: ClientOf
) -> None:
    dataset = record_world(benchmark)
    assert client_of(organiser).post(NEW, form(f"records:{benchmark}")).status_code == 302
    release = Release.objects.get()
    assert (release.benchmark, release.item_count) == (benchmark, 2)
    names = ["IC15:q1", "IC15:q2"] if benchmark == "ccocr" else ["q1", "q2"]
    assert list(release.items.values_list("name", flat=True)) == names
    documents = [item.document.name for item in release.items.all() if item.document]
    assert documents == sorted(dataset.documents.values_list("name", flat=True))


def test_every_bad_record_is_named(organiser: User, client_of: ClientOf) -> None:
    dataset = record_world("fcmbench")
    other = Document.objects.create(
        dataset=dataset, name="bad", kind="picture", html_sha256="f" * 64, text_chars=0
    )
    DocumentRecord.objects.create(document=other, benchmark="fcmbench", gold={"id": "bad"})
    answer = client_of(organiser).post(NEW, form("records:fcmbench"))
    assert answer.status_code == 400
    assert "bad: has no" in answer.content.decode()
    assert not Release.objects.exists()


def test_documents_that_are_held_back_are_left_out() -> None:
    dataset = page_records()
    dataset.documents.filter(name="a").update(state="held", held_reason="a duplicate")
    gold = gold_of_records(dataset=dataset, benchmark="fincriticaled", labels=["Number"])
    assert [item.document.name for item in gold.items] == ["b", "c", "d"]
    with pytest.raises(ReleaseError, match="no document has a record of findoc"):
        gold_of_records(dataset=dataset, benchmark="findoc", labels=[])


def test_the_split_can_be_told_by_metadata(organiser: User, client_of: ClientOf) -> None:
    dataset = page_records()
    for name, split in {"a": "dev", "b": "test", "c": " Test", "d": "dev"}.items():
        dataset.documents.filter(name=name).update(metadata={"split": split})
    assert client_of(organiser).post(NEW, form(split="column")).status_code == 302
    splits = dict(Release.objects.get().items.values_list("name", "split"))
    assert splits == {"a": "dev", "b": "test", "c": "test", "d": "dev"}


def test_a_missing_split_is_told(organiser: User, client_of: ClientOf) -> None:
    page_records()
    answer = client_of(organiser).post(NEW, form(split="column"))
    assert "no record or metadata has a field “split”" in answer.content.decode()


def test_gold_comes_from_a_file(organiser: User, client_of: ClientOf) -> None:
    page_records()
    line = {"id": "b", "html": "<p>Net <Number>1</Number> 1,200</p>"}
    file = SimpleUploadedFile("gold.jsonl", json.dumps(line).encode())
    answer = client_of(organiser).post(NEW, form("file:fincriticaled", file=file))
    assert answer.status_code == 302
    assert [fact["value"] for fact in Release.objects.get().items.get().facts] == ["1"]


def test_a_file_of_another_benchmark_finds_its_documents(
    organiser: User, client_of: ClientOf
) -> None:
    record_world("ccocr")
    lines = "".join(json.dumps(line) + "\n" for line in RECORDS["ccocr"]).encode()
    file = SimpleUploadedFile("gold.jsonl", lines)
    assert client_of(organiser).post(NEW, form("file:ccocr", file=file)).status_code == 302
    item = Release.objects.get().items.first()
    assert item is not None
    assert item.document is not None
    assert (item.name, item.document.name) == ("IC15:q1", "IC15__q1")


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"version": "one"}, "is not a semantic version"),
        ({"doi": "nonsense"}, "must be such as 10.5281/zenodo.1234"),
        ({"url": "ftp://x"}, "must be a URL that begins with https://"),
        ({"source": "file:fcmbench"}, "Choose a gold file."),
        ({"split": "draw", "test_share": ""}, "Required for a random split."),
        ({"labels": "1 2"}, "label"),
        ({"source": "records:nothing"}, "Select a valid choice"),
    ],
)
def test_what_is_wrong_is_said_at_its_field(
    fields: dict[str, Any], fault: str, organiser: User, client_of: ClientOf
) -> None:
    page_records()
    answer = client_of(organiser).post(NEW, form(**fields))
    assert answer.status_code == 400
    assert fault in answer.content.decode()
    assert not Release.objects.exists()


def test_notes_are_drafted_from_the_comparison(organiser: User, client_of: ClientOf) -> None:
    dataset = page_records()
    client = client_of(organiser)
    client.post(NEW, form(visibility="public"))
    dataset.documents.filter(name="d").update(state="held", held_reason="x")
    answer = client.post(NEW, form(version="1.1.0", visibility="public", draft="1"))
    page = answer.content.decode()
    assert "Since 1.0.0: items 0 added, 1 removed, 0 changed, 3 unchanged." in page
    assert "- `d` (1 fact)" in page
    assert Release.objects.count() == 1
    hidden = client.post(NEW, form(version="1.1.0", draft="1")).content.decode()
    assert "- `d` (1 fact)" in hidden


def test_a_draft_tells_nothing_of_hidden_gold(organiser: User, client_of: ClientOf) -> None:
    dataset = page_records()
    client = client_of(organiser)
    client.post(NEW, form())
    dataset.documents.filter(name="d").update(state="held", held_reason="x")
    page = client.post(NEW, form(version="1.1.0", draft="1")).content.decode()
    assert "- `d`: the gold is hidden" in page
    assert "fact" not in page.split("Since 1.0.0")[1].split("</textarea>")[0]


def test_the_first_release_has_nothing_to_compare_with(
    organiser: User, client_of: ClientOf
) -> None:
    page_records()
    page = client_of(organiser).post(NEW, form(draft="1"), follow=True).content.decode()
    assert "there are no changes to describe" in page


def test_the_api_freezes_records(organiser: User, api_of: ApiOf) -> None:
    page_records()
    body = {
        "benchmark": "fincriticaled",
        "split_by": "draw",
        "test_share": 0.25,
        "licence": "CC0-1.0",
        "citation": {"authors": ["Doe, Jane"]},
    }
    answer = api_of(organiser).post(API, body, format="json")
    assert answer.status_code == 201
    body = answer.json()
    assert (body["version"], body["licence"]) == ("1.0.0", "CC0-1.0")
    assert body["citation"] == {"authors": ["Doe, Jane"]}
    release = Release.objects.get()
    assert release.items.filter(split="test").count() == 1
    again = api_of(organiser).post(API, {"benchmark": "fincriticaled"}, format="json")
    assert again.json()["version"] == "1.0.1"
    assert again.json()["notes"].startswith("Since 1.0.0: items 0 added")
    bad = api_of(organiser).post(API, {"benchmark": "findoc"}, format="json")
    assert bad.json() == {"gold": ["no document has a record of findoc"]}


def test_an_archive_is_restored_on_the_page(organiser: User, client_of: ClientOf) -> None:
    dataset = page_records()
    client = client_of(organiser)
    client.post(NEW, form())
    release = Release.objects.get()
    archive = SimpleUploadedFile("r.zip", b"".join(release_archive(release, ALL_GOLD)))
    other = "/datasets/records/releases/restore/"
    page = client.post(other, {"archive": archive})
    assert page.status_code == 400
    assert "already exists, with the same hash" in page.content.decode()
    from tests.factories import empty_dataset

    empty_dataset(slug="other")
    archive.seek(0)
    answer = client.post("/datasets/other/releases/restore/", {"archive": archive})
    assert answer.status_code == 302
    again = Release.objects.exclude(dataset=dataset).get()
    assert again.sha256 == release.sha256


def test_reading_records_takes_as_many_queries_for_many() -> None:
    dataset = page_records()

    def queries() -> int:
        with CaptureQueriesContext(connection) as found:
            gold_of_records(dataset=dataset, benchmark="fincriticaled", labels=["Number"])
        return len(found)

    few = queries()
    dataset.documents.exclude(name="a").update(state="held", held_reason="x")
    assert queries() == few
