"""Releases of the database as files: verified, described, imported again, and as starter kits."""

import io
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import mlcroissant as mlc
import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from portal.datasets.access import ALL_GOLD
from portal.datasets.models import (
    Dataset,
    Document,
    DocumentRecord,
    DocumentType,
    Release,
)
from portal.datasets.releases.exports import (
    kit_items,
    published_items,
    published_release,
    release_archive,
)
from portal.datasets.releases.gold import GoldItem
from portal.datasets.releases.publishing.formats import (
    FACT_LINES,
    GOLD_LINES,
    PARQUET,
    read_items,
    read_parquet,
)
from portal.datasets.releases.publishing.kits import empty_line_like, starter_kit
from portal.datasets.releases.publishing.manifest import MANIFEST, read_manifest
from portal.datasets.releases.publishing.rows import PublishedItem
from portal.datasets.releases.publishing.verify import verify_release
from portal.datasets.releases.services import freeze_lines, freeze_release
from portal.facts import Span, read_tags
from tests.datasets.factories import (
    LABELS,
    SECRET,
    SECRET_COMPANY,
    add_image,
    jpeg,
    make_release,
    png,
    secret_document,
    spans_of,
)
from tests.datasets.releases.publishing.examples import members, unpack
from tests.factories import empty_dataset, make_document

pytestmark = pytest.mark.django_db

LINES: dict[str, dict[str, Any]] = {
    "IC15:b": {"id": "b", "subset": "IC15", "answer": "é 𝟙", "weights": [1.5, None]},
    "IC15:z": {"id": "z", "subset": "IC15", "answer": ""},
}
Read = Callable[[bytes], Iterator[PublishedItem]]


@pytest.fixture
def dataset() -> Dataset:
    dataset = empty_dataset(slug="set", title="A set", licence="public record")
    document = make_document(dataset, "a", "<p>Net <b>1,</b>200 at March 31, 2025 &amp; 𝟙</p>")
    add_image(document, png())
    add_image(
        make_document(dataset, "b", "<table><tr><td>(1,200</td><td>)</td></tr></table>"), jpeg()
    )
    make_document(dataset, "c", "<p>No fact</p>")
    Document.objects.filter(name="b").update(doc_type=DocumentType.TAX_FORM)
    return dataset


@pytest.fixture
def release(dataset: Dataset) -> Release:
    spans = {"a": {"Number": ["1,200"], "Date": ["March 31, 2025"]}, "b": {"Number": ["(1,200)"]}}
    items = [
        GoldItem(document, spans_of(document, **spans.get(document.name, {})))
        for document in dataset.documents.all()
    ]
    return freeze_release(dataset=dataset, version="1.0.0", items=items, labels=LABELS)


def archive_of(release: Release, *, images: bool = False) -> bytes:
    return b"".join(release_archive(release, ALL_GOLD, images=images))


def from_lines(archive: bytes) -> Iterator[PublishedItem]:
    files = members(archive)
    entries = read_manifest(files[MANIFEST]).items
    gold, facts = (files[name].split(b"\n")[:-1] for name in (GOLD_LINES, FACT_LINES))
    return read_items(entries, gold, facts)


def from_parquet(archive: bytes) -> Iterator[PublishedItem]:
    return read_parquet(io.BytesIO(members(archive)[PARQUET]))


def wipe() -> None:
    call_command("flush", interactive=False, verbosity=0)
    assert not Release.objects.exists()
    assert not Document.objects.exists()


def freeze_again(items: Iterator[PublishedItem]) -> Release:
    """A release of documents created only from published data."""
    dataset = empty_dataset(slug="again")
    golds = []
    for item in items:
        assert item.gold is not None
        page = read_tags(item.gold.line["html"], LABELS).canonical
        document = make_document(dataset, item.name, page.html)
        assert document.text_sha256 == item.gold.text_sha256
        document.doc_type = item.gold.line.get("doc_type", DocumentType.OTHER)
        document.save()
        spans = [Span(fact.start, fact.end, fact.type) for fact in item.gold.facts]
        golds.append(GoldItem(document, spans))
    return freeze_release(dataset=dataset, version="1.0.0", items=golds, labels=LABELS)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("read", [from_lines, from_parquet])
def test_pages_exported_wiped_and_imported_are_the_same_gold(release: Release, read: Read) -> None:
    archive = archive_of(release)
    facts = [item.facts for item in release.items.all()]
    wipe()
    again = freeze_again(read(archive))
    assert again.gold_sha256 == release.gold_sha256
    assert [item.facts for item in again.items.all()] == facts


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("read", [from_lines, from_parquet])
def test_lines_exported_wiped_and_imported_are_the_same_gold(read: Read) -> None:
    first = freeze_lines(dataset=empty_dataset(), version="1.0.0", benchmark="ccocr", lines=LINES)
    archive = archive_of(first)
    wipe()
    lines = {item.name: item.gold.line for item in read(archive) if item.gold}
    again = freeze_lines(dataset=empty_dataset(), version="1.0.0", benchmark="ccocr", lines=lines)
    assert again.gold_sha256 == first.gold_sha256


def test_an_archive_is_sound(release: Release, tmp_path: Path) -> None:
    path = tmp_path / "set.zip"
    path.write_bytes(archive_of(release, images=True))
    found = verify_release(path, expected=release.sha256)
    assert found.faults == []
    assert found.items == 3


@pytest.mark.filterwarnings("ignore::DeprecationWarning:rdflib")
@pytest.mark.filterwarnings("ignore::DeprecationWarning:mlcroissant")
def test_an_archives_croissant_leads_to_its_items(release: Release, tmp_path: Path) -> None:
    folder = unpack(archive_of(release), tmp_path / "set")
    loaded = mlc.Dataset(str(folder / "croissant.json"))
    assert not loaded.metadata.ctx.issues.errors
    assert [record["items/id"] for record in loaded.records("items")] == [b"a", b"b", b"c"]


def test_rows_tell_what_the_release_is(release: Release) -> None:
    row = published_release(release, ALL_GOLD, page="https://example.org/x")
    assert (row.dataset, row.title, row.licence) == ("set", "A set", "public record")
    assert (row.sha256, row.item_count, row.fact_count) == (release.sha256, 3, 3)
    assert row.page == "https://example.org/x"
    assert row.keywords == ("fincriticaled",)
    # A release from before its words were pinned shows those of the dataset.
    release.licence, release.about = "CC-BY-4.0", None
    release.dataset.derivation = {"kind": "rotation"}
    row = published_release(release, ALL_GOLD)
    assert (row.licence, row.keywords) == ("CC-BY-4.0", ("fincriticaled", "simulated captures"))
    first = next(published_items(release, ALL_GOLD))
    assert [image.name for image in first.images] == ["a.png"]
    assert first.images[0].read() == png()


def test_a_kit_of_a_hidden_release_tells_nothing_of_its_gold() -> None:
    dataset = empty_dataset(slug="world", description=f"About {SECRET_COMPANY}.")
    document = secret_document(dataset)
    DocumentRecord.objects.create(
        document=document, benchmark="x", gold={"answer": SECRET}, prompt="What is the total?"
    )
    release = make_release(dataset, visibility="gold_hidden")
    kit = b"".join(
        starter_kit(
            published_release(release, ALL_GOLD),
            lambda: kit_items(release),
            empty_line_like('{"html": "x"}'),
        )
    )
    files = members(kit)
    text = b"\n".join([*map(str.encode, files), *files.values()]).decode("latin-1")
    # Compressed data can contain any two characters by chance, but no hash and no name.
    everything = kit.decode("latin-1") + text
    content, item = document.content, release.items.get()
    secrets = [
        *(SECRET, SECRET_COMPANY, "1,200", "secret-source", "secret/path", "<Number>"),
        *(content.html, content.text, item.sha256, release.sha256),
        *(document.text_sha256, document.html_sha256, document.source_sha256),
    ]
    assert [secret for secret in secrets if secret in everything] == []
    written = [data for name, data in files.items() if not name.endswith(".png")]
    assert not any(b"<p" in data for data in written)
    assert set(files) == {
        "README.md",
        "CANARY.txt",
        "kit.json",
        "items.jsonl",
        "submission.jsonl",
        "images/secret.png",
    }
    line = json.loads(files["items.jsonl"])
    assert line == {
        "id": "secret",
        "prompt": "What is the total?",
        "images": ["images/secret.png"],
    }


def test_a_kit_of_a_release_in_splits_has_those_that_are_not_open(dataset: Dataset) -> None:
    release = make_release(dataset)
    splits = {"a": "dev", "b": "test", "c": "test"}
    for name, split in splits.items():
        # Rows that never change are changed below the ORM, until releases are frozen in splits.
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE datasets_releaseitem SET split = %s WHERE name = %s", [split, name]
            )
    assert [item.name for item in kit_items(release)] == ["b", "c"]


@pytest.mark.parametrize("rows", [partial(published_items, gold_splits=ALL_GOLD), kit_items])
def test_queries_do_not_grow_with_the_items(rows: Callable[[Release], Iterator[object]]) -> None:
    def release_of(pages: int) -> Release:
        dataset = empty_dataset()
        for number in range(pages):
            add_image(make_document(dataset, f"d{number}", f"<p>{number} 1,200</p>"))
        return make_release(dataset)

    counts = []
    for pages in (1, 12):
        release = release_of(pages)
        with CaptureQueriesContext(connection) as queries:
            assert len(list(rows(release))) == pages
        counts.append(len(queries))
    assert counts == [2, 2]


def test_a_kits_query_asks_for_no_gold(release: Release) -> None:
    with CaptureQueriesContext(connection) as queries:
        assert len(list(kit_items(release))) == 3
    asked = " ".join(query["sql"] for query in queries)
    for column in ('"gold"', '"facts"', '"datasets_releaseitem"."sha256"', '"metadata"'):
        assert column not in asked
