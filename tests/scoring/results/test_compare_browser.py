"""From a submission's items to one item, and from the leaderboard to a comparison, in a browser."""

import pytest
from playwright.sync_api import expect

from portal.accounts.models import User
from portal.jobs.models import Job
from portal.jobs.worker import run_due_jobs
from scoring.leaderboard.services import RESAMPLE_KIND
from scoring.models import Board, Replicate, Submission
from scoring.submissions.services import publish_submission
from tests.fixture_types import PageOf
from tests.looks import faults_in_this_look
from tests.scoring.factories import FLAWED, PERFECT, make_submission

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def flawed(board: Board, researcher: User) -> Submission:
    """Publish one next to a perfect submission."""
    submissions = [
        make_submission(board, researcher, predictions, name=name)
        for name, predictions in (("Flawed", FLAWED), ("Perfect", PERFECT))
    ]
    run_due_jobs()
    for submission in submissions:
        publish_submission(submission=submission, actor=researcher)
    run_due_jobs()
    return submissions[0]


def forget_replicates() -> None:
    """Delete the replicates, as for gradings from before resampling."""
    Replicate.objects.all().delete()
    Job.objects.filter(kind=RESAMPLE_KIND).delete()


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_sort_filter_open_and_go_on(
    page_of: PageOf, flawed: Submission, researcher: User, script: bool
) -> None:
    page = page_of(researcher, java_script_enabled=script)
    page.goto(flawed.get_absolute_url())
    form = page.get_by_role("search", name="Items")
    form.get_by_label("Order").select_option("hardest")
    form.get_by_label("Show").select_option("wrong")
    form.get_by_role("button", name="Apply filters").click()
    rows = page.get_by_role("table", name="Items").locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("page-2")
    if script:
        assert faults_in_this_look(page) == []
    rows.first.get_by_role("link").click()
    expect(page.get_by_role("heading", name="page-2")).to_be_visible()
    gold = page.frame_locator("iframe[title='Gold of page-2']")
    page.get_by_title("Gold of page-2").scroll_into_view_if_needed()
    expect(gold.locator("mark")).to_have_count(2)
    expect(gold.locator("body")).to_contain_text("✗ date")
    predicted = page.frame_locator("iframe[title='Prediction for page-2']")
    expect(predicted.locator("mark").nth(1)).to_have_text("2029")
    expect(page.locator("del")).to_have_text("2020.")
    if script:
        assert faults_in_this_look(page) == []
    page.get_by_role("link", name="Next item", exact=True).click()
    expect(page.get_by_role("heading", name="page-1")).to_be_visible()
    expect(page.get_by_role("link", name="Next item", exact=True)).to_have_count(0)
    page.get_by_role("link", name="Previous item", exact=True).click()
    expect(page.get_by_role("heading", name="page-2")).to_be_visible()


@pytest.mark.parametrize("width", [pytest.param(1440, marks=pytest.mark.journey), 390])
def test_ticked_rows_are_compared_and_the_tests_come_by_themselves(
    page_of: PageOf, flawed: Submission, researcher: User, width: int
) -> None:
    forget_replicates()
    page = page_of(researcher, viewport={"width": width, "height": 900})
    page.goto("/boards/board/")
    assert faults_in_this_look(page) == []
    page.get_by_label("Compare Perfect").check()
    button = page.get_by_role("button", name="Compare selected models")
    expect(button).to_have_attribute("aria-disabled", "true")
    number = page.get_by_label("Compare Perfect").get_attribute("value")
    page.goto(f"/boards/board/compare/?entries={number}")
    expect(page.get_by_role("alert")).to_contain_text("Select 2 to 5 models")
    assert faults_in_this_look(page) == []
    page.get_by_role("link", name="View leaderboard").click()
    expect(page.get_by_label("Compare Perfect")).to_be_checked()
    page.get_by_label("Compare Flawed").check()
    expect(button).to_have_attribute("aria-disabled", "false")
    button.click()
    expect(page.get_by_role("status")).to_contain_text("0 of 2 models done")
    assert faults_in_this_look(page) == []
    page.evaluate("window.notReloaded = true")
    run_due_jobs()
    expect(page.get_by_role("status")).to_have_count(0)
    assert page.evaluate("window.notReloaded") is True
    row = page.get_by_role("table", name="Pairwise comparison").locator("tbody tr")
    expect(row).to_contain_text("33.33")
    expect(row.locator("td").nth(2)).not_to_have_text("–")
    assert faults_in_this_look(page) == []
    page.get_by_role("link", name="Compare facts of Perfect and Flawed").click()
    facts = page.get_by_role("table", name="Facts").locator("tbody tr")
    expect(facts).to_have_count(2)
    assert faults_in_this_look(page) == []
    page.get_by_role("link", name="of page-2, Flawed").click()
    expect(page.get_by_role("heading", name="page-2")).to_be_visible()
    expect(page.locator("tr[aria-current]")).to_contain_text("2020")


@pytest.mark.parametrize("width", [1440, 390])
def test_a_typical_error_opens_its_item_at_the_fact(
    page_of: PageOf, flawed: Submission, researcher: User, width: int
) -> None:
    page = page_of(researcher, viewport={"width": width, "height": 900})
    page.goto(flawed.get_absolute_url())
    summary = page.get_by_role("region", name="Summary")
    expect(summary).to_contain_text("66.67")
    assert faults_in_this_look(page) == []
    summary.get_by_role("link", name="View page-1").click()
    expect(page.locator("tr[aria-current]")).to_contain_text("(350)")
    gold = page.frame_locator("iframe[title='Gold of page-1']")
    expect(gold.locator("mark.current")).to_have_text("(350)")
    assert faults_in_this_look(page) == []


def test_on_a_phone_every_difference_is_in_sight(
    page_of: PageOf, flawed: Submission, board: Board, researcher: User
) -> None:
    """Five entries need no sideways scrolling, and each line names its entry."""
    more = [make_submission(board, researcher, FLAWED, name=f"Reader {n}") for n in range(3)]
    run_due_jobs()
    for submission in more:
        publish_submission(submission=submission, actor=researcher)
    run_due_jobs()
    page = page_of(None, viewport={"width": 390, "height": 900})
    entries = ",".join(str(each.pk) for each in board.entries.order_by("pk"))
    page.goto(f"/boards/board/compare/?entries={entries}")
    figures = page.get_by_role("table", name="Scores")
    row = figures.get_by_role("row", name="FFA (%)").last
    assert row.get_by_role("cell").count() == 5
    for table in (figures, page.get_by_role("table", name="Pairwise comparison")):
        for cell in table.get_by_role("cell").all():
            box = cell.bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 390
    whose = "element => getComputedStyle(element, '::before').content"
    shown = [cell.evaluate(whose) for cell in row.get_by_role("cell").all()]
    assert shown == ['"Flawed"', '"Perfect"', '"Reader 0"', '"Reader 1"', '"Reader 2"']
    expect(row.locator(".difference")).to_have_count(4)
    assert faults_in_this_look(page) == []


def test_comparing_works_without_javascript(page_of: PageOf, flawed: Submission) -> None:
    forget_replicates()
    page = page_of(None, java_script_enabled=False)
    page.goto("/boards/board/")
    for name in ("Perfect", "Flawed"):
        page.get_by_label(f"Compare {name}").check()
    page.get_by_role("button", name="Compare selected models").click()
    run_due_jobs()
    page.get_by_role("link", name="Refresh").click()
    expect(page.get_by_role("table", name="Pairwise comparison")).to_contain_text("33.33")
    expect(page.get_by_text("Items are not listed")).to_be_visible()
