"""Gold facts in normalised text, and the rows that text stands in."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .normalise import Normalised
from .occurrences import Occurrence, kind_of, occurrence_at
from .page import Fact, Page
from .touching import FactKind

# Letters and digits in a table row or line; what has more lays out the page or is a paragraph.
_LONGEST_ROW = 300


@dataclass(frozen=True)
class GoldFact:
    """A gold fact in normalised text: its value, how to read it, where and beside what."""

    fact: Fact
    value: str
    kind: FactKind
    place: Occurrence

    @property
    def n(self) -> int:
        return self.fact.n


def gold_fact(fact: Fact, text: Normalised) -> GoldFact:
    """The fact's place in the normalised gold text: all of it that came from `[start, end)`.

    A value of invisible characters is empty, and can be found nowhere.
    """
    start = int(np.searchsorted(text.ends, fact.start, side="right"))
    end = int(np.searchsorted(text.starts, fact.end, side="left"))
    value = text.text[start:end]
    start += len(value) - len(value.lstrip())
    value = value.strip()
    place = occurrence_at(text.text, start, start + len(value))
    return GoldFact(fact, value, kind_of(fact.type), place)


def rows_of(page: Page, text: Normalised) -> NDArray[np.int64]:
    """The row of every character of the normalised text: a table row, or a line outside of them.

    The row of the innermost table counts. What has more than _LONGEST_ROW letters and digits lays
    out the page, or is a paragraph, and no row: -1.
    """
    spans: dict[tuple[int, int], tuple[int, int]] = {}
    for cell in page.cells:
        start, end = spans.get((cell.table, cell.row), (cell.start, cell.end))
        spans[cell.table, cell.row] = (min(start, cell.start), max(end, cell.end))
    rows = np.full(len(page.text) + 1, -1, dtype=np.int64)
    longest_first = sorted(spans.values(), key=lambda span: span[0] - span[1])
    for number, (start, end) in enumerate([*page.lines, *longest_first]):
        is_row = end - start <= _LONGEST_ROW or (
            sum(map(str.isalnum, page.text[start:end])) <= _LONGEST_ROW
        )
        rows[start:end] = number if is_row else -1
    return rows[text.starts]
