"""A board of receipts on which a judge decides whether two values mean the same."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from portal.accounts.models import User
from portal.datasets.models import Release
from portal.datasets.releases.services import freeze_lines
from scoring.boards.services import NewPhase, create_board, set_board_state
from scoring.models import Board, Submission
from scoring.submissions.services import check_upload, create_submission
from tests.factories import empty_dataset
from tests.scoring.factories import receipt_board, send_lines
from tests.scoring.judge.server import MODEL, JudgeServer
from tests.scoring.judge.test_receipts import ASKED, GOLD, JUDGE, READ, clerk
from tests.scoring.judging.test_judge_runs import server

__all__ = ["server"]

pytestmark = pytest.mark.django_db(transaction=True)

RunJobs = Callable[[], int]
ClientOf = Callable[[User | None], Client]


@pytest.fixture
def receipts() -> Board:
    return receipt_board(GOLD, options={"semantic": f"judge({MODEL})"}, diagnostics="facts")


def test_the_figures_are_those_of_the_command(
    receipts: Board,
    server: JudgeServer,
    researcher: User,
    run_jobs: RunJobs,
    client_of: ClientOf,
) -> None:
    """By hand in tests/scoring/judge/test_receipts.py: 4 TP, 1 FP, 4 FN."""
    server.script = clerk
    submission = send_lines(receipts, researcher, READ)
    run_jobs()
    grading = submission.gradings.get()
    assert (grading.state, grading.error) == ("done", "")
    assert f"|judge:{JUDGE}|" in grading.signature
    assert grading.scores["overall"] == 2 * 4 / (2 * 4 + 1 + 4)
    assert len(server.calls) == ASKED

    page = client_of(researcher).get(f"/submissions/{submission.pk}/items/a/").content.decode()
    assert "as the script says" in page
    rules = client_of(None).get("/boards/board/benchmark/").content.decode()
    assert MODEL in rules
