"""The pages and endpoints of quality acceptance."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from rest_framework.test import APIClient

from portal.accounts.models import User
from portal.datasets.acceptance.services import close_batch
from portal.datasets.models import Batch, Dataset, Inspection
from tests.datasets.acceptance.factories import (
    SCHEMA,
    inspect_all,
    make_batch,
    make_receipt,
    receipts,
    sampled_of,
)
from tests.fixture_types import ApiOf, ClientOf

pytestmark = pytest.mark.django_db


BATCHES = "/datasets/receipts/batches/"
INSPECT = f"{BATCHES}1/inspect/r001/"
API = "/api/v1/datasets/receipts/batches/"


@pytest.fixture
def client(organiser: User, client_of: ClientOf) -> Client:
    return client_of(organiser)


@pytest.fixture
def api(organiser: User, api_of: ApiOf) -> APIClient:
    return api_of(organiser)


def posted(**changes: Any) -> dict[str, Any]:
    given = {"schema": "records", "sample_size": 2, "threshold": "97", "seed": 3, "language": ""}
    return {**given, **changes}


def test_batch_is_opened_by_the_form(client: Client) -> None:
    receipts(3)
    assert b"The first documents by name are used" in client.get(f"{BATCHES}new/").content
    response = client.post(f"{BATCHES}new/", posted(size=2, threshold="99.5"))
    assert response.url == f"{BATCHES}1/"  # type: ignore[attr-defined]
    batch = Batch.objects.get()
    assert (batch.threshold, batch.seed, batch.sample_size) == (0.995, 3, 2)
    # PostgreSQL keeps no order of a record's fields.
    assert {field["name"] for field in batch.fields["fields"]} == {"seller", "total", "items"}


def test_schema_can_be_pasted_uploaded_or_the_one_of_receiptbench(client: Client) -> None:
    receipts(3)
    one = {"size": 1, "sample_size": 1}
    given = json.dumps(SCHEMA)
    file = SimpleUploadedFile("schema.json", given.encode())
    for changes in (
        {"schema": "own", "schema_text": given},
        {"schema": "own", "schema_file": file},
        {"schema": "receipts"},
    ):
        assert client.post(f"{BATCHES}new/", posted(**one, **changes)).status_code == 302
    pasted, uploaded, built_in = Batch.objects.order_by("number")
    assert pasted.fields == uploaded.fields == SCHEMA
    assert len(built_in.fields["fields"]) == 19


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"schema": "own"}, "Upload a schema file"),
        ({"schema": "own", "schema_text": '[\n{"name"}]'}, "line 2, column 8"),
        ({"schema": "own", "schema_text": "[" * 100_000}, "nested too deeply"),
        ({"schema": "own", "schema_text": '[{"name": "a", "kind": "x"}]'}, "fields[0].kind"),
        ({"schema": "own", "schema_text": '[{"name": "a\\u0000"}]'}, "cannot be stored"),
        (
            {"schema": "own", "schema_file": SimpleUploadedFile("s.json", b"\xff\xfe\xff")},
            "s.json is not encoded as UTF-8",
        ),
        ({"sample_size": 0}, "greater than or equal to 1"),
        ({"threshold": "101"}, "less than or equal to 100"),
        ({"seed": -1}, "greater than or equal to 0"),
        ({"language": "xx"}, "No matching document is available"),
    ],
)
def test_faults_of_the_form_are_shown(
    client: Client, changes: dict[str, Any], message: str
) -> None:
    receipts(1)
    response = client.post(f"{BATCHES}new/", posted(**changes))
    assert response.status_code == 400
    assert message in response.content.decode()
    assert not Batch.objects.exists()


def test_verdicts_are_given_without_javascript(client: Client) -> None:
    make_batch(receipts(1), sample=1)
    shown = client.get(INSPECT).content.decode()
    assert "This document has no image." in shown
    response = client.post(INSPECT, {"field": "total", "verdict": "right", "base": ""})
    assert response.url == f"{INSPECT}#field-2"  # type: ignore[attr-defined]
    given = {"field": "items", "verdict": "wrong", "correct_value": "[]", "base": ""}
    client.post(INSPECT, given)
    client.post(INSPECT, {"field": "seller", "should_be_empty": "on", "comment": "  A stamp. "})
    said = {row.field: row for row in Inspection.objects.all()}
    assert said["total"].is_right
    assert said["items"].correct_value == []
    assert (said["seller"].is_right, said["seller"].correct_value) == (False, "")
    assert said["seller"].comment == "A stamp."
    assert "3 of 3 fields" in client.get(INSPECT).content.decode()
    client.post(INSPECT, {"field": "total", "verdict": "clear", "base": stamp("total")})
    assert Inspection.objects.count() == 2


def stamp(field: str) -> str:
    return Inspection.objects.get(field=field).inspected_at.isoformat()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"field": "items", "correct_value": "tea"}, "line 1, column 1"),
        ({"field": "items", "correct_value": "{}"}, "Write the list as JSON"),
        ({"field": "total", "correct_value": "3.00"}, "The record already has this value"),
        ({"field": "total", "correct_value": "4", "should_be_empty": "on"}, "not both"),
        ({"field": "tip", "verdict": "right"}, "This field is not in the batch"),
        ({"field": "total", "verdict": "maybe"}, "Select a valid choice"),
        ({}, "This field is required"),
    ],
)
def test_verdicts_that_cannot_be_are_refused(
    client: Client, given: dict[str, str], message: str
) -> None:
    make_batch(receipts(1), sample=1)
    response = client.post(INSPECT, {"base": "", **given}, follow=True)
    assert message in response.content.decode()
    assert not Inspection.objects.exists()


def test_answer_for_scripts_is_the_field_alone(client: Client, lead: User) -> None:
    batch = make_batch(receipts(1), sample=1)
    htmx = {"HX-Request": "true"}
    given = {"field": "total", "verdict": "right", "base": ""}
    answer = client.post(INSPECT, given, headers=htmx)
    assert answer.status_code == 200
    assert 'id="said-2"' in answer.content.decode()
    assert "1 of 3 fields" in answer.content.decode()
    inspect_all(batch, lead)
    answer = client.post(INSPECT, {**given, "field": "seller", "verdict": "wrong"}, headers=htmx)
    assert answer.status_code == 409
    assert "Lea marked this field as correct" in answer.content.decode()
    assert stamp("seller") in answer.content.decode()


def test_next_document_is_the_first_that_is_not_inspected(client: Client, lead: User) -> None:
    batch = make_batch(receipts(3), sample=3)
    inspect_all(batch, lead, but=2)
    path = f"{BATCHES}1/inspect/"
    assert client.get(path).url == f"{path}r002/"  # type: ignore[attr-defined]
    assert client.get(f"{path}?after=r002").url == f"{path}r003/"  # type: ignore[attr-defined]
    inspect_all(batch, lead)
    assert client.get(path).url == f"{BATCHES}1/"  # type: ignore[attr-defined]
    assert client.get(f"{path}r900/").status_code == 404


def test_batch_is_closed_once_by_its_page(client: Client, organiser: User) -> None:
    batch = make_batch(receipts(2), sample=2)
    told = client.post(f"{BATCHES}1/close/", follow=True).content.decode()
    assert "6 fields of the sample are not inspected yet." in told
    inspect_all(batch, organiser, {"total": 1})
    shown = client.get(f"{BATCHES}1/").content.decode()
    assert "Reject batch" in shown
    assert "50.0" in shown
    client.post(f"{BATCHES}1/close/")
    again = client.post(f"{BATCHES}1/close/", follow=True).content.decode()
    assert "Batch 1 is already rejected." in again
    assert "2 documents are held back" in again
    assert "inspection results are final" in client.get(INSPECT).content.decode()
    client.post(INSPECT, {"field": "total", "verdict": "right"})
    assert Inspection.objects.filter(is_right=False).count() == 1
    put_back = client.post(f"{BATCHES}1/put-back/", follow=True).content.decode()
    assert "2 documents returned." in put_back
    assert client.get(f"{BATCHES}1/close/").status_code == 405


def test_list_shows_batches_and_their_accuracy(client: Client, organiser: User) -> None:
    dataset = receipts(2)
    assert "No batches yet" in client.get(BATCHES).content.decode()
    for _ in range(2):
        batch = make_batch(dataset, sample=1, size=1)
        inspect_all(batch, organiser)
        close_batch(batch=batch, actor=organiser)
    shown = client.get(BATCHES).content.decode()
    assert "Accuracy by batch" in shown
    assert "<title>batch 1, accepted: 100.0% [43.9, 100.0], n = 3</title>" in shown
    Dataset.objects.create(slug="none", title="None")
    assert "No records yet" in client.get("/datasets/none/batches/").content.decode()


def test_faulty_documents_are_listed(client: Client) -> None:
    dataset = receipts(3)
    make_receipt(dataset, "r900", total="9.00")
    make_batch(dataset, sample=1)
    shown = client.get(f"{BATCHES}1/?show=faults").content.decode()
    assert "r900" in shown
    assert "r002" not in shown
    assert "the items in items add up to 3.00, but total is 9.00" in shown


@pytest.mark.parametrize(
    ("form", "media_type"),
    [("json", "application/json"), ("markdown", "text/markdown"), ("csv", "text/csv")],
)
def test_report_is_downloaded(
    client: Client, api: APIClient, organiser: User, form: str, media_type: str
) -> None:
    batch = make_batch(receipts(1), sample=1)
    inspect_all(batch, organiser)
    response = client.get(f"{BATCHES}1/report/?form={form}")
    assert response["Content-Type"] == f"{media_type}; charset=utf-8"
    assert "audit-receipts-batch-1." in response["Content-Disposition"]
    assert api.get(f"{API}1/report/?form={form}")["Content-Type"].startswith(media_type)
    assert client.get(f"{BATCHES}1/report/?form=pdf").status_code == 404


def test_everything_by_the_api(api: APIClient, organiser: User, lead: User) -> None:
    receipts(2)
    new = {"schema": SCHEMA, "seed": 7, "sample_size": 2, "threshold": 0.5}
    answer = api.post(API, new, format="json")
    assert answer.status_code == 201, answer.json()
    assert answer.json()["due"] == 6
    assert [row["name"] for row in api.get(f"{API}1/documents/").json()["results"]] == [
        "r001",
        "r002",
    ]
    path = f"{API}1/documents/r001/"
    said = {"name": "total", "is_right": False, "correct_value": "8.00", "base": ""}
    field = api.put(path, said, format="json").json()[1]
    assert (field["said"], field["value"], field["correct_value"]) == ("wrong", "3.00", "8.00")
    conflict = api.put(path, {**said, "is_right": True, "base": ""}, format="json")
    assert (conflict.status_code, conflict.json()["detail"][:4]) == (409, "Olga")
    assert api.post(f"{API}1/close/").status_code == 409
    clear = {"name": "total", "base": field["base"]}
    assert api.post(f"{path}clear/", clear, format="json").json()[1]["said"] == ""
    inspect_all(Batch.objects.get(), lead)
    report = api.post(f"{API}1/close/").json()
    assert (report["state"], report["overall"]["n"]) == ("accepted", 6)
    assert api.get(f"{API}1/report/").json() == report
    assert api.get(f"{API}1/").json()["state"] == "accepted"
    assert api.post(f"{API}1/put-back/").status_code == 409
    assert [row["number"] for row in api.get(API).json()["results"]] == [1]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"schema": [{"name": "a", "kind": "x"}]}, "schema"),
        ({"schema": "what"}, "schema"),
        ({"seed": -1}, "seed"),
        ({"threshold": 0}, "threshold"),
        ({"selection": "none such"}, "selection"),
        ({"language": "xx"}, "non_field_errors"),
    ],
)
def test_api_returns_errors_by_field(api: APIClient, changes: dict[str, Any], field: str) -> None:
    receipts(1)
    answer = api.post(API, {"schema": "receipts", "seed": 1, **changes}, format="json")
    assert answer.status_code == 400
    assert field in answer.json()


def test_images_of_a_drawn_document_are_shown(client: Client) -> None:
    batch = make_batch(receipts(1, image=True), sample=1)
    document = sampled_of(batch).document
    shown = client.get(INSPECT).content.decode()
    assert document.images.get().get_absolute_url() in shown
