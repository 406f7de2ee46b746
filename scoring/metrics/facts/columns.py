"""Values that slid into another column of a prediction's table because those before them vanished.

The texts' alignment and the tables' headers do not tell: `- | 0.02 | (0.01)` read as `0.02 |
(0.01)` has the same row, the same order and no header of its own. What tells is how many values
stand left of it, from the row's label on, in gold and prediction, and what stands in that slot in
the other rows of the prediction's table.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .cells import Cell
from .lookalikes import digits_of
from .normalise import CURRENCY
from .page import Page

# A cell with so many letters, and more letters than digits, is a label.
_LABEL_LETTERS = 4
_LABEL_CELLS = 3
# Rows whose values kept their slots, where none of them reaches the fact's column.
_LEAST_KEPT = 2
_LINE_NUMBER = 3

Span = tuple[int, int]


@dataclass(frozen=True)
class _Slot:
    """Where a found value stands: its gold row and column, and its slot in the prediction's row.

    Columns and slots count from the rows' labels on. The edges are where the two cells end, in
    columns of their tables; `has_gap` tells whether empty cells stand before the prediction's.
    """

    gold_row: tuple[int, int]
    column: int
    row: tuple[int, int]
    slot: int
    gold_edge: int
    edge: int
    has_gap: bool


def slid(gold: Page, prediction: Page, found: dict[int, Span]) -> set[int]:
    """Which facts' values stand in another column's slot because values or dashes before them
    vanished.

    `found` tells where in the prediction's visible text something stands for fact `n`.
    """
    own, other = _Rows(gold), _Rows(prediction)
    slots: dict[int, _Slot] = {}
    in_rows: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for fact in gold.facts:
        cell = own.cell_at(fact.start, fact.end)
        if cell is None or fact.n not in found:
            continue
        in_rows[cell.table, cell.row].append(fact.n)
        place = other.cell_at(*found[fact.n])
        if place is None:
            continue
        widest = own.widest(cell)
        slot = other.values_before(place, found[fact.n][0], widest)
        if slot is not None:
            slots[fact.n] = _Slot(
                (cell.table, cell.row),
                own.columns_before(cell),
                (place.table, place.row),
                slot,
                gold_edge=cell.column + cell.columns,
                edge=place.column + place.columns,
                has_gap=other.has_gap_before(place),
            )
    votes = _votes(slots.values())
    edges = _edges(slots.values())
    return {n for n in slots if _has_slid(n, slots, in_rows, votes, edges)}


def _votes(slots: Iterable[_Slot]) -> dict[tuple[int, int], dict[tuple[int, int], int]]:
    """Which gold column the rows of a prediction's table have in a slot: by table and slot, the
    column of each row."""
    votes: defaultdict[tuple[int, int], dict[tuple[int, int], int]] = defaultdict(dict)
    for slot in slots:
        votes[slot.row[0], slot.slot].setdefault(slot.row, slot.column)
    return votes


def _edges(slots: Iterable[_Slot]) -> dict[tuple[int, int], Counter[int]]:
    """Which gold edges the cells at an edge of a prediction's table face, and how often; by table
    and edge."""
    edges: defaultdict[tuple[int, int], Counter[int]] = defaultdict(Counter)
    for slot in slots:
        edges[slot.row[0], slot.edge][slot.gold_edge] += 1
    return edges


def _has_slid(
    n: int,
    slots: dict[int, _Slot],
    in_rows: dict[tuple[int, int], list[int]],
    votes: dict[tuple[int, int], dict[tuple[int, int], int]],
    edges: dict[tuple[int, int], Counter[int]],
) -> bool:
    own = slots[n]
    before = [m for m in in_rows[own.gold_row] if m < n]
    # A value that was read into another line of the row has not vanished.
    moved = sum(m not in slots or slots[m].row != own.row for m in before)
    if own.slot + moved >= own.column:
        return False
    above = edges[own.row[0], own.edge]
    if own.has_gap and 2 * above[own.gold_edge] > above.total():
        return False  # empty cells hold the place of what is not there
    # In other rows: is the fact's column in its slot, or rather in this one as well?
    here = votes[own.row[0], own.slot]
    there = votes.get((own.row[0], own.column), {})
    moved_along = sum(column == own.column for column in here.values()) - 1
    kept = sum(column == own.slot for column in here.values())
    kept_there = sum(column == own.column for column in there.values())
    return kept + kept_there > max(moved_along, 0 if kept_there else _LEAST_KEPT)


class _Rows:
    """The table rows of a page, as sequences of value cells behind a label."""

    def __init__(self, page: Page) -> None:
        self._text = page.text
        self._cells = sorted(page.cells, key=lambda cell: (cell.start, -cell.end))
        self._starts = [cell.start for cell in self._cells]
        self._rows: defaultdict[tuple[int, int], list[Cell]] = defaultdict(list)
        self._numbers: defaultdict[int, set[int]] = defaultdict(set)
        for cell in page.cells:
            self._rows[cell.table, cell.row].append(cell)
            self._numbers[cell.table].add(cell.row)
        self._columns: dict[int, Counter[int]] = {}

    def cell_at(self, start: int, end: int) -> Cell | None:
        """The innermost cell around `[start, end)`."""
        index = bisect_right(self._starts, start) - 1
        if index < 0:
            return None
        cell = self._cells[index]
        return cell if end <= cell.end else None

    def columns_before(self, cell: Cell) -> int:
        """How many columns of values the table has before a cell; empty ones count, the first
        column does not.

        A column is known by where it ends: a currency mark may have a cell of its own before the
        value.
        """
        columns = self._columns.get(cell.table)
        if columns is None:
            columns = self._columns[cell.table] = Counter(
                value.column + value.columns
                for number in self._numbers[cell.table]
                for value in self._values(self._rows[cell.table, number])
                if value.column
            )
        row = self._rows[cell.table, cell.row]
        values = self._values(row)
        first = values[0].column if values else 0
        own = {value.column + value.columns for value in values}
        label = max((c.column + c.columns for c in row if c.column < first), default=1)
        end = cell.column + cell.columns
        return sum(label < at < end and (at in own or n > 1) for at, n in columns.items())

    def values_before(self, cell: Cell, start: int, widest: int) -> int | None:
        """How many values stand between the label of the cell's row and `start`; None if the cell
        is the label itself.

        A cell that holds several values, or more digits than `widest`, counts for several.
        """
        values = self._values(self._rows[cell.table, cell.row])
        if cell not in values:
            return None
        texts = (self._text[c.start : min(c.end, start)] for c in values if c.start < start)
        return sum(_count(text, widest) for text in texts)

    def has_gap_before(self, cell: Cell) -> bool:
        """Whether empty cells stand before a cell of a row."""
        row = self._rows[cell.table, cell.row]
        return cell.column > sum(c.columns for c in row if c.column < cell.column)

    def widest(self, cell: Cell) -> int:
        """The most digits in a value of the cell's row."""
        values = self._values(self._rows[cell.table, cell.row])
        return max((len(digits_of(self._text[c.start : c.end])) for c in values), default=1)

    def _values(self, row: Sequence[Cell]) -> list[Cell]:
        """The cells behind the label, but for those that hold a currency mark alone."""
        texts = [self._text[cell.start : cell.end] for cell in row]
        first = _behind_label(texts)
        return [
            cell
            for cell, text in zip(row[first:], texts[first:], strict=True)
            if text.strip(CURRENCY + " ")
        ]


def _behind_label(texts: Sequence[str]) -> int:
    """How many cells a row's label takes, with a short line number before it."""
    for k, text in enumerate(texts[:_LABEL_CELLS]):
        if _is_label(text):
            return k + 1
        if len(text) > _LINE_NUMBER:
            return 0
    return 0


def _count(text: str, widest: int) -> int:
    words = [word for word in text.split() if word.strip(CURRENCY)]
    return max(len(words), text.count("—"), len(digits_of(text)) // (widest + 1) + bool(words))


def _is_label(text: str) -> bool:
    letters = sum(map(str.isalpha, text))
    return letters >= _LABEL_LETTERS and letters > sum(map(str.isdigit, text))
