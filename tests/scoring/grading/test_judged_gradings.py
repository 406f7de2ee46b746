"""Boards graded by a judge, or by a matcher with a judge next to it, with a real client."""

import csv
import io
import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from portal.accounts.models import User
from portal.jobs.models import Job
from scoring.grading.chunks import load_chunk, score_chunk
from scoring.grading.selectors import grading_progress
from scoring.judge.reliability import Confusion
from scoring.models import Board, Grading, Submission
from scoring.reliability.cases import add_expert, case_page, draw_sample, save_review, submit_review
from scoring.reliability.selectors import reliability
from scoring.submissions.services import publish_submission
from tests.fixture_types import ClientOf, RunJobs
from tests.scoring.boards.test_phases import form_of
from tests.scoring.factories import FLAWED, GOLD, PERFECT, first_phase, make_board, make_submission
from tests.scoring.judge.server import MODEL, JudgeServer, in_turn, lying, perfect, status
from tests.scoring.judging.test_judge_runs import server

__all__ = ["server"]

pytestmark = pytest.mark.django_db(transaction=True)

JUDGED = {"matcher": f"judge({MODEL})"}
BESIDE = {"beside": f"substring,judge({MODEL})"}


def graded(board: Board, owner: User, run_jobs: RunJobs, pages: Any = FLAWED) -> Submission:
    submission = make_submission(board, owner, pages)
    run_jobs()
    return submission


def grading_of(submission: Submission) -> Grading:
    return submission.gradings.get()


def make_due() -> None:
    Job.objects.filter(state=Job.State.QUEUED).update(
        not_before=timezone.now() - timedelta(seconds=1)
    )


def test_a_board_ranks_by_its_judge(
    server: JudgeServer, researcher: User, run_jobs: RunJobs
) -> None:
    """Four of six facts are right; the script misses the date before the full stop."""
    grading = grading_of(graded(make_board(options=JUDGED), researcher, run_jobs))
    assert grading.state == "done"
    assert f"|matcher:judge({MODEL},facts-1)|" in grading.signature
    assert grading.signature.endswith("|override:paper|severity:4|answer:shown")
    assert grading.scores["ffa"] == pytest.approx(3 / 6)
    # Structure is 2 on each page; of the facts 1 of 3, 1 of 2 and 1 of 1 are correct.
    assert grading.scores["judge_structure"] == 2
    overall = [2 * 2 + 5 * share for share in (1 / 3, 1 / 2, 1)]
    assert grading.scores["judge_overall"] == pytest.approx(sum(overall) / 3)
    assert len(server.calls) == 3
    result = grading.item_scores.get(item__name="page-2").result
    assert [fact["why"] for fact in result["facts"]] == ["as the script says"] * 2
    assert result["judge"]["total_entities"] == 2


def test_matchers_stand_beside_each_other(
    server: JudgeServer, researcher: User, run_jobs: RunJobs
) -> None:
    """Four of six facts are right by all of them: if a judge calls all six correct, the lost sign
    and the wrong year are overruled."""
    server.script = lying
    grading = grading_of(graded(make_board(options=BESIDE), researcher, run_jobs))
    results = {each.item.name: each.result for each in grading.item_scores.select_related("item")}
    assert results["page-1"]["beside"] == {"substring": [0, 2], "judge": [0, 2]}
    assert results["page-2"]["beside"] == {"substring": [0], "judge": [0]}
    assert results["page-1"]["judge"]["overruled"][0]["n"] == 1
    assert grading.scores["ffa"] == pytest.approx(4 / 6)
    assert grading.scores["ffa_by_judge"] == pytest.approx(4 / 6)
    assert grading.scores["ffa_by_substring"] == pytest.approx(4 / 6)


def test_reasons_and_what_was_overruled_stand_beside_the_facts(
    server: JudgeServer,
    researcher: User,
    stranger: User,
    run_jobs: RunJobs,
    client_of: ClientOf,
) -> None:
    server.script = lying
    submission = graded(make_board(options=BESIDE), researcher, run_jobs)
    publish_submission(submission=submission, actor=None)
    address = f"/submissions/{submission.pk}/items/page-1/"
    page = client_of(researcher).get(address).content.decode()
    assert page.count("as the script says") == 3
    assert page.count("Overruled:") == 1
    found = client_of(researcher).get(f"/api/v1{address}").json()
    assert [bool(fact["overruled"]) for fact in found["facts"]] == [False, True, False]
    assert client_of(stranger).get(address).status_code == 404


def test_the_view_of_the_matchers_is_public_and_has_intervals(
    server: JudgeServer, researcher: User, run_jobs: RunJobs, client_of: ClientOf
) -> None:
    submission = graded(make_board(options=BESIDE), researcher, run_jobs)
    publish_submission(submission=submission, actor=None)
    page = client_of(None).get("/boards/board/?view=matchers").content.decode()
    assert "LLM judge" in page
    assert "Substring" in page
    assert "50.00" in page  # the judge's three of six
    assert "7.06" in page  # 4 + 5 x (1/3 + 1/2 + 1) / 3
    found = client_of(None).get("/boards/board/leaderboard.csv?view=matchers").getvalue().decode()
    (row,) = csv.DictReader(io.StringIO(found))
    assert float(row["ffa_by_judge"]) == pytest.approx(0.5)
    assert row["ffa_by_judge_low"] < row["ffa_by_judge"] < row["ffa_by_judge_high"]


@pytest.mark.parametrize("options", [JUDGED | {"beside": "substring"}, BESIDE])
def test_what_a_grading_asked_counts_as_the_judge_in_its_reliability(
    options: dict[str, str],
    server: JudgeServer,
    researcher: User,
    stranger: User,
    run_jobs: RunJobs,
) -> None:
    """On page 1 the expert says right, right, wrong; the judge right, wrong, wrong: it does not
    see the date before the full stop. Both matchers say right, wrong, right."""
    board = make_board(options=options)
    publish_submission(submission=graded(board, researcher, run_jobs), actor=None)
    add_expert(board=board, user=stranger, actor=None)
    drawn = draw_sample(phase=first_phase(board), percent=100, actor=None)
    case = drawn.cases.select_related("item", "sample__release").get(item__name="page-1")
    said = {0: True, 1: True, 2: False}
    save_review(case=case, expert=stranger, facts=said, wrong={}, structure="", comment="")
    submit_review(case=case, expert=stranger)

    found = reliability(drawn)
    assert found.judge == f"{MODEL}, facts-1"
    pairs = {line.between: line.confusion for line in found.agreement}
    assert pairs["Judge and experts"] == Confusion(1, 0, 1, 1)
    assert pairs["Matcher and experts"] == Confusion(1, 1, 1, 0)
    assert pairs["Judge and matcher"] == Confusion(1, 0, 1, 1)
    page = case_page(case)
    assert [fact.judge and fact.judge["why"] for fact in page.facts] == ["as the script says"] * 3
    assert len(page.disputed) == 2


def test_a_re_grade_and_a_second_submission_of_the_same_pages_ask_nothing(
    server: JudgeServer, researcher: User, run_jobs: RunJobs
) -> None:
    board = make_board(options=JUDGED)
    graded(board, researcher, run_jobs)
    graded(board, researcher, run_jobs)
    assert len(server.calls) == 3


def test_a_page_without_a_verdict_fails_the_grading_by_name_and_is_no_zero(
    server: JudgeServer, researcher: User, run_jobs: RunJobs
) -> None:
    server.script = in_turn(status(500), perfect, perfect, status(500))
    submission = make_submission(make_board(options=JUDGED), researcher, PERFECT)
    for _ in range(9):
        make_due()
        run_jobs()
    grading = grading_of(submission)
    assert (grading.state, grading.scores) == ("failed", {})
    assert "1 of 3 items cannot be graded" in grading.error
    assert "has no verdict from the judge: no answer after 1 attempts: HTTP 500" in grading.error
    assert grading.item_scores.count() == 2


def test_without_a_judge_the_grading_waits_and_says_why(
    server: JudgeServer, researcher: User, run_jobs: RunJobs, settings: Any
) -> None:
    settings.JUDGE_MODEL = "another"
    submission = make_submission(make_board(options=JUDGED), researcher, PERFECT)
    run_jobs()
    grading = grading_of(submission)
    assert grading.state == "running"
    assert "another" in grading_progress(grading).trouble
    assert Job.objects.get(group=grading.job_group).attempts == 0

    settings.JUDGE_MODEL = MODEL
    make_due()
    run_jobs()
    grading.refresh_from_db()
    assert (grading.state, len(server.calls)) == ("done", 3)


def test_a_refused_key_waits_and_what_was_answered_stays(
    server: JudgeServer, researcher: User, run_jobs: RunJobs, settings: Any
) -> None:
    settings.JUDGE_CONCURRENCY = 1
    server.script = in_turn(perfect, status(401), perfect)
    submission = make_submission(make_board(options=JUDGED), researcher, PERFECT)
    run_jobs()
    grading = grading_of(submission)
    assert (grading.state, grading.item_scores.count()) == ("running", 1)
    assert "the endpoint rejects all calls" in grading_progress(grading).trouble
    make_due()
    run_jobs()
    grading.refresh_from_db()
    assert (grading.state, len(server.calls)) == ("done", 4)


def test_a_cancelled_chunk_asks_no_further(
    server: JudgeServer, researcher: User, settings: Any
) -> None:
    settings.JUDGE_CONCURRENCY = 1
    submission = make_submission(make_board(options=JUDGED), researcher, PERFECT)
    chunk = load_chunk(grading_id=grading_of(submission).pk, first=0, last=len(GOLD))
    assert chunk is not None
    assert score_chunk(chunk, go_on=lambda done: done < 1) is None
    assert len(server.calls) == 1


def test_a_failure_of_our_own_is_told_without_the_page(
    server: JudgeServer, researcher: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    submission = make_submission(make_board(options=JUDGED), researcher, PERFECT)
    chunk = load_chunk(grading_id=grading_of(submission).pk, first=0, last=len(GOLD))
    assert chunk is not None

    def fail(*_: Any) -> Any:
        raise ValueError("Revenue was 1,200")

    monkeypatch.setattr("scoring.grading.chunks.judged_result", fail)
    found = score_chunk(chunk, go_on=lambda _: True)
    assert found is not None
    assert (found.scores, str(found.fault)) == (
        [],
        "item “page-1” cannot be scored (ValueError) and 2 more",
    )


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("", "JUDGE_MODEL is not set"),
        ("another", f"The board&#x27;s judge is another, but {MODEL} is required."),
        (MODEL, ""),
    ],
)
def test_whoever_opens_a_phase_is_told_that_its_judge_is_missing(
    model: str, said: str, server: JudgeServer, organiser: User, client_of: ClientOf, settings: Any
) -> None:
    settings.JUDGE_MODEL = model
    board = make_board()
    sent = form_of(board, title="Judged", options=json.dumps(JUDGED))
    page = client_of(organiser).post("/boards/board/phases/new/", sent, follow=True)
    shown = page.content.decode()
    assert "Phase “Judged” added." in shown
    assert ("cannot be graded until" in shown) is bool(said)
    assert said in shown
    form = client_of(organiser).get("/boards/board/phases/new/").content.decode()
    assert (model or "This board has no judge endpoint.") in form
