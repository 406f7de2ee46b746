"""From a dispute to the board that was graded again, in a real browser."""

import pytest
from playwright.sync_api import expect

from portal.accounts.models import User
from portal.datasets.models import Dispute
from portal.jobs.worker import run_due_jobs
from scoring.models import Board
from tests.fixture_types import PageOf
from tests.looks import faults_in_this_look
from tests.scoring.regrading import next_release, release_of, three_results

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.journey
def test_from_a_dispute_to_moved_ranks(
    page_of: PageOf, board: Board, researcher: User, organiser: User
) -> None:
    flawed = three_results(board, researcher)["Flawed"]
    page = page_of(researcher)
    page.goto(f"/submissions/{flawed.pk}/items/page-2/")
    page.locator("#fact-1").get_by_role("link").click()
    page.get_by_role("link", name="Dispute fact 1").click()
    page.get_by_label("Correct fact").fill("no fact")
    page.get_by_label("Reason").fill("The year is no date of the statement.")
    page.get_by_role("button", name="Raise dispute").click()
    expect(page.get_by_text("Dispute raised.")).to_be_visible()
    dispute = Dispute.objects.get()

    page = page_of(organiser)
    page.goto(f"/datasets/{release_of(board).dataset.slug}/disputes/{dispute.pk}/")
    page.get_by_label("Answer").fill("You are right.")
    page.get_by_role("button", name="Accept dispute").click()
    release = next_release(release_of(board))
    assert f"Dispute {dispute.pk}" in release.notes

    page.goto("/boards/board/manage/")
    page.get_by_role("link", name="Start a re-grade").click()
    page.get_by_label("Gold").select_option(str(release.pk))
    page.get_by_role("button", name="Preview changes").click()
    expect(page.get_by_role("row", name="Test")).to_contain_text("2 items changed, 2 public facts")
    assert faults_in_this_look(page) == []
    page.get_by_role("button", name="Re-grade 3 submissions").click()
    expect(page.get_by_text("Waiting for a worker")).to_be_visible()
    assert faults_in_this_look(page) == []
    page.evaluate("window.notReloaded = true")

    public = page_of(None, viewport={"width": 390, "height": 800})
    public.goto("/boards/board/")
    expect(public.get_by_role("row", name="Flawed")).to_contain_text("66.67")
    run_due_jobs()
    page.get_by_role("link", name="View rank changes").wait_for()
    assert page.evaluate("window.notReloaded") is True
    public.goto("/boards/board/")
    expect(public.get_by_role("row", name="Flawed")).to_contain_text("100.00")
    assert faults_in_this_look(public) == []
    public.get_by_role("link", name="View rank changes").click()
    moved = public.get_by_role("table", name="Rows that changed").get_by_role("row")
    # Three pages are too few for ranks: the scores moved, no rank did.
    expect(moved.nth(1)).to_contain_text("66.67 → 100.00")
    expect(moved.nth(1)).to_contain_text("1 → 1")
    expect(moved.nth(2)).to_contain_text("1 → 1")
    expect(public.get_by_text("No ranks changed.")).to_be_visible()
    expect(public.get_by_text("Gold 1.0.0 → 1.1.0: 2 facts changed")).to_be_visible()
    assert faults_in_this_look(public) == []
    public.get_by_role("link", name="Flawed").click()
    public.get_by_role("row", name="1.0.0").get_by_role("link", name="View").click()
    expect(public.get_by_text("This is an earlier result")).to_be_visible()
    assert faults_in_this_look(public) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_cancelling_works_without_javascript(
    page_of: PageOf, board: Board, researcher: User, organiser: User, scheme: str
) -> None:
    three_results(board, researcher)
    page = page_of(organiser, java_script_enabled=False, color_scheme=scheme)
    page.goto("/boards/board/regrade/")
    page.get_by_role("button", name="Preview changes").click()
    page.get_by_role("button", name="Re-grade 3 submissions").click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Re-grade cancelled. The leaderboard is unchanged.")).to_be_visible()
    page.goto("/boards/board/changes/")
    expect(page.get_by_text("No re-grades yet")).to_be_visible()
