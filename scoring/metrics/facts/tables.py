"""Which cell of the prediction's tables is in the place of a fact.

Gold and prediction are compared as grids (`grids`), whatever form they are written in. Rows
correspond by their labels, of which the alignment of the texts says which are the same. Columns
correspond one to one, by their headers, their order and their content, in this order of weight:
exchanged values under unchanged headers are in the wrong columns, and exchanged columns are not.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from scoring.metrics.trees import one_to_one

from .alignment import Alignment
from .grids import Grid, GridCell, Row, is_mark, is_value, read_grids
from .marks import Mark, marks_in
from .normalise import Condensed, Normalised, digits_of, normalise_value
from .page import Page

RowKey = tuple[int, int]
"""A row: the number of its table, and of the row in it."""

Located = tuple[int, int, GridCell]
"""A cell: the number of its table, of its row in it, and the cell."""


@dataclass
class Band:
    """The rows of a table below one block of headers. `headers` are those of its columns."""

    headers: list[str]
    rows: list[int]


class Table:
    """A grid with its columns of values, its labels and its headers."""

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        self.values: list[list[GridCell]] = [
            [] if grid.is_spaced and _is_prose(row) else _value_cells(row) for row in grid.rows
        ]
        if max(map(len, self.values), default=0) > _MOST_COLUMNS:
            self.values = [[] for _ in grid.rows]
        self.columns = _clusters(self.values)
        self._first = next((k for k, values in enumerate(self.values) if values), 0)
        self.columns = self._merged()
        self.is_aligned = self._shows_columns()
        if not self.is_aligned:
            self.columns = _by_order(self.values)
        self.bands = self._bands()

    @cached_property
    def band_of(self) -> dict[int, int]:
        return {row: number for number, band in enumerate(self.bands) for row in band.rows}

    def label(self, row: int) -> list[GridCell]:
        """Return the cells of a row's label: those before its first value, or all words."""
        return self._labels[row]

    @cached_property
    def _labels(self) -> list[list[GridCell]]:
        return [self._label(row) for row in range(len(self.grid.rows))]

    @cached_property
    def order(self) -> list[dict[int, int]]:
        """The number of each value in its row, by the cell's start."""
        return [{cell.start: k for k, cell in enumerate(values)} for values in self.values]

    def _label(self, row: int) -> list[GridCell]:
        cells = self.grid.rows[row]
        values = self.values[row]
        before = [c for c in cells if values and c.start < values[0].start and not is_mark(c.text)]
        return before or [c for c in cells if not is_value(c.text) and not is_mark(c.text)]

    def cells_before(self, row: int, cell: GridCell) -> int:
        """Return the number of cells between a row's label and a value, whatever they hold."""
        cells = [c for c in self.grid.rows[row] if not is_mark(c.text)]
        before = [c for c in cells if c.start < cell.start]
        has_label = not is_value(cells[0].text)
        return sum(max(1, len(_DASH.findall(c.text))) for c in before[has_label:])

    def column_of(self, row: int, cell: GridCell) -> int | None:
        """Return the column of a value cell; None if the row does not show it."""
        return self.slots[row].get(cell.start)

    @cached_property
    def slots(self) -> list[dict[int, int]]:
        """The column of each value of each row, by the cell's start."""
        return [
            {}
            if self.is_aligned and row in self.grid.odd
            else _slots(values, self.columns, self.is_aligned)
            for row, values in enumerate(self.values)
        ]

    def _shows_columns(self) -> bool:
        """Whether the places of the values on the axis show their columns."""
        rows = [values for values in self.values if len(values) > 1]
        apart = sum(len(set(_slots(r, self.columns, True).values())) == len(r) for r in rows)
        if apart < _REGULAR * len(rows):
            return False
        most = max(map(len, self.values), default=0)
        return self.grid.is_aligned or len(self.columns) == most or self._has_headers()

    def _has_headers(self) -> bool:
        """Whether a row above the values has a header of its own for each column."""
        over = map(self._over_columns, self.grid.rows[: self._first])
        return any(len(set(row.values())) == len(self.columns) for row in over)

    def _over_columns(self, row: Row) -> dict[int, tuple[int, ...]]:
        return _over([cell for cell in row if not is_mark(cell.text)], self.columns)

    def _merged(self) -> list[tuple[int, int]]:
        """Return the columns without divisions that no header shows: neighbours that never have
        values in the same row are one column, if no row of headers has different ones for them."""
        heads = [self._over_columns(row) for row in self.grid.rows[: self._first]]
        slots = [set(_slots(values, self.columns, True).values()) for values in self.values]
        used_with = [set[int]() for _ in self.columns]
        for used in slots:
            for k in used:
                used_with[k] |= used
        groups: list[list[int]] = []
        for k in range(len(self.columns)):
            if (
                groups
                and used_with[k].isdisjoint(groups[-1])
                and not any(_divides(row, groups[-1], k) for row in heads)
            ):
                groups[-1].append(k)
            else:
                groups.append([k])
        return [(self.columns[group[0]][0], self.columns[group[-1]][1]) for group in groups]

    def _bands(self) -> list[Band]:
        bands: list[Band] = []
        heads: list[Row] = []
        for number, row in enumerate(self.grid.rows):
            if self.values[number]:
                if heads or not bands:
                    bands.append(Band(_headers(heads, self), []))
                heads = []
                bands[-1].rows.append(number)
            elif not bands or _is_header(row, self):
                heads.append(row)
            else:
                bands[-1].rows.append(number)
        return bands


def _value_cells(row: Row) -> list[GridCell]:
    """Return the cells with values of a row, behind its label."""
    cells = [cell for cell in row if is_value(cell.text)]
    if len(cells) == len(row) or not cells:
        return cells
    # A number at the beginning of a label, such as that of a line, is not a value.
    words = [c for c in row if not is_value(c.text) and not is_mark(c.text)]
    first = words[0].start if words else 0
    return [cell for cell in cells if cell.start > first] or cells


def _divides(over: dict[int, tuple[int, ...]], group: Iterable[int], column: int) -> bool:
    """Whether a row of headers has other cells over a column than over a group of columns."""
    own = {cell for k in group for cell in over.get(k, ())}
    return bool(own) and column in over and own.isdisjoint(over[column])


def _is_prose(row: Row) -> bool:
    """Whether words follow a value, as in a sentence."""
    first = next((k for k, cell in enumerate(row) if is_value(cell.text)), len(row))
    return first > 0 and any(
        sum(map(str.isalpha, cell.text)) >= _SENTENCE for cell in row[first + 1 :]
    )


def _by_order(values: Sequence[Sequence[GridCell]]) -> list[tuple[int, int]]:
    """Return the columns of rows in which only the order of the values shows them."""
    counts = Counter(len(cells) for cells in values if cells)
    if not counts:
        return []
    several = {count: n for count, n in counts.items() if count > 1} or counts
    usual = max(several, key=lambda count: (several[count], count))
    # Rows lose values more often than they gain some.
    most = max(count for count, n in several.items() if n >= _LEAST_FULL * several[usual])
    full = [cells for cells in values if len(cells) == most]
    return [
        (min(row[k].left for row in full), max(row[k].right for row in full)) for k in range(most)
    ]


def _clusters(values: Sequence[Sequence[GridCell]]) -> list[tuple[int, int]]:
    """Return the stretches of the axis that values share, from the narrowest values on. A value
    over several of them is in none."""
    counts = Counter((cell.left, cell.right) for cells in values for cell in cells)
    spans = sorted(
        counts.most_common(_MOST_SPANS),
        key=lambda item: (item[0][1] - item[0][0], -item[1], item[0]),
    )
    columns: list[list[int]] = []
    for (left, right), _ in spans:
        touched = [c for c in columns if c[0] < right and left < c[1]]
        if not touched:
            columns.append([left, right])
        elif len(touched) == 1:
            touched[0][0] = min(touched[0][0], left)
            touched[0][1] = max(touched[0][1], right)
    return [(left, right) for left, right in sorted(columns)]


def _touched(cell: GridCell, columns: Sequence[tuple[int, int]]) -> range:
    """Return the columns that a cell overlaps."""
    first = bisect_right(columns, cell.left, key=itemgetter(1))
    return range(first, bisect_left(columns, cell.right, lo=first, key=itemgetter(0)))


def _slots(
    values: Sequence[GridCell], columns: Sequence[tuple[int, int]], is_aligned: bool
) -> dict[int, int]:
    """Return the column of each value of a row, by the cell's start."""
    if not is_aligned:
        in_order = {cell.start: k for k, cell in enumerate(values)}
        return in_order if len(values) == len(columns) else {}
    slots: dict[int, int] = {}
    for cell in values:
        over = [
            (min(cell.right, columns[k][1]) - max(cell.left, columns[k][0]), k)
            for k in _touched(cell, columns)
        ]
        if over:
            slots[cell.start] = max(over)[1]
    return slots if len(set(slots.values())) == len(values) else {}


# --- headers -----------------------------------------------------------------------------------
# Dashes that are read as one cell.
_DASH = re.compile(r"(?<![^\W_])[-–—−](?![^\W_])")
_YEAR_OR_DATE = re.compile(
    r"(?:(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? ?\d{1,2},? ?)?(?:19|20)\d\d"
    r"|Q[1-4](?: \d{4})?",
    re.IGNORECASE,
)


def _is_header(row: Row, table: Table) -> bool:
    """Whether a row between rows of values has headers: texts above columns, and no label."""
    if not row:
        return False
    if not table.columns:
        return False
    left = table.columns[0][0]
    if table.is_aligned:
        return all(cell.right > left for cell in row)
    return len(_split_header(row, len(table.columns))) == len(table.columns)


def _headers(rows: Sequence[Row], table: Table) -> list[str]:
    """Return the text above each column, from the top down."""
    columns = table.columns
    headers = [""] * len(columns)
    for number, row in enumerate(rows):
        cells = [cell for cell in row if not is_mark(cell.text)]
        over = _over(cells, columns) if table.is_aligned else {}
        if len(set(over.values())) < min(len(cells), len(columns)):
            pieces = _split_header(row, len(columns))
            if len(pieces) == len(columns):
                for k, text in enumerate(pieces):
                    headers[k] += f" {text}"
                continue
        last = ""
        is_leaf = number == len(rows) - 1
        for k in range(len(columns)):
            text = " ".join(cells[c].text for c in over.get(k, ()))
            headers[k] += f" {text or ('' if is_leaf else last)}"
            last = text or last
    return headers


def _over(
    cells: Sequence[GridCell], columns: Sequence[tuple[int, int]]
) -> dict[int, tuple[int, ...]]:
    """Return the cells above each column."""
    over: defaultdict[int, list[int]] = defaultdict(list)
    for c, cell in enumerate(cells):
        for k in _touched(cell, columns):
            over[k].append(c)
    return {k: tuple(found) for k, found in over.items()}


def _split_header(row: Row, count: int) -> list[str]:
    """Return the last `count` headers of a row in which only the order shows the columns."""
    texts = [cell.text for cell in row]
    if len(texts) >= count:
        return texts[-count:] if len(texts) <= count + 1 else []
    dates = _YEAR_OR_DATE.findall(" ".join(texts))
    return dates if len(dates) == count else []


_TOKEN = re.compile(r"[^\W\d_]+|\d+")


def tokens_of(header: str) -> set[str]:
    return set(_TOKEN.findall(normalise_value(header).lower()))


_NUMBER = re.compile(r"\d[\d.,]*")


# --- comparison --------------------------------------------------------------------------------
_HEADER, _PAIR, _CONTENT = 3.0, 1.0, 0.5
# Headers must say this much more, in columns, for another order than that of the gold.
_CLEARLY = 0.5
_SURE, _LEAST_SHARE = 0.5, 0.15
# Rows whose values are compared, to see which columns correspond.
_MOST_ROWS = 200
# A row of more values is no row of a table.
_MOST_COLUMNS = 200
_MOST_SPANS = 2000
# Alphabetic characters behind a value, in a row that is a sentence.
_SENTENCE = 12
# The share of the rows of a table that must show its columns.
_REGULAR = 0.9
# As many rows, compared with the usual ones, show that a table has more columns than those.
_LEAST_FULL = 0.25


class Tables:
    """The tables of a page, and the cell at a place of its visible text."""

    def __init__(self, page: Page, known: Collection[str] = ()) -> None:
        """Tables whose first row has more of the `known` labels than their first column are read
        by columns."""
        self.tables = [
            Table(grid.transposed() if _is_transposed(grid, known) else grid)
            for grid in read_grids(page)
        ]
        self._cells = sorted(
            (cell.start, cell.end, t, r, k)
            for t, table in enumerate(self.tables)
            for r, row in enumerate(table.grid.rows)
            for k, cell in enumerate(row)
        )
        self._starts = [cell[0] for cell in self._cells]

    def at(self, start: int, end: int) -> Located | None:
        """Return table, row and cell around `[start, end)`."""
        index = bisect_right(self._starts, start) - 1
        if index < 0 or self._cells[index][1] < end:
            return None
        _, _, t, r, k = self._cells[index]
        return t, r, self.tables[t].grid.rows[r][k]

    def bounds_at(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the stretch of the cell around `[start, end)`; None where only spaces end it."""
        found = self.at(start, end)
        if found is None or self.tables[found[0]].grid.is_spaced:
            return None
        t, r, cell = found
        # Each of several values in one cell is a cell of the grid.
        parts = [c for c in self.tables[t].grid.rows[r] if c.left == cell.left]
        return parts[0].start, parts[-1].end

    @cached_property
    def labels(self) -> dict[str, list[RowKey]]:
        """Return the rows of each label, by its letters and digits."""
        rows: defaultdict[str, list[RowKey]] = defaultdict(list)
        for t, table in enumerate(self.tables):
            for r in range(len(table.grid.rows)):
                if key := _key(table.label(r)):
                    rows[key].append((t, r))
        return rows


class TableJudge:
    """Compares places in the prediction's tables with those in the gold's."""

    def __init__(self, gold: Page, prediction: Page, alignment: Alignment) -> None:
        self._gold = Tables(gold)
        self._labels = self._gold.labels
        self._other = Tables(prediction, self._labels)
        self._pages = gold, prediction
        self._column_marks: dict[tuple[int, int, int | None], frozenset[Mark]] = {}
        self._alignment = alignment
        self._shares = self._row_shares() if self._gold.tables and self._other.tables else {}
        self._column_maps: dict[
            tuple[int, int, int, int], tuple[dict[int, int], frozenset[int]]
        ] = {}
        self._pairs = self._mapped_rows()
        self._counterparts: defaultdict[RowKey, list[RowKey]] = defaultdict(list)
        for (t, u), rows in self._pairs.items():
            for r, s in rows:
                self._counterparts[t, r].append((u, s))

    def gold_at(self, start: int, end: int) -> Located | None:
        """Return the cell of a gold value; None if it is in no table, or in a label."""
        found = self._gold.at(start, end)
        if found is None:
            return None
        t, r, cell = found
        return found if cell.start in self._gold.tables[t].order[r] else None

    def at(self, start: int, end: int) -> Located | None:
        """Return the cell around a stretch of the prediction."""
        return self._other.at(start, end)

    def bounds_at(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the stretch of the prediction's cell around `[start, end)`; None where no sign but
        spaces ends it."""
        return self._other.bounds_at(start, end)

    def gold_bounds_at(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the stretch of the gold's cell around `[start, end)`, as `bounds_at` does."""
        return self._gold.bounds_at(start, end)

    def marks_around(self, own: Located | None) -> frozenset[Mark]:
        """Return the marks in the gold column of a cell, its headers and its row's label."""
        if own is None:
            return frozenset()
        t, r, cell = own
        table = self._gold.tables[t]
        key = (t, table.band_of[r], table.column_of(r, cell))
        if key not in self._column_marks:
            self._column_marks[key] = marks_in(self._column_text(*key))
        return self._column_marks[key] | marks_in(" ".join(c.text for c in table.label(r)))

    def _column_text(self, t: int, band: int, column: int | None) -> str:
        table = self._gold.tables[t]
        if column is None:
            return " ".join(table.bands[band].headers)
        left = table.columns[column - 1][1] if column else table.columns[0][0] - 1
        right = table.columns[column][1]
        cells = (c for row in table.grid.rows for c in row if left < c.right and c.left < right)
        return " ".join((table.bands[band].headers[column], *(c.text for c in cells)))

    def compare(self, own: Located | None, other: Located | None) -> int:
        """Return 1 if a cell of the prediction is the gold value's, -1 if it is in another row or
        column, 0 if the tables do not say."""
        if own is None or other is None:
            return 0
        in_row = self._in_row(own[:2], other[:2])
        in_column = self._in_column(own, other) if in_row >= 0 else -1
        return in_row and (-1 if in_column < 0 else min(in_row, in_column))

    def place_of(self, own: Located | None) -> list[Located]:
        """Return the cells of the prediction that are the gold value's."""
        rows = self._counterparts.get(own[:2], ()) if own else ()
        return [
            (u, s, cell)
            for u, s in rows
            for cell in self._other.tables[u].values[s]
            if own and self._in_column(own, (u, s, cell)) > 0
        ]

    def repeated(self, own: Located | None) -> list[Located]:
        """Return the cells of the prediction in the gold value's column, of all rows that have its
        row's label."""
        key = _key(self._gold.tables[own[0]].label(own[1])) if own else ""
        if not own or len(self._labels.get(key, ())) != 1:
            return []
        return [
            (u, s, cell)
            for u, s in self._other.labels.get(key, ())
            for cell in self._other.tables[u].values[s]
            if self._in_column(own, (u, s, cell)) > 0
        ]

    def _in_row(self, gold: RowKey, other: RowKey) -> int:
        if not self._gold.tables[gold[0]].label(gold[1]):
            return 0
        shares = self._shares.get(other, {})
        own = shares.get(gold, 0.0)
        if own >= _SURE:
            return 1
        return -1 if own < _LEAST_SHARE and max(shares.values(), default=0.0) > _SURE else 0

    def _in_column(self, own: Located, other: Located) -> int:
        t, r, gold_cell = own
        u, s, cell = other
        table, read = self._gold.tables[t], self._other.tables[u]
        if _holds_several(cell.text):
            return 0
        i, j = table.column_of(r, gold_cell), read.column_of(s, cell)
        if i is not None and j is not None:
            columns, taken = self._columns(t, table.band_of[r], u, read.band_of[s])
            if i in columns:
                return 1 if columns[i] == j else -1
            if j in taken:
                return -1
        mine, others = table.order[r], read.order[s]
        if cell.start not in others:
            return 0
        # In rows with the same number of values, their order decides.
        if len(mine) == len(others):
            return 1 if mine[gold_cell.start] == others[cell.start] else -1
        # So does the number of the cell in a table that has all columns in other rows.
        if read.grid.is_spaced or not len(others) < len(mine) <= len(read.columns):
            return 0
        lost = mine[gold_cell.start] - read.cells_before(s, cell)
        return -1 if lost > 0 else 1 if lost == 0 else 0

    def _columns(
        self, t: int, band: int, u: int, other_band: int
    ) -> tuple[dict[int, int], frozenset[int]]:
        """Return the prediction's column of each gold column, and all of those."""
        key = (t, band, u, other_band)
        if key not in self._column_maps:
            columns = self._map_columns(*key)
            self._column_maps[key] = columns, frozenset(columns.values())
        return self._column_maps[key]

    def _map_columns(self, t: int, band: int, u: int, other_band: int) -> dict[int, int]:
        table, read = self._gold.tables[t], self._other.tables[u]
        rows = [
            (r, s)
            for r, s in self._pairs.get((t, u), ())
            if table.band_of.get(r) == band and read.band_of.get(s) == other_band
        ]
        if not read.is_aligned and len(read.columns) < len(table.columns):
            return {}  # a header may be lost like a value
        likeness = header_likeness(table.bands[band].headers, read.bands[other_band].headers)
        return match_columns(likeness, self._contents(table, read, rows))

    def _contents(
        self, table: Table, read: Table, rows: Iterable[tuple[int, int]]
    ) -> NDArray[np.float64]:
        """Return the share of rows in which two columns have equal values."""
        equal = np.zeros((len(table.columns), len(read.columns)))
        both = np.ones_like(equal)
        for r, s in islice(rows, _MOST_ROWS):
            mine = [(table.column_of(r, cell), digits_of(cell.text)) for cell in table.values[r]]
            theirs = [(read.column_of(s, cell), digits_of(cell.text)) for cell in read.values[s]]
            for i, own in mine:
                for j, other in theirs:
                    if i is not None and j is not None:
                        both[i, j] += 1
                        equal[i, j] += own == other != ""
        return equal / both

    # --- rows
    def _row_shares(self) -> dict[RowKey, dict[RowKey, float]]:
        """Return, for each row of the prediction, the gold rows that its label is aligned with, by
        share."""
        prediction = self._pages[1]
        rows = self._gold_rows()
        faces = self._alignment.to_gold
        others = self._other.labels
        shares: dict[RowKey, dict[RowKey, float]] = {}
        for u, table in enumerate(self._other.tables):
            for s in range(len(table.grid.rows)):
                label = table.label(s)
                key = _key(label)
                known = self._labels.get(key, ())
                if len(known) == len(others.get(key, ())) == 1:
                    shares[u, s] = dict.fromkeys(self._continued(known[0]), 1.0)
                    continue
                votes: Counter[RowKey] = Counter()
                total = 0
                for cell in label:
                    start, end = _condensed(prediction.normalised, self._alignment.prediction, cell)
                    at = np.arange(start, end)
                    at = at[self._alignment.same[start:end]]
                    faced = rows[faces[at]]
                    total += len(at)
                    for row in faced[faced >= 0].tolist():
                        votes[self._numbered[row]] += 1
                if total >= 2:
                    shares[u, s] = self._with_neighbours(votes, total)
        return shares

    def _gold_rows(self) -> NDArray[np.int64]:
        """Return the row of every character of the condensed gold text, if it is in a label."""
        rows = np.full(len(self._alignment.gold.chars) + 1, -1, dtype=np.int64)
        self._numbered: list[RowKey] = []
        for t, table in enumerate(self._gold.tables):
            for r in range(len(table.grid.rows)):
                self._numbered.append((t, r))
                for cell in table.label(r):
                    start, end = _condensed(self._pages[0].normalised, self._alignment.gold, cell)
                    rows[start:end] = len(self._numbered) - 1
        return rows

    def _with_neighbours(self, votes: Counter[RowKey], total: int) -> dict[RowKey, float]:
        """Count a row without values, which continues a label, for the rows with values next to
        it."""
        shares: defaultdict[RowKey, float] = defaultdict(float)
        for row, count in votes.items():
            for own in self._belonging(row):
                shares[own] += count / total
        return dict(shares)

    def _belonging(self, row: RowKey) -> list[RowKey]:
        t, r = row
        values = self._gold.tables[t].values
        if values[r]:
            return [row]
        before = next((k for k in range(r - 1, -1, -1) if values[k]), None)
        behind = next((k for k in range(r + 1, len(values)) if values[k]), None)
        return [row, *((t, k) for k in (before, behind) if k is not None)]

    def _continued(self, row: RowKey) -> list[RowKey]:
        """Return the row, and those that its label is part of: a line that begins in lower
        case continues the one before."""
        t, r = row
        table = self._gold.tables[t]
        if table.values[r]:
            return [row]
        lines = [
            k for k in (r, r + 1) if k and k < len(table.values) and _begins_small(table.label(k))
        ]
        return [row, *((t, k - 1 if k == r else k) for k in lines)]

    def _mapped_rows(self) -> dict[tuple[int, int], list[tuple[int, int]]]:
        pairs: defaultdict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
        for (u, s), shares in self._shares.items():
            for (t, r), share in shares.items():
                if share >= _SURE and self._gold.tables[t].values[r]:
                    pairs[t, u].append((r, s))
        return pairs


def _holds_several(text: str) -> bool:
    """Whether a cell holds several numbers, of which the columns are unknown."""
    return len(_NUMBER.findall(text)) > 1


def _is_transposed(grid: Grid, known: Collection[str]) -> bool:
    if not known or not grid.is_aligned or not grid.rows:
        return False
    above = sum(_key([cell]) in known for cell in grid.rows[0])
    return above > max(1, sum(_key(row[:1]) in known for row in grid.rows))


def _begins_small(label: Sequence[GridCell]) -> bool:
    return bool(label) and label[0].text[:1].islower()


def _key(label: Sequence[GridCell]) -> str:
    return "".join(filter(str.isalnum, "".join(cell.text for cell in label))).lower()


def _condensed(text: Normalised, condensed: Condensed, cell: GridCell) -> tuple[int, int]:
    return condensed.span(*text.span(cell.start, cell.end))


def header_likeness(gold: Sequence[str], other: Sequence[str]) -> NDArray[np.float64]:
    """Return how well the headers of the prediction's columns say which gold column they are, in
    [0, 1]; 0 if they do not say."""
    own = [tokens_of(header) for header in gold]
    common = set.intersection(*own) if own else set()
    known = set().union(*own) - common
    read = [tokens_of(header) & known for header in other]
    likeness = np.zeros((len(gold), len(other)))
    for i, mine in enumerate(own):
        for j, theirs in enumerate(read):
            union = (mine & known) | theirs
            if theirs and union:
                likeness[i, j] = len(mine & theirs) / len(union)
    return likeness


def match_columns(likeness: NDArray[np.float64], contents: NDArray[np.float64]) -> dict[int, int]:
    """Return the prediction's column of each gold column, as far as it is known."""
    rows, columns = likeness.shape
    if not rows or not columns:
        return {}
    in_order = _in_order(_HEADER * likeness + _PAIR + _CONTENT * contents)
    best = one_to_one(likeness, maximize=True)
    free = [(int(i), int(j)) for i, j in zip(*best, strict=True) if likeness[i, j] >= _SURE]
    gain = sum(likeness[i, j] for i, j in free) - sum(likeness[i, j] for i, j in in_order)
    if gain > _CLEARLY:
        return dict(free)
    if not likeness.any():
        return {}
    if rows == columns:
        return dict(in_order)
    return {i: j for i, j in in_order if likeness[i, j] > 0 or contents[i, j] >= _SURE}


def _in_order(scores: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Return the pairs of rows and columns with the greatest sum that are in the same order."""
    rows, columns = scores.shape
    best = np.zeros((rows + 1, columns + 1))
    for i in range(rows):
        for j in range(columns):
            best[i + 1, j + 1] = max(best[i, j] + scores[i, j], best[i, j + 1], best[i + 1, j])
    pairs = []
    i, j = rows, columns
    while i and j:
        if best[i, j] == best[i - 1, j]:
            i -= 1
        elif best[i, j] == best[i, j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            pairs.append((i, j))
    return pairs[::-1]
