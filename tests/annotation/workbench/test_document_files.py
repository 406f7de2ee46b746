"""Export and import of one document: three formats, nothing lost, faults named."""

import io
import json
from typing import Any

import pytest
from django.test import override_settings
from rest_framework.test import APIClient

from annotation.models import Assignment, Campaign, Revision, Span
from annotation.workbench.selectors import current_spans
from portal.accounts.models import User
from tests.annotation.factories import comment, save, spans_in, submit, text_of, work_of
from tests.fixture_types import ApiOf
from tests.worlds import shared

pytestmark = pytest.mark.django_db

MARKS = [("Number", "1,200"), ("Number", "(310)"), ("Date", "March 31, 2025")]


@pytest.fixture
@shared
def work(campaign: Campaign, ann: User) -> Assignment:
    """Three marks, one with an edited value."""
    work = work_of(ann, campaign)
    save(work, *MARKS)
    Span.objects.filter(assignment=work, quote="1,200").update(value="1200000", edited=True)
    return work


@pytest.fixture
def api(ann: User, api_of: ApiOf) -> APIClient:
    return api_of(ann)


def export(api: APIClient, work: Assignment, form: str) -> Any:
    response = api.get(f"/api/v1/assignments/{work.pk}/export/?form={form}")
    assert response.status_code == 200
    return response


def send(
    api: APIClient, work: Assignment, content: bytes, name: str = "p.json", **fields: Any
) -> Any:
    work.refresh_from_db()
    file = io.BytesIO(content)
    file.name = name
    body = {"file": file, "base_revision": work.revision, "save_key": "import"} | fields
    return api.post(f"/api/v1/assignments/{work.pk}/import/", body, format="multipart")


@pytest.mark.parametrize("form", ["json", "spans"])
def test_what_went_out_comes_in_again_whole(work: Assignment, api: APIClient, form: str) -> None:
    before = current_spans(work)
    content = export(api, work, form).content
    save(work)
    response = send(api, work, content)
    assert response.status_code == 200
    assert current_spans(work) == before
    assert [span["key"] for span in response.json()["spans"]] == [span["key"] for span in before]
    assert response.json()["spans"][0]["warnings"] == []


def test_tags_keep_places_and_labels(work: Assignment, api: APIClient) -> None:
    before = current_spans(work)
    content = export(api, work, "tags").content
    assert b"<Number>(310)</Number>" in content
    save(work)
    assert send(api, work, content, "p.html").status_code == 200
    places = [(span["start"], span["end"], span["label"]) for span in current_spans(work)]
    assert places == [(span["start"], span["end"], span["label"]) for span in before]
    assert current_spans(work)[0]["value"] == "1200"


def test_tags_leave_the_keys_of_spans_that_are_there(work: Assignment, api: APIClient) -> None:
    before = [span["key"] for span in current_spans(work)]
    comment(work, span_key=before[1])
    content = export(api, work, "tags").content.replace(b"<b>", b"<b>", 1)
    assert send(api, work, content, "p.html").status_code == 200
    assert [span["key"] for span in current_spans(work)] == before


def test_json_says_where_the_document_is_from(work: Assignment, api: APIClient) -> None:
    response = export(api, work, "json")
    assert response["Content-Disposition"] == 'attachment; filename="page-001.json"'
    body = json.loads(response.content)
    document = work.campaign_document.document
    assert body["document"]["text_sha256"] == document.text_sha256
    assert body["document"]["name"] == "page-001"
    assert (body["document"]["campaign"], body["document"]["revision"]) == ("spring-round", 1)
    assert body["spans"][1] == spans_in(text_of(work), *MARKS)[1] | {
        "value": "-310",
        "sign": "parentheses",
    }


@pytest.mark.parametrize(
    ("form", "kind", "name"),
    [
        ("tags", "text/html; charset=utf-8", "page-001.tags.html"),
        ("json", "application/json; charset=utf-8", "page-001.json"),
        ("spans", "text/html; charset=utf-8", "page-001.spans.html"),
    ],
)
def test_file_is_a_download_that_runs_nothing(
    work: Assignment, api: APIClient, form: str, kind: str, name: str
) -> None:
    response = export(api, work, form)
    assert response["Content-Type"] == kind
    assert response["Content-Disposition"] == f'attachment; filename="{name}"'
    assert response["Content-Security-Policy"].startswith("sandbox;")


@pytest.mark.parametrize("query", ["", "?form=", "?form=xml"])
def test_unknown_form_is_refused(work: Assignment, api: APIClient, query: str) -> None:
    response = api.get(f"/api/v1/assignments/{work.pk}/export/{query}")
    assert response.status_code == 400


def test_import_is_one_revision_and_the_same_file_again_none(
    work: Assignment, api: APIClient
) -> None:
    content = export(api, work, "tags").content
    save(work)
    first = send(api, work, content, "mine.html")
    again = send(api, work, content, "mine.html", base_revision=2)
    assert (first.json()["revision"], again.json()) == (3, first.json())
    newest = Revision.objects.filter(assignment=work).last()
    assert newest is not None
    assert (newest.number, newest.note, len(newest.added)) == (3, "imported mine.html", 3)
    other = send(api, work, content.replace(b"Date>", b"Number>"), "mine.html", base_revision=2)
    assert (other.status_code, other.json()["errors"][0]["field"]) == (422, "save_key")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "p.x: the file is empty"),
        (b"\x89PNG\r\n", "p.x: this is a PNG image, not HTML"),
        (b"{", "p.x: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        (b"{}", "p.x: format: this field is missing"),
        (b"[" * 100_000, "p.x: nested too deeply"),
        (b"<p>\n<Number>1", "p.x: line 2, column 1: <number> is never closed"),
        (b"<p><Number>1</Number>", "p.x: the text without tags differs from the document page-001"),
        (b"<p>1</p>", "p.x: the text without tags differs from the document page-001"),
    ],
)
def test_file_that_cannot_be_read_is_refused_by_name(
    work: Assignment, api: APIClient, content: bytes, message: str
) -> None:
    response = send(api, work, content, "p.x")
    assert response.status_code == 422
    (error,) = response.json()["errors"]
    assert error["message"].startswith(message)
    work.refresh_from_db()
    assert work.revision == 1


def test_mistyped_tags_do_not_remove_the_labels(work: Assignment, api: APIClient) -> None:
    content = (
        export(api, work, "tags").content.replace(b"Number>", b"NUM>").replace(b"Date>", b"D>")
    )
    response = send(api, work, content, "p.html")
    assert response.status_code == 422
    assert "<NUM> 2 times, <D> once: neither an HTML element" in str(response.json())
    assert len(current_spans(work)) == 3


def test_fault_of_a_span_names_file_and_span(work: Assignment, api: APIClient) -> None:
    body = json.loads(export(api, work, "json").content)
    body["spans"][2] |= {"label": "Money", "value": None, "sign": None}
    response = send(api, work, json.dumps(body).encode())
    (error,) = response.json()["errors"]
    assert error["message"].startswith("p.json: spans[2]: ")
    assert "Money" in error["message"]


def test_fields_are_checked(work: Assignment, api: APIClient) -> None:
    address = f"/api/v1/assignments/{work.pk}/import/"
    empty = api.post(address, {}, format="multipart")
    assert empty.status_code == 422
    assert {error["field"] for error in empty.json()["errors"]} == {
        *("file", "base_revision", "save_key"),
    }
    content = export(api, work, "json").content
    assert send(api, work, content, form="xml").json()["errors"][0]["field"] == "form"
    assert send(api, work, content, save_key="a b").json()["errors"][0]["field"] == "save_key"
    assert send(api, work, content, base_revision=0).json()["code"] == "conflict"


def test_named_form_is_taken_at_its_word(work: Assignment, api: APIClient) -> None:
    content = export(api, work, "json").content
    response = send(api, work, content, form="tags")
    assert response.status_code == 422


@override_settings(UPLOAD_LIMIT=100)
def test_file_that_is_too_large_is_told(work: Assignment, api: APIClient) -> None:
    response = send(api, work, b"x" * 200_000)
    assert (response.status_code, response.json()["code"]) == (413, "too_large")


def test_submitted_work_takes_no_import(work: Assignment, api: APIClient) -> None:
    content = export(api, work, "json").content
    submit(work)
    assert send(api, work, content, save_key="late").json()["code"] == "submitted"


def test_lead_exports_once_everybody_has_submitted(
    campaign: Campaign, work: Assignment, ben: User, lead: User, api_of: ApiOf
) -> None:
    address = f"/api/v1/assignments/{work.pk}/export/?form=json"
    submit(work)
    assert api_of(lead).get(address).status_code == 404
    submit(work_of(ben, campaign))
    assert api_of(lead).get(address).status_code == 200
    assert api_of(ben).get(address).status_code == 404
