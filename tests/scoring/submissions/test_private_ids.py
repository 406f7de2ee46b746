"""Ids that are not public: counted, and named only if the submitter sent them."""

import json
from dataclasses import replace
from typing import Any

import pytest
from django.core import mail
from django.utils import timezone

from portal.accounts.models import User
from portal.datasets.models import Dataset, Release
from portal.jobs.models import Job
from portal.jobs.worker import run_due_jobs
from scoring.benchmarks import BENCHMARKS
from scoring.models import Board, Phase, Submission
from tests.datasets.releases.worlds import shown_text
from tests.fixture_types import ApiOf, ClientOf
from tests.scoring.factories import (
    PERFECT,
    first_phase,
    latest_grading,
    lines_of,
    make_board,
    make_release,
    make_submission,
    upload,
)

pytestmark = pytest.mark.django_db

SENT = {"page-2": PERFECT["page-2"]}
SECRET_IDS = ("page-1", "page-3")


@pytest.fixture(params=["release", "dataset"])
def board(request: Any) -> Board:
    """Its ids are private, since the release is or the dataset is."""
    visibility = Release.Visibility.PRIVATE
    if request.param == "release":
        return make_board(make_release(visibility=visibility))
    release = make_release(visibility=Release.Visibility.GOLD_HIDDEN)
    Dataset.objects.update(visibility=Dataset.Visibility.PRIVATE)
    release.refresh_from_db()
    return make_board(release)


def ids_in(response: Any) -> list[str]:
    text = shown_text(response.content)
    return [name for name in SECRET_IDS if name in text]


@pytest.mark.parametrize("what", ["check", "submissions"])
@pytest.mark.parametrize(
    "sent", [SENT, {"nowhere": "<p>1</p>"}, SENT | {"nowhere": ""}], ids=["some", "none", "mixed"]
)
def test_the_api_counts_missing_ids_and_names_none(
    what: str, sent: dict[str, str], board: Board, researcher: User, api_of: ApiOf
) -> None:
    data: dict[str, Any] = {"file": upload(lines_of(sent))}
    data |= {} if what == "check" else {"name": "Reader"}
    answer = api_of(researcher).post(f"/api/v1/boards/board/{what}/", data, format="multipart")
    assert (answer.json()["missing"], ids_in(answer)) == ([], [])
    assert answer.json()["missing_count"] == 3 - ("page-2" in sent)


def test_what_the_submitter_sent_is_named(board: Board, researcher: User, api_of: ApiOf) -> None:
    data = {"file": upload(lines_of({"nowhere": ""}))}
    answer = api_of(researcher).post("/api/v1/boards/board/check/", data, format="multipart")
    assert answer.json()["faults"][0]["id"] == "nowhere"


@pytest.mark.parametrize("extra", [{}, {"check_only": "1"}], ids=["submit", "check"])
def test_the_page_counts_missing_ids_and_names_none(
    extra: dict[str, str], board: Board, researcher: User, client_of: ClientOf
) -> None:
    data: dict[str, Any] = {"name": "Reader", "category": "other", "form_key": "k", **extra}
    data |= {"phase": first_phase(board).pk, "file": upload(lines_of(SENT))}
    answer = client_of(researcher).post("/boards/board/submit/", data)
    assert "2 items without a prediction" in shown_text(answer.content)
    assert "the item IDs of this phase are private" in shown_text(answer.content)
    assert ids_in(answer) == []


def test_organisers_are_told_the_missing_ids(
    board: Board, organiser: User, api_of: ApiOf, client_of: ClientOf
) -> None:
    data = {"file": upload(lines_of(SENT))}
    answer = api_of(organiser).post("/api/v1/boards/board/check/", data, format="multipart")
    assert answer.json()["missing"] == ["page-1", "page-3"]


def test_a_failed_grading_names_only_what_was_sent(
    board: Board,
    researcher: User,
    api_of: ApiOf,
    client_of: ClientOf,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In the result, its log and the email about it."""

    def crash(gold: Any, prediction: Any, options: Any) -> Any:
        raise ValueError("page-1 98,765")

    spec = BENCHMARKS["fincriticaled"]
    monkeypatch.setitem(BENCHMARKS, spec.key, replace(spec, score_item=crash))
    submission = make_submission(board, researcher, SENT)
    Submission.objects.update(email_origin="https://example.org")
    for _ in range(6):
        run_due_jobs()
        Job.objects.update(not_before=timezone.now())
    grading = latest_grading(submission)
    assert grading.state == "failed"
    assert grading.error.count("an item without a prediction (") == 2
    assert "“page-2” (" in grading.error
    page = client_of(researcher).get(f"/submissions/{submission.pk}/")
    answer = api_of(researcher).get(f"/api/v1/submissions/{submission.pk}/")
    assert "page-2" in json.dumps(answer.json())
    assert (ids_in(page), ids_in(answer)) == ([], [])
    [letter] = mail.outbox
    assert [name for name in SECRET_IDS if name in letter.body] == []
    errors = Job.objects.exclude(error="").values_list("error", flat=True)
    assert [error for error in errors if "page-1" in error or "page-3" in error] == []


def test_public_ids_are_still_named(researcher: User, api_of: ApiOf) -> None:
    make_board()
    data = {"file": upload(lines_of(SENT))}
    answer = api_of(researcher).post("/api/v1/boards/board/check/", data, format="multipart")
    assert answer.json()["missing"] == ["page-1", "page-3"]
    assert "2 (page-1, page-3)." in answer.json()["detail"]
    assert "accept_missing" in answer.json()["detail"]
    assert Phase.objects.get().release.visibility == Release.Visibility.PUBLIC
