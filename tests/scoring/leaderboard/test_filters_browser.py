"""Filtering a leaderboard in a real browser, with JavaScript and without."""

import re

import pytest
from playwright.sync_api import expect

from portal.accounts.models import User
from scoring.leaderboard.services import bump_board
from scoring.models import Board, Entry
from tests.fixture_types import PageOf
from tests.looks import faults_in_this_look
from tests.scoring.factories import make_entry

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def rows(board: Board, researcher: User) -> Board:
    for name, size in {"Large": "70B", "Small": "3B"}.items():
        entry = make_entry(board, researcher, name=name)
        Entry.objects.filter(pk=entry.pk).update(size=size)
    bump_board(board.pk)
    return board


@pytest.mark.journey
def test_the_table_follows_the_filter_without_loading_the_page_again(
    page_of: PageOf, rows: Board
) -> None:
    page = page_of(None)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/boards/board/")
    page.evaluate("window.notReloaded = true")
    page.get_by_text("Model size", exact=True).click()
    page.get_by_label("Parameters from").fill("7B")
    page.get_by_label("Parameters from").press("Tab")
    expect(page.get_by_text("Showing 1 of 2 rows")).to_be_visible()
    expect(page.get_by_role("row", name="Large")).to_be_visible()
    expect(page.get_by_role("row", name="Small")).to_have_count(0)
    # Empty parameters are not in the URL.
    expect(page).to_have_url(re.compile(r"/boards/board/\?size_from=7B$"))
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.endswith("/boards/board/?phase=test&view=headline&size_from=7B")
    assert page.evaluate("window.notReloaded") is True
    assert faults_in_this_look(page, every=False) == []
    page.goto(copied)
    expect(page.get_by_label("Parameters from")).to_have_value("7B")
    expect(page.get_by_text("Showing 1 of 2 rows")).to_be_visible()


def test_enter_asks_at_once_and_gives_up_nothing_that_is_under_way(
    page_of: PageOf, rows: Board
) -> None:
    """Enter causes a change and a submission. An aborted request would be an error in the console,
    which `page_of` does not allow."""
    page = page_of(None)
    page.goto("/boards/board/")
    page.get_by_label("Search").fill("small")
    page.get_by_label("Search").press("Enter")
    expect(page.get_by_text("Showing 1 of 2 rows")).to_be_visible()
    expect(page.get_by_role("row", name="Large")).to_have_count(0)


def test_filtering_works_without_javascript(page_of: PageOf, rows: Board) -> None:
    page = page_of(None, java_script_enabled=False)
    page.goto("/boards/board/?sort=name")
    page.get_by_label("Search").fill("nobody")
    page.get_by_role("button", name="Apply filters", exact=True).click()
    expect(page.get_by_role("heading", name="No matching rows")).to_be_visible()
    page.locator("#results").get_by_role("link", name="Show all rows").click()
    expect(page.get_by_role("row", name="Small")).to_be_visible()
    expect(page).to_have_url(re.compile(r"\?view=scores&sort=name$"))
