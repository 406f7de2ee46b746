"""A board of receipts on which a judge decides whether two values mean the same."""

import pytest

from portal.accounts.models import User
from scoring.models import Board
from tests.fixture_types import ClientOf, RunJobs
from tests.scoring.factories import receipt_board, send_lines
from tests.scoring.judge.server import MODEL, JudgeServer
from tests.scoring.judge.test_receipts import ASKED, GOLD, JUDGE, READ, clerk
from tests.scoring.judging.test_judge_runs import server

__all__ = ["server"]

pytestmark = pytest.mark.django_db(transaction=True)


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
