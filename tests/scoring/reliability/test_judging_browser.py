"""An expert's way in a browser: from the start page to what the others say."""

import pytest
from playwright.sync_api import expect

from portal.accounts.models import User
from portal.jobs.worker import run_due_jobs
from scoring.models import Board, JudgeSample
from scoring.reliability.cases import add_expert, draw_sample
from scoring.submissions.services import publish_submission
from tests.fixture_types import PageOf
from tests.looks import faults_in_this_look
from tests.scoring.factories import FLAWED, first_phase, make_submission

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def sample(board: Board, researcher: User, stranger: User) -> JudgeSample:
    submission = make_submission(board, researcher, FLAWED)
    run_due_jobs()
    publish_submission(submission=submission, actor=None)
    add_expert(board=board, user=stranger, actor=None)
    return draw_sample(phase=first_phase(board), percent=2, actor=None)


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_an_expert_reviews_a_page(
    page_of: PageOf, sample: JudgeSample, stranger: User, script: bool
) -> None:
    page = page_of(stranger, java_script_enabled=script)
    page.goto("/start/")
    page.get_by_role("link", name="Review 3 documents").click()
    row = page.get_by_role("row").filter(has_text="page-1")
    row.get_by_role("link", name="Review page").click()
    facts = page.get_by_role("table", name="Facts")
    expect(facts.get_by_role("group")).to_have_count(3)
    gold = page.frame_locator("iframe[title^='Gold']")
    expect(gold.locator("mark")).to_have_count(3)
    if script:
        assert faults_in_this_look(page) == []

    facts.get_by_role("group", name="Fact 1").get_by_label("wrong").check()
    page.get_by_role("button", name="Submit review").click()
    expect(page.get_by_text("Missing: 0, 2")).to_be_visible()
    expect(facts.get_by_role("group", name="Fact 1").get_by_label("wrong")).to_be_checked()

    page.get_by_role("button", name="Mark remaining facts as correct").click()
    page.get_by_label("Wrong facts: Number").fill("2")
    page.get_by_role("button", name="Submit review").click()
    expect(page.get_by_role("heading", name="page-1")).to_be_visible()
    said = page.get_by_role("table", name="Facts").get_by_role("row").nth(2)
    expect(said).to_contain_text("sign")
    if script:
        assert faults_in_this_look(page) == []
    page.goto("/boards/board/judge/")
    between = page.get_by_role("table", name="Agreement").get_by_role("row")
    expect(between.filter(has_text="Matcher and experts")).to_contain_text("100.0")
    if script:
        assert faults_in_this_look(page) == []


def test_an_organiser_names_an_expert_and_draws(
    page_of: PageOf, sample: JudgeSample, organiser: User, reviewer: User
) -> None:
    page = page_of(organiser)
    page.goto("/boards/board/judge/")
    page.get_by_role("link", name="Experts and samples").click()
    page.get_by_label("Email").fill(reviewer.email)
    page.get_by_role("button", name="Add expert").click()
    expect(page.get_by_role("button", name=f"Remove {reviewer}")).to_be_visible()
    page.get_by_role("button", name="Close sample", exact=True).click()
    expect(page.get_by_role("cell", name="closed")).to_be_visible()
    page.get_by_role("button", name="Draw sample").click()
    expect(page.get_by_role("button", name="Close sample", exact=True)).to_be_visible()
    assert faults_in_this_look(page) == []
