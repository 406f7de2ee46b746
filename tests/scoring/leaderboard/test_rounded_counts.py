"""Views of counts in a phase that rounds scores: counts would undo the rounding."""

import json
from collections.abc import Callable

import pytest
from django.test import Client
from rest_framework.test import APIClient

from portal.accounts.models import User
from portal.datasets.models import Release
from portal.datasets.releases.services import freeze_lines
from scoring.boards.services import NewPhase, create_board, set_board_state
from scoring.leaderboard.services import load_reported
from scoring.models import Board, Entry, Submission
from scoring.submissions.services import check_upload, create_submission, publish_submission
from tests.factories import empty_dataset
from tests.scoring.factories import first_phase, upload
from tests.scoring.judge.test_receipts import GOLD, READ

pytestmark = pytest.mark.django_db

Jobs = Callable[[], int]
ClientOf = Callable[[User | None], Client]
ApiOf = Callable[[User | None], APIClient]

WITHHELD = "Counts of graded rows are hidden"


def receipts(score_decimals: int | None) -> Board:
    release = freeze_lines(
        dataset=empty_dataset(visibility="public"),
        version="1.0.0",
        benchmark="receiptbench",
        lines={line["id"]: line for line in GOLD},
        visibility=Release.Visibility.PUBLIC,
    )
    phase = NewPhase(
        slug="test",
        title="Test",
        release=release,
        diagnostics="aggregates",
        score_decimals=score_decimals,
    )
    board = create_board(
        slug="board", title="Receipts", benchmark="receiptbench", phase=phase, actor=None
    )
    load_reported(board=board)
    return set_board_state(board=board, state=Board.State.OPEN, actor=None)


def published(board: Board, owner: User, run_jobs: Jobs) -> Submission:
    phase = first_phase(board)
    file = upload("".join(json.dumps(line) + "\n" for line in READ).encode())
    submission = create_submission(
        phase=phase,
        owner=owner,
        card={"name": "Reader of receipts"},
        file=file,
        filename="predictions.jsonl",
        checked=check_upload(phase=phase, file=file, filename="predictions.jsonl"),
    )
    run_jobs()
    publish_submission(submission=submission, actor=owner)
    return submission


@pytest.mark.parametrize("decimals", [None, 0], ids=["exact", "rounded"])
def test_counts_are_shown_with_exact_scores_only(
    decimals: int | None,
    researcher: User,
    run_jobs: Jobs,
    client_of: ClientOf,
    api_of: ApiOf,
) -> None:
    is_exact = decimals is None
    submission = published(receipts(decimals), researcher, run_jobs)
    assert ("fp_overall" in Entry.objects.get(kind="graded").scores) is is_exact
    shown = api_of(None).get(f"/api/v1/submissions/{submission.pk}/").json()["grading"]
    assert ("fp_overall" in shown["scores"]) is is_exact
    assert ("false_positives" in shown["views"]) is is_exact
    assert shown["scores"]["overall"] is not None
    page = client_of(None).get(submission.get_absolute_url()).content.decode()
    assert ('id="view-false_positives"' in page) is is_exact
    assert 'id="view-precision"' in page


@pytest.mark.parametrize("decimals", [None, 0], ids=["exact", "rounded"])
def test_the_view_keeps_what_others_report(
    decimals: int | None,
    researcher: User,
    run_jobs: Jobs,
    client_of: ClientOf,
    api_of: ApiOf,
) -> None:
    published(receipts(decimals), researcher, run_jobs)
    page = client_of(None).get("/boards/board/?view=false_positives").content.decode()
    assert (WITHHELD in page) is (decimals == 0)
    assert "Nothing graded yet" not in page
    table = api_of(None).get("/api/v1/boards/board/leaderboard/?view=false_positives").json()
    kinds = {section["kind"] for section in table["sections"]}
    assert kinds == ({"reported"} if decimals == 0 else {"graded", "reported"})
    plain = client_of(None).get("/boards/board/").content.decode()
    assert "Reader of receipts" in plain
    assert WITHHELD not in plain


def test_organisers_read_the_counts(
    researcher: User, organiser: User, run_jobs: Jobs, api_of: ApiOf
) -> None:
    submission = published(receipts(0), researcher, run_jobs)
    shown = api_of(organiser).get(f"/api/v1/submissions/{submission.pk}/").json()["grading"]
    assert shown["scores"]["fp_overall"] == shown["counts"]["fp"]
    assert shown["views"]["false_positives"]["fp_overall"] == shown["scores"]["fp_overall"]
