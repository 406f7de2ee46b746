"""Scores as figures: a benchmark's columns with the values of one submission or item, as text."""

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from scoring.benchmarks import Benchmark, Column, View
from scoring.models import Grading


def is_score(value: Any) -> bool:
    """Whether a stored value is a finite number. A missing score is null or absent, never 0."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def stated(scores: Mapping[str, Any], key: str, reported: str = "") -> float | None:
    """Return the score with this key, or `reported` if there is no such key; None for a value that
    is not a finite number.

    >>> stated({"overall": 0.5}, "strict", "overall"), stated({"strict": None}, "strict", "overall")
    (0.5, None)
    """
    value = scores.get(key) if key in scores else scores.get(reported)
    return value if is_score(value) else None


NO_FIGURE = "–"
WIDE_FROM = 7

Intervals = Mapping[str, Sequence[float]]
"""The keys of a column's interval bounds, in the unit of its scores."""
NO_INTERVALS: Intervals = {}


# Labels of counts whose keys are abbreviations.
_SHORT = {
    "tp": "True positives",
    "fp": "False positives",
    "fn": "False negatives",
    "tn": "True negatives",
}


@dataclass(frozen=True)
class Figure:
    """One figure: its column, the value (unrounded, None if not scored) and its text."""

    key: str
    label: str
    help: str
    value: float | None
    text: str
    count: int | None = None
    """The numerator, if the benchmark counts it."""
    interval: str = ""
    """The 95% interval, if there is one."""
    higher_is_better: bool = True


@dataclass(frozen=True)
class FigureGroup:
    label: str
    unit: str
    figures: tuple[Figure, ...]

    @property
    def is_wide(self) -> bool:
        """Whether there are too many figures, such as one per error type, for a table."""
        return len(self.figures) > WIDE_FROM

    @property
    def has_counts(self) -> bool:
        return any(figure.count is not None for figure in self.figures)

    @property
    def has_intervals(self) -> bool:
        return any(figure.interval for figure in self.figures)


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
    def is_scored(self) -> bool:
        return any(figure.value is not None for figure in self.figures)

    @property
    def figures(self) -> list[Figure]:
        return [figure for group in self.groups for figure in group.figures]

    @property
    def labels(self) -> list[str]:
        """The labels of the first group's figures."""
        return [figure.label for figure in self.groups[0].figures]

    @property
    def is_crossed(self) -> bool:
        """Whether all groups have the same figures and can form one table."""
        rows = [[figure.label for figure in group.figures] for group in self.groups]
        return len(rows) > 1 and all(row == self.labels for row in rows)


def columns_of(spec: Benchmark, options: Mapping[str, Any]) -> tuple[Column, ...]:
    return spec.columns_for(spec.check_options(options))


def show(value: Any, *, unit: str = "%", decimals: int = 2) -> str:
    """Format a score. Rates are multiplied by 100; nothing is rounded before this."""
    if not is_score(value):
        return NO_FIGURE
    return f"{100 * value if unit == '%' else value:.{decimals}f}"


# The level of the paired tests, whose module loads numpy.
_LEVEL = 0.05


def p_words(p_value: float) -> str:
    """Format with three decimals, never rounded up to the significance level.

    >>> p_words(0.0719), p_words(50 / 1001)
    ('0.072', '<0.050')
    """
    text, level = f"{p_value:.3f}", f"{_LEVEL:.3f}"
    return f"<{level}" if p_value < _LEVEL and text == level else text


def interval_text(ends: Sequence[float] | None, *, unit: str, decimals: int) -> str:
    """Format an interval with one decimal less than its figure, or as one number if both ends are
    equal.

    The bounds are less certain than the figure, and the table has little room.
    """
    fewer = max(min(1, decimals), decimals - 1)
    return "–".join(dict.fromkeys(show(end, unit=unit, decimals=fewer) for end in ends or ()))


def figure(
    column: Column,
    scores: Mapping[str, Any],
    counts: Mapping[str, int],
    intervals: Intervals = NO_INTERVALS,
) -> Figure:
    ends = intervals.get(column.key)
    value = scores.get(column.key)
    return Figure(
        key=column.key,
        label=column.label,
        help=column.help,
        value=value if is_score(value) else None,
        text=show(value, unit=column.unit, decimals=column.decimals),
        count=counts.get(column.key),
        interval=interval_text(ends, unit=column.unit, decimals=column.decimals),
        higher_is_better=column.direction == "up",
    )


def figure_groups(
    columns: Sequence[Column],
    scores: Mapping[str, Any],
    counts: Mapping[str, int],
    intervals: Intervals = NO_INTERVALS,
) -> list[FigureGroup]:
    """Group neighbouring columns of one group, in the benchmark's order."""
    groups = []
    for label, members in groupby(columns, key=lambda column: column.group):
        figures = list(members)
        groups.append(
            FigureGroup(
                label=label,
                unit="%" if all(column.unit == "%" for column in figures) else "",
                figures=tuple(figure(column, scores, counts, intervals) for column in figures),
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
    """Return the figures of the submission's parts. Values that are not a known column are
    counts."""
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
    """Return the counts that are not a known column, such as that of all facts."""
    return [_count(key, value) for key, value in counts.items() if key not in known]


def _count(key: str, value: Any) -> Figure:
    """
    >>> _count("unknown_fields", 1200).label, _count("tp", 3).label, _count("tp", 1200).text
    ('Unknown fields', 'True positives', '1,200')
    """
    text = NO_FIGURE if value is None else f"{value:,}"
    label = _SHORT.get(key, key.replace("_", " ").capitalize())
    return Figure(key=key, label=label, help="", value=value, text=text)
