"""How a submission was made: on its page, in the API, on the leaderboard, in the export."""

import json
from typing import Any

import pytest
from rest_framework.test import APIClient

from portal.accounts.models import User
from portal.jobs.worker import run_due_jobs
from scoring.account_data import SubmissionData
from scoring.models import Board, Submission
from scoring.submissions.manifests import public_command
from scoring.submissions.services import publish_submission, withdraw_submission
from tests.fixture_types import ApiOf, ClientOf
from tests.scoring.factories import FLAWED, lines_of, make_submission, upload

from .manifest_files import PROMPT, manifest_file, manifest_of

pytestmark = pytest.mark.django_db
CONTENT = lines_of(FLAWED)
PRIVATE = "gpu-7.internal"
LEADERBOARD = "/api/v1/boards/board/leaderboard/"


@pytest.fixture
def made(board: Board, researcher: User, api_of: ApiOf) -> Submission:
    """The researcher's, with a manifest; graded and public."""
    items = [
        {"id": "page-1", "state": "answered", "reason": "cut off at max_tokens"},
        {"id": "page-2", "state": "refused", "reason": "no access to gpu-7.internal"},
        {"id": "page-3", "state": "failed"},
    ]
    manifest = manifest_of(CONTENT, items=items, model="<b>reader</b>")
    sent = {"file": upload(CONTENT), "manifest": manifest_file(manifest)}
    answer = api_of(researcher).post("/api/v1/boards/board/submissions/", sent, format="multipart")
    assert answer.status_code == 201, answer.json()
    run_due_jobs()
    submission = Submission.objects.get()
    publish_submission(submission=submission, actor=None)
    return submission


def run_in_api(api: APIClient, submission: Submission) -> Any:
    return api.get(f"/api/v1/submissions/{submission.pk}/").json()["run"]


def test_everyone_reads_how_a_public_submission_was_made(
    made: Submission, client_of: ClientOf
) -> None:
    page = client_of(None).get(made.get_absolute_url()).content.decode()
    assert "How it was made" in page
    assert PROMPT in page
    assert "1 of 3 answered" in page
    assert "(1 refused, 1 failed)" in page
    assert "1.00 median, 1.50 95th percentile" in page
    assert "2 × code block" in page
    assert "temperature=0" in page
    assert 'data-copy="reproduce-command"' in page
    assert "&lt;b&gt;reader&lt;/b&gt;" in page
    assert "<b>reader</b>" not in page


def test_the_host_is_for_keepers(
    made: Submission, researcher: User, organiser: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    for user, sees in ((None, False), (researcher, True), (organiser, True)):
        page = client_of(user).get(made.get_absolute_url()).content.decode()
        run = run_in_api(api_of(user), made)
        assert (PRIVATE in page) is sees
        assert (PRIVATE in json.dumps(run)) is sees
        assert run["host"] == ("gpu-7.internal:8000" if sees else None)


def test_the_hash_of_the_release_is_for_keepers(
    made: Submission, researcher: User, api_of: ApiOf
) -> None:
    made.manifest.about["release_sha256"] = "a" * 64
    made.manifest.save()
    assert run_in_api(api_of(None), made)["release_sha256"] == ""
    assert run_in_api(api_of(researcher), made)["release_sha256"] == "a" * 64


def test_the_api_has_the_same(made: Submission, api_of: ApiOf) -> None:
    run = run_in_api(api_of(None), made)
    assert run["command"] == ("factboard run board --model reader-7b --base-url BASE_URL")
    assert (run["items"], run["answered"], run["refused"], run["failed"]) == (3, 1, 1, 1)
    assert run["prompts"][0]["text"] == PROMPT
    assert run["decoding"] == {"max_tokens": 2048, "stream": False, "temperature": 0}
    assert (run["latency_median"], run["latency_p95"], run["cost"]) == (1.0, 1.5, 0.0123)


def test_answers_that_were_cut_off_are_counted_and_named_for_keepers(
    made: Submission, researcher: User, api_of: ApiOf, client_of: ClientOf
) -> None:
    for user, ids in ((None, []), (researcher, ["page-1"])):
        run = run_in_api(api_of(user), made)
        assert (run["items"], run["cut_off"], run["cut_off_ids"]) == (3, 1, ids)
        page = client_of(user).get(made.get_absolute_url()).content.decode()
        assert "<dt>Cut off at max_tokens</dt><dd>1 answer" in page
        assert ("page-1" in page.partition("Cut off at max_tokens")[2][:100]) == bool(ids)


def test_a_cost_of_unknown_tokens_is_a_bound(made: Submission, client_of: ClientOf) -> None:
    page = client_of(None).get(made.get_absolute_url()).content.decode()
    assert "<dd>0.0123 US dollars</dd>" in page
    made.manifest.about["tokens"]["uncertain"] = 2
    made.manifest.save()
    page = client_of(None).get(made.get_absolute_url()).content.decode()
    assert "<dd>At most 0.0123 US dollars</dd>" in page


def test_other_submissions_have_no_run(
    graded: Submission, researcher: User, api_of: ApiOf, client_of: ClientOf
) -> None:
    assert run_in_api(api_of(researcher), graded) is None
    page = client_of(researcher).get(graded.get_absolute_url()).content.decode()
    assert "How it was made" not in page


def test_the_leaderboard_marks_the_row(
    made: Submission, board: Board, researcher: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    other = make_submission(board, researcher, name="By hand")
    run_due_jobs()
    publish_submission(submission=other, actor=None)
    for view in ("", "?view=scores"):
        page = client_of(None).get(f"/boards/board/{view}").content.decode()
        assert page.count("Run with factboard") == 1
    [section, *_] = api_of(None).get(LEADERBOARD).json()["sections"]
    marks = {row["name"]: row["has_manifest"] for row in section["rows"]}
    assert marks == {"<b>reader</b>": True, "By hand": False}


def test_keepers_download_the_manifest(
    made: Submission,
    researcher: User,
    organiser: User,
    ann: User,
    client_of: ClientOf,
    api_of: ApiOf,
) -> None:
    page, api = f"/submissions/{made.pk}/manifest.json", f"/api/v1/submissions/{made.pk}/manifest/"
    for user in (researcher, organiser):
        shown = client_of(user).get(page)
        assert shown["Content-Disposition"].startswith("attachment")
        assert shown.json()["items"][1]["reason"] == "no access to gpu-7.internal"
        assert api_of(user).get(api).json() == shown.json()
    assert client_of(ann).get(page).status_code == 403
    assert api_of(ann).get(api).status_code == 403
    assert client_of(None).get(page).status_code == 302


def test_a_submission_without_a_manifest_has_none_to_download(
    graded: Submission, researcher: User, client_of: ClientOf
) -> None:
    answer = client_of(researcher).get(f"/submissions/{graded.pk}/manifest.json")
    assert answer.status_code == 404


def test_a_withdrawn_submission_keeps_it_for_its_keepers(
    made: Submission, researcher: User, client_of: ClientOf
) -> None:
    withdraw_submission(submission=made, actor=None)
    assert client_of(None).get(made.get_absolute_url()).status_code == 404
    assert "How it was made" in client_of(researcher).get(made.get_absolute_url()).content.decode()


def test_the_export_of_own_data_has_it(made: Submission, researcher: User) -> None:
    files = {}
    for each in SubmissionData().uploads(researcher):
        with each.file:
            files[each.name] = each.file.read()
    manifest = json.loads(files[f"uploads/submission-{made.pk}-manifest.json"])
    assert len(manifest["items"]) == 3
    assert len(files) == 2


@pytest.mark.parametrize(
    ("command", "host", "shown"),
    [
        ("factboard run b --base-url='http://a b'", "", "factboard run b --base-url=BASE_URL"),
        ("run --base-url lan:8000 --model m", "", "run --base-url BASE_URL --model m"),
        ("run --to HTTP://GPU:1/x", "", "run --to URL"),
        ("run --note gpu.lan", "GPU.lan:80", "run --note HOST"),
        ("run --prompt-file ~/me/p.md", "", "run --prompt-file p.md"),
        ("run --command '/opt/x/ocr /data/{image}'", "", "run --command 'ocr {image}'"),
        ("run --file=/home/me/p", "", "run --file=p"),
        ('run "open', "", "run '\"open'"),
        ("run --decoding temperature=0 b/c", "", "run --decoding temperature=0 b/c"),
        ("", "", ""),
    ],
)
def test_a_public_command_names_no_places(command: str, host: str, shown: str) -> None:
    assert public_command(command, host) == shown
