"""Data exports contain all data of a user, and no data of others."""

import io
import json
import zipfile
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.utils import timezone

from annotation.models import Membership
from portal.accounts.access import issue_token
from portal.accounts.account_data import (
    ExportRefused,
    end_sessions,
    request_export,
    store_export,
    write_export,
)
from portal.accounts.models import AccountExport, User
from portal.datasets.models import Dispute, ReleaseItem
from portal.jobs.models import Job
from portal.jobs.worker import run_due_jobs
from scoring.grading.notices import add_webhook
from scoring.models import Delivery
from tests.accounts.invitations.emails import invite
from tests.accounts.teams.people import team_of
from tests.annotation.factories import comment, make_campaign, save, submit, work_of
from tests.conftest import PASSWORD
from tests.fixture_types import ApiOf, ClientOf
from tests.scoring.factories import make_board, make_submission
from tests.worlds import shared

pytestmark = pytest.mark.django_db


def opened(user: User) -> dict[str, Any]:
    """The files of an export: rows of JSON Lines, other files as bytes."""
    file = io.BytesIO()
    write_export(user, file)
    with zipfile.ZipFile(file) as archive:
        return {
            name: [json.loads(line) for line in archive.read(name).splitlines()]
            if name.endswith(".jsonl") and "/" not in name
            else archive.read(name)
            for name in archive.namelist()
        }


@pytest.fixture
@shared
def busy(ann: User, ben: User, cleo: User, organiser: User) -> User:
    """Ann, with data of every kind, as Ben has."""
    campaign = make_campaign([ann, ben], lead=cleo)
    for user in (ann, ben):
        comment(work_of(user, campaign), f"note of {user.name}")
        save(work_of(user, campaign), ("Number", "1,200"))
        submission = make_submission(make_board(slug=user.name.lower()), user, name=f"M {user}")
        Dispute.objects.create(
            item=ReleaseItem.objects.filter(release=submission.phase.release)[0],
            claim=f"claim of {user.name}",
            reason="r",
            raised_by=user,
        )
        team_of(user, name=f"team of {user.name}")
        issue_token(user=user, name=f"token of {user.name}")
        invite(user.email, organiser)
    invite("guest@example.org", ann)
    return ann


def test_export_holds_what_is_the_persons_own(busy: User) -> None:
    found = opened(busy)
    assert found["profile.jsonl"][0]["email"] == "ann@example.org"
    assert [row["name"] for row in found["tokens.jsonl"]] == ["token of Ann"]
    assert [row["team"] for row in found["teams.jsonl"]] == ["team of Ann"]
    assert [row["kind"] for row in found["invitations.jsonl"]] == ["received", "sent"]
    assert [(row["campaign"], row["role"]) for row in found["campaigns.jsonl"]] == [
        ("spring-round", "annotator")
    ]
    [work] = found["annotations.jsonl"]
    assert [(label["label"], label["text"]) for label in work["labels"]] == [("Number", "1,200")]
    assert [row["save"] for row in found["saves.jsonl"]] == [1]
    assert [row["text"] for row in found["comments.jsonl"]] == ["note of Ann"]
    assert [row["claim"] for row in found["disputes.jsonl"]] == ["claim of Ann"]
    [submission] = found["submissions.jsonl"]
    assert (submission["board"], submission["card"]["name"]) == ("ann", "M Ann")
    assert (submission["team"], submission["version"]) == (None, 1)
    [attempt] = found["attempts.jsonl"]
    assert (attempt["submission"], attempt["state"]) == (submission["number"], "charged")
    [upload] = [name for name in found if name.startswith("uploads/")]
    assert upload == f"uploads/submission-{submission['number']}.jsonl"
    assert found[upload].startswith(b'{"id"')
    acts = {row["act"] for row in found["events.jsonl"]}
    assert {"make_team", "issue_token", "submit"} <= acts


def test_export_tells_of_nobody_else(busy: User) -> None:
    file = io.BytesIO()
    write_export(busy, file)
    with zipfile.ZipFile(file) as archive:
        everything = b"".join(archive.read(name) for name in archive.namelist()).decode()
    for word in ("Ben", "ben@", "Cleo", "cleo@", "Olga", "olga@", "guest@example.org"):
        assert word not in everything, word


def test_export_tells_of_webhooks_without_their_secrets(ann: User, ben: User) -> None:
    mine = add_webhook(user=ann, url="https://93.184.216.34/graded")
    add_webhook(user=ben, url="https://93.184.216.34/of-ben")
    submission = make_submission(make_board(), ann)
    Delivery.objects.create(webhook=mine, submission=submission, body="{}", status=200)
    found = opened(ann)
    [hook] = found["webhooks.jsonl"]
    assert (hook["address"], hook["active"]) == (mine.url, True)
    [message] = found["webhook_messages.jsonl"]
    assert (message["address"], message["submission"]) == (mine.url, submission.pk)
    assert mine.secret not in str(found)


def test_export_names_the_team_of_a_submission(ann: User, ben: User) -> None:
    team = team_of(ben, ann)
    make_submission(make_board(), ann, team=team)
    make_submission(make_board(slug="second"), ben, team=team, name="Of Ben")
    found = opened(ann)
    assert [row["team"] for row in found["submissions.jsonl"]] == ["Fact finders"]
    assert [row["team"] for row in found["attempts.jsonl"]] == ["Fact finders"]


def test_export_has_no_secret(busy: User) -> None:
    busy.set_password(PASSWORD)
    busy.save()
    _, secret = issue_token(user=busy, name="x")
    text = str(opened(busy))
    token = busy.api_tokens.first()
    assert token is not None
    for hidden in (secret, token.digest, busy.password):
        assert hidden not in text


def test_labels_of_pages_that_are_closed_to_the_person_are_left_out(busy: User) -> None:
    Membership.objects.filter(user=busy).delete()
    [work] = opened(busy)["annotations.jsonl"]
    assert work["document"] == "page-001"
    assert work["labels"] is None
    assert "1,200" not in str(opened(busy)["annotations.jsonl"])


def test_list_of_contents_names_every_file(busy: User) -> None:
    found = opened(busy)
    contents = found.pop("README.txt").decode()
    assert [name for name in found if f"\n{name}: " not in contents] == []


def test_work_of_a_reviewer_and_lead_is_in_it(ann: User, ben: User, cleo: User) -> None:
    from annotation.adjudication.services import decide_case
    from annotation.models import Case, Screening

    campaign = make_campaign([ann, ben], lead=cleo)
    submit(work_of(ann, campaign), ("Number", "1,200"))
    submit(work_of(ben, campaign))
    case = Case.objects.get()
    decide_case(case=case, choice="neither", reason="No fact.", actor=cleo)
    Screening.objects.create(
        campaign_document=case.campaign_document, verdict="intact", screened_by=cleo
    )
    rows = opened(cleo)["quality_work.jsonl"]
    assert [(row["kind"], row["verdict"], row["reason"]) for row in rows] == [
        ("screening", "intact", ""), ("adjudication", "neither", "No fact.")
    ]  # fmt: skip
    assert "1,200" not in str(rows)
    assert opened(ann)["quality_work.jsonl"] == []


# --- the job and its file -----------------------------------------------------------------------


def test_a_job_makes_the_file_and_its_owner_alone_loads_it(
    client_of: ClientOf, ann: User, ben: User, organiser: User
) -> None:
    client = client_of(ann)
    page = client.post("/account/exports/new/", follow=True).content.decode()
    assert "in progress" in page
    assert 'hx-trigger="every 2s"' in page
    run_due_jobs()
    export = AccountExport.objects.get()
    assert export.state == "ready"
    page = client.get("/account/exports/").content.decode()
    assert "every 2s" not in page
    path = f"/account/exports/{export.pk}/"
    assert path in page
    response = client.get(path)
    data = response.getvalue()
    assert len(data) == export.size
    assert "no-store" in response["Cache-Control"]
    assert response["Content-Disposition"].startswith("attachment")
    assert "profile.jsonl" in zipfile.ZipFile(io.BytesIO(data)).namelist()
    for other in (ben, organiser):
        assert client_of(other).get(path).status_code == 404
        assert path not in client_of(other).get("/account/exports/").content.decode()
    assert client_of(None).get(path).status_code == 302


def test_only_the_list_is_sent_while_waiting(client_of: ClientOf, ann: User) -> None:
    request_export(user=ann)
    part = client_of(ann).get("/account/exports/", headers={"hx-request": "true"})
    text = part.content.decode().strip()
    assert text.startswith("<section")
    assert "<html" not in text


def test_a_second_click_finds_the_file_under_way(ann: User) -> None:
    assert request_export(user=ann) == request_export(user=ann)
    assert Job.objects.filter(kind="export_account").count() == 1


def test_files_a_day_are_limited(client_of: ClientOf, ann: User, monkeypatch: Any) -> None:
    monkeypatch.setattr("portal.accounts.account_data.EXPORTS_PER_DAY", 1)
    request_export(user=ann)
    run_due_jobs()
    with pytest.raises(ExportRefused):
        request_export(user=ann)
    page = client_of(ann).post("/account/exports/new/", follow=True).content.decode()
    assert "You can request 1 exports a day" in page
    AccountExport.objects.update(created_at=timezone.now() - timedelta(days=1, seconds=1))
    request_export(user=ann)


def test_a_second_run_after_a_crash_leaves_one_file(ann: User) -> None:
    export = request_export(user=ann)
    store_export(export)
    store_export(export)
    assert default_storage.listdir("account-exports")[1] == [export.path.split("/")[1]]


def test_the_file_is_deleted_after_some_days(client_of: ClientOf, ann: User) -> None:
    request_export(user=ann)
    run_due_jobs()
    export = AccountExport.objects.get()
    assert export.expires_at is not None
    drop = Job.objects.get(kind="drop_account_export")
    assert drop.not_before == export.expires_at
    Job.objects.filter(pk=drop.pk).update(not_before=timezone.now())
    run_due_jobs()
    assert not AccountExport.objects.exists()
    assert not default_storage.exists(export.path)
    assert client_of(ann).get(f"/account/exports/{export.pk}/").status_code == 404


def test_a_failed_export_is_shown(client_of: ClientOf, ann: User, monkeypatch: Any) -> None:
    def broken(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("portal.accounts.account_data.write_export", broken)
    request_export(user=ann)
    Job.objects.update(max_attempts=1)
    run_due_jobs()
    assert "failed" in client_of(ann).get("/account/exports/").content.decode()


def test_export_by_the_api(api_of: ApiOf, ann: User, ben: User) -> None:
    client = api_of(ann)
    asked = client.post("/api/v1/account/exports/")
    assert (asked.status_code, asked.json()["state"]) == (202, "waiting")
    path = f"/api/v1/account/exports/{asked.json()['id']}/download/"
    assert client.get(path).status_code == 404
    run_due_jobs()
    [listed] = client.get("/api/v1/account/exports/").json()
    assert listed["state"] == "ready"
    assert len(client.get(path).getvalue()) == listed["size"]
    assert api_of(ben).get(path).status_code == 404
    assert api_of(None).get(path).status_code == 401


# --- sessions -----------------------------------------------------------------------------------


def test_logging_out_everywhere_else(client_of: ClientOf, ann: User, ben: User) -> None:
    here, there, other = client_of(ann), client_of(ann), client_of(ben)
    page = here.post("/account/sessions/end/", follow=True).content.decode()
    assert "Logged out of 1 other session." in page
    assert there.get("/account/")["Location"].startswith("/accounts/login/")
    assert here.get("/account/").status_code == 200
    assert other.get("/account/").status_code == 200
    again = here.post("/account/sessions/end/", follow=True).content.decode()
    assert "There are no other sessions." in again
    assert end_sessions(ann) == 1
    assert here.get("/account/").status_code == 302
