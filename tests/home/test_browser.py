"""The look in a real browser: narrow and wide, light and dark, with and without JavaScript."""

from typing import Any

import pytest
from playwright.sync_api import expect

from portal.accounts.models import User
from tests.fixture_types import PageOf
from tests.looks import faults_in_both_looks

from .factories import assign_all, join, make_board, make_campaign, make_graded, make_phase

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
NARROW: dict[str, Any] = {"viewport": {"width": 390, "height": 800}}


@pytest.fixture
def busy_site(ann: User, researcher: User) -> None:
    phase = make_phase(make_board("Board of facts"))
    for name, ffa in [("A system with quite a long name", 0.91), ("B", 0.8)]:
        make_graded(phase, researcher, name, ffa)
    campaign = make_campaign(documents=2)
    join(campaign, ann, "annotator", "lead")
    assign_all(campaign, ann)


def test_the_narrow_menu_opens_without_script(page_of: PageOf) -> None:
    page = page_of(None, java_script_enabled=False, **NARROW)
    page.goto("/")
    link = page.get_by_role("navigation", name="Site").get_by_role("link", name="Boards")
    expect(link).to_be_hidden()
    page.get_by_role("button", name="Menu").click()
    expect(link).to_be_visible()


def test_logging_out_from_the_narrow_menu_without_script(page_of: PageOf, ann: User) -> None:
    page = page_of(ann, java_script_enabled=False, **NARROW)
    page.goto("/start/")
    page.get_by_role("button", name="Menu").click()
    page.locator("details.menu > summary").click()
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("status")).to_contain_text("You are logged out.")


def test_the_keyboard_can_skip_to_the_content(page_of: PageOf) -> None:
    page = page_of(None)
    page.goto("/")
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to content")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()


def test_a_second_click_sends_nothing_until_the_page_is_shown_again(page_of: PageOf) -> None:
    page = page_of(None)
    page.goto("/accounts/login/")
    page.evaluate("addEventListener('submit', (event) => event.preventDefault())")
    button = page.locator("main button[type=submit]")
    page.fill("input[name=login]", "a@example.org")
    page.fill("input[name=password]", "x")
    button.click()
    expect(button).to_be_disabled()
    page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow'))")
    expect(button).to_be_enabled()


def test_the_account_menu_closes_on_escape_and_on_a_click_elsewhere(
    page_of: PageOf, ann: User
) -> None:
    page = page_of(ann)
    page.goto("/start/")
    menu, item = page.locator("details.menu > summary"), page.get_by_role("link", name="Password")
    menu.click()
    expect(item).to_be_visible()
    page.keyboard.press("Escape")
    expect(item).to_be_hidden()
    menu.click()
    page.locator("h1").click()
    expect(item).to_be_hidden()


def test_a_table_wider_than_the_window_scrolls_in_its_frame_with_its_first_column(
    page_of: PageOf, busy_site: None
) -> None:
    page = page_of(None, viewport={"width": 320, "height": 800})
    page.goto("/")
    frame = page.locator("section[aria-labelledby=newest] .table-frame")
    name = frame.locator("tbody th").first
    before = name.bounding_box()
    expect(frame).to_have_attribute("tabindex", "0")
    frame.evaluate("frame => frame.scrollLeft = 1000")
    assert frame.evaluate("frame => frame.scrollLeft") > 0
    assert name.bounding_box() == before


def test_every_link_of_the_footer_leads_to_a_page_with_content(
    page_of: PageOf, busy_site: None
) -> None:
    """A page that only a script fills is empty if the policy refuses the script."""
    page = page_of(None)
    page.goto("/")
    links = page.locator("footer a")
    names = links.all_inner_texts()
    assert names == ["Terms", "Privacy", "Contact", "Docs", "API"]
    for name in names:
        page.goto("/")
        page.locator("footer").get_by_role("link", name=name, exact=True).click()
        expect(page.get_by_role("heading", level=1).first).to_be_visible()
        content = page.locator("main :is(.prose, table)").first
        expect(content).to_be_visible()
        expect(content).not_to_be_empty()


def test_the_way_from_home_to_taking_part(page_of: PageOf, busy_site: None) -> None:
    page = page_of(None)
    page.goto("/")
    picture = page.get_by_role("img", name="The top of an income statement")
    expect(picture).to_be_visible()
    assert picture.evaluate("image => image.naturalWidth") > 0
    page.get_by_role("heading", name="Board of facts").get_by_role("link").click()
    page.get_by_role("link", name="Submit with curl").click()
    expect(page.get_by_role("heading", name="Commands")).to_be_in_viewport()
    assert faults_in_both_looks(page, every=True) == []


API = ["/api/v1/docs/", "/api/v1/docs/boards_leaderboard_retrieve/"]
PUBLIC = ["/", "/accounts/login/", "/accounts/signup/", "/accounts/password/reset/", *API]
OWN = ["/start/", "/account/", "/accounts/email/", "/accounts/2fa/", "/accounts/logout/"]


def test_pages_are_accessible_and_fit(page_of: PageOf, ann: User, busy_site: None) -> None:
    faults: list[str] = []
    for page, addresses in ((page_of(None), PUBLIC), (page_of(ann), OWN)):
        for address in addresses:
            page.goto(address)
            faults += faults_in_both_looks(page, address, every=True)
    assert faults == []
