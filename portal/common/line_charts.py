"""Where everything stands in a chart of figures with intervals. Pure; lengths in units of the SVG.

`templates/charts/lines.svg` draws what is laid out here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

# How a line is drawn: filled with round marks, or dashed with square ones.
Style: TypeAlias = Literal["first", "second"]

_WIDTH, _HEIGHT = 720, 300
_LEFT, _RIGHT, _UPPER, _LOWER = 46, 16, 20, 62
_LEGEND = 230
# More labels would run into each other.
_MOST_TICKS = 8


class Point(NamedTuple):
    """A figure of at most 1 with the ends of its interval, if it has one; `title` tells it."""

    value: float | None
    low: float | None
    high: float | None
    title: str


class Line(NamedTuple):
    style: Style
    name: str
    points: Sequence[Point]


@dataclass(frozen=True)
class Mark:
    """One point of a line; `top` and `bottom` are the ends of its interval, if it has one."""

    x: float
    y: float
    top: float | None
    bottom: float | None
    title: str


@dataclass(frozen=True)
class DrawnLine:
    """A measure; `paths` are the runs of points without a gap between them."""

    style: Style
    name: str
    paths: tuple[str, ...]
    marks: tuple[Mark, ...]
    legend_x: int


@dataclass(frozen=True)
class LineChart:
    """`rules` are the lines of the axis, `ticks` the names below; `key` is unique on a page."""

    key: str
    title: str
    width: int
    height: int
    left: int
    right: int
    bottom: int
    rules: tuple[tuple[float, str], ...]
    ticks: tuple[tuple[float, str], ...]
    axis: str
    lines: tuple[DrawnLine, ...]


def line_chart(
    key: str,
    title: str,
    names: Sequence[str],
    lines: Sequence[Line],
    *,
    axis: str,
    step: float = 0.2,
    least: float | None = None,
) -> LineChart:
    """Lines over the same names, up to 1; the axis has a rule every `step`, which divides 1.

    It begins at or under the lowest figure, or at `least` if all figures are above that; -1 is the
    end. Raises ValueError without names: there is nothing to draw.
    """
    if not names:
        raise ValueError("there is nothing to draw")
    ends = [end for line in lines for one in line.points for end in _ends(one)]
    floor = _floor(min(ends, default=0.0), step, least)
    every = -(-len(names) // _MOST_TICKS)
    places = 1 if round(step * 10) == step * 10 else 2
    return LineChart(
        key=key,
        title=title,
        width=_WIDTH,
        height=_HEIGHT,
        left=_LEFT,
        right=_WIDTH - _RIGHT,
        bottom=_HEIGHT - _LOWER,
        rules=tuple(
            (_down(value, floor), f"{value:.{places}f}")
            for value in (floor + step * mark for mark in range(round((1 - floor) / step) + 1))
        ),
        ticks=tuple(
            (_across(place, len(names)), name)
            for place, name in enumerate(names)
            if place % every == 0
        ),
        axis=axis,
        lines=tuple(
            _drawn(line, floor, _LEFT + _LEGEND * number) for number, line in enumerate(lines)
        ),
    )


def _ends(point: Point) -> list[float]:
    return [end for end in (point.low, point.value) if end is not None]


def _floor(lowest: float, step: float, least: float | None) -> float:
    """In whole steps, so that the rules have round numbers."""
    if least is not None and lowest >= least:
        return least
    return min(1 - step, max(-1.0, round(step * (lowest // step), 9)))


def _drawn(line: Line, floor: float, legend_x: int) -> DrawnLine:
    marks: list[Mark] = []
    runs: list[list[str]] = [[]]
    for place, point in enumerate(line.points):
        if point.value is None:
            runs.append([])
            continue
        x, y = _across(place, len(line.points)), _down(point.value, floor)
        runs[-1].append(f"{x},{y}")
        top = None if point.high is None else _down(point.high, floor)
        bottom = None if point.low is None else _down(point.low, floor)
        marks.append(Mark(x, y, top, bottom, point.title))
    paths = tuple(" ".join(run) for run in runs if len(run) > 1)
    return DrawnLine(line.style, line.name, paths, tuple(marks), legend_x)


def _across(place: int, points: int) -> float:
    room = _WIDTH - _LEFT - _RIGHT
    return round(_LEFT + room * (place + 0.5) / points, 1)


def _down(value: float, floor: float) -> float:
    room = _HEIGHT - _UPPER - _LOWER
    return round(_UPPER + room * (1 - max(value, floor)) / (1 - floor), 1)
