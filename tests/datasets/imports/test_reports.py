"""Pages and API of imports in every layout: form, report and report file."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from rest_framework.test import APIClient

from portal.accounts.models import User
from portal.datasets.imports.services import import_path, left_out
from portal.datasets.models import Dataset, Document, ImportItem, ImportRun
from tests.datasets.factories import body_of, page, png, zip_bytes
from tests.factories import empty_dataset
from tests.fixture_types import RunJobs

from .layouts import FORMS, NAMES, QUESTION, SOURCES, Form, import_files, questions

pytestmark = pytest.mark.django_db


@pytest.fixture
def dataset() -> Dataset:
    return empty_dataset(slug="set")


@pytest.fixture
def client(organiser: User, client_of: Callable[[User], Client]) -> Client:
    return client_of(organiser)


@pytest.fixture
def api(organiser: User, api_of: Callable[[User], APIClient]) -> APIClient:
    return api_of(organiser)


@pytest.mark.parametrize("form", FORMS)
def test_page_takes_every_layout(
    form: str, dataset: Dataset, client: Client, run_jobs: RunJobs
) -> None:
    upload = SimpleUploadedFile("source.zip", zip_bytes(SOURCES[form]))
    response = client.post("/datasets/set/import/", {"form": form, "file": upload})
    assert response.status_code == 302
    run_jobs()
    shown = client.get(response["location"]).content.decode()
    for name in NAMES[form]:
        assert f"/datasets/set/documents/{name}/" in shown
        assert client.get(f"/datasets/set/documents/{name}/").status_code == 200
    has_pages = Document.objects.filter(kind="page").exists()
    for html in (shown, client.get("/datasets/set/").content.decode()):
        assert ("Create a campaign" in html) == has_pages


@pytest.mark.parametrize("form", FORMS)
def test_api_takes_every_layout(
    form: str, dataset: Dataset, api: APIClient, run_jobs: RunJobs
) -> None:
    upload = SimpleUploadedFile("source.zip", zip_bytes(SOURCES[form]))
    data = {"form": form, "file": upload}
    answer = api.post("/api/v1/datasets/set/imports/", data, format="multipart")
    assert (answer.status_code, answer.json()["form"]) == (202, form)
    run_jobs()
    report = api.get(f"/api/v1/datasets/set/imports/{answer.json()['id']}/").json()
    assert report["done"] == report["total"] == len(NAMES[form])
    assert report["outcomes"]["imported"] == len(NAMES[form])


def test_lone_filing_is_taken_by_its_ending(
    dataset: Dataset, client: Client, run_jobs: RunJobs
) -> None:
    upload = SimpleUploadedFile("acme.htm", page())
    client.post("/datasets/set/import/", {"form": Form.FILING, "file": upload})
    run_jobs()
    assert dataset.documents.get().name == "acme_p001"


def test_file_of_another_kind_is_refused_at_its_field(dataset: Dataset, client: Client) -> None:
    upload = SimpleUploadedFile("acme.docx", b"x")
    response = client.post("/datasets/set/import/", {"form": Form.FILING, "file": upload})
    assert response.status_code == 400
    shown = response.content.decode()
    assert "acme.docx: this format accepts .zip, .htm, .html, .xhtml, .txt" in shown
    assert not dataset.imports.exists()


def test_unknown_layout_or_benchmark_is_refused(
    dataset: Dataset, client: Client, api: APIClient
) -> None:
    def data(**more: str) -> dict[str, Any]:
        return {"file": SimpleUploadedFile("a.zip", zip_bytes({})), **more}

    assert client.post("/datasets/set/import/", data(form="novel")).status_code == 400
    for wrong in ({"form": "novel"}, {"benchmark": "novel"}):
        answer = api.post("/api/v1/datasets/set/imports/", data(**wrong), format="multipart")
        assert (answer.status_code, list(answer.json())) == (400, list(wrong))


@pytest.fixture
def run(dataset: Dataset, tmp_path: Any) -> ImportRun:
    files = questions(QUESTION, {**QUESTION, "id": "q2", "images": ["gone.png"]})
    return import_files(dataset, tmp_path, Form.FCMBENCH, files)


def test_report_as_a_file_lists_every_row(run: ImportRun, client: Client) -> None:
    response = client.get(f"{run.get_absolute_url()}report.csv")
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert response["Content-Disposition"] == f'attachment; filename="import-{run.pk}.csv"'
    rows = list(csv.DictReader(io.StringIO(body_of(response).decode())))
    assert [tuple(row.values()) for row in rows] == [
        ("bench.jsonl:1", "imported", "", "", "q1"),
        ("bench.jsonl:2", "refused", "no_image", "there is no image gone.png", ""),
    ]
    response = client.get(f"{run.get_absolute_url()}report.jsonl?outcome=refused")
    assert [json.loads(line)["name"] for line in body_of(response).splitlines()] == [
        "bench.jsonl:2"
    ]
    assert response["Content-Disposition"].endswith(f'"import-{run.pk}-refused.jsonl"')


def test_api_gives_the_report_as_a_file(run: ImportRun, api: APIClient) -> None:
    path = f"/api/v1/datasets/set/imports/{run.pk}/items/download/"
    assert len(body_of(api.get(f"{path}?file=jsonl")).splitlines()) == 2
    assert body_of(api.get(path)).startswith(b"name,outcome,code,reason,document")
    answer = api.get(f"{path}?file=xml")
    assert (answer.status_code, list(answer.json())) == (400, ["file"])


def test_names_that_a_spreadsheet_would_calculate_are_quoted(
    run: ImportRun, client: Client
) -> None:
    ImportItem.objects.create(run=run, name="=HYPERLINK(1)", outcome="refused")
    shown = body_of(client.get(f"{run.get_absolute_url()}report.csv")).decode()
    assert "\r\n'=HYPERLINK(1),refused" in shown


@pytest.mark.parametrize("rows", [2, 60])
def test_file_asks_the_database_a_fixed_number_of_times(
    rows: int, run: ImportRun, client: Client, django_assert_num_queries: Any
) -> None:
    document = Document.objects.get()
    ImportItem.objects.bulk_create(
        ImportItem(run=run, name=f"n{n}", outcome="imported", document=document)
        for n in range(rows)
    )
    client.get("/datasets/")
    with django_assert_num_queries(5):
        body_of(client.get(f"{run.get_absolute_url()}report.jsonl"))


def test_picture_document_has_a_page_and_no_html(
    run: ImportRun, client: Client, api: APIClient
) -> None:
    shown = client.get("/datasets/set/documents/q1/").content.decode()
    assert "What is it?" in shown
    assert "Canonical HTML" not in shown
    assert "SHA-256 of images and question" in shown
    assert client.get("/datasets/set/documents/q1/html/").status_code == 404
    answer = api.get("/api/v1/datasets/set/documents/q1/").json()
    assert (answer["html"], answer["text"], answer["kind"]) == (None, None, "picture")
    assert (answer["prompt"], answer["source"]) == ("What is it?", "fcmbench")


def test_reason_of_holding_back_is_shown_to_organisers_alone(
    dataset: Dataset,
    client: Client,
    stranger: User,
    client_of: Callable[[User], Client],
    tmp_path: Any,
) -> None:
    import_path(dataset=dataset, path=_filing(tmp_path), form=Form.FILING)
    Dataset.objects.update(visibility="public")
    Document.objects.update(state="held", held_reason="an e-mail address")
    path = "/datasets/set/documents/a_p001/"
    assert "an e-mail address" in client.get(path).content.decode()
    assert "an e-mail address" not in client_of(stranger).get(path).content.decode()


def _filing(folder: Any) -> Any:
    (folder / "a.htm").write_bytes(page())
    return folder / "a.htm"


def test_report_counts_what_is_there_while_it_runs(dataset: Dataset, client: Client) -> None:
    """The total is unknown before the end, so the report counts rows."""
    upload = SimpleUploadedFile("s.zip", zip_bytes({**SOURCES[Form.RECEIPTS], "x.png": png()}))
    client.post("/datasets/set/import/", {"form": Form.RECEIPTS, "file": upload})
    run = ImportRun.objects.get()
    ImportRun.objects.update(state="running")
    ImportItem.objects.create(run=run, name="r1.json", outcome="imported")
    shown = client.get(run.get_absolute_url()).content.decode()
    assert "1 items so far" in shown


def test_page_names_above_the_list_what_was_not_read(
    dataset: Dataset, client: Client, tmp_path: Path
) -> None:
    files = {**SOURCES[Form.PAGES], "gold/p1.html": b"x", "gold/p2.html": b"x", "x.docx": b"x"}
    run = import_files(dataset, tmp_path, Form.PAGES, files)
    shown = client.get(run.get_absolute_url()).content.decode()
    notice, rows = shown.index('id="left-out"'), shown.index("pages/p1.html")
    assert notice < rows
    assert "3 files skipped because the format does not use them:" in shown
    assert "gold/</span> (2 files). Add a gold file when you freeze a release" in shown
    listed = client.get("/datasets/set/").content.decode()
    assert "Skipped" in listed


@pytest.mark.parametrize(
    ("folder", "form", "hint"),
    [
        ("gold/", Form.PAGES, "a gold file"),
        ("set/gold/", Form.PARQUET, "a gold file"),
        ("gold.jsonl", Form.RECEIPTS, "a gold file"),
        ("pages/", Form.PAGES, "directly in pages/"),
        ("pages/", Form.FCMBENCH, "choose “HTML documents"),
        ("images/", Form.FCMBENCH, "uses these images"),
        ("cover.PNG", Form.PARQUET, "uses these images"),
        ("predictions/", Form.PAGES, "to a board"),
        ("labels/", Form.PAGES, "Import and export"),
        ("README.md", Form.PAGES, "another format"),
    ],
)
def test_every_folder_left_out_has_a_hint(folder: str, form: str, hint: str) -> None:
    (row,) = left_out({folder: 3}, form)
    assert (row.folder, row.files) == (folder, 3)
    assert hint in row.hint
