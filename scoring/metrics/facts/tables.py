"""Row labels and column headers: the address of a value in a table.

The alignment of the texts knows nothing of columns. Where gold and prediction both have a table,
the addresses settle what it cannot: that reordered rows or columns mean the same, and that a
value under another column's header does not.
"""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz.distance import Levenshtein

from .cells import Cell
from .page import Page

_YEAR = re.compile(r"(?:19|20)\d\d")
_MOST_HEADER_ROWS = 8
# Labels are the same from this similarity on, if none of the table's other labels is more similar.
_SAME = 0.8
_SURELY_ANOTHER = 0.9


@dataclass(frozen=True)
class Address:
    """Where a value stands: the labels before it in its row and the headers above it, as letters
    and digits.

    `reliable` tells that all rows of the table have the same number of columns, so that "above"
    means something.
    """

    table: int
    label: str
    header: str
    reliable: bool


class Addresses:
    """The addresses of the value cells of a page, by the place of the value in its visible text."""

    def __init__(self, page: Page) -> None:
        self._cells: list[tuple[int, int, Address]] = []
        tables: defaultdict[int, list[Cell]] = defaultdict(list)
        for cell in page.cells:
            tables[cell.table].append(cell)
        for cells in tables.values():
            self._cells.extend(_addresses(cells, page.text))
        self._cells.sort(key=lambda item: item[:2])
        self._starts = [start for start, _, _ in self._cells]

    def at(self, start: int, end: int) -> Address | None:
        """The address of the value `[start, end)`, if it stands in a value cell with a label and
        a header."""
        index = bisect_right(self._starts, start) - 1
        if index < 0:
            return None
        first, last, address = self._cells[index]
        return address if first <= start and end <= last else None

    def all(self) -> Iterable[Address]:
        return (address for _, _, address in self._cells)


class TableJudge:
    """Compares addresses in the prediction's tables with those in the gold's."""

    def __init__(self, gold: Page, prediction: Page) -> None:
        self._gold = Addresses(gold)
        self._prediction = Addresses(prediction)
        self._count = Counter((a.label, a.header) for a in self._gold.all())
        labels: defaultdict[int, set[str]] = defaultdict(set)
        headers: defaultdict[int, set[str]] = defaultdict(set)
        for address in self._gold.all():
            labels[address.table].add(address.label)
            headers[address.table].add(address.header)
        self._labels = {table: frozenset(found) for table, found in labels.items()}
        self._headers = {table: frozenset(found) for table, found in headers.items()}

    def compare(self, fact: tuple[int, int], occurrence: tuple[int, int]) -> int:
        """1 if the occurrence has the fact's address, -1 if it has another column's, 0 if the
        tables do not say.

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
    """Whether `other` is the label `gold` rather than any other of the table."""
    similarity = Levenshtein.normalized_similarity(gold, other)
    return similarity >= _SAME and similarity >= _best(other, among)


def _best(other: str, among: frozenset[str]) -> float:
    return max(Levenshtein.normalized_similarity(label, other) for label in among)


def _addresses(cells: list[Cell], text: str) -> Iterable[tuple[int, int, Address]]:
    """The addresses of one table's value cells; without header rows there are none."""
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
                yield cell.start, cell.end, Address(cell.table, label, header, reliable)
            elif not _is_value(content):
                label += _letters(content)


def _headers(cells: list[Cell], text: str) -> dict[int, str]:
    """What stands above each column, from the top down."""
    headers: defaultdict[int, str] = defaultdict(str)
    for cell in cells:
        for column in range(cell.column, cell.column + cell.columns):
            headers[column] += _letters(text[cell.start : cell.end])
    return {column: header for column, header in headers.items() if header}


def _is_value(content: str) -> bool:
    """Whether a cell holds a value rather than a label: digits, but no year or date, and hardly
    any letters."""
    letters = sum(map(str.isalpha, content))
    digits = sum(map(str.isdigit, content))
    return digits > letters and not _YEAR.fullmatch(content.strip())


def _letters(content: str) -> str:
    return "".join(filter(str.isalnum, content)).lower()
