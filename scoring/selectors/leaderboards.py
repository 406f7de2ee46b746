"""The leaderboard: entries in sections, ranked, with the best of each column marked.

Every section is ranked for itself: what was graded here under one signature, and what each source
reports. Figures of different sections are never compared.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter

from django.db.models import F, Q

from scoring.benchmarks import Column, View
from scoring.models import Board, Category, Entry, Phase

from .headings import BoardColumn, Sort, board_columns
from .ranking import best_value, competition_ranks, is_score

CATEGORY_HEADINGS = {
    Category.OCR_PIPELINE: "OCR pipelines",
    Category.OCR_MODEL: "OCR models",
    Category.OPEN_VLM: "Open-source VL models",
    Category.PROPRIETARY_VLM: "Proprietary VL models",
    Category.OTHER: "Other systems",
}


Values = dict[str, float | None]


@dataclass(frozen=True)
class Cell:
    """A figure as it is shown: rounded text, and whether it is the section's best."""

    text: str
    is_best: bool = False


@dataclass(frozen=True)
class Row:
    """An entry with its figures: unrounded values and ranks, None where there is none."""

    entry: Entry
    submission_id: int | None
    values: Values
    ranks: dict[str, int | None]
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class RowGroup:
    """Neighbouring rows under one sub-heading; without a heading when the table is sorted."""

    heading: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Section:
    """Rows that may be compared with each other, and where they come from."""

    kind: str
    key: str
    """The signature of graded rows, the source of reported ones."""
    url: str
    groups: tuple[RowGroup, ...]

    @property
    def rows(self) -> list[Row]:
        return [row for group in self.groups for row in group.rows]

    @property
    def notes(self) -> list[str]:
        """What its rows say of themselves, each note once."""
        return list(dict.fromkeys(row.entry.notes for row in self.rows if row.entry.notes))


@dataclass(frozen=True)
class Leaderboard:
    """One table of a board: the benchmark's own, or that of a view."""

    board: Board
    phase: Phase | None
    views: tuple[View, ...]
    view: View | None
    columns: tuple[BoardColumn, ...]
    sort: Sort
    sections: tuple[Section, ...]


def leaderboard(
    board: Board, phase: Phase | None, sort: str = "", *, view: str = ""
) -> Leaderboard:
    """The board with the graded entries of one phase and all that is reported. One query.

    `view` is the key of one of the benchmark's views; any other gives the benchmark's own table.
    """
    views = board_views(board, phase)
    chosen = next((each for each in views if each.key == view), None)
    columns = board_columns(chosen.columns if chosen else main_columns(board, phase))
    order = Sort.parse(sort, columns)
    entries = (
        Entry.objects.filter(Q(phase=phase) | ~Q(kind=Entry.Kind.GRADED), board=board)
        .annotate(submission_id=F("grading__submission_id"))
        .order_by("id")
    )
    shown = [entry for entry in entries if _belongs(entry, views, chosen)]
    sections = [_section(key, rows, columns, order) for key, rows in _by_origin(shown).items()]
    sections.sort(key=_section_order)
    return Leaderboard(board, phase, views, chosen, columns, order, tuple(sections))


def main_columns(board: Board, phase: Phase | None) -> tuple[Column, ...]:
    return board.spec.columns if phase is None else phase.columns


def board_views(board: Board, phase: Phase | None) -> tuple[View, ...]:
    spec = board.spec
    return spec.views_for(spec.check_options({} if phase is None else phase.options))


def _belongs(entry: Entry, views: Iterable[View], chosen: View | None) -> bool:
    """Whether an entry stands in the table. What was graded here has all figures and stands in all;
    any other row stands in the view that has all of its figures, else in the benchmark's own."""
    if entry.kind == Entry.Kind.GRADED:
        return True
    homes = [view.key for view in views if _is_part(entry, view)]
    return chosen.key in homes if chosen else not homes


def _is_part(entry: Entry, view: View) -> bool:
    return bool(entry.scores) and entry.scores.keys() <= {column.key for column in view.columns}


Origin = tuple[str, str]


def _by_origin(entries: Iterable[Entry]) -> dict[Origin, list[Entry]]:
    origins: dict[Origin, list[Entry]] = {}
    for entry in entries:
        graded = entry.kind == Entry.Kind.GRADED
        origin = (entry.kind, entry.signature if graded else entry.provenance)
        origins.setdefault(origin, []).append(entry)
    return origins


def _section_order(section: Section) -> int:
    return [Entry.Kind.GRADED, Entry.Kind.HUMAN, Entry.Kind.REPORTED].index(
        Entry.Kind(section.kind)
    )


def _section(
    origin: Origin, entries: Sequence[Entry], columns: Sequence[BoardColumn], sort: Sort
) -> Section:
    kind, key = origin
    rows = _rows(entries, columns)
    if sort.key:
        groups = [RowGroup("", tuple(_sorted(rows, columns, sort)))]
    else:
        rank = next(column.key for column in columns if column.decides)
        groups = _grouped(_ranked(rows, rank) if kind == Entry.Kind.GRADED else rows)
    return Section(kind, key, entries[0].provenance_url, tuple(groups))


def _ranked(rows: Iterable[Row], rank: str) -> list[Row]:
    """Best first by the rank that decides; reported rows keep the order of their source instead."""
    return sorted(rows, key=lambda row: (row.ranks[rank] or math.inf, _name(row)))


def _values(entry: Entry, columns: Sequence[BoardColumn]) -> Values:
    """What the columns need of an entry's scores; None where there is no finite number."""
    bases = {column.basis for column in columns}
    found = {basis: entry.scores.get(basis) for basis in bases}
    return {basis: value if is_score(value) else None for basis, value in found.items()}


def _rows(entries: Sequence[Entry], columns: Sequence[BoardColumn]) -> list[Row]:
    values = [_values(entry, columns) for entry in entries]
    contest = {column.key: _contest(column, columns, values) for column in columns}
    return [
        Row(
            entry=entry,
            submission_id=getattr(entry, "submission_id", None),
            values=values[index],
            ranks={
                column.key: contest[column.key].ranks[index] for column in columns if column.is_rank
            },
            cells=tuple(
                _cell(column, values[index], contest[column.key], index) for column in columns
            ),
        )
        for index, entry in enumerate(entries)
    ]


@dataclass(frozen=True)
class _Contest:
    """One column over the rows of a section: each row's rank, and the best value there is."""

    ranks: list[int | None]
    best: float | None


def _contest(
    column: BoardColumn, columns: Sequence[BoardColumn], values: Sequence[Values]
) -> _Contest:
    """Only rows with a complete score take part: those that have every figure that ranks."""
    required = {other.basis for other in columns if other.is_rank}
    taking_part = [
        row[column.basis] if all(row[basis] is not None for basis in required) else None
        for row in values
    ]
    return _Contest(
        competition_ranks(taking_part, higher_is_better=column.higher_is_better),
        best_value(taking_part, higher_is_better=column.higher_is_better),
    )


def _cell(column: BoardColumn, values: Values, contest: _Contest, index: int) -> Cell:
    if column.is_rank:
        rank = contest.ranks[index]
        return Cell("–" if rank is None else str(rank), is_best=rank == 1)
    value = values[column.basis]
    return Cell(column.show(value), is_best=value is not None and value == contest.best)


def _grouped(rows: Iterable[Row]) -> list[RowGroup]:
    """By the kind of system, in the order of the categories; inside, as they were entered."""
    groups: dict[str, list[Row]] = {category: [] for category in Category.values}
    for row in rows:
        groups[row.entry.category].append(row)
    return [
        RowGroup(CATEGORY_HEADINGS[Category(category)], tuple(members))
        for category, members in groups.items()
        if members
    ]


def _sorted(rows: Sequence[Row], columns: Sequence[BoardColumn], sort: Sort) -> list[Row]:
    """By the column asked for; rows without a value come last in either direction."""
    if sort.key == "name":
        return sorted(rows, key=_name, reverse=sort.is_reversed)
    valued = [(_sort_value(row, columns, sort), row) for row in sorted(rows, key=_name)]
    present = [(value, row) for value, row in valued if value is not None]
    present.sort(key=itemgetter(0), reverse=sort.is_reversed)
    return [row for _, row in present] + [row for value, row in valued if value is None]


def _name(row: Row) -> str:
    return row.entry.name.casefold()


def _sort_value(row: Row, columns: Sequence[BoardColumn], sort: Sort) -> float | None:
    """A number that is small for what comes first."""
    if sort.key == "size":
        return parameters(row.entry.size)
    column = next(column for column in columns if column.key == sort.key)
    value = row.values[column.basis]
    return None if value is None else -value if column.higher_is_better else value


_UNITS = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}


def parameters(size: str) -> float | None:
    """The number of parameters that a size such as 7B, 0.9 b or 350M says; None if it says none.

    >>> parameters("1.2B"), parameters("-")
    (1200000000.0, None)
    """
    match = re.match(r"\s*(\d+(?:\.\d+)?)\s*([kmbt]?)\b", size.lower())
    return float(match[1]) * _UNITS[match[2]] if match else None
