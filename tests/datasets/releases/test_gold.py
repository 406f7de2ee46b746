"""Gold from files: read, placed on documents, or refused by name."""

import gzip
import json
from pathlib import Path

import pytest

from portal.datasets.imports.labelled_pages import GoldFault, GoldPage, read_gold_pages
from portal.datasets.models import Dataset
from portal.datasets.releases.gold import GoldItem, ReleaseError, place_gold
from portal.facts import Span
from portal.files.archives import ArchiveFault, ArchiveLimits
from tests.datasets.factories import LABELS, write_folder, zip_bytes
from tests.factories import empty_dataset, make_document

LIMITS = ArchiveLimits()
HTML = "<p>Net <Number>1,200</Number></p>"


def names(path: Path) -> list[str]:
    return [page.name for page in read_gold_pages(path, LIMITS) if isinstance(page, GoldPage)]


def faults(path: Path, limits: ArchiveLimits = LIMITS) -> list[str]:
    found = read_gold_pages(path, limits)
    return [fault.message for fault in found if isinstance(fault, GoldFault)]


@pytest.mark.parametrize("folder", ["", "gold/", "release/", "release/gold/"])
def test_gold_is_read_from_folder_and_zip(folder: str, tmp_path: Path) -> None:
    files = {f"{folder}b.html": HTML, f"{folder}a.html": HTML, f"{folder}notes.txt": "x"}
    assert names(write_folder(tmp_path / "gold", files)) == ["a", "b"]
    archive = tmp_path / "gold.zip"
    archive.write_bytes(zip_bytes(files))
    assert names(archive) == ["a", "b"]


def test_gold_folder_wins_over_other_pages(tmp_path: Path) -> None:
    files = {"gold/a.html": HTML, "pages/b.html": HTML, "x.html": HTML}
    assert names(write_folder(tmp_path, files)) == ["a"]


def test_gold_is_read_from_lines(tmp_path: Path) -> None:
    data = "".join(json.dumps({"id": name, "html": HTML, "more": 1}) + "\n\n" for name in "ab")
    plain, packed = tmp_path / "gold.jsonl", tmp_path / "gold.jsonl.gz"
    plain.write_text(data)
    packed.write_bytes(gzip.compress(data.encode(), mtime=0))
    assert names(plain) == names(packed) == ["a", "b"]


def test_faulty_lines_are_named(tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    path.write_bytes(b'{"id": "a", "html": "x"}\nnope\n[]\n{"id": 1}\n{"id": "b"}\n\xff\n')
    assert [fault.partition(": ")[0] for fault in faults(path)] == [
        f"gold.jsonl:{number}" for number in (2, 3, 4, 5, 6)
    ]


def test_faulty_pages_are_named(tmp_path: Path) -> None:
    write_folder(tmp_path, {"a.html": b"\xff\xfe\xfd", "b.html": b"", "c.html": HTML})
    assert [fault.partition(":")[0] for fault in faults(tmp_path)] == ["a.html", "b.html"]
    assert names(tmp_path) == ["c"]


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("gold.txt", b"x", "not_gold"),
        ("gold.zip", b"x", "not_a_zip"),
        ("gold.zip", zip_bytes({"a.txt": "x"}), "no_gold"),
        ("gold.zip", zip_bytes({"x/a.html": "x", "y/a.html": "x"}), "no_gold"),
        ("gold.jsonl.gz", b"not packed", "damaged"),
        ("gold.jsonl.gz", gzip.compress(b"{}" * 1000, mtime=0)[:-12], "damaged"),
        ("gold.jsonl", b"x" * 3000, "too_large"),
        ("gold.jsonl", b"{}\n" * 2000, "too_large"),
    ],
)
def test_source_that_is_no_gold_is_refused(
    name: str, data: bytes, code: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(ArchiveFault) as caught:
        list(read_gold_pages(path, ArchiveLimits(member=2500, total=5000)))
    assert caught.value.code == code


@pytest.mark.django_db
class TestPlacing:
    @pytest.fixture
    def dataset(self) -> Dataset:
        dataset = empty_dataset(slug="set")
        make_document(dataset, "a", "<p>Net 1,200</p>")
        return dataset

    def place(self, dataset: Dataset, *pages: GoldPage | GoldFault) -> list[GoldItem]:
        return place_gold(dataset=dataset, pages=pages, labels=LABELS)

    def faults(self, dataset: Dataset, *pages: GoldPage | GoldFault) -> list[str]:
        with pytest.raises(ReleaseError) as caught:
            self.place(dataset, *pages)
        return caught.value.faults

    def test_spans_are_found_by_the_tags(self, dataset: Dataset) -> None:
        [item] = self.place(dataset, GoldPage("a.html", "a", HTML))
        assert item.document.name == "a"
        assert item.spans == [Span(4, 9, "Number")]

    def test_other_markup_around_the_same_text_does_no_harm(self, dataset: Dataset) -> None:
        html = "<div>Net <b><Number>1,200</Number></b></div>"
        [item] = self.place(dataset, GoldPage("a.html", "a", html))
        assert item.spans == [Span(4, 9, "Number")]

    def test_every_fault_is_listed_with_its_place(self, dataset: Dataset) -> None:
        found = self.faults(
            dataset,
            GoldFault("gold.jsonl:1: not a gold line"),
            GoldPage("gold.jsonl:2", "ghost", HTML),
            GoldPage("gold.jsonl:3", "a", "<p>Net <Number>1,300</Number></p>"),
            GoldPage("gold.jsonl:4", "a", "<p>Net <Number>1,200</p>"),
            GoldPage("gold.jsonl:5", "a", "<script></script>"),
            GoldPage("gold.jsonl:6", "../a", HTML),
        )
        assert [fault.partition(": ")[0] for fault in found] == [
            f"gold.jsonl:{number}" for number in range(1, 7)
        ]
        assert "the dataset set has no document ghost" in found[1]
        assert "at character 6 it has '300', the document has '200'" in found[2]

    def test_gold_given_twice_is_refused(self, dataset: Dataset) -> None:
        page = GoldPage("gold/a.html", "a", HTML)
        [fault] = self.faults(dataset, page, GoldPage("x.jsonl:7", "a", HTML))
        assert fault == "x.jsonl:7: the gold of a is already in gold/a.html"

    def test_unusable_labels_are_refused(self, dataset: Dataset) -> None:
        with pytest.raises(ReleaseError, match="name of an HTML element"):
            place_gold(dataset=dataset, pages=[], labels=["Table"])
