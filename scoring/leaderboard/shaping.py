"""From comparable rows of a leaderboard to the shapes of charts: `chart_shape`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from math import floor
from statistics import mean, stdev
from typing import Any

from scoring.benchmarks import Chart, Column
from scoring.charts.panels import FEWEST_AXES
from scoring.charts.shapes import (
    Axis,
    Bar,
    Bars,
    Ends,
    Grid,
    GridRow,
    Point,
    Scatter,
    Shape,
    Slope,
    Slopes,
    front,
)
from scoring.figures import is_score, stated
from scoring.models import Architecture, Category, Entry
from scoring.models.submissions import Reasoning

from .filters import active_parameters, parameters
from .rows import CATEGORY_HEADINGS, best_values, tokens_of

# More rows would be unreadable. The leaderboard's table has all of them.
MOST_ROWS = 20
# Of scatter charts, besides the points on their line.
MOST_POINTS = 100
_NOT_STATED = "Not stated"
FEWEST_SPREAD = 5
_STEPS = 20
_PARAMETERS = Axis("Parameters", decimals=0, scale="log")
_ACTIVE = Axis("Active parameters", decimals=0, scale="log")
_TOKENS = Axis("Output tokens per item", decimals=0, scale="log")


@dataclass(frozen=True)
class ChartSource:
    """The data of the charts: comparable rows, best first, with the scores shown to this reader;
    their leaderboard ranks by figure; the columns by key; and the scores by part of the best row.
    """

    entries: Sequence[Entry]
    ranks: Mapping[str, Sequence[int | None]]
    figures: Mapping[str, Column]
    parts: Mapping[str, Mapping[str, Any]]


Builder = Callable[[Chart, ChartSource], Shape | None]


def chart_shape(chart: Chart, source: ChartSource) -> Shape | None:
    """Return the shape of the chart, or None if there is too little to draw."""
    return _BUILDERS[chart.kind](chart, source)


def _pair(chart: Chart, source: ChartSource) -> Shape | None:
    columns = _columns(chart, source)
    if len(columns) < 2:
        return None
    x, y = columns
    points = [
        point._replace(x_ends=_ends(entry, x))
        for entry, point in _points(source, lambda entry: _score(entry, x), y)
    ]
    return _scatter(_axis(x), _axis(y), points)


def _points(
    source: ChartSource, x: Callable[[Entry], float | date | None], y: Column
) -> list[tuple[Entry, Point]]:
    """Return the rows that have both values, as points of their kind of system."""
    return [
        (entry, Point(entry.name, across, up, _category(entry), y_ends=_ends(entry, y)))
        for entry in source.entries
        if (across := x(entry)) is not None and (up := _score(entry, y)) is not None
    ]


def _ends(entry: Entry, column: Column) -> Ends | None:
    low, high = entry.intervals.get(column.key) or (None, None)
    return None if low is None or high is None else (low, high)


def _tokens_per_item(entry: Entry) -> float | None:
    tokens = tokens_of(entry)
    return tokens.per_item or None if tokens else None


def _cost(entry: Entry) -> float | None:
    return None if entry.cost is None else float(entry.cost)


def _against(
    chart: Chart, source: ChartSource, *, axis: Axis, value: Callable[[Entry], float | None]
) -> Shape | None:
    """Plot the score against a value, with the Pareto front."""
    [column] = _columns(chart, source)
    points = [point for _, point in _points(source, value, column)]
    best = front(points, higher_is_better=column.direction == "up")
    return _scatter(axis, _axis(column), points, tuple((point.x, point.y) for point in best))


def _released(chart: Chart, source: ChartSource) -> Shape | None:
    [column] = _columns(chart, source)
    points = [
        point._replace(group=_architecture(entry))
        for entry, point in _points(source, lambda entry: entry.released_on, column)
    ]
    axis = Axis("Released", scale="time")
    line = _best_so_far(points, column)
    return _scatter(axis, _axis(column), points, line, groups=_ARCHITECTURES)


def _by_architecture(
    chart: Chart, source: ChartSource, *, axis: Axis, size: Callable[[Entry], float | None]
) -> Shape | None:
    """Plot the score against a number of parameters, dense models and mixtures apart."""
    [column] = _columns(chart, source)
    points = [
        point._replace(group=_architecture(entry)) for entry, point in _points(source, size, column)
    ]
    return _scatter(axis, _axis(column), points, groups=_ARCHITECTURES)


def _total_size(entry: Entry) -> float | None:
    return parameters(entry.size) or None


def _active_size(entry: Entry) -> float | None:
    """The parameters that are used for one token: all of them in a dense model."""
    if entry.architecture == Architecture.DENSE:
        return _total_size(entry)
    return active_parameters(entry.size) or None


def _reasoning(chart: Chart, source: ChartSource) -> Shape | None:
    """Plot the score against output tokens, by reasoning mode."""
    [column] = _columns(chart, source)
    points = [
        point._replace(group=Reasoning(entry.reasoning).label)
        for entry, point in _points(source, _tokens_per_item, column)
        if entry.reasoning
    ]
    return _scatter(_TOKENS, _axis(column), points, groups=tuple(Reasoning.labels))


def _spread(chart: Chart, source: ChartSource) -> Shape | None:
    """Count the systems in each twentieth of the scale, from the lowest score to the highest."""
    [column] = _columns(chart, source)
    scores = [score for entry in source.entries if (score := _score(entry, column)) is not None]
    if len(scores) < FEWEST_SPREAD:
        return None
    # Rounded, since 0.15 * 20 is a little more than 3.
    steps = [min(floor(round(score * _STEPS, 9)), _STEPS - 1) for score in scores]
    bars = tuple(
        Bar(step / _STEPS, (step + 1) / _STEPS, steps.count(step))
        for step in range(min(steps), max(steps) + 1)
    )
    return Bars(_axis(column), "Models", bars)


def spread_words(chart: Chart, source: ChartSource) -> str:
    """Return the mean and the sample's standard deviation, such as “44.8 ± 10.3”."""
    [column] = _columns(chart, source)
    scores = [score for entry in source.entries if (score := _score(entry, column)) is not None]
    axis = _axis(column)
    return f"{axis.drawn(mean(scores)):.1f} ± {axis.drawn(stdev(scores)):.1f}"


def _history(chart: Chart, source: ChartSource) -> Shape | None:
    """Draw rows graded here over their publication dates. Other rows have no such date."""

    def published(entry: Entry) -> date | None:
        return entry.published_at.date() if entry.kind == Entry.Kind.GRADED else None

    [column] = _columns(chart, source)
    points = [point for _, point in _points(source, published, column)]
    axis = Axis("Published", scale="time")
    shape = _scatter(axis, _axis(column), points, _best_so_far(points, column))
    if shape is None:
        return None
    sign = 1 if column.direction == "up" else -1
    in_order = sorted(shape.points, key=lambda point: (point.x, -sign * point.y))
    return replace(shape, points=tuple(in_order))


Line = tuple[tuple[float | date, float], ...]


def _best_so_far(points: Sequence[Point], column: Column) -> Line:
    """Return the best scores from left to right, up to the last point."""
    best = front(points, higher_is_better=column.direction == "up")
    line = [(point.x, point.y) for point in best]
    last = max(points, key=lambda point: point.x, default=None)
    if line and last and last.x != line[-1][0]:
        line.append((last.x, line[-1][1]))
    return tuple(line)


def _ranks(chart: Chart, source: ChartSource) -> Shape | None:
    """Connect the ranks by two figures, for rows that have both."""
    ranks = [source.ranks[column.key] for column in _columns(chart, source) if column.rank]
    if len(ranks) < 2:
        return None
    slopes = [
        Slope(entry.name, before, after)
        for entry, before, after in zip(source.entries, *ranks, strict=True)
        if before is not None and after is not None
    ]
    # Rows with equal ranks keep the order of the leaderboard.
    slopes.sort(key=lambda slope: slope.right)
    if len(slopes) < 2:
        return None
    left, right = (f"by {_axis(column).label}" for column in _columns(chart, source))
    return Slopes(left, right, tuple(slopes[:MOST_ROWS]))


def _grid(chart: Chart, source: ChartSource, *, style: Any) -> Shape | None:
    """Draw the rows that have at least one of the figures; for a radar, all of them."""
    columns = _columns(chart, source)
    rows = [_grid_row(entry, columns) for entry in source.entries]
    is_drawn, fewest = (all, FEWEST_AXES) if style == "radar" else (any, 1)
    rows = [row for row in rows if is_drawn(value is not None for value in row.values)]
    if not rows or len(columns) < fewest:
        return None
    label = "Share" if style == "cells" else columns[0].group
    return Grid(
        style,
        "Model",
        Axis(label, columns[0].unit, 1 if style == "cells" else columns[0].decimals),
        _names_of(columns),
        tuple(rows[:MOST_ROWS]),
        chart.reference,
        best=tuple(
            _best(column, [row.values[at] for row in rows]) for at, column in enumerate(columns)
        ),
        groups=_KINDS,
    )


def _grid_row(entry: Entry, columns: Sequence[Column]) -> GridRow:
    return GridRow(
        entry.name,
        tuple(_score(entry, column) for column in columns),
        tuple(_ends(entry, column) for column in columns),
        _category(entry),
    )


def _best(column: Column, values: Sequence[float | None]) -> float | None:
    return best_values(values, higher_is_better=column.direction == "up")[0]


def _names_of(columns: Sequence[Column]) -> tuple[str, ...]:
    """Return the labels, with an arrow where lower is better among figures where higher is."""
    labels = _without_common_head([column.label for column in columns])
    if len({column.direction for column in columns}) < 2:
        return labels
    arrows = {"up": "", "down": " ↓"}
    return tuple(
        label + arrows[column.direction] for label, column in zip(labels, columns, strict=True)
    )


def _without_common_head(labels: Sequence[str]) -> tuple[str, ...]:
    """Remove a prefix that all labels share, such as "Errors: "; the title has it already."""
    heads = {label.partition(": ")[0] for label in labels if ": " in label}
    if len(labels) < 2 or len(heads) != 1 or not all(": " in label for label in labels):
        return tuple(labels)
    return tuple(label.partition(": ")[2].capitalize() for label in labels)


def _parts(chart: Chart, source: ChartSource) -> Shape | None:
    """Draw the parts of the best row, such as document types, that have at least one figure."""
    columns = _columns(chart, source)
    rows = []
    for name, figures in source.parts.items():
        values = tuple(_number(figures.get(column.key)) for column in columns)
        if any(value is not None for value in values):
            rows.append(GridRow(name, values))
    if not rows:
        return None
    axis = Axis("Correct", columns[0].unit, 1)
    return Grid("cells", "Part", axis, tuple(c.label for c in columns), tuple(rows[:MOST_ROWS]))


_KINDS = tuple(CATEGORY_HEADINGS.values())
_ARCHITECTURES = (*Architecture.labels, _NOT_STATED)


def _scatter(
    x: Axis, y: Axis, points: Sequence[Point], line: Line = (), groups: tuple[str, ...] = _KINDS
) -> Scatter | None:
    """Draw the top points, best first in `points`, and those on the line, which has the best of its
    corners."""
    if len(points) < 2:
        return None
    line = line[-MOST_POINTS:]
    return Scatter(x, y, _drawn_points(points, line), groups, line, len(points))


def _drawn_points(points: Sequence[Point], line: Line) -> tuple[Point, ...]:
    drawn = list(points[:MOST_POINTS])
    corners = set(line) - {(point.x, point.y) for point in drawn}
    for point in points[MOST_POINTS:]:
        # One point for each corner, however many rows have its values.
        if (point.x, point.y) in corners:
            corners.remove((point.x, point.y))
            drawn.append(point)
    return tuple(drawn)


def _axis(column: Column) -> Axis:
    label = f"{column.group} {column.label.lower()}" if column.label == "Mean" else column.label
    return Axis(label, column.unit, column.decimals)


def _columns(chart: Chart, source: ChartSource) -> list[Column]:
    """Return the chart's columns that exist under the phase's options."""
    return [source.figures[key] for key in chart.figures if key in source.figures]


def _score(entry: Entry, column: Column) -> float | None:
    return stated(entry.scores, column.key, column.reported)


def _number(value: Any) -> float | None:
    return value if is_score(value) else None


def _category(entry: Entry) -> str:
    return CATEGORY_HEADINGS[Category(entry.category)]


def _architecture(entry: Entry) -> str:
    return Architecture(entry.architecture).label if entry.architecture else _NOT_STATED


_BUILDERS: dict[str, Builder] = {
    "ranks": _ranks,
    "pair": _pair,
    "profile": partial(_grid, style="dots"),
    "shares": partial(_grid, style="cells"),
    "bars": partial(_grid, style="bars"),
    "radar": partial(_grid, style="radar"),
    "parts": _parts,
    "size": partial(_against, axis=_PARAMETERS, value=_total_size),
    "tokens": partial(_against, axis=_TOKENS, value=_tokens_per_item),
    "cost": partial(_against, axis=Axis("Cost in US dollars"), value=_cost),
    "released": _released,
    "history": _history,
    "spread": _spread,
    "scaling": partial(_by_architecture, axis=_PARAMETERS, size=_total_size),
    "active": partial(_by_architecture, axis=_ACTIVE, size=_active_size),
    "reasoning": _reasoning,
}
