"""Rows by organisers and a human run in a real browser."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from portal.accounts.models import User
from portal.jobs.worker import run_due_jobs
from scoring.models import Board, Submission
from scoring.reported.selectors import draw_items
from scoring.submissions.services import publish_submission
from tests.fixture_types import PageOf
from tests.looks import faults_in_both_looks
from tests.scoring.factories import PERFECT, first_phase, lines_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_an_organiser_enters_a_row_and_loads_a_table(
    page_of: PageOf, board: Board, organiser: User, tmp_path: Path
) -> None:
    page = page_of(organiser)
    page.goto("/boards/board/rows/")
    page.get_by_role("link", name="Add a result").click()
    page.get_by_label("Name").fill("Paper model")
    page.get_by_label("Source", exact=True).fill("A paper, Table 2")
    page.get_by_label("FFA (%)", exact=True).first.fill("65.16")
    assert faults_in_both_looks(page) == []
    page.get_by_role("button", name="Save row").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Paper model")
    expect(page.get_by_role("table", name="Scores")).to_contain_text("65.16")
    assert faults_in_both_looks(page) == []
    faulty = tmp_path / "rows.csv"
    faulty.write_text("name,source,ffa\nOther,A paper,x\n")
    page.goto("/boards/board/rows/")
    page.get_by_label("CSV file").set_input_files(faulty)
    page.get_by_role("button", name="Upload table").click()
    expect(page.get_by_role("alert")).to_contain_text("rows.csv:2")
    assert faults_in_both_looks(page) == []


def test_a_human_run_is_drawn_answered_and_shown(
    page_of: PageOf, board: Board, organiser: User, tmp_path: Path
) -> None:
    page = page_of(organiser)
    page.goto("/boards/board/human-run/")
    page.get_by_label("Items").fill("2")
    page.get_by_label("Seed").fill("7")
    page.get_by_role("button", name="Draw items").click()
    expect(page.get_by_text("Drawn: 2 of 3 items (seed 7).")).to_be_visible()
    assert faults_in_both_looks(page) == []
    names = draw_items(first_phase(board), size=2, seed=7).names
    answers = tmp_path / "answers.jsonl"
    answers.write_bytes(lines_of({name: PERFECT[name] for name in names}))
    page.get_by_label("Answers").set_input_files(answers)
    page.get_by_role("button", name="Check and submit").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Human annotators")
    run_due_jobs()
    publish_submission(submission=Submission.objects.get(), actor=organiser)
    page.goto("/boards/board/")
    expect(page.get_by_text("2 of 3 items, drawn with seed 7").first).to_be_visible()
    page.get_by_role("link", name="Human annotators").click()
    expect(page.get_by_role("table", name="Models on the same items")).to_be_visible()
    assert faults_in_both_looks(page) == []
