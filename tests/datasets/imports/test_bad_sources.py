"""Bad sources through the import of every layout: refused by name with the reason, the rest goes
on, and nothing is half-written.
"""

import base64
import io
import json
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rest_framework.test import APIClient

from portal.accounts.models import User
from portal.datasets.imports.layouts import read_items
from portal.datasets.imports.services import check_source, import_path
from portal.datasets.models import Dataset, Document, DocumentContent, ImportItem, ImportRun
from portal.files.archives import ArchiveFault, ArchiveLimits
from tests.datasets.factories import Files, outcomes, png, write_folder, zip_bytes
from tests.datasets.imaging.test_pictures import png_claiming
from tests.datasets.imports.test_bad_input import encrypted, zipped_link
from tests.factories import empty_dataset

from .layouts import (
    FILING,
    FORMS,
    NAMES,
    OTHER_FORMS,
    PAGE,
    QUESTION,
    SOURCES,
    Form,
    csv_table,
    import_files,
    json_lines,
    parquet,
    questions,
    studio_task,
)

pytestmark = pytest.mark.django_db

DEEP = "<div>" * 10_000 + "x"
# Declared as UTF-8, and Latin-1 in truth.
WRONG = b'<meta charset="utf-8"><p>caf\xe9 1,200</p>'


BAD_ZIPS: dict[str, tuple[Callable[[Files], bytes], str]] = {
    "truncated": (lambda files: zip_bytes(files)[:-30], "not a readable ZIP"),
    "traversal": (
        lambda files: zip_bytes({**files, "../evil.htm": b"x"}),
        "file name not accepted",
    ),
    "link": (lambda _: zipped_link(), "links are not accepted"),
    "encrypted": (lambda _: encrypted(), "encrypted archives are not accepted"),
    "bomb": (lambda files: zip_bytes({**files, "b.htm": b"0" * 30_000_000}), "may be a ZIP bomb"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", BAD_ZIPS)
def test_bad_archive_is_refused_whole(kind: str, form: str, tmp_path: Path) -> None:
    make, message = BAD_ZIPS[kind]
    path = tmp_path / "bad.zip"
    path.write_bytes(make(SOURCES[form]))
    dataset = empty_dataset()
    with pytest.raises(ArchiveFault, match=message):
        check_source(path, form, name="bad.zip")
    with pytest.raises(ArchiveFault, match=message):
        import_path(dataset=dataset, path=path, form=form)
    run = ImportRun.objects.get()
    assert run.state == "failed"
    assert message in run.error
    assert not Document.objects.exists()


@pytest.mark.parametrize("form", OTHER_FORMS)
def test_bad_archive_is_refused_by_the_page_and_the_api(
    form: str,
    organiser: User,
    client_of: Callable[[User], Client],
    api_of: Callable[[User], APIClient],
) -> None:
    empty_dataset(slug="set")

    def upload() -> dict[str, Any]:
        return {"form": form, "file": SimpleUploadedFile("bad.zip", encrypted())}

    response = client_of(organiser).post("/datasets/set/import/", upload())
    assert response.status_code == 400
    assert "encrypted archives are not accepted" in response.content.decode()
    answer = api_of(organiser).post("/api/v1/datasets/set/imports/", upload(), format="multipart")
    assert answer.status_code == 400
    assert "encrypted archives are not accepted" in answer.json()["file"][0]
    assert not ImportRun.objects.exists()


def damaged(files: Files, name: str) -> bytes:
    """A ZIP in which one member does not match its checksum."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as bundle:
        for member, data in files.items():
            bundle.writestr(member, data)
    packed = bytearray(stream.getvalue())
    content = files[name]
    last = (content.encode() if isinstance(content, str) else content)[-8:]
    packed[packed.index(last)] ^= 0x01
    return bytes(packed)


def test_damaged_member_is_refused_and_the_rest_goes_on(tmp_path: Path) -> None:
    files: Files = {"a.htm": "<p>First 1</p>", "b.htm": "<p>Other 2</p>"}
    (tmp_path / "d.zip").write_bytes(damaged({**files, "a.htm": "<p>First 1</p>!"}, "a.htm"))
    run = import_path(dataset=empty_dataset(), path=tmp_path / "d.zip", form=Form.FILING)
    assert outcomes(run) == {"a.htm": ("refused", "damaged"), "b.htm:page 1": ("imported", "")}


def test_bad_filings_are_refused_by_name_and_the_rest_goes_on(
    tmp_path: Path, settings: Any
) -> None:
    settings.ARCHIVE_MEMBER_LIMIT = 3_000_000
    bad: dict[str, bytes | str] = {
        "binary.htm": b"%PDF-1.4 " + bytes(range(256)),
        "deep.htm": DEEP,
        "empty.htm": b"",
        "large.htm": b"<p>" + b"x" * 3_000_001,
        "wrong.htm": WRONG,
    }
    folder = write_folder(tmp_path, {**bad, "zz.htm": FILING})
    run = import_path(dataset=empty_dataset(), path=folder, form=Form.FILING)
    found = outcomes(run)
    refused = {name: code for name, (outcome, code) in found.items() if outcome == "refused"}
    assert {name.partition(":")[0] for name in refused} == bad.keys()
    assert refused["large.htm"] == "too_large"
    assert refused["wrong.htm"] == "encoding"
    assert refused["deep.htm:page 1"] == "too_deep"
    assert all(run.items.values_list("reason", flat=True).filter(outcome="refused"))
    assert list(Document.objects.values_list("name", flat=True)) == ["zz_p001", "zz_p002"]


def test_text_node_of_100_megabytes_is_refused_and_the_rest_goes_on(
    tmp_path: Path, settings: Any
) -> None:
    """The limits of the settings, and a folder."""
    (tmp_path / "a.htm").write_bytes(b"<p>" + b"x" * (100 * 1024**2))
    (tmp_path / "b.htm").write_text(FILING)
    assert settings.ARCHIVE_MEMBER_LIMIT < 100 * 1024**2
    run = import_path(dataset=empty_dataset(), path=tmp_path, form=Form.FILING)
    assert outcomes(run)["a.htm"] == ("refused", "too_large")
    assert Document.objects.count() == 2


BAD_PAGES = {"deep": (DEEP, "too_deep"), "nul": ("<p>a\0b</p>", ""), "blank": ("<p> </p>", "empty")}


@pytest.mark.parametrize("kind", BAD_PAGES)
@pytest.mark.parametrize("form", [Form.FINCRITICALED, Form.LABEL_STUDIO, Form.PARQUET])
def test_bad_page_in_a_table_is_refused_and_the_rest_goes_on(
    form: str, kind: str, tmp_path: Path
) -> None:
    html, code = BAD_PAGES[kind]
    if form == Form.LABEL_STUDIO:
        bad = {"id": 9, "data": {"html": html, "name": "bad"}, "annotations": []}
        files: Files = {"a.json": json.dumps([bad, studio_task()])}
    elif form == Form.PARQUET:
        files = {"a.parquet": parquet({"id": "bad", "html": html}, {"id": "p1", "html": PAGE})}
    else:
        rows = [{"id": "bad", "matched_html": html}, {"id": "p1", "matched_html": PAGE}]
        files = {"a.csv": csv_table(*rows)}
    run = import_files(empty_dataset(), tmp_path, form, files)
    refused = list(run.items.filter(outcome="refused"))
    assert len(refused) == 1
    assert refused[0].reason
    assert not code or refused[0].code == code
    assert list(Document.objects.values_list("name", flat=True)) == ["p1"]


BAD_PICTURES = {
    "broken": (png()[:40], "image_broken"),
    "bomb": (png_claiming(60_000, 60_000), "image_too_large"),
    "text": (b"not a picture", "image_format"),
}


def _with_picture(form: str, data: bytes) -> Files:
    """A source of two documents; one has this picture."""
    if form == Form.FCMBENCH:
        asked = {**QUESTION, "id": "bad", "images": ["images/bad.png"]}
        return {**questions(asked, QUESTION), "images/bad.png": data}
    if form == Form.CCOCR:
        labels = json.dumps({"1.png": {}, "bad.png": {}})
        source = SOURCES[form]
        return {**source, "data/CORD/label.json": labels, "data/CORD/images/bad.png": data}
    if form == Form.RECEIPTS:
        return {**SOURCES[form], "bad.json": "{}", "bad.png": data}
    bad = {"id": "bad", "image": {"bytes": data, "path": "bad.png"}}
    return {"a.parquet": parquet(bad, {"id": "p1", "image": {"bytes": png(), "path": "a.png"}})}


@pytest.mark.parametrize("kind", BAD_PICTURES)
@pytest.mark.parametrize("form", [Form.FCMBENCH, Form.CCOCR, Form.RECEIPTS, Form.PARQUET])
def test_bad_picture_is_refused_and_the_rest_goes_on(form: str, kind: str, tmp_path: Path) -> None:
    data, code = BAD_PICTURES[kind]
    run = import_files(empty_dataset(), tmp_path, form, _with_picture(form, data))
    (refused,) = run.items.filter(outcome="refused")
    assert refused.code == code
    assert "bad.png" in refused.reason or "image" in refused.reason
    assert list(Document.objects.values_list("name", flat=True)) == NAMES[form]


def test_bad_picture_of_a_page_is_a_fault_and_the_page_comes_in(tmp_path: Path) -> None:
    packed = base64.b64encode(png()[:40]).decode()
    rows = {"id": "p1", "matched_html": PAGE, "image": f"data:image/png;base64,{packed}"}
    files = {"a.csv": csv_table(rows)}
    run = import_files(empty_dataset(), tmp_path, Form.FINCRITICALED, files)
    assert outcomes(run) == {
        "a.csv:2": ("imported", "no_image"),
        "a.csv:2 image 1, a.csv:2 image": ("refused", "image_broken"),
    }
    assert run.items.get(outcome="imported").reason == "no image: it was rejected"


def test_labels_that_have_no_place_are_a_fault_and_the_page_comes_in(tmp_path: Path) -> None:
    task = studio_task()
    task["annotations"][0]["result"][0]["value"].update(text="9,999", startOffset=900)
    run = import_files(empty_dataset(), tmp_path, Form.LABEL_STUDIO, {"a.json": json.dumps([task])})
    assert outcomes(run) == {
        "a.json:task 1": ("imported", ""),
        "a.json:task 1 gold": ("refused", "gold_not_placed"),
    }


def test_skipped_annotations_are_reported_and_the_gold_is_imported(tmp_path: Path) -> None:
    task = studio_task()
    task["annotations"].append({"id": 2, "was_cancelled": True, "result": []})
    run = import_files(empty_dataset(), tmp_path, Form.LABEL_STUDIO, {"a.json": json.dumps([task])})
    assert outcomes(run) == {
        "a.json:task 1": ("imported", ""),
        "a.json:task 1 skipped": ("refused", "skipped"),
    }
    assert Document.objects.get().record


def test_work_of_several_without_a_ground_truth_is_no_gold(tmp_path: Path) -> None:
    task = studio_task(is_gold=False)
    task["annotations"] *= 2
    run = import_files(empty_dataset(), tmp_path, Form.LABEL_STUDIO, {"a.json": json.dumps([task])})
    assert outcomes(run) == {
        "a.json:task 1": ("imported", ""),
        "a.json:task 1 annotations": ("refused", "several_annotations"),
    }
    assert not hasattr(Document.objects.get(), "record")


@pytest.mark.parametrize(
    ("form", "files"),
    [
        (Form.LABEL_STUDIO, {"a.json": b'[{"id": 1, "data": {"html": "<p>1</p>"}}, {'}),
        (Form.FCMBENCH, {**questions(), "z.jsonl": b'{"id": \xff}\n' + json_lines(QUESTION)}),
        (Form.FINCRITICALED, {"a.csv": b"id,matched_html\np1,<p>1</p>\np2,\xff\n"}),
    ],
)
def test_damage_in_the_middle_costs_only_what_cannot_be_read(
    form: str, files: Files, tmp_path: Path
) -> None:
    run = import_files(empty_dataset(), tmp_path, form, files)
    assert run.state == "done"
    found = list(run.items.values_list("outcome", flat=True))
    assert "imported" in found
    assert "refused" in found


@pytest.mark.parametrize("form", OTHER_FORMS)
@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_damaged_sources_end_in_a_report(form: str, data: st.DataObject, tmp_path: Path) -> None:
    """Changed bytes anywhere in a file never leave an incomplete document."""
    ImportRun.objects.all().delete()
    Document.objects.all().delete()
    Dataset.objects.all().delete()
    files = {
        name: content.encode() if isinstance(content, str) else content
        for name, content in SOURCES[form].items()
    }
    name = data.draw(st.sampled_from(sorted(files)))
    broken = bytearray(files[name])
    for _ in range(data.draw(st.integers(1, 4))):
        broken[data.draw(st.integers(0, len(broken) - 1))] = data.draw(st.integers(0, 255))
    files[name] = bytes(broken[: data.draw(st.integers(0, len(broken)))])
    try:
        run = import_files(empty_dataset(), tmp_path, form, files)
    except ArchiveFault:
        assert ImportRun.objects.get().state == "failed"
        return
    assert run.state == "done"
    imported = ImportItem.objects.filter(outcome="imported")
    assert Document.objects.count() == imported.count()
    pages = Document.objects.filter(kind="page")
    assert DocumentContent.objects.count() == pages.count()
    assert not Document.objects.filter(kind="picture", images=None).exists()


def _growing(form: str, count: int) -> Iterator[bytes | tuple[str, bytes]]:
    """The lines of a source of `count` large items."""
    filler = "x" * 100_000
    for n in range(count):
        if form == Form.FCMBENCH:
            yield json_lines({**QUESTION, "id": f"q{n}", "note": filler})
        elif form == Form.LABEL_STUDIO:
            task = {"id": n, "data": {"html": f"<p>{n} {filler}</p>", "name": f"p{n}"}}
            yield (b"[" if n == 0 else b",") + json.dumps(task).encode()
        else:
            yield (b"id,matched_html\n" if n == 0 else b"") + f"p{n},<p>{n} {filler}</p>\n".encode()
    if form == Form.LABEL_STUDIO:
        yield b"]"


@pytest.mark.parametrize(
    ("form", "name"),
    [(Form.FINCRITICALED, "a.csv"), (Form.LABEL_STUDIO, "a.json"), (Form.FCMBENCH, "a.jsonl")],
)
def test_items_are_read_one_by_one(form: str, name: str, tmp_path: Path) -> None:
    """Four times the items take no more memory, because the source is streamed."""

    def peak(count: int) -> int:
        folder = tmp_path / f"{count}"
        folder.mkdir()
        (folder / "card.png").write_bytes(png())
        with (folder / name).open("wb") as file:
            for line in _growing(form, count):
                assert isinstance(line, bytes)
                file.write(line)
        tracemalloc.start()
        read = sum(1 for _ in read_items(form, folder, name, ArchiveLimits()))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert read == count
        return most

    peak(2)
    assert peak(160) < 1.5 * peak(40)


def test_pictures_of_an_item_that_is_there_are_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from portal.datasets.imports import opening

    folder = write_folder(tmp_path, questions(QUESTION, {**QUESTION, "id": "q2"}))
    dataset = empty_dataset()

    class KilledError(BaseException):
        pass

    def stop(done: int, _: int) -> None:
        if done == 1:
            raise KilledError

    with pytest.raises(KilledError):
        import_path(dataset=dataset, path=folder, form=Form.FCMBENCH, progress=stop)
    read: list[str] = []
    real = opening.SourceFiles.read

    def noting(self: Any, name: str) -> bytes:
        read.append(name)
        return real(self, name)

    monkeypatch.setattr(opening.SourceFiles, "read", noting)
    run = import_path(dataset=dataset, path=folder, form=Form.FCMBENCH)
    assert read == ["images/card.png"]
    assert ImportRun.objects.count() == 1
    assert set(outcomes(run)) == {"bench.jsonl:1", "bench.jsonl:2"}
    assert dataset.documents.count() == 2


def test_plain_text_of_label_studio_is_named(tmp_path: Path) -> None:
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps([{"id": 1, "data": {"text": "Net 1,200"}, "annotations": []}]))
    with pytest.raises(ArchiveFault, match="the task is plain text, not HTML"):
        check_source(path, ImportRun.Form.LABEL_STUDIO, name=path.name)


def test_lines_of_another_tool_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"text": "Net 1,200", "label": [[4, 9, "Number"]]}) + "\n")
    wanted = r"an export of doccano.*; this format accepts \.zip, \.json"
    with pytest.raises(ArchiveFault, match=wanted):
        check_source(path, ImportRun.Form.LABEL_STUDIO, name=path.name)
    with path.open("rb") as file, pytest.raises(ArchiveFault, match=wanted):
        check_source(file, ImportRun.Form.LABEL_STUDIO, name=path.name)


def test_array_of_questions_is_refused_whole(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, {"a.jsonl": b'[\n{"id": "a"}\n]', "a.png": png()})
    with pytest.raises(ArchiveFault, match=r"a\.jsonl: this is a JSON array; JSON Lines has"):
        check_source(folder, ImportRun.Form.FCMBENCH, name="a")
