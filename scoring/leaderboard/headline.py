"""The headline view of a board: who leads, on what, and whether the lead is certain.

It shows the rank, the main score with its interval on a common axis, and two or three further
scores. Ranks and order are those of the section; nothing is ranked here.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.utils.formats import date_format

from scoring.benchmarks.base import no_contributions
from scoring.figures import is_score, p_words
from scoring.models import Board, Entry, Phase, Replicate

from .columns import BoardColumn, figure_column, main_columns
from .disclosure import shown_columns
from .rows import Cell, Row, RowGroup, Section
from .services import paired_test, stored_replicates

# Figures next to the deciding one, if the benchmark does not choose them.
_SUPPORTING = 3


@dataclass(frozen=True)
class Lead:
    """The first row, the row that shares its rank or score, and how certain the lead is."""

    name: str
    words: str
    equal: str = ""


def lead_of(section: Section, phase: Phase) -> Lead | None:
    """Return who leads the section, which has all rows of its table; None if no row is ranked. At
    most two queries.

    The test is the one that ranks: the lead is certain exactly if no row shares the first rank.
    """
    if not section.front:
        return None
    rank = next(column for column in section.columns if column.decides)
    (first, *sharing), *following = section.front
    others = sharing or [row for rows in following for row in rows]
    if not others:
        return Lead(first.entry.name, "is the only ranked model.")
    if first.values[rank.basis] is None:
        return _withheld_lead(first, sharing)
    if first.values[rank.basis] == others[0].values[rank.basis]:
        return Lead(first.entry.name, "share the top score.", others[0].entry.name)
    if not section.is_compared:
        return Lead(first.entry.name, f"has the top score. {_reason(first, rank, phase)}")
    other, p_value = others[0].entry.name, _p_value(first, others[0], rank)
    if not sharing:
        words = f"leads. Its lead over {other} is significant{p_value}."
    elif len(sharing) == 1:
        words = f"share rank 1. The difference is not significant{p_value}."
        return Lead(first.entry.name, words, other)
    else:
        words = f"shares rank 1 with {len(sharing)} others. "
        words += f"Its lead over {other} is not significant{p_value}."
    return Lead(first.entry.name, words)


def _withheld_lead(first: Row, sharing: Sequence[Row]) -> Lead:
    """Who leads where the score is withheld and only ranks are shown."""
    why = "The score is withheld to protect the hidden gold."
    if len(sharing) == 1:
        return Lead(first.entry.name, f"share rank 1. {why}", sharing[0].entry.name)
    if sharing:
        return Lead(first.entry.name, f"shares rank 1 with {len(sharing)} others. {why}")
    return Lead(first.entry.name, f"has rank 1. {why}")


def _p_value(first: Row, other: Row, rank: BoardColumn) -> str:
    """Return the p-value of the paired test in brackets. One query."""
    gradings = (first.entry.grading_id, other.entry.grading_id)
    rows = Replicate.objects.filter(grading__in=gradings, figure=rank.basis)
    found = {row.grading_id: stored_replicates(row) for row in rows}
    test = paired_test(*(found.get(grading or 0) for grading in gradings))
    if test is None:
        return ""
    text = p_words(test.p_value)
    return f" (p {text})" if text.startswith("<") else f" (p = {text})"


def _reason(first: Row, rank: BoardColumn, phase: Phase) -> str:
    """Return why the lead was not tested. One query."""
    if phase.score_decimals is not None:
        return "Scores are rounded to protect the hidden gold, so significance is not tested."
    if phase.has_parts:
        return "Scores cover only part of the items, so significance is not tested."
    if phase.board.spec.contributions is no_contributions:
        return "This benchmark does not test differences for significance."
    untestable = Replicate.objects.filter(
        grading__entry__phase=phase,
        grading__entry__signature=first.entry.signature,
        figure=rank.basis,
        low__isnull=True,
    )
    if untestable.exists():
        return "The lead cannot be tested, because part of a score depends on a single document."
    return "The significance test has not finished yet."


@dataclass(frozen=True)
class Tick:
    text: str
    place: str
    anchor: str
    """How the text is aligned: start, middle or end."""


@dataclass(frozen=True)
class Axis:
    """The common axis of the main score, from `low` to `high` in the unit of the score."""

    low: float
    high: float
    ticks: tuple[Tick, ...] = ()

    @property
    def span(self) -> str:
        """The ends in words, such as 0% to 100%."""
        return f"{self.ticks[0].text} to {self.ticks[-1].text}"

    def place(self, value: float) -> str:
        """Return a position on the axis, such as 37.50%.

        >>> Axis(0.5, 1.0).place(0.75)
        '50.00%'
        """
        return f"{100 * (value - self.low) / (self.high - self.low):.2f}%"


_MOST_STEPS = 5


def axis_of(values: Sequence[float], column: BoardColumn) -> Axis:
    """Return an axis over the values, from one round number to another, with at most six ticks."""
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    step = _step(max(high - low, 0.05 if column.unit == "%" else 5))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    if first == last:
        # A single value has room below it, so that a rate is never beyond 100%.
        first, last = (first - 1, last) if last > 0 else (first, last + 1)
    axis = Axis(first * step, last * step)
    ticks = [
        Tick(_tick(number * step, column), axis.place(number * step), _anchor(number, first, last))
        for number in range(first, last + 1)
    ]
    return Axis(axis.low, axis.high, tuple(ticks))


def _step(span: float) -> float:
    """Return the smallest of 1, 2, 5, 10, … times a power of ten that makes few steps."""
    wanted = span / (_MOST_STEPS - 1)
    power = 10.0 ** math.floor(math.log10(wanted))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= wanted * 0.999)


def _anchor(number: int, first: int, last: int) -> str:
    return {first: "start", last: "end"}.get(number, "middle")


def _tick(value: float, column: BoardColumn) -> str:
    return f"{100 * value:.0f}%" if column.unit == "%" else f"{value:g}"


class ShownFigure(NamedTuple):
    label: str
    text: str
    interval: str


@dataclass(frozen=True)
class HeadlineRow:
    """A row with the places of its score and its interval on the axis, empty if there is none."""

    row: Row
    rank: str
    score: Cell
    at: str
    low: str
    high: str
    supporting: tuple[str, ...]
    more: tuple[ShownFigure, ...]
    """From the model card, and the figures that have no column, or none on narrow screens: the
    supporting ones first."""

    @property
    def entry(self) -> Entry:
        return self.row.entry


@dataclass(frozen=True)
class HeadlineGroup:
    heading: str
    rows: tuple[HeadlineRow, ...]


@dataclass(frozen=True)
class HeadlineTable:
    """The sections with what the headline view shows of their rows."""

    deciding: BoardColumn
    supporting: tuple[BoardColumn, ...]
    axis: Axis
    sections: Sequence[tuple[Section, Sequence[HeadlineGroup]]]

    @property
    def width(self) -> int:
        """Number of columns."""
        return 4 + len(self.supporting)

    @property
    def has_intervals(self) -> bool:
        groups = (group for _, groups in self.sections for group in groups)
        return any(row.low for group in groups for row in group.rows)


def supporting_columns(
    board: Board,
    phase: Phase | None,
    columns: Sequence[BoardColumn],
    headings: Mapping[str, str],
) -> tuple[BoardColumn, ...]:
    """Return the columns of these headings, or else the first figures of the table. A board that
    hides some groups shows no figures of them."""
    figures = tuple(column for column in columns if not column.is_rank)
    deciding = next(column.basis for column in columns if column.decides)
    if not headings:
        return tuple(column for column in figures if column.key != deciding)[:_SUPPORTING]
    groups = {column.group for column in columns}
    known = {column.key: column for column in main_columns(board, phase) if column.group in groups}
    chosen = tuple(
        figure_column(known[key], label=label) for key, label in headings.items() if key in known
    )
    return shown_columns(phase, chosen) if phase else chosen


def headline_table(
    sections: Sequence[Section],
    whole: Sequence[Section],
    columns: Sequence[BoardColumn],
    supporting: tuple[BoardColumn, ...],
) -> HeadlineTable:
    """Return the table of `sections`, which may be one page of `whole`: the axis covers all
    rows."""
    basis = next(column.basis for column in columns if column.decides)
    deciding = next(column for column in columns if column.key == basis)
    axis = axis_of([end for section in whole for end in section.extent], deciding)
    layout = _layout(columns, supporting, axis)
    return HeadlineTable(
        deciding,
        supporting,
        axis,
        [(section, [_group(group, layout) for group in section.groups]) for section in sections],
    )


class _Layout(NamedTuple):
    """The layout that all rows share: where their cells go."""

    basis: str
    axis: Axis
    supporting: tuple[BoardColumn, ...]
    rank: int
    """The place of the main rank among the cells of a row."""
    score: int
    rest: tuple[tuple[int, str], ...]
    """The places of the other cells, with their headings."""


def _layout(
    columns: Sequence[BoardColumn], supporting: tuple[BoardColumn, ...], axis: Axis
) -> _Layout:
    places = {column.key: place for place, column in enumerate(columns)}
    rank = next(column for column in columns if column.decides)
    apart = {rank.basis, rank.key, *(column.key for column in supporting)}
    rest = tuple(
        (places[column.key], f"{column.group} rank" if column.is_rank else column.label)
        for column in columns
        if column.key not in apart
    )
    return _Layout(rank.basis, axis, supporting, places[rank.key], places[rank.basis], rest)


def _group(group: RowGroup, layout: _Layout) -> HeadlineGroup:
    return HeadlineGroup(group.heading, tuple(_row(row, layout) for row in group.rows))


def _row(row: Row, layout: _Layout) -> HeadlineRow:
    cells, axis = row.cells, layout.axis
    value, ends = row.values[layout.basis], row.entry.intervals.get(layout.basis)
    texts = tuple(_text(row.entry, column) for column in layout.supporting)
    return HeadlineRow(
        row=row,
        rank=cells[layout.rank].text,
        score=cells[layout.score],
        at="" if value is None else axis.place(value),
        low="" if value is None or not ends else axis.place(ends[0]),
        high="" if value is None or not ends else axis.place(ends[1]),
        supporting=texts,
        more=tuple(_card(row.entry))
        + tuple(
            ShownFigure(column.label, text, "")
            for column, text in zip(layout.supporting, texts, strict=True)
        )
        + tuple(
            ShownFigure(heading, cells[place].text, cells[place].interval)
            for place, heading in layout.rest
        ),
    )


def _card(entry: Entry) -> Iterator[ShownFigure]:
    yield ShownFigure("Category", entry.get_category_display(), "")
    if entry.size:
        yield ShownFigure("Parameters", entry.size, "")
    if entry.open_weights is not None:
        yield ShownFigure("Weights", "open" if entry.open_weights else "closed", "")
    if entry.released_on:
        yield ShownFigure("Released", date_format(entry.released_on, "j M Y"), "")


def _text(entry: Entry, column: BoardColumn) -> str:
    value = entry.scores.get(column.basis)
    return column.show(value if is_score(value) else None)
