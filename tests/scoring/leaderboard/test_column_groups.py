"""Organisers choose a board's column groups and its sort column."""

import pytest

from portal.accounts.models import User
from portal.audit.models import Event
from scoring.boards.services import edit_board
from scoring.leaderboard.selectors import Leaderboard, leaderboard
from scoring.models import Board
from tests.fixture_types import ApiOf, ClientOf
from tests.scoring.factories import first_phase, make_entry

pytestmark = pytest.mark.django_db

SETTINGS = "/boards/board/settings/"
API = "/api/v1/boards/board/"


def table_of(board: Board, sort: str = "") -> Leaderboard:
    return leaderboard(Board.objects.get(pk=board.pk), first_phase(board), sort)


def names(table: Leaderboard) -> list[str]:
    return [row.entry.name for row in table.sections[0].rows]


def test_no_choice_shows_all(board: Board) -> None:
    assert [column.group for column in table_of(board).columns] == ["General"] * 4 + [
        "Fact-level"
    ] * 4


def test_the_group_of_the_deciding_rank_is_always_shown(board: Board, researcher: User) -> None:
    make_entry(board, researcher)
    edit_board(board=board, changes={"column_groups": ["Fact-level"]}, actor=None)
    table = table_of(board)
    assert [column.label for column in table.columns] == ["N-FFA", "T-FFA", "FFA", "Rank"]
    [row] = table.sections[0].rows
    assert set(row.values) == {"n_ffa", "t_ffa", "ffa"}
    assert set(row.ranks) == {"rank_ffa"}
    assert len(row.cells) == len(table.columns)
    edit_board(board=board, changes={"column_groups": ["General"]}, actor=None)
    assert {column.group for column in table_of(board).columns} == {"General", "Fact-level"}


def test_a_group_that_is_gone_hides_nothing(board: Board) -> None:
    edit_board(board=board, changes={"column_groups": ["Of long ago"]}, actor=None)
    assert len(table_of(board).columns) == 8


def test_hidden_figures_are_still_required_for_a_rank(board: Board, researcher: User) -> None:
    make_entry(board, researcher, name="Whole", ffa=0.2)
    make_entry(board, researcher, name="Half", ffa=0.9, general=None)
    edit_board(board=board, changes={"column_groups": ["Fact-level"]}, actor=None)
    rows = {row.entry.name: row for row in table_of(board).sections[0].rows}
    assert rows["Whole"].ranks == {"rank_ffa": 1}
    assert rows["Half"].ranks == {"rank_ffa": None}
    assert rows["Whole"].cells[2].is_best


def test_the_board_sorts_by_its_own_column_until_a_reader_chooses(
    board: Board, researcher: User, client_of: ClientOf
) -> None:
    make_entry(board, researcher, name="Far", edit_distance=0.4, ffa=0.9)
    make_entry(board, researcher, name="Near", edit_distance=0.2, ffa=0.1)
    assert names(table_of(board)) == ["Far", "Near"]
    edit_board(board=board, changes={"default_sort": "edit_distance"}, actor=None)
    assert names(table_of(board)) == ["Near", "Far"]
    assert names(table_of(board, "ffa")) == ["Far", "Near"]
    assert names(table_of(board, "grouped")) == ["Far", "Near"]
    page = client_of(None).get("/boards/board/?view=scores").content.decode()
    assert "?view=scores&amp;sort=grouped" in page


def test_one_cannot_sort_by_what_is_not_shown(board: Board, researcher: User) -> None:
    make_entry(board, researcher)
    changes = {"column_groups": ["Fact-level"], "default_sort": "edit_distance"}
    edit_board(board=board, changes=changes, actor=None)
    assert table_of(board).sort.key == ""
    assert table_of(board, "r1").sort.key == ""


def test_organisers_choose_by_form(board: Board, organiser: User, client_of: ClientOf) -> None:
    client = client_of(organiser)
    page = client.get(SETTINGS).content.decode()
    assert "Columns shown" in page
    form = {"title": "Board", "column_groups": ["Fact-level"], "default_sort": "ffa"}
    assert client.post(SETTINGS, form).status_code == 302
    board.refresh_from_db()
    assert (board.column_groups, board.default_sort) == (["Fact-level"], "ffa")
    assert Event.objects.get(verb="edit_board").data["before"]["column_groups"] == []
    assert client.post(SETTINGS, form | {"column_groups": ["Magic"]}).status_code == 400


def test_organisers_choose_by_the_api(board: Board, organiser: User, api_of: ApiOf) -> None:
    api = api_of(organiser)
    answer = api.patch(API, {"column_groups": ["Fact-level", "General"]})
    assert answer.json()["column_groups"] == ["General", "Fact-level"]
    refused = api.patch(API, {"column_groups": ["Magic"]})
    assert refused.status_code == 400
    assert "'Magic'" in refused.json()["column_groups"][0]
    answer = api.patch(API, {"column_groups": ["Fact-level"]})
    columns = api.get(f"{API}leaderboard/").json()["columns"]
    assert {column["group"] for column in columns} == {"Fact-level"}
