"""A release exported, wiped and restored is the same release."""

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from portal.datasets.access import ALL_GOLD, GoldSplits
from portal.datasets.curation.draws import SplitDraw
from portal.datasets.models import Document, Release
from portal.datasets.releases.exports import release_archive
from portal.datasets.releases.freezing import gold_of_records
from portal.datasets.releases.gold import GoldItem, ReleaseError
from portal.datasets.releases.restoring import restore_release
from portal.datasets.releases.services import freeze_gold, freeze_release
from tests.datasets.factories import stored_bytes
from tests.datasets.releases.worlds import (
    RECORDS,
    freeze_split,
    page_records,
    record_world,
    split_world,
)
from tests.factories import empty_dataset, make_document

pytestmark = pytest.mark.django_db(transaction=True)


def export(
    release: Release, folder: Path, *, images: bool, gold_splits: GoldSplits = ALL_GOLD
) -> Path:
    path = folder / "release.zip"
    path.write_bytes(b"".join(release_archive(release, gold_splits, images=images)))
    return path


def drawn_release() -> Release:
    dataset = empty_dataset(slug="drawn")
    for number in range(8):
        make_document(dataset, f"f{number // 2}_p{number}", f"<p>{number} 1,200</p>")
    items = [GoldItem(document, []) for document in dataset.documents.all()]
    draw = SplitDraw(0.5, 4, "filing")
    return freeze_release(
        dataset=dataset, version="1.0.0", items=items, labels=["Number"], splits=draw
    )


def test_the_manifest_names_the_grouping_and_a_restored_release_keeps_it(tmp_path: Path) -> None:
    release = drawn_release()
    path = export(release, tmp_path, images=False)
    with zipfile.ZipFile(path) as archive:
        draw = json.loads(archive.read("manifest.json"))["draw"]
    assert draw == {
        "share": 0.5, "seed": 4, "group_by": "filing",
        "items": 8, "test_items": 4, "groups": 4, "divided": 0,
    }  # fmt: skip
    splits = dict(release.items.values_list("name", "split"))
    wipe()
    again = restore_release(dataset=empty_dataset(slug="again"), path=path)
    assert again.draw == draw
    assert dict(again.items.values_list("name", "split")) == splits


def test_an_archive_without_a_draw_has_none_afterwards(tmp_path: Path) -> None:
    path = export(split_world(), tmp_path, images=False)
    with zipfile.ZipFile(path) as archive:
        assert "draw" not in json.loads(archive.read("manifest.json"))
    wipe()
    assert restore_release(dataset=empty_dataset(slug="again"), path=path).draw == {}


def wipe() -> None:
    call_command("flush", interactive=False, verbosity=0)
    assert not Document.objects.exists()


def freeze_records(benchmark: str) -> Release:
    dataset = record_world(benchmark) if benchmark != "fincriticaled" else page_records()
    gold = gold_of_records(dataset=dataset, benchmark=benchmark, labels=["Number"])
    return freeze_gold(
        dataset=dataset, gold=gold, version="1.2.0", notes="Noted.", visibility="gold_hidden",
        licence="CC-BY-4.0", citation={"authors": ["Doe, Jane"], "year": 2024}, splits=None,
        actor=None,
    )  # fmt: skip


@pytest.mark.parametrize("images", [True, False])
def test_pages_in_parts_come_back_with_the_same_hash(images: bool, tmp_path: Path) -> None:
    release = split_world(licence="CC-BY-4.0", citation={"authors": ["Doe, Jane"]}, notes="N.")
    frozen = f"{release.frozen_at:%Y-%m-%d}"
    facts = list(release.items.values_list("name", "split", "gold", "facts"))
    path = export(release, tmp_path, images=images)
    wipe()
    again = restore_release(dataset=empty_dataset(slug="again"), path=path)
    assert again.sha256 == release.sha256
    assert (again.version, again.visibility) == ("1.0.0", "gold_hidden")
    assert (again.licence, again.citation) == ("CC-BY-4.0", {"authors": ["Doe, Jane"]})
    assert again.notes == f"N.\n\nRestored from an archive; first frozen on {frozen}."
    assert list(again.items.values_list("name", "split", "gold", "facts")) == facts
    document = again.dataset.documents.get(name="open")
    assert document.images.count() == int(images)
    assert document.content.text.startswith("Total 1,200")


@pytest.mark.parametrize("images", [True, False])
@pytest.mark.parametrize("benchmark", ["fincriticaled", *RECORDS])
def test_every_benchmark_comes_back_with_the_same_hash(
    benchmark: str, images: bool, tmp_path: Path
) -> None:
    release = freeze_records(benchmark)
    pictures = [stored_bytes(image) for image in _images(release)]
    path = export(release, tmp_path, images=images)
    wipe()
    again = restore_release(dataset=empty_dataset(slug="again"), path=path)
    assert (again.sha256, again.benchmark) == (release.sha256, benchmark)
    assert [stored_bytes(image) for image in _images(again)] == (pictures if images else [])
    # A second export is the same except for the notes, which record the restoring.
    if images:
        second = export(again, tmp_path, images=True)
        wipe()
        third = restore_release(dataset=empty_dataset(slug="again"), path=second)
        assert (third.sha256, third.notes) == (release.sha256, again.notes)


def _images(release: Release) -> list[Any]:
    documents = (item.document for item in release.items.order_by("position"))
    return [image for document in documents if document for image in document.images.all()]


def test_the_command_restores_into_a_new_dataset(tmp_path: Path) -> None:
    release = split_world()
    path = export(release, tmp_path, images=True)
    wipe()
    out = io.StringIO()
    call_command("import_release", str(path), "again", "--create", stdout=out)
    assert release.sha256 in out.getvalue()
    with pytest.raises(CommandError, match="already exists, with the same hash"):
        call_command("import_release", str(path), "again")
    with pytest.raises(CommandError, match="there is no dataset nowhere"):
        call_command("import_release", str(path), "nowhere")


ABOUT = {
    "company": "Müller & Söhne", "form_type": "10-K", "fiscal_year": 2021, "language": "en",
    "source_url": "https://www.sec.gov/x.htm", "licence": "public domain", "metadata": {"cik": 7},
}  # fmt: skip


def described_world(**documents: dict[str, Any]) -> Release:
    """The release 1.0.1 of the split world, frozen with these fields of its documents."""
    dataset = split_world().dataset
    for name, fields in documents.items():
        dataset.documents.filter(name=name).update(**fields)
    return freeze_split(dataset, version="1.0.1")


def test_what_is_known_of_the_documents_comes_back(tmp_path: Path) -> None:
    release = described_world(secret={**ABOUT, "doc_type": "tax_form"})
    path = export(release, tmp_path, images=False)
    wipe()
    dataset = restore_release(dataset=empty_dataset(slug="again"), path=path).dataset
    restored = dataset.documents.values(*ABOUT, "source").get(name="secret")
    assert restored == {**ABOUT, "source": "sec.gov"}
    assert dataset.documents.get(name="open").company == ""


def test_an_archive_tells_nothing_of_documents_whose_gold_is_hidden(tmp_path: Path) -> None:
    release = described_world(secret=ABOUT, open={"company": "Open Inc."})
    path = export(release, tmp_path, images=False, gold_splits=frozenset({"dev"}))
    with zipfile.ZipFile(path) as archive:
        (line,) = archive.read("meta.jsonl").splitlines()
        everything = b"".join(archive.read(name) for name in archive.namelist())
    assert json.loads(line) == {"id": "open", "doc_type": "other", "company": "Open Inc."}
    assert b"sec.gov" not in everything
    assert "Müller".encode() not in everything


def test_an_unreadable_description_is_named(tmp_path: Path) -> None:
    release = described_world(open={"fiscal_year": 3})
    path = export(release, tmp_path, images=False)
    wipe()
    assert "meta.jsonl:1: open: fiscal_year: must be a year such as 2024" in refused(path)


def refused(path: Path, **fields: Any) -> str:
    dataset = empty_dataset(slug="again", **fields)
    with pytest.raises(ReleaseError) as caught:
        restore_release(dataset=dataset, path=path)
    assert not dataset.releases.exists()
    assert not dataset.documents.exists()
    return str(caught.value)


def changed(path: Path, member: str, change: Callable[[bytes], bytes]) -> Path:
    """A copy of the archive with one file changed."""
    copy = path.with_name("changed.zip")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(copy, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, change(data) if name == member else data)
    return copy


def test_an_archive_without_all_gold_is_refused(tmp_path: Path) -> None:
    path = export(split_world(), tmp_path, images=True, gold_splits=frozenset({"dev"}))
    assert "the archive lacks the gold of 1 items" in refused(path)


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    path = export(split_world(), tmp_path, images=False)
    damaged = changed(path, "gold.jsonl", lambda data: data.replace(b"8,150", b"9,150"))
    assert "gold.jsonl" in refused(damaged)


def test_text_is_no_archive(tmp_path: Path) -> None:
    path = tmp_path / "text.zip"
    path.write_text("no archive")
    assert "not a readable ZIP" in refused(path)


def test_an_archive_with_a_forged_visibility_is_refused(tmp_path: Path) -> None:
    path = export(split_world(), tmp_path, images=False)
    visibility = {"visibility": "everybody"}
    forged = changed(
        path, "manifest.json", lambda data: json.dumps(json.loads(data) | visibility).encode()
    )
    assert "manifest.json: sha256 is" in refused(forged)


def test_other_documents_of_the_same_name_are_refused(tmp_path: Path) -> None:
    path = export(split_world(), tmp_path, images=False)
    wipe()
    dataset = empty_dataset(slug="again")
    make_document(dataset, "open", "<p>Total 1,300</p>")
    with pytest.raises(ReleaseError, match="open: the text without tags differs from the document"):
        restore_release(dataset=dataset, path=path)
    assert dataset.documents.count() == 1
