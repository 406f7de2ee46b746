"""Which cell of the prediction's tables is in the place of a fact.

Rows correspond by their labels, of which the alignment of the texts says which are the same.
Columns correspond one to one, by their headers, their order and their content, in this order of
weight: exchanged values under unchanged headers are in the wrong columns, and exchanged columns are
not.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from .alignment import Alignment
from .correspondence import header_likeness, match_columns, match_tables
from .grids import GridCell
from .marks import Mark, marks_in
from .normalise import Condensed, Normalised, digits_of
from .page import Page
from .row_order import RowOrder, is_exchanged, row_order
from .tables import Located, RowKey, Table, Tables, label_key

_SURE, _LEAST_SHARE = 0.5, 0.15
# A label has at least this many alphabetic characters; fewer are a misread mark.
_WORD = 3
_LABEL_WORD = re.compile(r"[^\W\d_]{4}")
# Rows whose values are compared, to see which columns correspond.
_MOST_ROWS = 200
_NUMBER = re.compile(r"\d[\d.,]*")
# Spaces and marks that may be added to a value.
_LOOSE = 4


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
        self._places: dict[tuple[int, int], list[Located]] = {}
        self._likenesses: dict[tuple[int, int, int, int], NDArray[np.float64]] = {}
        self._orders: dict[tuple[RowKey, RowKey], RowOrder] = {}
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

    def is_in_same_label(self, gold: tuple[int, int], other: Located | None) -> bool:
        """Whether a cell of the prediction is in the label, or the row of headers, around a stretch
        of the gold."""
        own = self._gold.at(*gold)
        if own is None or other is None:
            return False
        (t, r, cell), (u, s, read) = own, other
        table, others = self._gold.tables[t], self._other.tables[u]
        if cell.start in table.order[r] or read.start in others.order[s]:
            return False
        is_sure = self._shares.get((u, s), {}).get((t, r)) == 1
        return is_sure and label_key(table.label(r)) == label_key(others.label(s))

    def place_of(self, own: Located | None) -> list[Located]:
        """Return the cells of the prediction that are the gold value's."""
        if own is None:
            return []
        key = own[0], own[2].start
        if key not in self._places:
            self._places[key] = self._in_rows(own, self._counterparts.get(own[:2], ()))
        return self._places[key]

    def _in_rows(self, own: Located, rows: Iterable[RowKey]) -> list[Located]:
        """Return the cells of rows of the prediction that are in the gold value's column."""
        return [
            (u, s, cell)
            for u, s in rows
            for cell in self._other.tables[u].values[s]
            if self._in_column(own, (u, s, cell)) > 0
        ]

    def repeated(self, own: Located | None) -> list[Located]:
        """Return the cells of the prediction in the gold value's column, of all rows that have its
        row's label."""
        key = label_key(self._gold.tables[own[0]].label(own[1])) if own else ""
        if not own or len(self._labels.get(key, ())) != 1:
            return []
        rows = self._other.labels.get(key, ())
        if rows == self._counterparts.get(own[:2]):
            return self.place_of(own)
        return self._in_rows(own, rows)

    def is_next_to(self, own: Located | None, other: Located) -> bool:
        """Whether a cell of the prediction has another value of the gold row, in a line with a part
        of its values."""
        if own is None:
            return False
        (t, r, gold_cell), (u, s, cell) = own, other
        values = self._gold.tables[t].values[r]
        return len(self._other.tables[u].values[s]) < len(values) and any(
            digits_of(value.text) == digits_of(cell.text)
            for value in values
            if value.start != gold_cell.start
        )

    def rivals(self, own: Located | None) -> list[Located]:
        """Return the cells of the prediction in columns that no gold column has, but whose header
        is that of the gold value's, and those in lines without a label next to its row."""
        if own is None:
            return []
        t, r, _ = own
        found = []
        for u, s, cell in self.place_of(own):
            read = self._other.tables[u]
            j = read.column_of(s, cell)
            if j is None:
                continue
            same = self._same_header(t, self._gold.tables[t].band_of[r], u, read.band_of[s], j)
            found += [(u, s, c) for c in read.values[s] if read.column_of(s, c) in same]
            for k in (s - 1, s + 1):
                if 0 <= k < len(read.values) and not label_key(read.label(k)):
                    found += [(u, k, c) for c in read.values[k] if read.column_of(k, c) == j]
        return found

    def _same_header(self, t: int, band: int, u: int, other_band: int, column: int) -> set[int]:
        """Return the columns without a gold column whose header says as much as that of `column`
        which gold column they are."""
        columns, taken = self._columns(t, band, u, other_band)
        gold = next((i for i, j in columns.items() if j == column), None)
        if gold is None:
            return set()
        likeness = self._likeness(t, band, u, other_band)[gold]
        return {
            j
            for j, likely in enumerate(likeness)
            if j not in taken and likely >= max(_SURE, likeness[column])
        }

    def _in_row(self, gold: RowKey, other: RowKey) -> int:
        if not label_key(self._gold.tables[gold[0]].label(gold[1])):
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
        mine, others = table.order[r], read.order[s]
        if _holds_several(cell.text):
            return 0
        is_split = len(mine) == len(others) == len(table.columns) < len(read.columns)
        told = 0 if is_split and _is_broken_up(read, s) else self._by_header(own, other)
        if told > 0 or cell.start not in others:
            return told
        is_full = len(mine) == len(others)
        if read.grid.is_spaced and not is_full:
            return -1 if self._is_exchanged(own, other) else 0
        if told < 0:
            return 0 if self._has_slid(own, other) else -1
        # In rows with the same number of values, their order decides.
        if is_full:
            return 1 if mine[gold_cell.start] == others[cell.start] else -1
        # So does the number of the cell in a table that has all columns in other rows.
        if not len(others) < len(mine) <= len(read.columns) or self._is_broken(own, other):
            return 0
        lost = mine[gold_cell.start] - self._order(own, other).places.get(cell.start, 0)
        if lost > 0:
            return 0 if self._goes_on_behind(own[:2], other[:2]) else -1
        return 1 if lost == 0 else 0

    def _by_header(self, own: Located, other: Located) -> int:
        """Return what the columns say that headers show; 0 if these are not known."""
        t, r, gold_cell = own
        u, s, cell = other
        table, read = self._gold.tables[t], self._other.tables[u]
        i, j = table.column_of(r, gold_cell), read.column_of(s, cell)
        if i is None or j is None:
            return 0
        columns, taken = self._columns(t, table.band_of[r], u, read.band_of[s])
        if i in columns:
            return 1 if columns[i] == j else -1
        return -1 if j in taken else 0

    def _order(self, own: Located, other: Located) -> RowOrder:
        t, r, _ = own
        u, s, _ = other
        key = (t, r), (u, s)
        if key not in self._orders:
            wanted = [cell.text for cell in self._gold.tables[t].values[r]]
            self._orders[key] = row_order(self._other.tables[u].grid.rows[s], wanted)
        return self._orders[key]

    def _is_exchanged(self, own: Located, other: Located) -> bool:
        (t, r, gold_cell), (u, s, cell) = own, other
        table, read = self._gold.tables[t], self._other.tables[u]
        return is_exchanged(
            table.order[r][gold_cell.start],
            read.order[s][cell.start],
            [value.text for value in table.values[r]],
            [value.text for value in read.values[s]],
        )

    def _has_slid(self, own: Located, other: Located) -> bool:
        """Whether only the headers of the prediction, or marks in cells of their own, have moved
        its columns, and the row itself is in order; or the rest of the row is in another line."""
        (t, r, gold_cell), (u, s, cell) = own, other
        table, read = self._gold.tables[t], self._other.tables[u]
        if self._is_broken(own, other):
            return True
        order = self._order(own, other)
        if order.places.get(cell.start) != table.order[r][gold_cell.start]:
            return self._goes_on_behind(own[:2], other[:2])
        i, j = table.column_of(r, gold_cell), read.column_of(s, cell)
        columns, _ = self._columns(t, table.band_of[r], u, read.band_of[s])
        in_order = [columns[k] for k in sorted(columns)]
        if in_order != sorted(in_order):
            return False
        if i in columns and j is not None and 0 < j - columns[i] <= order.marks[cell.start]:
            return order.room == len(table.values[r])
        widest = max(len(values) for values in read.values)
        return len(columns) < len(table.columns) <= max(order.room, widest)

    def _is_broken(self, own: Located, other: Located) -> bool:
        """Whether a row has lost values, and a line without a label next to it may have them."""
        (t, r, _), (u, s, _) = own, other
        read = self._other.tables[u]
        lost = len(self._gold.tables[t].values[r]) - len(read.values[s])
        near = (k for k in (s - 1, s + 1) if 0 <= k < len(read.values))
        return any(
            0 < len(read.values[k]) <= lost and _letters(read.label(k)) < _WORD for k in near
        )

    def _goes_on_behind(self, gold: RowKey, other: RowKey) -> bool:
        """Whether a row is the last of its table, and the text behind it begins with the values
        that the row has lost."""
        (t, r), (u, s) = gold, other
        read = self._other.tables[u]
        if s + 1 < len(read.values):
            return False
        kept = Counter(digits_of(cell.text) for cell in read.values[s])
        lost = [c for c in self._gold.tables[t].values[r] if not kept[digits_of(c.text)]]
        digits = "".join(digits_of(cell.text) for cell in lost)
        start = read.grid.rows[s][-1].end
        reach = start + sum(_LOOSE + cell.end - cell.start for cell in lost)
        return bool(digits) and digits_of(self._pages[1].text[start:reach]).startswith(digits)

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
        # A header may be lost like a value, and a single column have the header of another.
        is_sure = read.is_aligned and not (read.grid.is_spaced and len(read.columns) == 1)
        if len(read.columns) < len(table.columns) and not is_sure:
            return {}
        likeness = self._likeness(t, band, u, other_band)
        return match_columns(likeness, self._contents(table, read, rows))

    def _likeness(self, t: int, band: int, u: int, other_band: int) -> NDArray[np.float64]:
        key = (t, band, u, other_band)
        if key not in self._likenesses:
            own, read = self._gold.tables[t].bands[band], self._other.tables[u].bands[other_band]
            self._likenesses[key] = header_likeness(own.headers, read.headers)
        return self._likenesses[key]

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
        others = self._other.labels
        shares: dict[RowKey, dict[RowKey, float]] = {}
        open_rows: dict[RowKey, tuple[Counter[RowKey], int]] = {}
        rows = self._gold_rows()
        for u, table in enumerate(self._other.tables):
            for s in range(len(table.grid.rows)):
                key = label_key(table.label(s))
                known = self._labels.get(key, ())
                if len(known) == len(others.get(key, ())) == 1:
                    shares[u, s] = dict.fromkeys(self._continued(known[0]), 1.0)
                elif not _is_behind(table.label(s), table.values[s]):
                    open_rows[u, s] = self._votes(table.label(s), rows)
        same = self._same_labels(open_rows)
        for row, (votes, total) in open_rows.items():
            if row in same:
                shares[row] = dict.fromkeys(self._continued(same[row]), 1.0)
            elif total >= 2:
                shares[row] = self._with_neighbours(votes, total)
        return shares

    def _votes(
        self, label: Sequence[GridCell], rows: NDArray[np.int64]
    ) -> tuple[Counter[RowKey], int]:
        """Return the characters of a label that are aligned with each gold row, and with any
        text."""
        votes: Counter[RowKey] = Counter()
        total = 0
        for cell in label:
            start, end = _condensed(self._pages[1].normalised, self._alignment.prediction, cell)
            at = np.arange(start, end)
            at = at[self._alignment.same[start:end]]
            faced = rows[self._alignment.to_gold[at]]
            total += len(at)
            for row, count in Counter(faced[faced >= 0].tolist()).items():
                votes[self._numbered[row]] += count
        return votes, total

    def _same_labels(
        self, open_rows: Mapping[RowKey, tuple[Counter[RowKey], int]]
    ) -> dict[RowKey, RowKey]:
        """Return the gold row of each row whose label is in several tables, if it is clear which of
        these is the row's, and if the label is there only once."""
        aligned: defaultdict[tuple[int, int], float] = defaultdict(float)
        totals = Counter[int]()
        for (u, _), (votes, total) in open_rows.items():
            totals[u] += total
            for (t, _), count in votes.items():
                aligned[t, u] += count
        shares = {(t, u): count / totals[u] for (t, u), count in aligned.items()}
        tables = match_tables(self._gold, self._other, shares)
        found = {}
        for label, rows in self._other.labels.items():
            known = Counter(t for t, _ in self._labels.get(label, ()))
            copies = Counter(u for u, _ in rows)
            for u, s in rows:
                own = tables.get(u, -1)
                if known[own] == copies[u] == 1 and len(known) > 1:
                    found[u, s] = next(row for row in self._labels[label] if row[0] == own)
        return found

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


def _is_broken_up(table: Table, row: int) -> bool:
    """Whether a table in text may have more columns than headers, since broken values and numbers
    in labels look like several."""
    if not table.grid.is_spaced:
        return False
    headers = set(map(str.strip, table.bands[table.band_of[row]].headers)) - {""}
    first = min(cells[0].left for cells in table.grid.rows if cells)
    return len(headers) < len(table.columns) or table.columns[0][0] <= first


def _is_behind(label: Sequence[GridCell], values: Sequence[GridCell]) -> bool:
    """Whether a label without a word is behind the first value of its row: it may be a damaged
    value. A column of labels that was moved has words."""
    if not (label and values) or label[0].start < values[0].start:
        return False
    return not any(_LABEL_WORD.search(cell.text) for cell in label)


def _letters(label: Sequence[GridCell]) -> int:
    return sum(map(str.isalpha, "".join(cell.text for cell in label)))


def _begins_small(label: Sequence[GridCell]) -> bool:
    return bool(label) and label[0].text[:1].islower()


def _condensed(text: Normalised, condensed: Condensed, cell: GridCell) -> tuple[int, int]:
    return condensed.span(*text.span(cell.start, cell.end))
