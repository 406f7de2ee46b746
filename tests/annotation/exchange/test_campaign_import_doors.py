"""Importing labels by endpoint, page, command and job."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import override_settings

from annotation.models import Campaign, CampaignImport
from portal.accounts.models import User
from tests.annotation.factories import text_of, work_of
from tests.fixture_types import ApiOf, ClientOf, RunJobs

from .campaign_files import line, quotes, stages, task, zipped

pytestmark = pytest.mark.django_db
API = "/api/v1/campaigns/spring-round/import/"
PAGE = "/campaigns/spring-round/export/"


@pytest.fixture
def upload(lead: User, api_of: ApiOf, run_jobs: RunJobs) -> Callable[..., CampaignImport]:
    """Sends a file as Lea and lets the worker read it."""

    def send(content: bytes, name: str = "labels.jsonl", **fields: str) -> CampaignImport:
        body = {"form": "jsonl", "file": SimpleUploadedFile(name, content)} | fields
        response = api_of(lead).post(API, body, format="multipart")
        assert response.status_code == 202, response.content
        assert response.json()["state"] == "queued"
        run_jobs()
        return CampaignImport.objects.get(pk=response.json()["id"])

    return send


def test_a_job_reads_what_was_uploaded(
    campaign: Campaign,
    upload: Callable[..., CampaignImport],
    lead: User,
    api_of: ApiOf,
    settings: Any,
    django_capture_on_commit_callbacks: Callable[..., Any],
) -> None:
    fields = {"layer": "annotations", "annotator": "ann@example.org"}
    with django_capture_on_commit_callbacks(execute=True):
        done = upload(gzip.compress(line(campaign)), "labels.jsonl.gz", **fields)
    assert (done.state, done.documents, done.created_by) == ("done", 1, lead)
    assert done.upload.name == ""
    assert [path for path in Path(settings.MEDIA_ROOT).rglob("*") if path.is_file()] == []
    (row,) = api_of(lead).get(API).json()["results"]
    assert (row["annotator"], row["layer"], row["spans"]) == ("ann@example.org", "annotations", 1)


@pytest.mark.parametrize(
    ("content", "name", "form", "error"),
    [
        (b"PK", "labels.zip", "tags", "not a readable ZIP archive"),
        (zipped({"readme.txt": b""}), "labels.zip", "tags", "the archive contains no HTML files"),
        (b"{\n}", "labels.jsonl", "jsonl", "labels.jsonl: this is a JSON object on several lines"),
        (b"[{}]", "labels.jsonl", "jsonl", "labels.jsonl: this is a JSON array"),
        (b"[{}", "labels.json", "labelstudio", "labels.json: item 2: not JSON: a comma or"),
        (b"5", "labels.json", "labelstudio", "labels.json: item 1: not JSON: it must begin with"),
        (b"[] x", "labels.json", "labelstudio", "labels.json: item 1: not JSON: there is text"),
        (b"\xff", "labels.json", "labelstudio", "labels.json: item 1: not JSON: it is not UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read_fails_with_its_reason(
    campaign: Campaign,
    upload: Callable[..., CampaignImport],
    content: bytes,
    name: str,
    form: str,
    error: str,
) -> None:
    done = upload(content, name, form=form)
    assert done.state == "failed"
    assert done.error.startswith(error)
    assert stages(campaign) == ["annotation", "annotation"]


def test_the_endpoint_refuses(campaign: Campaign, lead: User, api_of: ApiOf) -> None:
    api = api_of(lead)

    def answer(**fields: Any) -> tuple[int, Any]:
        body = {"form": "jsonl", "file": SimpleUploadedFile("a.jsonl", b"{}")} | fields
        response = api.post(API, body, format="multipart")
        return response.status_code, response.json()

    assert answer(form="csv")[0] == 400
    assert answer(annotator="nobody@example.org")[0] == 400
    assert answer(form="labelstudio") == (
        409, {"code": "file", "message": "a.jsonl: Label Studio JSON must be a .json file."},
    )  # fmt: skip
    assert answer(form="full", file=SimpleUploadedFile("a.zip", b"PK"))[0] == 403
    with override_settings(UPLOAD_LIMIT=1):
        assert answer()[0] == 413


def test_the_page_takes_a_file_and_shows_the_result(
    campaign: Campaign, lead: User, client_of: ClientOf, run_jobs: RunJobs
) -> None:
    client = client_of(lead)
    file = SimpleUploadedFile("labels.jsonl", line(campaign) + b"{}\n")
    response = client.post(PAGE, {"file": file, "form": "jsonl", "layer": "gold"})
    assert response.status_code == 302
    part = client.get(PAGE, headers={"HX-Request": "true"}).content.decode()
    assert 'hx-trigger="every 1s"' in part
    assert "<h1" not in part
    run_jobs()
    page = client.get(PAGE).content.decode()
    assert 'hx-trigger="every 1s"' not in page
    assert "labels.jsonl:2: not imported: name: this field is missing, and text_sha256" in page
    assert "labels.jsonl: 1 document not imported, 2 messages" in page
    assert "Annotator</label>" in page


def test_every_door_takes_the_number_of_labels_to_leave_out(
    campaign: Campaign,
    upload: Callable[..., CampaignImport],
    lead: User,
    client_of: ClientOf,
    run_jobs: RunJobs,
    tmp_path: Path,
) -> None:
    unplaced = json.dumps([task(campaign, hypertextlabels=["NUM"])]).encode()
    assert upload(unplaced, "labels.json", form="labelstudio").documents == 0
    client = client_of(lead)
    form = {"form": "labelstudio", "layer": "annotations"}
    for annotator, number, documents in (("ann", "", 0), ("ann", "1", 1)):
        user = User.objects.get(email=f"{annotator}@example.org")
        file = SimpleUploadedFile("labels.json", unplaced)
        sent = form | {"file": file, "annotator": user.pk, "accept_unplaced": number}
        assert client.post(PAGE, sent).status_code == 302
        run_jobs()
        assert CampaignImport.objects.latest("id").documents == documents
    page = client.get(PAGE).content.decode()
    assert "1 label will be left out" in page
    assert "Labels to leave out" in page
    path = tmp_path / "labels.json"
    path.write_bytes(unplaced)
    arguments = ["--form", "labelstudio", "--layer", "annotations", "--annotator"]
    arguments += ["ben@example.org", "--accept-unplaced"]
    for number, documents in (("2", 0), ("1", 1)):
        call_command("import_campaign", "spring-round", str(path), *arguments, number)
        assert CampaignImport.objects.latest("id").documents == documents


def test_the_page_says_at_the_field_what_is_wrong(
    campaign: Campaign, lead: User, client_of: ClientOf
) -> None:
    client = client_of(lead)
    file = SimpleUploadedFile("labels.txt", b"")
    wrong = {"file": SimpleUploadedFile("labels.txt", b"x"), "form": "jsonl", "layer": "gold"}
    response = client.post(PAGE, wrong)
    assert response.context["form"].errors["file"] == [
        "labels.txt: JSON Lines with offsets must be a .jsonl or .jsonl.gz file."
    ]
    file = SimpleUploadedFile("a.jsonl", b"{}")
    response = client.post(PAGE, {"file": file, "form": "jsonl", "layer": "annotations"})
    assert "annotator" in response.context["form"].errors
    with override_settings(UPLOAD_LIMIT=1):
        file = SimpleUploadedFile("a.jsonl", b"{}")
        response = client.post(PAGE, {"file": file, "form": "jsonl", "layer": "gold"})
        assert response.status_code == 413


def test_the_command_brings_in_and_reports(
    campaign: Campaign, tmp_path: Any, capsys: Any, ann: User
) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_bytes(line(campaign) + b"{}\n")
    arguments = ["--form", "jsonl", "--layer", "annotations", "--annotator", "ANN@example.org"]
    call_command("import_campaign", "spring-round", str(path), *arguments)
    assert capsys.readouterr().out.splitlines() == [
        "spring-round: 1 documents, 1 spans, 0 of them moved, 1 documents not imported, 2 messages",
        "Some documents were not imported. Correct the errors below, and import the file again.",
        "labels.jsonl:2: not imported: name: this field is missing, and text_sha256 as well",
    ]
    assert text_of(work_of(ann, campaign))[16:21] == quotes(ann, campaign)[0]
    for wrong, message in (
        (["autumn", str(path), "--form", "jsonl"], "there is no campaign autumn"),
        (["spring-round", "x.jsonl", "--form", "jsonl"], "x.jsonl: no such file"),
        (
            ["spring-round", str(path), "--form", "jsonl", "--annotator", "x@y.z"],
            "there is no account with the email address x@y.z",
        ),
        (["spring-round", str(path), "--form", "tags"], "labels.jsonl: HTML with inline tags"),
        (
            ["spring-round", str(path), "--form", "jsonl", "--person", "x"],
            "--person x: must be PSEUDONYM=EMAIL",
        ),
    ):
        with pytest.raises(CommandError, match=message):
            call_command("import_campaign", *wrong)
