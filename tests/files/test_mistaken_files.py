"""Files that are not what they should be get one sentence at every door: what they look like, and
what is accepted.
"""

import io
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO

import pytest

from annotation.exchange.formats import read_label_file
from annotation.workbench.suggestions import read_model_pages
from portal.datasets.imports.labelled_pages import read_gold_pages
from portal.datasets.imports.services import check_source
from portal.datasets.models import ImportRun
from portal.datasets.releases.gold import MOST_NAMED, ReleaseError
from portal.files.archives import ArchiveFault, ArchiveLimits, open_archive
from scoring.benchmarks import BENCHMARKS
from tests.scoring.benchmarks.samples import as_tar, as_zip

LIMITS = ArchiveLimits()
LINES = b'{"id": "p1", "html": "<p>1,200"}\n' * 300
FILES = {
    "a tar archive": as_tar({"a.jsonl": LINES}),
    "text in UTF-16": LINES.decode().encode("utf-16"),
    "text in UTF-32": LINES.decode().encode("utf-32"),
    "a PDF": b"%PDF-1.7\n%\xe2\xe3\n" * 9,
    "a RAR archive": b"Rar!\x1a\x07\x01\x00" * 9,
    "a binary file": bytes(range(256)) * 9,
    "an HTML or XML page": b"<html>\n<p>1</p>\n" * 300,
}
# Where JSON Lines are expected: the messages of a door for a file of this name.
LINE_DOORS: dict[str, Callable[[IO[bytes], str], Iterable[object]]] = {
    "labels": lambda file, name: read_label_file(file, name, "jsonl", LIMITS),
    "suggestions": lambda file, name: read_model_pages(file, name, LIMITS),
    "Label Studio": lambda file, name: read_label_file(file, name, "labelstudio", LIMITS),
}


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("door", LINE_DOORS)
def test_a_door_for_lines_refuses_the_file_in_one_sentence(door: str, kind: str) -> None:
    with pytest.raises(ArchiveFault, match=f"^marks.jsonl: looks like {kind}; ") as caught:
        list(LINE_DOORS[door](io.BytesIO(FILES[kind]), "marks.jsonl"))
    assert caught.value.code == "file_kind"
    assert "; use " in str(caught.value)


@pytest.mark.parametrize("kind", FILES)
def test_a_submission_has_one_fault(kind: str) -> None:
    file = io.BytesIO(FILES[kind])
    file.name = "submission.jsonl"
    (fault,) = BENCHMARKS["fincriticaled"].read_predictions(file)
    assert str(fault).startswith(f"submission.jsonl:0: looks like {kind}; accepted are JSON Lines")


@pytest.mark.parametrize("kind", FILES)
def test_gold_for_a_release_is_refused(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    path.write_bytes(FILES[kind])
    with pytest.raises(ArchiveFault, match=f"gold.jsonl: looks like {kind}; "):
        list(read_gold_pages(path, LIMITS))


@pytest.mark.parametrize("kind", [kind for kind in FILES if kind != "a binary file"])
def test_what_calls_itself_a_zip_is_told_for_what_it_is(kind: str) -> None:
    refused = pytest.raises(ArchiveFault, match=f"looks like {kind}; a ZIP archive is required")
    with refused, open_archive(io.BytesIO(FILES[kind]), LIMITS):
        pass


def test_an_office_document_is_no_archive_of_pages() -> None:
    document = io.BytesIO(as_zip({"[Content_Types].xml": b"<a/>", "xl/x.xml": b"<a/>"}))
    with pytest.raises(ArchiveFault, match="Office document"), open_archive(document, LIMITS):
        pass


@pytest.mark.parametrize("form", ImportRun.Form.values)
def test_an_import_of_any_layout_names_a_tar(form: str) -> None:
    file = io.BytesIO(FILES["a tar archive"])
    with pytest.raises(ArchiveFault, match="looks like a tar archive; "):
        check_source(file, form, name="pages.tar")


def test_faults_of_a_release_are_named_up_to_a_number_and_counted_beyond() -> None:
    faults = [f"p{number}: has no facts" for number in range(MOST_NAMED + 5)]
    error = ReleaseError(faults)
    assert error.faults == [*faults[:MOST_NAMED], "and 5 more errors"]
    assert ReleaseError(faults[:3]).faults == faults[:3]
