"""The archive of a release: complete, the same every time, and verifiable."""

import gc
import hashlib
import io
import json
import zipfile
from pathlib import Path

import pytest

from portal.datasets.access import ALL_GOLD
from portal.datasets.imports.labelled_pages import read_gold_pages
from portal.datasets.models import Dataset, Release
from portal.datasets.releases.exports import release_archive
from portal.datasets.releases.gold import place_gold
from portal.datasets.releases.services import freeze_release
from portal.facts import read_tags
from portal.files.archives import ArchiveLimits, ZipWriter
from tests.datasets.factories import LABELS, add_image, jpeg, make_release, png
from tests.factories import empty_dataset, make_document

pytestmark = pytest.mark.django_db


@pytest.fixture
def release() -> Release:
    dataset = empty_dataset(slug="set", licence="public record")
    add_image(make_document(dataset, "a", "<p>Total 1,200</p>"), png())
    add_image(make_document(dataset, "b", "<p>Also 1,200 & more</p>"), jpeg())
    make_document(dataset, "c", "<p>No fact</p>")
    return make_release(dataset)


def archive_of(release: Release, *, images: bool = False) -> zipfile.ZipFile:
    data = b"".join(release_archive(release, ALL_GOLD, images=images))
    return zipfile.ZipFile(io.BytesIO(data))


def test_archive_holds_gold_facts_and_manifest(release: Release) -> None:
    archive = archive_of(release)
    assert archive.testzip() is None
    assert archive.namelist() == [
        "gold/a.html",
        "gold/b.html",
        "gold/c.html",
        "gold.jsonl",
        "facts.jsonl",
        "items.jsonl",
        "meta.jsonl",
        "items.parquet",
        "prompts.jsonl",
        "citation.bib",
        "CITATION.cff",
        "croissant.json",
        "manifest.json",
    ]
    assert archive.read("gold/a.html") == b"<p>Total <Number>1,200</Number></p>"
    lines = [json.loads(line) for line in archive.read("gold.jsonl").splitlines()]
    assert lines[0] == {"id": "a", "html": "<p>Total <Number>1,200</Number></p>"}
    assert [line["id"] for line in lines] == ["a", "b", "c"]
    facts = [json.loads(line) for line in archive.read("facts.jsonl").splitlines()]
    assert facts[0] == {
        "id": "a",
        "text_chars": 11,
        "text_sha256": hashlib.sha256(b"Total 1,200").hexdigest(),
        "facts": [{"n": 0, "type": "Number", "value": "1,200", "start": 6, "end": 11}],
    }


def test_archive_can_be_verified_offline(release: Release) -> None:
    archive = archive_of(release, images=True)
    manifest = json.loads(archive.read("manifest.json"))
    assert (manifest["dataset"], manifest["version"]) == ("set", "1.0.0")
    assert (manifest["item_count"], manifest["fact_count"]) == (3, 2)
    assert [file["path"] for file in manifest["files"]] == archive.namelist()[:-1]
    for file in manifest["files"]:
        data = archive.read(file["path"])
        assert (len(data), hashlib.sha256(data).hexdigest()) == (file["bytes"], file["sha256"])
    digests = [hashlib.sha256(line).hexdigest() for line in archive.read("gold.jsonl").splitlines()]
    assert digests == [item["sha256"] for item in manifest["items"]]
    covered = {key: manifest[key] for key in manifest if key not in ("sha256", "files")}
    text = json.dumps(covered, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    assert manifest["scheme"] == release.scheme == "release-v3"
    assert manifest["sha256"] == release.sha256 == hashlib.sha256(text.encode()).hexdigest()
    images = [name for name in archive.namelist() if name.startswith("images/")]
    files = ("facts.jsonl", "gold.jsonl", "items.jsonl", "meta.jsonl", "prompts.jsonl")
    named = sorted([*images, *files])
    assert [entry["path"] for entry in manifest["content"]] == named


def test_archive_has_images_on_request(release: Release) -> None:
    archive = archive_of(release, images=True)
    assert [name for name in archive.namelist() if name.startswith("images/")] == [
        "images/a.png",
        "images/b.jpg",
    ]
    assert archive.read("images/a.png") == png()


def test_archive_is_the_same_every_time(release: Release) -> None:
    first = b"".join(release_archive(release, ALL_GOLD, images=True))
    again = b"".join(release_archive(Release.objects.get(pk=release.pk), ALL_GOLD, images=True))
    assert first == again


def test_archive_comes_in_pieces() -> None:
    dataset = empty_dataset()
    words = " ".join(hashlib.sha256(bytes([n % 256, n // 256])).hexdigest() for n in range(4000))
    for name in "abcd":
        make_document(dataset, name, f"<p>{name} {words}</p>")
    pieces = list(release_archive(make_release(dataset), ALL_GOLD))
    assert len(pieces) > 4
    assert max(map(len, pieces)) < 400_000


def test_download_that_breaks_off_leaves_nothing_behind(release: Release) -> None:
    for taken in range(3):
        stream = release_archive(release, ALL_GOLD)
        for _ in range(taken):
            next(stream, None)
        stream.close()  # type: ignore[attr-defined]
    # A file left open is a warning when it is collected, and warnings are errors.
    gc.collect()
    assert not [thing for thing in gc.get_objects() if type(thing) is ZipWriter]


def test_exported_gold_freezes_to_the_same_gold(release: Release, tmp_path: Path) -> None:
    path = tmp_path / "set-1.0.0.zip"
    path.write_bytes(b"".join(release_archive(release, ALL_GOLD, images=True)))
    dataset = Dataset.objects.get()
    items = place_gold(dataset=dataset, pages=read_gold_pages(path, ArchiveLimits()), labels=LABELS)
    again = freeze_release(dataset=dataset, version="1.0.1", items=items, labels=LABELS)
    assert again.gold_sha256 == release.gold_sha256
    assert again.sha256 != release.sha256


def test_gold_html_without_its_tags_is_the_document(release: Release) -> None:
    archive = archive_of(release)
    for item in release.items.select_related("document__content"):
        page = read_tags(archive.read(f"gold/{item.name}.html").decode(), LABELS)
        assert item.document is not None
        assert page.canonical.html == item.document.content.html
