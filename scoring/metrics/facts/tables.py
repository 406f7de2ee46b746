"""The position of a value in a table, and values that slid into another column.

The alignment of the texts ignores columns. If gold and prediction both have a table, row labels and
column headers decide two cases: reordered rows or columns mean the same, and a value under another
column's header does not.

Values slide when those before them vanish: `- | 0.02 | (0.01)` read as `0.02 | (0.01)` has the same
row and order and no header. This is detected from the number of values to its left, from the row's
label on, in gold and prediction, and from the values in that slot in the other rows of the
prediction's table.
"""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz.distance import Levenshtein

from .normalise import CURRENCY, digits_of
from .page import Cell, Page

_YEAR = re.compile(r"(?:19|20)\d\d")
_MOST_HEADER_ROWS = 8
# Labels are equal from this similarity on, if none of the table's other labels is more similar.
_SAME = 0.8
_SURELY_ANOTHER = 0.9


@dataclass(frozen=True)
class TablePosition:
    """The position of a value: the labels before it in its row and the headers above it, reduced
    to letters and digits.

    `reliable` is whether all rows of the table have the same number of columns, so that "above" is
    meaningful.
    """

    table: int
    label: str
    header: str
    reliable: bool


class TablePositions:
    """The positions of a page's value cells, by the place of the value in its visible text."""

    def __init__(self, page: Page) -> None:
        self._cells: list[tuple[int, int, TablePosition]] = []
        tables: defaultdict[int, list[Cell]] = defaultdict(list)
        for cell in page.cells:
            tables[cell.table].append(cell)
        for cells in tables.values():
            self._cells.extend(_positions(cells, page.text))
        self._cells.sort(key=lambda item: item[:2])
        self._starts = [start for start, _, _ in self._cells]

    def at(self, start: int, end: int) -> TablePosition | None:
        """Return the position of the value `[start, end)`, if it is in a value cell with a label
        and a header."""
        index = bisect_right(self._starts, start) - 1
        if index < 0:
            return None
        first, last, position = self._cells[index]
        return position if first <= start and end <= last else None

    def all(self) -> Iterable[TablePosition]:
        return (position for _, _, position in self._cells)


class TableJudge:
    """Compares positions in the prediction's tables with those in the gold's."""

    def __init__(self, gold: Page, prediction: Page) -> None:
        self._gold = TablePositions(gold)
        self._prediction = TablePositions(prediction)
        self._count = Counter((a.label, a.header) for a in self._gold.all())
        labels: defaultdict[int, set[str]] = defaultdict(set)
        headers: defaultdict[int, set[str]] = defaultdict(set)
        for position in self._gold.all():
            labels[position.table].add(position.label)
            headers[position.table].add(position.header)
        self._labels = {table: frozenset(counted) for table, counted in labels.items()}
        self._headers = {table: frozenset(counted) for table, counted in headers.items()}

    def compare(self, fact: tuple[int, int], occurrence: tuple[int, int]) -> int:
        """Return 1 if the occurrence has the fact's position, -1 if it is in another column, 0 if
        the tables do not say.

        Both are `[start, end)` of the visible texts. Transposed tables are recognised.
        """
        gold, other = self._gold.at(*fact), self._prediction.at(*occurrence)
        if gold is None or other is None:
            return 0
        labels, headers = self._labels[gold.table], self._headers[gold.table]
        is_unique = self._count[gold.label, gold.header] == 1
        for label, header in ((other.label, other.header), (other.header, other.label)):
            if _is_same(gold.label, label, labels) and _is_same(gold.header, header, headers):
                return 1 if is_unique else 0
        in_another_column = (
            other.reliable
            and not _is_same(gold.header, other.header, headers)
            and _best(other.header, headers) >= _SURELY_ANOTHER
        )
        return -1 if in_another_column and _is_same(gold.label, other.label, labels) else 0


@lru_cache(maxsize=20_000)
def _is_same(gold: str, other: str, among: frozenset[str]) -> bool:
    """Whether `other` is the label `gold` and not another one of the table."""
    similarity = Levenshtein.normalized_similarity(gold, other)
    return similarity >= _SAME and similarity >= _best(other, among)


def _best(other: str, among: frozenset[str]) -> float:
    return max(Levenshtein.normalized_similarity(label, other) for label in among)


def _positions(cells: list[Cell], text: str) -> Iterable[tuple[int, int, TablePosition]]:
    """Yield the positions of one table's value cells; none without header rows."""
    rows: defaultdict[int, list[Cell]] = defaultdict(list)
    for cell in cells:
        rows[cell.row].append(cell)
    numbers = sorted(rows)
    header_rows = []
    for number in numbers:
        if any(_is_value(text[cell.start : cell.end]) for cell in rows[number]):
            break
        header_rows.append(number)
    headers = _headers([cell for number in header_rows for cell in rows[number]], text)
    if not headers or len(header_rows) > _MOST_HEADER_ROWS:
        return
    reliable = len({cell.row_columns for cell in cells}) == 1
    for number in numbers[len(header_rows) :]:
        label = ""
        for cell in rows[number]:
            content = text[cell.start : cell.end]
            header = "".join(
                dict.fromkeys(
                    headers[column]
                    for column in range(cell.column, cell.column + cell.columns)
                    if column in headers
                )
            )
            if _is_value(content) and label and header:
                yield cell.start, cell.end, TablePosition(cell.table, label, header, reliable)
            elif not _is_value(content):
                label += _alphabetic(content)


def _headers(cells: list[Cell], text: str) -> dict[int, str]:
    """Return the text above each column, from the top down."""
    headers: defaultdict[int, str] = defaultdict(str)
    for cell in cells:
        for column in range(cell.column, cell.column + cell.columns):
            headers[column] += _alphabetic(text[cell.start : cell.end])
    return {column: header for column, header in headers.items() if header}


def _is_value(content: str) -> bool:
    """Whether a cell holds a value and not a label: digits, but not a year or date, and hardly any
    alphabetic characters."""
    letters = sum(map(str.isalpha, content))
    digits = sum(map(str.isdigit, content))
    return digits > letters and not _YEAR.fullmatch(content.strip())


def _alphabetic(content: str) -> str:
    return "".join(filter(str.isalnum, content)).lower()


# A cell with this many alphabetic characters, and more of them than digits, is a label.
_LABEL_LETTERS = 4
_LABEL_CELLS = 3
# Rows whose values kept their slots, if none of them reaches the fact's column.
_LEAST_KEPT = 2
_LINE_NUMBER = 3

Span = tuple[int, int]


@dataclass(frozen=True)
class _Slot:
    """The position of a found value: its gold row and column, and its slot in the prediction's row.

    Columns and slots count from the rows' labels on. The edges are the ends of the two cells, in
    columns of their tables; `has_gap` is whether there are empty cells before the prediction's.
    """

    gold_row: tuple[int, int]
    column: int
    row: tuple[int, int]
    slot: int
    gold_edge: int
    edge: int
    has_gap: bool


def slid(gold: Page, prediction: Page, places: dict[int, Span]) -> set[int]:
    """Return the facts whose values are in another column's slot because values or dashes before
    them vanished.

    `found` maps fact `n` to its place in the prediction's visible text.
    """
    own, other = _Rows(gold), _Rows(prediction)
    slots: dict[int, _Slot] = {}
    in_rows: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for fact in gold.facts:
        cell = own.cell_at(fact.start, fact.end)
        if cell is None or fact.n not in places:
            continue
        in_rows[cell.table, cell.row].append(fact.n)
        place = other.cell_at(*places[fact.n])
        if place is None:
            continue
        widest = own.widest(cell)
        slot = other.values_before(place, places[fact.n][0], widest)
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
    """Return which gold column the rows of a prediction's table have in a slot: by table and slot,
    the column of each row."""
    votes: defaultdict[tuple[int, int], dict[tuple[int, int], int]] = defaultdict(dict)
    for slot in slots:
        votes[slot.row[0], slot.slot].setdefault(slot.row, slot.column)
    return votes


def _edges(slots: Iterable[_Slot]) -> dict[tuple[int, int], Counter[int]]:
    """Return which gold edges the cells at an edge of a prediction's table correspond to, and how
    often, by table and edge."""
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
        return False  # empty cells keep the place of missing values
    # In other rows: is the fact's column in its slot, or in this one too?
    here = votes[own.row[0], own.slot]
    there = votes.get((own.row[0], own.column), {})
    moved_along = sum(column == own.column for column in here.values()) - 1
    kept = sum(column == own.slot for column in here.values())
    kept_there = sum(column == own.column for column in there.values())
    return kept + kept_there > max(moved_along, 0 if kept_there else _LEAST_KEPT)


class _Rows:
    """The table rows of a page, as sequences of value cells after a label."""

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
        """Return the innermost cell around `[start, end)`."""
        index = bisect_right(self._starts, start) - 1
        if index < 0:
            return None
        cell = self._cells[index]
        return cell if end <= cell.end else None

    def columns_before(self, cell: Cell) -> int:
        """Count the columns of values before a cell. Empty columns count, the first column does
        not.

        Columns are identified by their ends: a currency mark may have its own cell before the
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
        """Count the values between the label of the cell's row and `start`; None if the cell is the
        label itself.

        A cell that holds several values, or more digits than `widest`, counts for several.
        """
        values = self._values(self._rows[cell.table, cell.row])
        if cell not in values:
            return None
        texts = (self._text[c.start : min(c.end, start)] for c in values if c.start < start)
        return sum(_count(text, widest) for text in texts)

    def has_gap_before(self, cell: Cell) -> bool:
        """Whether there are empty cells before a cell of a row."""
        row = self._rows[cell.table, cell.row]
        return cell.column > sum(c.columns for c in row if c.column < cell.column)

    def widest(self, cell: Cell) -> int:
        """Return the most digits in a value of the cell's row."""
        values = self._values(self._rows[cell.table, cell.row])
        return max((len(digits_of(self._text[c.start : c.end])) for c in values), default=1)

    def _values(self, row: Sequence[Cell]) -> list[Cell]:
        """Return the cells after the label, except those that hold only a currency mark."""
        texts = [self._text[cell.start : cell.end] for cell in row]
        first = _behind_label(texts)
        return [
            cell
            for cell, text in zip(row[first:], texts[first:], strict=True)
            if text.strip(CURRENCY + " ")
        ]


def _behind_label(texts: Sequence[str]) -> int:
    """Count the cells of a row's label, including a short line number before it."""
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
