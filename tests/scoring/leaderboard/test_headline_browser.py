"""The first view of a board in a real browser, wide and on a phone, in both colour schemes."""

from itertools import pairwise

import pytest
from playwright.sync_api import Locator, expect

from portal.accounts.models import User
from scoring.leaderboard.services import bump_board, load_reported
from scoring.models import Board, Entry
from tests.fixture_types import PageOf
from tests.looks import faults_in_this_look
from tests.scoring.factories import make_entry

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LONG = "An-exceedingly-long-name-of-a-system-that-has-no-space-in-it-at-all"


@pytest.fixture
def rows(board: Board, researcher: User) -> Board:
    for name, ffa in {LONG: 0.9, "Middle": 0.8, "Low": 0.1}.items():
        entry = make_entry(board, researcher, name=name, ffa=ffa)
        Entry.objects.filter(pk=entry.pk).update(
            size="3B + 671B",
            organisation="Ministry of Finance and Economics",
            intervals={"ffa": [ffa - 0.05, ffa + 0.05]},
        )
    bump_board(board.pk)
    return board


def box(part: Locator) -> tuple[float, float]:
    """Returns the left and the right end."""
    found = part.bounding_box()
    assert found is not None
    return found["x"], found["x"] + found["width"]


@pytest.mark.journey
@pytest.mark.parametrize("width", [390, 320, 1280])
def test_no_cell_runs_into_another(page_of: PageOf, rows: Board, width: int) -> None:
    page = page_of(None)
    page.set_viewport_size({"width": width, "height": 844})
    page.goto("/boards/board/")
    assert faults_in_this_look(page) == []
    table = page.get_by_role("table", name="Graded by Factboard")
    frame = page.locator(".table-frame")
    assert frame.evaluate("each => each.scrollWidth - each.clientWidth") == 0
    for row in table.locator("tr").all():
        ends = [box(cell) for cell in row.locator("th, td").all() if cell.is_visible()]
        assert all(left[1] <= right[0] + 0.5 for left, right in pairwise(ends))
        # The content of a cell stays within it.
        for cell in row.locator("th, td").all():
            assert cell.evaluate("each => each.scrollWidth - each.clientWidth") <= 1
    # The first row is on the first screen.
    first = table.locator("tbody tr").first.bounding_box()
    assert first is not None
    assert first["y"] < 844 - 60


@pytest.mark.parametrize("width", [1440, 1024, 800])
def test_headings_do_not_run_into_each_other(page_of: PageOf, width: int) -> None:
    board = Board.objects.create(
        slug="tracks", title="Tracks", benchmark="ccocr", state=Board.State.OPEN
    )
    load_reported(board=board)
    page = page_of(None)
    page.set_viewport_size({"width": width, "height": 844})
    page.goto("/boards/tracks/")
    heads = page.locator(".headline thead th")
    expect(heads).to_have_count(8)
    for head in heads.all():
        assert head.evaluate("each => each.scrollWidth - each.clientWidth") <= 1


@pytest.mark.parametrize("width", [390, 320])
def test_all_scores_show_rank_and_score_on_a_phone(
    page_of: PageOf, rows: Board, width: int
) -> None:
    page = page_of(None)
    page.set_viewport_size({"width": width, "height": 844})
    page.goto("/boards/board/?view=scores")
    row = page.get_by_role("row").filter(has=page.get_by_role("link", name="Middle", exact=True))
    standing = row.get_by_text("Rank 2 · FFA 80.00")
    expect(standing).to_be_visible()
    left, right = box(standing)
    assert (left >= 0, right <= width) == (True, True)
    page.locator(".table-frame").evaluate("each => each.scrollLeft = 300")
    assert box(standing) == (left, right)


def test_a_row_opens_to_the_rest(page_of: PageOf, rows: Board) -> None:
    page = page_of(None, java_script_enabled=False)
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/boards/board/")
    row = page.get_by_role("row").filter(has=page.get_by_role("link", name="Middle", exact=True))
    expect(row.get_by_text("3B + 671B")).to_be_hidden()
    row.locator("summary").press("Enter")
    for text in ("3B + 671B", "Numbers", "Category"):
        expect(row.locator("details").get_by_text(text, exact=True)).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_is_accessible(page_of: PageOf, rows: Board, scheme: str, width: int) -> None:
    page = page_of(None)
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.set_viewport_size({"width": width, "height": 844})
    for url in ("/boards/board/", "/boards/board/?view=scores"):
        page.goto(url)
        assert faults_in_this_look(page) == []


def test_chips_open_by_keyboard_and_close_each_other(page_of: PageOf, rows: Board) -> None:
    page = page_of(None)
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/boards/board/")
    size, date = (page.locator("summary", has_text=word) for word in ("Size", "Date"))
    size.press("Enter")
    expect(page.get_by_label("Parameters from")).to_be_in_viewport()
    date.click()
    expect(page.get_by_label("Released on or after")).to_be_in_viewport()
    expect(page.get_by_label("Parameters from")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(page.get_by_label("Released on or after")).to_be_hidden()


def test_the_head_of_the_whole_table_stays_in_view(
    page_of: PageOf, rows: Board, researcher: User
) -> None:
    for number in range(40):
        make_entry(rows, researcher, name=f"Reader {number}", ffa=0.5)
    page = page_of(None)
    page.goto("/boards/board/?view=scores")
    head = page.get_by_role("columnheader", name="FFA", exact=True)
    page.get_by_role("link", name="Reader 39", exact=True).scroll_into_view_if_needed()
    expect(head).to_be_in_viewport()
