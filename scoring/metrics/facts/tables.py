"""The tables of a page: their columns of values, labels and headers.

They are read from grids (`grids`), whatever form these are written in.
"""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from operator import itemgetter

from .grids import GAP, Grid, GridCell, Row, is_mark, is_value, read_grids
from .headers import split_header
from .normalise import digits_of
from .page import Page

RowKey = tuple[int, int]
"""A row: the number of its table, and of the row in it."""

Located = tuple[int, int, GridCell]
"""A cell: the number of its table, of its row in it, and the cell."""


# A row of more values is no row of a table.
_MOST_COLUMNS = 200
_MOST_SPANS = 2000
# Alphabetic characters behind a value, in a row that is a sentence.
_SENTENCE = 12
# The share of the rows of a table that must show its columns.
_REGULAR = 0.9
# As many rows, compared with the usual ones, show that a table has more columns than those.
_LEAST_FULL = 0.25
# Rows of headers above values, in text.
_MOST_HEADERS = 4
# Characters before a table that may be its caption.
_CAPTION = 200


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

    def column_of(self, row: int, cell: GridCell) -> int | None:
        """Return the column of a value cell; None if the row does not show it."""
        return self.slots[row].get(cell.start)

    @cached_property
    def slots(self) -> list[dict[int, int]]:
        """The column of each value of each row, by the cell's start."""
        return [
            {}
            if self.is_aligned and row in self.grid.odd
            else _slots(values, self.columns, self.is_aligned and not self._is_tight(row))
            for row, values in enumerate(self.values)
        ]

    def _is_tight(self, row: int) -> bool:
        """Whether only single spaces separate the cells of a row, so that only order shows its
        columns."""
        return self.grid.is_spaced and all(
            cell.left - before.right < GAP for before, cell in pairwise(self.grid.rows[row])
        )

    def _shows_columns(self) -> bool:
        """Whether the places of the values on the axis show their columns."""
        rows = [values for values in self.values if len(values) > 1]
        apart = sum(len(_slots(r, self.columns, True)) == len(r) for r in rows)
        tight = sum(bool(row) and self._is_tight(k) for k, row in enumerate(self.values))
        if apart < _REGULAR * len(rows) or 2 * tight > sum(map(bool, self.values)):
            return False
        most = _most_values(self.values)
        return self.grid.is_aligned or len(self.columns) == most or self._has_headers()

    def _has_headers(self) -> bool:
        """Whether a row above the values has a header of its own for each column."""
        above = self.grid.rows[max(0, self._first - _MOST_HEADERS) : self._first]
        over = map(self._over_columns, above)
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
        heads: list[int] = []
        for number, row in enumerate(self.grid.rows):
            if self.values[number]:
                rows = [self.grid.rows[k] for k in heads]
                # A banner over all columns divides rows, and keeps the headers above it.
                if not bands or any(len(head) > 1 for head in rows):
                    bands.append(Band(_headers(rows, self), []))
                else:
                    bands[-1].rows += heads
                heads = []
                bands[-1].rows.append(number)
            elif not bands or _is_header(row, self):
                heads.append(number)
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
    """Whether a line is no row of a table: words follow its value, as in a sentence, or a number is
    all that is before its words or alone."""
    first = next((k for k, cell in enumerate(row) if is_value(cell.text)), len(row))
    if first == 0:
        return len(row) == 1 or not any(is_value(cell.text) for cell in row[1:])
    return any(
        cell.left - before.right < GAP and sum(map(str.isalpha, cell.text)) >= _SENTENCE
        for before, cell in pairwise(row[first:])
    )


def _by_order(values: Sequence[Sequence[GridCell]]) -> list[tuple[int, int]]:
    """Return the columns of rows in which only the order of the values shows them."""
    most = _most_values(values)
    full = [cells for cells in values if len(cells) == most]
    return [
        (min(row[k].left for row in full), max(row[k].right for row in full)) for k in range(most)
    ]


def _most_values(values: Sequence[Sequence[GridCell]]) -> int:
    """Return the number of values of a full row."""
    counts = Counter(len(cells) for cells in values if cells)
    if not counts:
        return 0
    several = {count: n for count, n in counts.items() if count > 1} or counts
    usual = max(several, key=lambda count: (several[count], count))
    # Rows lose values more often than they gain some.
    return max(count for count, n in several.items() if n >= _LEAST_FULL * several[usual])


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
    used = Counter(slots.values())
    return {start: k for start, k in slots.items() if used[k] == 1}


# --- headers -----------------------------------------------------------------------------------
def _is_header(row: Row, table: Table) -> bool:
    """Whether a row between rows of values has headers: texts above columns, and no label."""
    if not row:
        return False
    if not table.columns:
        return False
    left = table.columns[0][0]
    if table.is_aligned:
        return all(cell.right > left for cell in row)
    return len(split_header([c.text for c in row], len(table.columns))) == len(table.columns)


def _headers(rows: Sequence[Row], table: Table) -> list[str]:
    """Return the text above each column, from the top down."""
    columns = table.columns
    headers = [""] * len(columns)
    if table.grid.is_spaced:
        rows = rows[-_MOST_HEADERS:]
    for number, row in enumerate(rows):
        cells = [cell for cell in row if not is_mark(cell.text)]
        is_leaf = number == len(rows) - 1
        over = _over(cells, columns) if table.is_aligned else {}
        if len(set(over.values())) < min(len(cells), len(columns)):
            by_words = is_leaf and not any(map(str.strip, headers))
            pieces = split_header([c.text for c in row], len(columns), by_words=by_words)
            if len(pieces) == len(columns):
                for k, text in enumerate(pieces):
                    headers[k] += f" {text}"
                continue
        last = ""
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


class Tables:
    """The tables of a page, and the cell at a place of its visible text."""

    def __init__(self, page: Page, known: Collection[str] = ()) -> None:
        """Tables whose first row has more of the `known` labels than their first column are read
        by columns."""
        self._text = page.text
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
        """Return the stretch of the cell around `[start, end)`; None where only single spaces end
        it."""
        found = self.at(start, end)
        if found is None:
            return None
        t, r, cell = found
        row = self.tables[t].grid.rows[r]
        if self.tables[t].grid.is_spaced:
            return _within_gaps(row, cell)
        # Each of several values in one cell is a cell of the grid.
        parts = [c for c in row if c.left == cell.left]
        return parts[0].start, parts[-1].end

    def caption(self, table: int) -> str:
        """Return the text between the table before and the first values of a table."""
        rows = self.tables[table].grid.rows
        values = (cells[0].start for cells in self.tables[table].values if cells)
        start = min(cell.start for row in rows for cell in row)
        before = bisect_left(self._starts, start)
        last = self._cells[before - 1][1] if before else 0
        return self._text[max(last, start - _CAPTION) : next(values, start)]

    def rows_of(self, table: int) -> int:
        """Return the number of rows with values of a table."""
        return sum(map(bool, self.tables[table].values))

    def digits(self, table: int) -> Counter[str]:
        """Return the digits of the values of a table, and how often they occur."""
        values = self.tables[table].values
        return Counter(filter(None, (digits_of(c.text) for cells in values for c in cells)))

    @cached_property
    def labels(self) -> dict[str, list[RowKey]]:
        """Return the rows of each label, by its letters and digits."""
        rows: defaultdict[str, list[RowKey]] = defaultdict(list)
        for t, table in enumerate(self.tables):
            for r in range(len(table.grid.rows)):
                if key := label_key(table.label(r)):
                    rows[key].append((t, r))
        return rows


def _within_gaps(row: Row, cell: GridCell) -> tuple[int, int] | None:
    """Return the stretch around a cell between gaps of several spaces; None without such gaps, or
    if it holds several values."""
    first = last = row.index(cell)
    while first and row[first].left - row[first - 1].right < GAP:
        first -= 1
    while last + 1 < len(row) and row[last + 1].left - row[last].right < GAP:
        last += 1
    is_one = sum(is_value(c.text) for c in row[first : last + 1]) < 2
    return (row[first].start, row[last].end) if first and is_one else None


def _is_transposed(grid: Grid, known: Collection[str]) -> bool:
    if not known or not grid.is_aligned or not grid.rows:
        return False
    above = sum(label_key([cell]) in known for cell in grid.rows[0])
    return above > max(1, sum(label_key(row[:1]) in known for row in grid.rows))


def label_key(label: Sequence[GridCell]) -> str:
    """Return the letters and digits of a label."""
    return "".join(filter(str.isalnum, "".join(cell.text for cell in label))).lower()
