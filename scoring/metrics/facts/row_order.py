"""The order of the cells of a row, where nothing else shows their columns.

A row of a prediction may have lost values. Traces of them, such as a lone `)` or two numbers that
ran together, show how many there were; a row with room for as many values as the gold row shows its
columns by its order.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from rapidfuzz.distance.Levenshtein import normalized_similarity

from .grids import GridCell, is_mark, is_value
from .normalise import CURRENCY, digits_of

# A first cell with this many alphabetic characters is the row's label.
_LETTERS = 3
_CLOSING = ")]%"
_DASH = re.compile(r"(?<![^\W_])[-–—−](?![^\W_])")


class RowOrder(NamedTuple):
    """The number of the value that each cell of a row begins with, by the cell's start; how many
    values the row has room for; and how many marks have a cell of their own before each cell."""

    places: dict[int, int]
    room: int
    marks: dict[int, int]


def row_order(row: Sequence[GridCell], wanted: Sequence[str]) -> RowOrder:
    """Return the order of a row of the prediction that should hold the values `wanted`."""
    places: dict[int, int] = {}
    marks: dict[int, int] = {}
    room = skipped = 0
    cells = row[_label_end(row) :]
    for k, cell in enumerate(cells):
        marks[cell.start] = skipped
        if _belongs_to_neighbour(cells, k):
            skipped += 1
            continue
        places[cell.start] = room
        room += _room_of(cell.text, wanted[room : room + 2])
    return RowOrder(places, room, marks)


def _label_end(row: Sequence[GridCell]) -> int:
    """Return the number of cells of the label, with the number of the line before it."""
    for k, cell in enumerate(row[:2]):
        if sum(map(str.isalpha, cell.text)) >= _LETTERS and not is_value(cell.text):
            return k + 1
    return 0


def _belongs_to_neighbour(cells: Sequence[GridCell], k: int) -> bool:
    """Whether a cell is a mark of the value next to it; otherwise it is what is left of one."""
    text = cells[k].text.strip()
    if not is_mark(text):
        return False
    if any(sign in CURRENCY for sign in text):
        behind = cells[k + 1].text.strip() if k + 1 < len(cells) else ""
        return bool(behind) and behind not in CURRENCY
    before = cells[k - 1].text if k else ""
    if text[0] == "(":
        return True
    is_open = before.count("(") > before.count(")")
    return bool(digits_of(before)) and (is_open if text[0] in ")]" else text[0] in _CLOSING)


def _room_of(text: str, wanted: Sequence[str]) -> int:
    """Return the number of values that a cell holds: dashes, or digits that have run together."""
    digits, read = [digits_of(value) for value in wanted], digits_of(text)
    if not read:
        return max(1, len(_DASH.findall(text)))
    if len(digits) < 2 or not all(digits):
        return 1
    apart = max(normalized_similarity(read, each) for each in digits)
    return 1 + (normalized_similarity(read, "".join(digits)) > apart)


def is_exchanged(own: int, at: int, wanted: Sequence[str], found: Sequence[str]) -> bool:
    """Whether value `at` of a row is on the other side of another value than value `own` of the
    gold row is.

    >>> is_exchanged(0, 1, ["12", "34"], ["34", "12"])
    True
    """
    digits = [digits_of(value) for value in wanted]
    read = [digits_of(value) for value in found]
    for k, value in enumerate(digits):
        if value in ("", digits[own]) or digits.count(value) > 1 or read.count(value) != 1:
            continue
        if (k < own) != (read.index(value) < at):
            return True
    return False
