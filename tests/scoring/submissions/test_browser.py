"""Submitting and watching in a real browser."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from portal.accounts.models import User
from portal.jobs.worker import run_due_jobs
from scoring.leaderboard.services import load_reported
from scoring.models import Board, Submission
from scoring.submissions.services import publish_submission
from tests.fixture_types import PageOf
from tests.looks import faults_in_both_looks
from tests.scoring.factories import FLAWED, PERFECT, lines_of, make_board, make_submission

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def predictions(tmp_path: Path) -> Path:
    """A file in the browser's reach; tests write into it what they want."""
    return tmp_path / "predictions.jsonl"


def fill(page: Page, file: Path) -> None:
    page.goto("/boards/board/submit/")
    page.get_by_label("Name").fill("Reader 7B")
    page.get_by_label("Predictions").set_input_files(file)


@pytest.mark.journey
def test_faults_appear_without_losing_the_form_and_the_bar_moves_to_the_result(
    page_of: PageOf, board: Board, researcher: User, predictions: Path
) -> None:
    page = page_of(researcher)
    predictions.write_bytes(b"broken\n")
    fill(page, predictions)
    page.get_by_role("button", name="Submit", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("1 error. Nothing was submitted")
    expect(page.get_by_label("Name")).to_have_value("Reader 7B")
    predictions.write_bytes(lines_of({"page-1": PERFECT["page-1"]}))
    page.get_by_label("Predictions").set_input_files(predictions)
    page.get_by_role("button", name="Submit", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("2 items without a prediction")
    # The file is still chosen: only the tick is asked for.
    page.get_by_label("Submit anyway").check()
    page.get_by_role("button", name="Submit", exact=True).click()
    page.wait_for_url("**/submissions/*/")
    expect(page.get_by_text("0 of 3 items")).to_be_visible()
    page.evaluate("window.notReloaded = true")
    run_due_jobs()
    expect(page.get_by_role("heading", name="Fact-level")).to_be_visible()
    assert page.evaluate("window.notReloaded") is True
    assert Submission.objects.count() == 1


def test_submitting_works_without_javascript(
    page_of: PageOf, board: Board, researcher: User, predictions: Path
) -> None:
    page = page_of(researcher, java_script_enabled=False)
    predictions.write_bytes(b"broken\n")
    fill(page, predictions)
    page.get_by_role("button", name="Submit", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("1 error")
    predictions.write_bytes(lines_of(PERFECT))
    page.get_by_label("Predictions").set_input_files(predictions)
    page.get_by_role("button", name="Submit", exact=True).click()
    expect(page.get_by_text("0 of 3 items")).to_be_visible()


def test_markup_of_a_model_never_runs(page_of: PageOf, board: Board, researcher: User) -> None:
    hostile = (
        "<img src=x onerror='window.ran = 1'><script>window.ran = 1</script>"
        "<p>&lt;img src=x onerror='window.ran = 1'&gt;</p>" + PERFECT["page-1"]
    )
    submission = make_submission(board, researcher, {"page-1": hostile})
    run_due_jobs()
    page = page_of(researcher)
    page.goto(f"/submissions/{submission.pk}/items/page-1/")
    side = page.frame_locator("iframe[title='Prediction for page-1']")
    expect(side.locator("body")).to_contain_text("<img src=x")
    assert page.evaluate("window.ran") is None
    assert page.frames[-1].evaluate("window.ran") is None


def test_pages_are_accessible_and_do_not_overflow(
    page_of: PageOf, researcher: User, organiser: User, empty_pictures: None
) -> None:
    board = make_board()
    load_reported(board=board)
    submission = make_submission(board, researcher, FLAWED)
    run_due_jobs()
    publish_submission(submission=submission, actor=organiser)
    waiting = make_submission(board, researcher)
    page = page_of(organiser)
    faults: list[str] = []
    for path in (
        "/boards/",
        "/boards/new/",
        "/boards/board/",
        "/boards/board/?sort=ffa",
        "/boards/board/charts/?rows=reported",
        "/boards/board/submit/",
        "/boards/board/manage/",
        "/submissions/",
        f"/submissions/{submission.pk}/",
        f"/submissions/{submission.pk}/items/page-1/",
        f"/submissions/{waiting.pk}/",
    ):
        page.goto(path)
        faults += faults_in_both_looks(page, path)
    assert faults == []
