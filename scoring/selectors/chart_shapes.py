"""A board's charts as shapes: what each draws of the rows that the reader is told."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scoring.benchmarks import Chart, Column
from scoring.charts.shapes import (
    Axis,
    Grid,
    GridRow,
    Point,
    Scale,
    Scatter,
    Shape,
    Slope,
    Slopes,
    front,
)
from scoring.models import Architecture, Entry

from .leaderboards import CATEGORY_HEADINGS
from .model_sizes import parameters
from .output_tokens import tokens_of
from .ranking import is_score

# More rows could not be read; the table of the leaderboard has all.
MOST_ROWS = 20
_NOT_STATED = "Not stated"


@dataclass(frozen=True)
class ChartSource:
    """What the charts are made of: rows that may be compared, best first, each with the scores that
    are told, and their ranks on the leaderboard by figure; the figures by key; and of the best row
    its parts."""

    entries: Sequence[Entry]
    ranks: Mapping[str, Sequence[int | None]]
    figures: Mapping[str, Column]
    parts: Mapping[str, Mapping[str, Any]]


Builder = Callable[[Chart, ChartSource], Shape | None]


def chart_shape(chart: Chart, source: ChartSource) -> Shape | None:
    """None where there is too little to draw."""
    return _BUILDERS[chart.kind](chart, source)


def _pair(chart: Chart, source: ChartSource) -> Shape | None:
    columns = _columns(chart, source)
    if len(columns) < 2:
        return None
    x, y = columns
    points = [
        Point(entry.name, across, up, CATEGORY_HEADINGS[_category(entry)])
        for entry in source.entries
        if (across := _score(entry, x)) is not None and (up := _score(entry, y)) is not None
    ]
    return _scatter(_axis(x), _axis(y), points)


def _size(chart: Chart, source: ChartSource) -> Shape | None:
    axis = Axis("Parameters", decimals=0, scale="log")
    return _against(chart, source, axis, lambda entry: parameters(entry.size) or None)


def _tokens(chart: Chart, source: ChartSource) -> Shape | None:
    def per_item(entry: Entry) -> float | None:
        tokens = tokens_of(entry)
        return tokens.per_item or None if tokens else None

    axis = Axis("Output tokens per item", decimals=0, scale="log")
    return _against(chart, source, axis, per_item, has_front=True)


def _cost(chart: Chart, source: ChartSource) -> Shape | None:
    def cost(entry: Entry) -> float | None:
        return None if entry.cost is None else float(entry.cost)

    return _against(chart, source, Axis("Cost in US dollars"), cost, has_front=True)


def _against(
    chart: Chart,
    source: ChartSource,
    axis: Axis,
    value: Callable[[Entry], float | None],
    *,
    has_front: bool = False,
) -> Shape | None:
    """The score against what a model card says."""
    [column] = _columns(chart, source)
    points = [
        Point(entry.name, across, up, CATEGORY_HEADINGS[_category(entry)])
        for entry in source.entries
        if (across := value(entry)) is not None and (up := _score(entry, column)) is not None
    ]
    best = front(points, higher_is_better=column.direction == "up") if has_front else ()
    return _scatter(axis, _axis(column), points, tuple((each.x, each.y) for each in best))


def _released(chart: Chart, source: ChartSource) -> Shape | None:
    [column] = _columns(chart, source)
    points = [
        Point(entry.name, entry.released_on, score, _architecture(entry))
        for entry in source.entries
        if entry.released_on is not None and (score := _score(entry, column)) is not None
    ]
    return _scatter(_time("Released"), _axis(column), points)


def _history(chart: Chart, source: ChartSource) -> Shape | None:
    """Of what was graded here: nothing else has a day on which it was published here."""
    [column] = _columns(chart, source)
    sign = 1 if column.direction == "up" else -1
    points = [
        Point(entry.name, entry.published_at.date(), score)
        for entry in source.entries
        if entry.kind == Entry.Kind.GRADED and (score := _score(entry, column)) is not None
    ]
    points.sort(key=lambda point: (point.x, -sign * point.y))
    best: list[Point] = []
    for point in points:
        if not best or sign * point.y > sign * best[-1].y:
            best.append(point)
    line = [(each.x, each.y) for each in best]
    if line and points[-1].x != line[-1][0]:
        line.append((points[-1].x, line[-1][1]))
    return _scatter(_time("Published"), _axis(column), points, tuple(line))


def _ranks(chart: Chart, source: ChartSource) -> Shape | None:
    """The ranks of the leaderboard by both figures, of the rows that have them."""
    ranks = [source.ranks[column.key] for column in _columns(chart, source) if column.rank]
    if len(ranks) < 2:
        return None
    slopes = [
        Slope(entry.name, before, after)
        for entry, before, after in zip(source.entries, *ranks, strict=True)
        if before is not None and after is not None
    ]
    # Where several share a rank, they stay in the order of the leaderboard.
    slopes.sort(key=lambda slope: slope.right)
    if len(slopes) < 2:
        return None
    left, right = (f"by {_axis(column).label}" for column in _columns(chart, source))
    return Slopes(left, right, tuple(slopes[:MOST_ROWS]))


def _profile(chart: Chart, source: ChartSource) -> Shape | None:
    return _grid(chart, source, "dots")


def _shares(chart: Chart, source: ChartSource) -> Shape | None:
    return _grid(chart, source, "cells")


def _grid(chart: Chart, source: ChartSource, style: Any) -> Shape | None:
    """Rows with at least one of the figures."""
    columns = _columns(chart, source)
    valued = ((entry, tuple(_score(entry, each) for each in columns)) for entry in source.entries)
    rows = [
        GridRow(entry.name, values)
        for entry, values in valued
        if any(value is not None for value in values)
    ]
    if not rows:
        return None
    label = columns[0].group if style == "dots" else "Share"
    axis = Axis(label, columns[0].unit, 1 if style == "cells" else columns[0].decimals)
    names = _without_common_head([column.label for column in columns])
    return Grid(style, "System", axis, names, tuple(rows[:MOST_ROWS]), chart.reference)


def _without_common_head(labels: Sequence[str]) -> tuple[str, ...]:
    """Labels without what all of them begin with, such as "Errors: ", which the title says."""
    heads = {label.partition(": ")[0] for label in labels if ": " in label}
    if len(labels) < 2 or len(heads) != 1 or not all(": " in label for label in labels):
        return tuple(labels)
    return tuple(label.partition(": ")[2].capitalize() for label in labels)


def _parts(chart: Chart, source: ChartSource) -> Shape | None:
    """Of the best row: the parts, such as document types, that have at least one of the figures."""
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


def _scatter(x: Axis, y: Axis, points: Sequence[Point], line: Any = ()) -> Scatter | None:
    if len(points) < 2:
        return None
    groups = tuple(dict.fromkeys(point.group for point in points if point.group))
    return Scatter(x, y, tuple(points), groups, line)


def _time(label: str) -> Axis:
    scale: Scale = "time"
    return Axis(label, scale=scale)


def _axis(column: Column) -> Axis:
    label = f"{column.group} {column.label.lower()}" if column.label == "Mean" else column.label
    return Axis(label, column.unit, column.decimals)


def _columns(chart: Chart, source: ChartSource) -> list[Column]:
    """Those of the chart's figures that there are under the phase's options."""
    return [source.figures[key] for key in chart.figures if key in source.figures]


def _score(entry: Entry, column: Column) -> float | None:
    return _number(entry.scores.get(column.key))


def _number(value: Any) -> float | None:
    return value if is_score(value) else None


def _category(entry: Entry) -> Any:
    return entry.category


def _architecture(entry: Entry) -> str:
    return Architecture(entry.architecture).label if entry.architecture else _NOT_STATED


_BUILDERS: dict[str, Builder] = {
    "ranks": _ranks,
    "pair": _pair,
    "profile": _profile,
    "shares": _shares,
    "parts": _parts,
    "size": _size,
    "tokens": _tokens,
    "cost": _cost,
    "released": _released,
    "history": _history,
}
