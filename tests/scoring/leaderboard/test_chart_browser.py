"""Interactive charts under the site's own Content-Security-Policy."""

import pytest
from playwright.sync_api import Route, expect

from portal.accounts.models import User
from scoring.leaderboard.pictures import draw_requested
from scoring.models import Board
from tests.fixture_types import PageOf
from tests.scoring.factories import make_entry

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PAGE = "/boards/board/charts/"
HOSTILE = "<img src=x onerror='window.ran = 1'> ' || alert(1) || '"
# Building the library takes seconds, more on a busy machine.
PATIENCE = 60_000


@pytest.fixture
def rows(board: Board, researcher: User, empty_pictures: None) -> Board:
    for name, general, ffa in [("Reader", 0.9, 0.5), (HOSTILE, 0.8, 0.75), ("Third", 0.7, 0.6)]:
        make_entry(board, researcher, name=name, general=general, ffa=ffa)
    draw_requested({"board": board.pk})
    return board


def test_charts_answer_the_pointer_and_the_keyboard(page_of: PageOf, rows: Board) -> None:
    page = page_of(None, viewport={"width": 390, "height": 900}, color_scheme="dark")
    said: list[str] = []
    page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
    page.goto(PAGE)
    # A pair, bars, two orders, and dates, which are each drawn differently.
    for key in ("text-and-facts", "metrics", "ranks", "history"):
        section = page.locator("section", has=page.locator(f"#{key}-heading"))
        section.get_by_role("button", name="Interactive").press("Enter")
        expect(section.locator(".chart-live svg")).to_be_visible(timeout=PATIENCE)
        expect(section.locator("img")).to_be_hidden()
        expect(section.locator(".chart-live")).to_contain_text("Third")
    pair = page.locator("section", has=page.locator("#text-and-facts-heading"))
    marks = pair.locator(".chart-live [aria-roledescription=point]")
    expect(marks).to_have_count(3)
    marks.nth(0).hover(force=True)
    expect(page.locator("#vg-tooltip-element")).to_contain_text(HOSTILE)
    expect(page.locator("#vg-tooltip-element")).to_contain_text("75.00")
    pair.get_by_label("Highlight").select_option("Third")
    expect(marks.nth(0)).to_have_attribute("opacity", "0.12")
    expect(marks.nth(1)).not_to_have_attribute("opacity", "0.12")
    button = pair.get_by_role("button", name="Show static chart")
    button.press("Enter")
    expect(pair.locator("img")).to_be_visible()
    expect(pair.locator(".chart-live")).to_have_count(0)
    assert page.evaluate("window.ran") is None
    root = "document.documentElement"
    assert page.evaluate(f"{root}.scrollWidth - {root}.clientWidth") == 0
    assert said == []


def test_lines_lead_to_distant_names(
    page_of: PageOf, board: Board, researcher: User, empty_pictures: None
) -> None:
    """The browser's interpreter does not know all expressions, so check here too that the lines
    have the length given by the specification."""
    for number in range(10):
        make_entry(board, researcher, name=f"Reader {number}", general=0.8, ffa=0.7)
    draw_requested({"board": board.pk})
    page = page_of(None)
    page.goto(PAGE)
    pair = page.locator("section", has=page.locator("#text-and-facts-heading"))
    spec = page.request.get(f"{PAGE}text-and-facts.vl").json()
    leaders = spec["layer"][1]["data"]["values"]
    assert leaders
    pair.get_by_role("button", name="Interactive").press("Enter")
    expect(pair.locator(".chart-live svg")).to_be_visible(timeout=PATIENCE)
    lines = pair.locator(".chart-live .mark-rule.role-mark line")
    expect(lines).to_have_count(len(leaders))
    drawn = [
        tuple(float(line.get_attribute(end) or 0) for end in ("x2", "y2")) for line in lines.all()
    ]
    assert drawn == [(each["dx"], each["to_y"]) for each in leaders]


def test_the_picture_stays_where_the_library_does_not_come(page_of: PageOf, rows: Board) -> None:
    page = page_of(None)

    def fail(route: Route) -> None:
        route.abort()

    page.route("**/charts/vega-*.js", fail)
    page.goto(PAGE)
    section = page.locator("section", has=page.locator("#ranks-heading"))
    section.get_by_role("button", name="Interactive").click()
    expect(section.get_by_role("status")).to_contain_text("could not be loaded")
    expect(section.locator("img")).to_be_visible()
    expect(section.get_by_role("button", name="Interactive")).to_be_enabled()


def test_without_javascript_nothing_is_offered(page_of: PageOf, rows: Board) -> None:
    page = page_of(None, java_script_enabled=False)
    page.goto(PAGE)
    expect(page.get_by_role("img").first).to_be_visible()
    expect(page.get_by_role("button", name="Interactive")).to_have_count(0)


@pytest.mark.parametrize("java_script_enabled", [True, False])
def test_a_picture_comes_as_soon_as_it_is_drawn(
    page_of: PageOf,
    board: Board,
    researcher: User,
    empty_pictures: None,
    java_script_enabled: bool,
) -> None:
    for number in range(2):
        make_entry(board, researcher, name=f"Reader {number}", general=0.8, ffa=0.7)
    page = page_of(None, java_script_enabled=java_script_enabled)
    page.goto(PAGE)
    section = page.locator("section", has=page.locator("#ranks-heading"))
    expect(section).to_contain_text("The chart is being drawn.")
    expect(section.locator("img")).to_have_count(0)
    draw_requested({"board": board.pk})
    if not java_script_enabled:
        section.get_by_role("link", name="Reload the page").click()
    expect(section.locator("img")).to_be_visible()
    expect(section).not_to_contain_text("being drawn")
    buttons = section.get_by_role("button", name="Interactive")
    expect(buttons).to_have_count(int(java_script_enabled))
