"""The documentation in a real browser: layout, accessibility and search while typing."""

import re

import pytest
from playwright.sync_api import expect

from portal.home import docs as pages
from tests.fixture_types import PageOf
from tests.looks import faults_in_both_looks

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def test_no_page_is_wider_than_a_phone(page_of: PageOf) -> None:
    page = page_of(None, viewport={"width": 390, "height": 800})
    too_wide = []
    for slug in sorted(pages.slugs() - {pages.INDEX}):
        page.goto(f"/docs/{slug}/")
        if page.evaluate(OVERFLOW) > 0:
            too_wide.append(slug)
    assert too_wide == []


@pytest.mark.parametrize("path", ["/docs/", "/docs/submissions/", "/docs/?q=gold"])
def test_pages_look_right_and_are_accessible(page_of: PageOf, path: str) -> None:
    page = page_of(None)
    page.goto(path)
    assert faults_in_both_looks(page) == []


def test_search_shows_results_while_typing(page_of: PageOf) -> None:
    page = page_of(None)
    page.goto("/docs/")
    page.get_by_label("Search the documentation").press_sequentially("hidden gold")
    expect(page.get_by_role("heading", name="found for “hidden gold”")).to_be_visible()
    expect(page).to_have_url(re.compile(r"/docs/\?q=hidden(\+|%20)gold$"))
    page.get_by_role("listitem").get_by_role("link").filter(has_text="›").first.click()
    expect(page.locator("article")).to_be_visible()


def test_search_works_without_script(page_of: PageOf) -> None:
    page = page_of(None, java_script_enabled=False)
    page.goto("/docs/")
    page.get_by_label("Search the documentation").fill("xyzzy")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_role("heading", name="No results for “xyzzy”")).to_be_visible()


def test_pages_link_to_their_help(page_of: PageOf) -> None:
    page = page_of(None)
    page.goto("/boards/")
    page.get_by_role("link", name="Help for this page").click()
    expect(page).to_have_url(re.compile(r"/docs/"))
    expect(page.get_by_role("heading", level=1)).to_be_visible()
