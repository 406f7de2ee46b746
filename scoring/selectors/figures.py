"""Scores as tables: a benchmark's columns with the figures of one submission or one item."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from scoring.benchmarks import Benchmark, Column, View
from scoring.models import Grading

from .ranking import is_score

NO_FIGURE = "–"
WIDE_FROM = 7


@dataclass(frozen=True)
class Figure:
    """One figure: its column's words, the value (unrounded, None if not scored) and its text."""

    key: str
    label: str
    help: str
    value: float | None
    text: str
    count: int | None = None
    """How many there are, where the benchmark counts what the figure is the rate of."""


@dataclass(frozen=True)
class FigureGroup:
    label: str
    unit: str
    figures: tuple[Figure, ...]

    @property
    def is_wide(self) -> bool:
        """So many figures, such as one per error type, that they stand beside each other."""
        return len(self.figures) > WIDE_FROM

    @property
    def has_counts(self) -> bool:
        return any(figure.count is not None for figure in self.figures)


@dataclass(frozen=True)
class Part:
    """One part of a submission, such as a fact type, with its figures."""

    label: str
    figures: tuple[Figure, ...]


@dataclass(frozen=True)
class PartTable:
    """Neighbouring parts that have the same figures."""

    parts: tuple[Part, ...]

    @property
    def heads(self) -> tuple[Figure, ...]:
        return self.parts[0].figures


@dataclass(frozen=True)
class ViewFigures:
    """The figures of a submission in one of the benchmark's views."""

    key: str
    title: str
    help: str
    groups: tuple[FigureGroup, ...]

    @property
    def figures(self) -> list[Figure]:
        return [figure for group in self.groups for figure in group.figures]


def columns_of(spec: Benchmark, options: Mapping[str, Any]) -> tuple[Column, ...]:
    return spec.columns_for(spec.check_options(options))


def show(value: Any, *, unit: str = "%", decimals: int = 2) -> str:
    """A score as text: rates times 100, rounded here and nowhere before."""
    if not is_score(value):
        return NO_FIGURE
    return f"{100 * value if unit == '%' else value:.{decimals}f}"


def figure(column: Column, scores: Mapping[str, Any], counts: Mapping[str, int]) -> Figure:
    value = scores.get(column.key)
    return Figure(
        key=column.key,
        label=column.label,
        help=column.help,
        value=value if is_score(value) else None,
        text=show(value, unit=column.unit, decimals=column.decimals),
        count=counts.get(column.key),
    )


def figure_groups(
    columns: Sequence[Column], scores: Mapping[str, Any], counts: Mapping[str, int]
) -> list[FigureGroup]:
    """Neighbouring columns of one group together, in the benchmark's order."""
    groups = []
    for label, members in groupby(columns, key=lambda column: column.group):
        figures = list(members)
        groups.append(
            FigureGroup(
                label=label,
                unit="%" if all(column.unit == "%" for column in figures) else "",
                figures=tuple(figure(column, scores, counts) for column in figures),
            )
        )
    return groups


def view_figures(
    views: Sequence[View], scores: Mapping[str, Any], counts: Mapping[str, int]
) -> list[ViewFigures]:
    return [
        ViewFigures(
            view.key, view.title, view.help, tuple(figure_groups(view.columns, scores, counts))
        )
        for view in views
    ]


def part_tables(grading: Grading, known: Mapping[str, Column]) -> list[PartTable]:
    """The figures of the submission's parts; what is no known column is a count."""
    parts = [
        Part(label, tuple(_part_figure(key, value, known) for key, value in figures.items()))
        for label, figures in grading.subsets.items()
    ]
    return [PartTable(tuple(alike)) for _, alike in groupby(parts, key=_figure_keys)]


def _figure_keys(part: Part) -> list[str]:
    return [figure.key for figure in part.figures]


def _part_figure(key: str, value: Any, known: Mapping[str, Column]) -> Figure:
    column = known.get(key)
    return figure(column, {key: value}, {}) if column else _count(key, value)


def other_counts(known: Container[str], counts: Mapping[str, int]) -> list[Figure]:
    """The counts that are no known column's, such as that of all facts."""
    return [_count(key, value) for key, value in counts.items() if key not in known]


def _count(key: str, value: Any) -> Figure:
    text = NO_FIGURE if value is None else f"{value:,}"
    return Figure(
        key=key, label=key.replace("_", " ").capitalize(), help="", value=value, text=text
    )
