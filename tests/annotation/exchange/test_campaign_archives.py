"""Archives of whole campaigns: permissions, people, and refused archives."""

import io
import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import override_settings

from annotation.errors import Refused
from annotation.exchange.selectors import pseudonym
from annotation.exchange.services import read_import
from annotation.models import Assignment, Campaign, CampaignDocument, CampaignImport, Membership
from portal.accounts.models import User
from portal.datasets.models import Document
from portal.files.archives import ArchiveFault
from tests.conftest import make_user
from tests.fixture_types import ApiOf, RunJobs
from tests.worlds import shared

from .campaign_files import (
    brought_in,
    empty_campaign,
    exported,
    finished_campaign,
    lines,
    stages,
    unzipped,
    zipped,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
@shared
def finished(ann: User, ben: User, lead: User, reviewer: User) -> Campaign:
    return finished_campaign(ann, ben, lead, reviewer)


def changed(data: bytes, name: str, number: int, **fields: Any) -> bytes:
    """The archive with changed fields in one line of a file, or in its head."""
    files = unzipped(data)
    if name == "campaign.json":
        files[name] = json.dumps(json.loads(files[name]) | fields).encode()
        return zipped(files)
    rows = lines(files[name])
    rows[number - 1] |= fields
    files[name] = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    return zipped(files)


def test_an_organiser_brings_it_in_by_upload(
    finished: Campaign, organiser: User, lead: User, api_of: ApiOf, run_jobs: RunJobs
) -> None:
    other = empty_campaign(finished)
    Membership.objects.create(campaign=other, user=lead, role="lead")
    address = f"/api/v1/campaigns/{other.slug}/import/"
    body = {"form": "full", "file": SimpleUploadedFile("c.zip", exported(finished, "full"))}
    assert api_of(lead).post(address, body, format="multipart").status_code == 403
    body["file"] = SimpleUploadedFile("c.zip", exported(finished, "full"))
    assert api_of(organiser).post(address, body, format="multipart").status_code == 202
    run_jobs()
    done = CampaignImport.objects.get()
    assert (done.state, done.error, done.layer, done.annotator) == ("done", "", "", None)
    assert stages(other) == stages(finished)
    # The lead already had the role: there is only one membership.
    assert Membership.objects.filter(campaign=other, user=lead).count() == 1


def test_a_failed_job_leaves_nothing_behind(
    finished: Campaign, organiser: User, api_of: ApiOf, run_jobs: RunJobs
) -> None:
    other = empty_campaign(finished)
    broken = changed(exported(finished, "full"), "gold_spans.jsonl", 1, quote="9,999")
    body = {"form": "full", "file": SimpleUploadedFile("c.zip", broken)}
    api_of(organiser).post(f"/api/v1/campaigns/{other.slug}/import/", body, format="multipart")
    run_jobs()
    done = CampaignImport.objects.get()
    assert (done.state, done.documents) == ("failed", 0)
    assert done.error == "gold_spans.jsonl:1: quote: differs from the text of the document"
    assert stages(other) == []
    other.refresh_from_db()
    assert (other.state, other.guidelines) == ("draft", "None yet.")


def test_a_campaign_that_has_begun_takes_no_other(finished: Campaign) -> None:
    with pytest.raises(Refused, match="only into a draft"):
        brought_in(finished, exported(finished, "full"), "full")
    other = empty_campaign(finished)
    CampaignDocument.objects.create(campaign=other, document=Document.objects.all()[0])
    with pytest.raises(Refused, match="already has documents"):
        brought_in(other, exported(finished, "full"), "full")


def test_people_of_another_site_are_found_by_email_or_mapping(
    finished: Campaign, ann: User
) -> None:
    plain, named = exported(finished, "full"), exported(finished, "full", emails=True)
    person = pseudonym(ann.pk)
    other = empty_campaign(finished)
    with override_settings(SECRET_KEY="another site"):
        with pytest.raises(Refused) as refusal:
            brought_in(other, plain, "full")
        assert refusal.value.code == "people"
        assert f"{person} (Ann)" in refusal.value.message
        assert stages(other) == []
        brought_in(other, named, "full")
    assert stages(other) == ["gold", "gold"]
    third = empty_campaign(finished)
    new = make_user("Nora")
    brought_in(third, plain, "full", people={person: new.email})
    work = Assignment.objects.filter(campaign_document__campaign=third)
    assert {each.annotator.name for each in work} == {"Nora", "Ben"}


def test_documents_are_known_by_their_text(finished: Campaign) -> None:
    Document.objects.filter(name="page-001").update(name="first")
    archive = exported(finished, "full")
    Document.objects.filter(name="first").update(name="page-001")
    other = empty_campaign(finished)
    done = brought_in(other, archive, "full")
    assert (done.documents, done.rejected, done.faults) == (
        2, 0, ["documents.jsonl:1: first became page-001, which has the same text"],
    )  # fmt: skip


def test_missing_documents_are_reported_and_left_out(finished: Campaign) -> None:
    archive = changed(exported(finished, "full"), "documents.jsonl", 2, text_sha256="ab" * 32)
    other = empty_campaign(finished)
    done = brought_in(other, archive, "full")
    assert (done.documents, stages(other)) == (1, ["gold"])
    assert done.faults == [
        "documents.jsonl:2: not imported: the dataset has no document page-002 (text abababababab…)"
    ]
    assert done.rejected == 1
    rows = unzipped(exported(other, "full"))
    assert len(lines(rows["assignments.jsonl"])) == 2
    assert {row["campaign_document"] for row in lines(rows["cases.jsonl"])} == {1}


def test_withheld_work_starts_again(disputed: Campaign) -> None:
    other = empty_campaign(disputed)
    done = brought_in(other, exported(disputed, "full"), "full")
    assert stages(other) == ["adjudication", "annotation"]
    assert done.faults[0].startswith("1 documents have no labels in the archive")
    work = Assignment.objects.filter(
        campaign_document__campaign=other, campaign_document__stage="annotation"
    )
    assert {each.state for each in work} == {"assigned"}


@pytest.mark.parametrize(
    ("file", "fields", "message"),
    [
        ("campaign.json", {"format": "x"}, "campaign.json: format: must be 'factboard-camp"),
        ("campaign.json", {"version": 2}, "campaign.json: version: must be 1, not 2"),
        ("campaign.json", {"settings": {}}, "campaign.json: settings: labels: this field is mis"),
        (
            "spans.jsonl",
            {"x": 1},
            "spans.jsonl:1: x: unknown field; known are assignment, key, label",
        ),
        ("cases.jsonl", {"id": 7}, "cases.jsonl:1: id: must be 1, the line number"),
        ("cases.jsonl", {"proposals": [{}]}, "cases.jsonl:1: proposals[0].assignment: this field"),
        ("cases.jsonl", {"decision": [5]}, "cases.jsonl:1: decision[0]: must be an object"),
        ("first_submissions.jsonl", {"spans": [[1, 2]]}, "first_submissions.jsonl:1: spans[0]: mu"),
        ("review_rounds.jsonl", {"population": {"a": 1}}, "review_rounds.jsonl:1: population.a: m"),
        ("spans.jsonl", {"assignment": "1"}, "spans.jsonl:1: assignment: must be a whole number"),
        ("people.jsonl", {"person": 1}, "people.jsonl:1.person: must be a string"),
    ],
)
def test_an_archive_of_another_form_is_refused(
    finished: Campaign, file: str, fields: dict[str, Any], message: str
) -> None:
    broken = changed(exported(finished, "full"), file, 1, **fields)
    with pytest.raises(ArchiveFault) as fault:
        read_import(CampaignImport(form="full"), io.BytesIO(broken), progress=lambda _done: None)
    assert str(fault.value).startswith(message)


@pytest.mark.parametrize(
    ("file", "fields", "message"),
    [
        (
            "spans.jsonl",
            {"assignment": 99},
            "spans.jsonl:1: assignment: there is no row 99 in assign",
        ),
        ("spans.jsonl", {"assignment": None}, "spans.jsonl:1: assignment: must not be empty"),
        ("spans.jsonl", {"start": "16"}, "spans.jsonl:1: start: must be a whole number"),
        ("spans.jsonl", {"start": -1}, "spans.jsonl:1: start: Ensure this value is greater"),
        ("spans.jsonl", {"quote": "1,201"}, "spans.jsonl:1: quote: differs from the text"),
        ("spans.jsonl", {"label": "Money"}, "spans.jsonl:1: span 0 (characters 16–20) has"),
        ("spans.jsonl", {"edited": 1}, "spans.jsonl:1: edited: must be true or false"),
        ("members.jsonl", {"role": "boss"}, "members.jsonl:1: role: Value 'boss' is not a valid"),
        ("members.jsonl", {"user": "p_x"}, "members.jsonl:1: user: p_x is not in people.jsonl"),
        ("comments.jsonl", {"author": None}, "comments.jsonl:1: author: must not be empty"),
        ("comments.jsonl", {"created_at": "now"}, "comments.jsonl:1: created_at: “now” value has"),
        (
            "assignments.jsonl",
            {"submitted_at": None},
            "The archive is inconsistent: ",
        ),
        (
            "cases.jsonl",
            {"proposals": [{"assignment": 99, "spans": []}]},
            "assignment: there is no assignment 99",
        ),
    ],
)
def test_rows_that_cannot_be_are_named_and_nothing_is_written(
    finished: Campaign, file: str, fields: dict[str, Any], message: str
) -> None:
    other = empty_campaign(finished)
    with pytest.raises(Refused) as refusal:
        brought_in(other, changed(exported(finished, "full"), file, 1, **fields), "full")
    assert refusal.value.message.startswith(message)
    assert stages(other) == []


def test_settings_are_checked(finished: Campaign) -> None:
    archive = exported(finished, "full")
    settings = json.loads(unzipped(archive)["campaign.json"])["settings"]
    for change, message in (
        ({"labels": ["Table"]}, "campaign.json: settings.labels: label 'Table' is the name"),
        ({"labels": "Number"}, "campaign.json: settings.labels: must be a list of strings"),
        ({"state": "x"}, "campaign.json: settings.state: Value 'x' is not a valid choice."),
        ({"overlap": 2.5}, "campaign.json: settings.overlap: must be a whole number"),
    ):
        broken = changed(archive, "campaign.json", 0, settings=settings | change)
        with pytest.raises(Refused) as refusal:
            brought_in(empty_campaign(finished), broken, "full")
        assert refusal.value.message.startswith(message)


def test_a_file_that_is_missing_is_named(finished: Campaign) -> None:
    files = unzipped(exported(finished, "full"))
    del files["spans.jsonl"]
    with pytest.raises(
        ArchiveFault, match=r"spans.jsonl: is missing: the archive is not a whole campaign"
    ):
        brought_in(empty_campaign(finished), zipped(files), "full")


def test_commands_copy_a_campaign(
    finished: Campaign, tmp_path: Any, capsys: Any, ann: User
) -> None:
    path, other = tmp_path / "c.zip", empty_campaign(finished)
    call_command("export_campaign", finished.slug, "--form", "full", "--output", str(path))
    arguments = [other.slug, str(path), "--form", "full"]
    with (
        override_settings(SECRET_KEY="another site"),
        pytest.raises(CommandError, match="import failed: No account found for p_"),
    ):
        call_command("import_campaign", *arguments)
    assert CampaignImport.objects.get().state == "failed"
    call_command("import_campaign", *arguments, "--person", f"{pseudonym(ann.pk)}={ann.email}")
    assert f"{other.slug}: 2 documents," in capsys.readouterr().out
    assert stages(other) == ["gold", "gold"]
