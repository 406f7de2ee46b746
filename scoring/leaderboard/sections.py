"""Sections of a leaderboard: comparable rows of one source, in groups.

Figures of all rows of a section are computed once, since other pages and filters of the table show
the same sections.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from scoring.models import Category, Entry

from .columns import BoardColumn
from .rows import Row, row_notes

CATEGORY_HEADINGS = {
    Category.OCR_PIPELINE: "OCR pipelines",
    Category.OCR_MODEL: "OCR models",
    Category.OPEN_VLM: "Open-source VL models",
    Category.PROPRIETARY_VLM: "Proprietary VL models",
    Category.FINE_TUNED: "Fine-tuned for the task",
    Category.OTHER: "Other systems",
}


@dataclass(frozen=True)
class RowGroup:
    """Neighbouring rows under one sub-heading. Most sorted tables have no sub-headings."""

    heading: str
    rows: tuple[Row, ...]

    @property
    def is_by_category(self) -> bool:
        """Whether the heading names a kind of system."""
        return self.heading in CATEGORY_HEADINGS.values()


@dataclass(frozen=True)
class Section:
    """Comparable rows and their source."""

    kind: str
    key: str
    """The signature of graded rows, the publication of reported ones."""
    url: str
    groups: tuple[RowGroup, ...]
    is_compared: bool = False
    """Whether ranks count only significantly better rows."""

    @property
    def has_intervals(self) -> bool:
        return any(
            column.basis in row.entry.intervals
            for row in self.rows
            if row.entry.intervals
            for column in row.columns
            if not column.is_rank
        )

    @cached_property
    def rows(self) -> list[Row]:
        return [row for group in self.groups for row in group.rows]

    @cached_property
    def front(self) -> tuple[list[Row], ...]:
        """The rows of the first and of the second deciding rank, best first; fewer if there are
        fewer ranks. Every page of a table shows who leads."""
        rank = self._deciding
        places = sorted({place for row in self.rows if (place := row.ranks[rank.key])})
        return tuple(
            best_first((row for row in self.rows if row.ranks[rank.key] == place), self.columns)
            for place in places[:2]
        )

    @cached_property
    def extent(self) -> tuple[float, ...]:
        """The lowest and highest of the deciding scores and of the ends of their intervals; empty
        without scores."""
        basis = self._deciding.basis
        ends = [
            end
            for row in self.rows
            if (value := row.values[basis]) is not None
            for end in (value, *row.entry.intervals.get(basis, ()))
        ]
        return (min(ends), max(ends)) if ends else ()

    @property
    def columns(self) -> Sequence[BoardColumn]:
        return self.rows[0].columns

    @property
    def _deciding(self) -> BoardColumn:
        return next(column for column in self.columns if column.decides)

    @cached_property
    def size(self) -> int:
        """Number of rows."""
        return sum(len(group.rows) for group in self.groups)

    @property
    def is_comparable(self) -> bool:
        """Whether its rows can be compared item by item."""
        return self.kind == Entry.Kind.GRADED and self.size > 1

    @property
    def is_human_run(self) -> bool:
        return self.kind == Entry.Kind.HUMAN and any(row.entry.is_graded for row in self.rows)

    @property
    def is_ranked(self) -> bool:
        return any(row.entry.is_ranked for row in self.rows)

    @property
    def notes(self) -> list[str]:
        """The notes of its rows, each sentence once."""
        return row_notes([(row.entry.name, row.entry.notes) for row in self.rows])


def best_first(rows: Iterable[Row], columns: Sequence[BoardColumn]) -> list[Row]:
    """Sort by the deciding rank, then by its figure. On the page, reported rows keep the order of
    their source instead."""
    rank = next(column for column in columns if column.decides)
    sign = -1 if rank.higher_is_better else 1
    return sorted(
        rows,
        key=lambda row: (
            row.ranks[rank.key] or math.inf,
            sign * (row.values[rank.basis] or 0.0),
            name_key(row),
        ),
    )


def name_key(row: Row) -> str:
    """Return a sort key that ignores case."""
    return row.entry.name.casefold()
