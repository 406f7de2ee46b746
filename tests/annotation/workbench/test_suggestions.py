"""Suggestions: chosen by the lead; a model's marks, uploaded and placed or refused."""

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import override_settings

from annotation.models import Campaign, ModelSuggestions, SuggestionUpload
from annotation.workbench.suggestions import read_suggestions
from portal.accounts.models import User
from portal.audit.models import Event
from tests.annotation.factories import document_of
from tests.fixture_types import ApiOf, ClientOf, RunJobs

pytestmark = pytest.mark.django_db

PAGE = "/campaigns/spring-round/suggestions/"
API = "/api/v1/campaigns/spring-round/suggestions/"


def lines(*pages: object) -> bytes:
    return b"".join(json.dumps(page).encode() + b"\n" for page in pages)


def zipped(**files: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in files.items():
            archive.writestr(name.replace("__", "/").replace("_dot_", "."), data)
    return packed.getvalue()


@pytest.fixture
def upload(
    campaign: Campaign, lead: User, api_of: ApiOf, run_jobs: RunJobs
) -> Callable[..., SuggestionUpload]:
    """Uploads a file as Lea and runs the job that reads it."""

    def send(content: bytes, name: str = "marks.jsonl") -> SuggestionUpload:
        file = SimpleUploadedFile(name, content)
        response = api_of(lead).post(f"{API}uploads/", {"file": file}, format="multipart")
        assert response.status_code == 202, response.content
        assert response.json()["state"] == "queued"
        run_jobs()
        return SuggestionUpload.objects.get(pk=response.json()["id"])

    return send


def tagged(campaign: Campaign, number: int = 1, tag: str = "Number") -> str:
    """The page of a document whose first 1,200 is tagged."""
    html = document_of(campaign, number).document.content.html
    return html.replace("1,200", f"<{tag}>1,200</{tag}>", 1)


def stored(campaign: Campaign, number: int = 1) -> Any:
    return ModelSuggestions.objects.get(campaign_document=document_of(campaign, number)).spans


def test_sources_are_chosen_on_the_page(
    campaign: Campaign, lead: User, client_of: ClientOf
) -> None:
    client = client_of(lead)
    page = client.get(PAGE)
    assert page.context["sources"].initial == {"sources": []}
    assert "field-errors" not in page.content.decode()
    client.post(PAGE, {"sources": ["rules", "model"]})
    campaign.refresh_from_db()
    assert campaign.suggestion_sources == ["model", "rules"]
    assert Event.objects.get(verb="choose_suggestions").data == {"sources": ["model", "rules"]}
    assert 'value="rules" id="id_sources_2" checked' in client.get(PAGE).content.decode()
    client.post(PAGE, {})
    campaign.refresh_from_db()
    assert campaign.suggestion_sources == []


def test_sources_are_chosen_by_programs(campaign: Campaign, lead: User, api_of: ApiOf) -> None:
    api = api_of(lead)
    body = api.put(API, {"sources": ["xbrl"]}, format="json").json()
    numbers = {"documents": 2, "with_xbrl": 0, "with_model": 0, "opened": 0}
    assert body == {"sources": ["xbrl"]} | numbers
    assert api.put(API, {"sources": ["guess"]}, format="json").status_code == 400
    assert api.get(API).json()["sources"] == ["xbrl"]


def test_tagged_pages_and_spans_are_placed(
    campaign: Campaign, upload: Callable[..., SuggestionUpload]
) -> None:
    done = upload(
        lines(
            {"id": "page-001", "html": tagged(campaign)},
            {"id": "page-002", "spans": [{"start": 41, "end": 46, "label": "Number"}]},
        )
    )
    assert (done.state, done.documents, done.spans, done.faults) == ("done", 2, 2, [])
    assert stored(campaign) == [[16, 21, "Number"]]
    assert stored(campaign, 2) == [[41, 46, "Number"]]


@pytest.mark.parametrize("name", ["marks.zip", "MARKS.ZIP"])
def test_archive_of_pages_and_spans(
    campaign: Campaign, upload: Callable[..., SuggestionUpload], name: str
) -> None:
    spans = json.dumps({"spans": [{"start": 16, "end": 21, "label": "Date"}]}).encode()
    content = zipped(
        **{"a__page-001_dot_html": tagged(campaign).encode(), "page-002_dot_json": spans}
    )
    assert upload(content, name).documents == 2
    assert (stored(campaign), stored(campaign, 2)) == ([[16, 21, "Number"]], [[16, 21, "Date"]])


def test_packed_lines(campaign: Campaign, upload: Callable[..., SuggestionUpload]) -> None:
    content = gzip.compress(lines({"id": "page-001", "spans": []}))
    assert upload(content, "marks.jsonl.gz").documents == 1
    assert stored(campaign) == []


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ({"id": "page-009", "spans": []}, "the campaign has no document page-009"),
        ({"spans": []}, "id is missing or not a string"),
        ({"id": "page-001"}, "html (a string) or spans (a list) is missing"),
        ([], "it must be a JSON object"),
        (
            {"id": "page-001", "text_sha256": "0" * 64, "spans": []},
            "text_sha256: the spans are for another text than that of page-001",
        ),
        ({"format": "other"}, "format must be factboard-suggestions-1"),
        (
            {"format": "factboard-suggestions-1", "model": 7},
            "model must be a string of at most 200 characters",
        ),
        ({"id": "page-001", "spans": [5]}, "spans[0] must be an object with start, end and label"),
        (
            {"id": "page-001", "spans": [{"start": True, "end": 2, "label": "Date"}]},
            "spans[0].start must be an integer",
        ),
        (
            {"id": "page-001", "spans": [{"start": 1, "end": 2}]},
            "spans[0].label must be a string",
        ),
        (
            {"id": "page-001", "spans": [{"start": 1, "end": 9_999, "label": "Date"}]},
            "span 0 (characters 1–9998) is not a valid range in a text of",
        ),
        (
            {"id": "page-001", "spans": [{"start": 1, "end": 2, "label": "Money"}]},
            "span 0 (character 1) has the label 'Money', not one of Number, Date",
        ),
        ({"id": "page-001", "html": "<p><Number>1"}, "line 1, column 4: <number> is never closed"),
        (
            {"id": "page-001", "html": "<p>Another page</p>"},
            "the text without tags differs from the document page-001: at character 0",
        ),
    ],
)
def test_document_that_cannot_be_placed_is_named_and_the_others_are_placed(
    upload: Callable[..., SuggestionUpload], page: object, message: str
) -> None:
    done = upload(lines({"id": "page-002", "spans": []}, page))
    assert (done.state, done.documents, done.fault_count) == ("done", 1, 1)
    assert done.faults[0].startswith(f"marks.jsonl:2: {message}")


def test_file_names_its_model(
    campaign: Campaign, lead: User, upload: Callable[..., SuggestionUpload], client_of: ClientOf
) -> None:
    head = {"format": "factboard-suggestions-1", "model": "acme-7b", "prompt": "labels-1"}
    done = upload(lines(head, {"id": "page-001", "spans": []}))
    assert (done.model, done.prompt, done.documents, done.faults) == ("acme-7b", "labels-1", 1, [])
    assert "acme-7b" in client_of(lead).get(PAGE).content.decode()


def test_model_is_named_with_the_file(campaign: Campaign, lead: User, client_of: ClientOf) -> None:
    file = SimpleUploadedFile("m.jsonl", lines({"id": "page-001", "spans": []}))
    client_of(lead).post(PAGE, {"upload": "1", "file": file, "model": "acme-7b", "prompt": "p2"})
    stored = SuggestionUpload.objects.get()
    assert (stored.model, stored.prompt) == ("acme-7b", "p2")


def test_document_given_twice_counts_once(upload: Callable[..., SuggestionUpload]) -> None:
    page = {"id": "page-001", "spans": []}
    done = upload(lines(page, page))
    assert (done.documents, done.faults) == (1, ["marks.jsonl:2: page-001 is in the file twice"])


def test_line_that_is_no_json_is_named(upload: Callable[..., SuggestionUpload]) -> None:
    done = upload(b"{]\n\n\xff\n" + b"[" * 100_000)
    assert [fault.split(": ")[0] for fault in done.faults] == [
        *("marks.jsonl:1", "marks.jsonl:3", "marks.jsonl:4"),
    ]


def test_later_upload_replaces_only_its_own_documents(
    campaign: Campaign, upload: Callable[..., SuggestionUpload]
) -> None:
    spans = [{"start": 16, "end": 21, "label": "Number"}]
    upload(lines({"id": "page-001", "spans": spans}, {"id": "page-002", "spans": spans}))
    upload(lines({"id": "page-002", "spans": []}))
    assert (stored(campaign), stored(campaign, 2)) == ([[16, 21, "Number"]], [])


def test_file_that_is_no_archive_fails_as_a_whole(upload: Callable[..., SuggestionUpload]) -> None:
    failed = upload(b"no zip", "marks.zip")
    assert failed.state == "failed"
    assert failed.error.startswith("not a readable ZIP archive")
    assert not ModelSuggestions.objects.exists()


def test_stored_file_goes_when_it_was_read(
    upload: Callable[..., SuggestionUpload],
    django_capture_on_commit_callbacks: Callable[..., Any],
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        done = upload(lines({"id": "page-001", "spans": []}))
    assert not done.upload
    assert not any(files for _, files in _walk("suggestions"))


def _walk(folder: str) -> list[tuple[list[str], list[str]]]:
    if not default_storage.exists(folder):
        return []
    folders, files = default_storage.listdir(folder)
    inner = [found for name in folders for found in _walk(f"{folder}/{name}")]
    return [(folders, files), *inner]


def test_job_that_runs_again_changes_nothing(
    campaign: Campaign, upload: Callable[..., SuggestionUpload]
) -> None:
    from annotation.workbench.suggestions import keep_suggestions

    done = upload(lines({"id": "page-001", "spans": []}))
    keep_suggestions(upload=done, placed={}, faults=["late"])
    done.refresh_from_db()
    assert (done.documents, done.faults) == (1, [])


def test_reading_writes_nothing(campaign: Campaign, lead: User, api_of: ApiOf) -> None:
    file = SimpleUploadedFile("m.jsonl", lines({"id": "page-001", "spans": []}))
    api_of(lead).post(f"{API}uploads/", {"file": file}, format="multipart")
    steps: list[int] = []
    upload = SuggestionUpload.objects.select_related("campaign").get()
    placed, faults = read_suggestions(upload, progress=steps.append)
    assert (placed, faults, steps) == ({document_of(campaign).pk: []}, [], [1])
    assert not ModelSuggestions.objects.exists()


def test_file_of_another_kind_is_refused(
    campaign: Campaign, lead: User, api_of: ApiOf, client_of: ClientOf
) -> None:
    def file() -> SimpleUploadedFile:
        return SimpleUploadedFile("marks.csv", b"a,b")

    response = api_of(lead).post(f"{API}uploads/", {"file": file()}, format="multipart")
    assert (response.status_code, response.json()["code"]) == (409, "file")
    page = client_of(lead).post(PAGE, {"upload": "1", "file": file()}).content.decode()
    assert "marks.csv: upload a .zip, .jsonl or .jsonl.gz file" in page
    assert not SuggestionUpload.objects.exists()


@override_settings(UPLOAD_LIMIT=100)
def test_file_that_is_too_large_is_told(
    campaign: Campaign, lead: User, api_of: ApiOf, client_of: ClientOf
) -> None:
    def file() -> SimpleUploadedFile:
        return SimpleUploadedFile("m.jsonl", b"x" * 200_000)

    sent = api_of(lead).post(f"{API}uploads/", {"file": file()}, format="multipart")
    assert sent.status_code == 413
    response = client_of(lead).post(PAGE, {"upload": "1", "file": file()})
    assert response.status_code == 413
    assert "larger than" in response.content.decode()
    campaign.refresh_from_db()
    assert campaign.suggestion_sources == []


def test_page_shows_what_was_not_placed(
    campaign: Campaign, lead: User, client_of: ClientOf, upload: Callable[..., SuggestionUpload]
) -> None:
    upload(lines({"id": "<b>", "spans": []}), "mine.jsonl")
    page = client_of(lead).get(PAGE).content.decode()
    assert "mine.jsonl:1: the campaign has no document &lt;b&gt;" in page
