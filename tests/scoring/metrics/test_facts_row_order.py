"""Rows that have lost values: traces of these, and the order of the others."""

from itertools import count

import pytest

from scoring.metrics.facts.grids import GridCell
from scoring.metrics.facts.row_order import is_exchanged, row_order

from .pages import errors, number, table

HEADS = ["", "2023", "2022", "2021"]
WANTED = [["Net sales", "(48)", "7,837", "16,003"], ["Net income", "1,200", "1,100", "900"]]
GOLD = table([HEADS, *([row[0], *map(number, row[1:])] for row in WANTED)])


def places(row: list[str], wanted: list[str]) -> tuple[list[int | None], int]:
    """The number of the value that each cell begins with, and the room of the row."""
    numbers = count()
    cells = [GridCell(k, k + 1, next(numbers), k + 1, text) for k, text in enumerate(row)]
    order = row_order(cells, wanted)
    return [order.places.get(cell.start) for cell in cells], order.room


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (["Net sales", "(48)", "7,837", "16,003"], [None, 0, 1, 2]),
        (["5", "Net sales", "(48)", "7,837", "16,003"], [None, None, 0, 1, 2]),
        # Marks with a cell of their own.
        (["Net sales", "$", "(48", ")", "$", "7,837", "16,003"], [None, None, 0, None, None, 1, 2]),
        # A trace of a value, and a sign without its value.
        (["Net sales", ")", "7,837", "16,003"], [None, 0, 1, 2]),
        (["Net sales", "$", "$", "7,837", "16,003"], [None, 0, None, 1, 2]),
        (["Net sales", "*", "7,837", "16,003"], [None, 0, 1, 2]),
        # Two values that have run together.
        (["Net sales", "(48)", "783716,003"], [None, 0, 1]),
        (["Net sales", "487837", "16,003"], [None, 0, 2]),
    ],
)
def test_cells_are_counted_with_what_is_left_of_lost_ones(
    row: list[str], expected: list[int | None]
) -> None:
    assert places(row, WANTED[0][1:]) == (expected, 3)


def test_a_lost_value_leaves_no_room() -> None:
    assert places(["Net sales", "7,837", "16,003"], WANTED[0][1:])[1] == 2
    assert places(["Net sales", "— —", "16,003"], ["—", "—", "16,003"]) == ([None, 0, 2], 3)


def test_values_are_exchanged_if_one_is_on_the_other_side() -> None:
    assert is_exchanged(0, 1, ["12", "34", "56"], ["34", "12", "56"])
    assert not is_exchanged(0, 0, ["12", "34", "56"], ["12", "56"])
    # Equal values do not say which is which.
    assert not is_exchanged(0, 1, ["12", "34", "34"], ["34", "12"])


def judged(rows: list[list[str]]) -> list[str]:
    return errors(GOLD, table([HEADS, *rows]))


def test_the_values_behind_what_is_left_of_one_are_in_place() -> None:
    assert judged([["Net sales", ")", "7,837", "16,003"], WANTED[1]])[1:3] == ["ok", "ok"]
    assert judged([["Net sales", "(48)", "783716003"], WANTED[1]])[0] == "ok"


def test_values_that_slid_without_a_trace_are_misplaced() -> None:
    assert judged([["Net sales", "7,837", "16,003", ""], WANTED[1]])[1:3] == ["misplaced"] * 2


def test_a_row_over_two_lines_has_its_values_in_place() -> None:
    broken = [["", "(48)", "7,837", ""], ["Net sales", "16,003", "", ""], WANTED[1]]
    assert judged(broken) == ["ok"] * 6


def test_values_behind_their_table_are_not_lost() -> None:
    rows = table([HEADS, WANTED[1], ["Net sales", "7,837", "16,003"]])
    gold = table([HEADS, *([row[0], *map(number, row[1:])] for row in reversed(WANTED))])
    assert errors(gold, f"{rows}<p>(48)<br>Other text</p>")[4:] == ["ok", "ok"]
    assert errors(gold, f"{rows}<p>Other text</p>")[4:] == ["misplaced"] * 2


def test_marks_in_cells_of_their_own_move_no_column() -> None:
    gold = table([HEADS, *([row[0], *(f"${number(v)}" for v in row[1:])] for row in WANTED)])
    shown = [["Net sales", "$", "(48)$", "7,837$16,003"], [WANTED[1][0], *WANTED[1][1:]]]
    assert errors(gold, table([HEADS, *shown]))[0] == "ok"


@pytest.mark.parametrize("lost", ["7,B37", "", "*"])
def test_lines_that_lost_a_value_keep_the_order_of_the_others(lost: str) -> None:
    lines = [f"{'':12}{'2023':>8}{'2022':>8}{'2021':>8}"]
    for label, *values in (["Net sales", "(48)", lost, "16,003"], WANTED[1]):
        lines.append(f"{label:12}" + "".join(f"{value:>8}" for value in values))
    found = errors(GOLD, "\n".join(lines))
    assert (found[0], found[2]) == ("ok", "ok")


def test_signs_read_as_digits_move_no_value_of_a_line() -> None:
    lines = "Net sales 8 (48) 8 7,837 8 16,003\nNet income 1,200 1,100 900"
    assert errors(GOLD, lines) == ["ok"] * 6


def test_a_value_on_the_wrong_side_of_another_is_misplaced() -> None:
    lines = ["            2023   2022   2021", "Net sales   16,003   7,837"]
    found = errors(GOLD, "\n".join([*lines, "Net income   1,200   1,100   900"]))
    # The other one is below its own header.
    assert found[1:3] == ["ok", "misplaced"]
