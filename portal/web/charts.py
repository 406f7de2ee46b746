"""Layout of bar charts and of line charts with intervals. Pure functions.

Lengths are in units of the SVG. `templates/charts/` renders the layout, inline or as a file.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

Anchor: TypeAlias = Literal["start", "middle", "end"]

_WIDTH = 720
_COLUMNS_HEIGHT = 300
_LEFT, _RIGHT, _UPPER, _LOWER = 56, 16, 30, 58
_GAP = 0.15
_WIDEST = 72
# More names would run into each other.
_MOST_NAMES = 20
_LETTERS_IN_A_ROW = 90

_ROW, _ROW_BAR, _ROWS_LEFT, _ROWS_RIGHT = 34, 20, 230, 70
_LONGEST_NAME = 28


class Amount(NamedTuple):
    """The name of a bar, and its amount, 0 or more."""

    name: str
    value: int


class Writing(NamedTuple):
    """A text and its position."""

    x: float
    y: float
    text: str
    anchor: Anchor = "middle"


class Bar(NamedTuple):
    """A rectangle with a tooltip."""

    x: float
    y: float
    width: float
    height: float
    title: str


class Rule(NamedTuple):
    """A line of the axis, from one point to another."""

    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True)
class BarChart:
    """A laid-out chart. `key` is unique on a page.

    `axis` is the label of the names of `amounts`, `unit` that of their values.
    """

    key: str
    title: str
    amounts: tuple[Amount, ...]
    axis: str
    unit: str
    width: int
    height: int
    bars: tuple[Bar, ...]
    rules: tuple[Rule, ...]
    writings: tuple[Writing, ...]

    @property
    def description(self) -> str:
        """The text alternative."""
        listed = "; ".join(f"{amount.name}: {amount.value:,}" for amount in self.amounts)
        return f"{self.unit.capitalize()} by name. {listed}."


def column_chart(
    key: str, title: str, amounts: Sequence[Amount], *, axis: str, unit: str
) -> BarChart:
    """Vertical bars with their names below. `axis` labels the names, `unit` the amounts.

    Raises ValueError if there are no amounts.
    """
    most = _most(amounts)
    room = _WIDTH - _LEFT - _RIGHT
    step = room / len(amounts)
    ground = _COLUMNS_HEIGHT - _LOWER
    longest = max(len(amount.name) for amount in amounts)
    names_at_once = min(_MOST_NAMES, _LETTERS_IN_A_ROW // (longest + 2) or 1)
    every = -(-len(amounts) // names_at_once)
    marks = _marks(most)

    def height(value: int) -> float:
        return round((ground - _UPPER) * value / marks[-1], 1)

    width = min(step * (1 - _GAP), _WIDEST)
    bars = tuple(
        Bar(
            x=round(_LEFT + step * (place + 0.5) - width / 2, 1),
            y=round(ground - height(amount.value), 1),
            width=round(width, 1),
            height=height(amount.value),
            title=_tooltip(amount, unit),
        )
        for place, amount in enumerate(amounts)
    )
    names = [
        Writing(round(_LEFT + step * (place + 0.5), 1), ground + 18, amount.name)
        for place, amount in enumerate(amounts)
        if place % every == 0
    ]
    scale = [Writing(_LEFT - 8, ground - height(mark) + 4, f"{mark:,}", "end") for mark in marks]
    return BarChart(
        key=key,
        title=title,
        amounts=tuple(amounts),
        axis=axis,
        unit=unit,
        width=_WIDTH,
        height=_COLUMNS_HEIGHT,
        bars=bars,
        rules=tuple(
            Rule(_LEFT, ground - height(mark), _WIDTH - _RIGHT, ground - height(mark))
            for mark in marks
        ),
        writings=(
            *scale,
            *names,
            Writing(8, 16, unit, "start"),
            Writing(_WIDTH - _RIGHT, _COLUMNS_HEIGHT - 14, axis, "end"),
        ),
    )


def row_chart(key: str, title: str, amounts: Sequence[Amount], *, axis: str, unit: str) -> BarChart:
    """Horizontal bars, with names before and amounts after them.

    Raises ValueError if there are no amounts.
    """
    most = max(_most(amounts), 1)
    room = _WIDTH - _ROWS_LEFT - _ROWS_RIGHT
    tops = [12 + _ROW * place for place in range(len(amounts))]
    widths = [round(room * amount.value / most, 1) for amount in amounts]
    bars = tuple(
        Bar(_ROWS_LEFT, top, width, _ROW_BAR, _tooltip(amount, unit))
        for amount, top, width in zip(amounts, tops, widths, strict=True)
    )
    writings = [
        writing
        for amount, top, width in zip(amounts, tops, widths, strict=True)
        for writing in (
            Writing(_ROWS_LEFT - 10, top + 15, _short(amount.name), "end"),
            Writing(_ROWS_LEFT + width + 8, top + 15, f"{amount.value:,}", "start"),
        )
    ]
    height = 12 + _ROW * len(amounts)
    return BarChart(
        key=key,
        title=title,
        amounts=tuple(amounts),
        axis=axis,
        unit=unit,
        width=_WIDTH,
        height=height,
        bars=bars,
        rules=(Rule(_ROWS_LEFT, 4, _ROWS_LEFT, height - 4),),
        writings=tuple(writings),
    )


def _most(amounts: Sequence[Amount]) -> int:
    if not amounts:
        raise ValueError("there is nothing to draw")
    return max(amount.value for amount in amounts)


def _marks(most: int) -> list[int]:
    """Two to six round numbers from 0 to at least `most`.

    >>> _marks(7), _marks(0), _marks(1_234)
    ([0, 2, 4, 6, 8], [0, 1], [0, 500, 1000, 1500])
    """
    step = power = 1
    while step * 5 < most:
        for factor in (2, 5, 10):
            step = factor * power
            if step * 5 >= most:
                break
        else:
            power *= 10
    return [step * number for number in range(max(1, -(-most // step)) + 1)]


def _tooltip(amount: Amount, unit: str) -> str:
    return f"{amount.name}: {amount.value:,} {unit}"


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


# Styles of lines: solid with round marks, or dashed with square marks.
Style: TypeAlias = Literal["first", "second"]

_LINES_WIDTH, _LINES_HEIGHT = 720, 300
_LINES_LEFT, _LINES_RIGHT, _LINES_UPPER, _LINES_LOWER = 46, 16, 20, 62
_LEGEND = 230
# More labels would run into each other.
_MOST_TICKS = 8


class Point(NamedTuple):
    """A value of at most 1, with its interval if it has one; `title` is the tooltip."""

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
    """A point of a line; `top` and `bottom` are the ends of its interval, if it has one."""

    x: float
    y: float
    top: float | None
    bottom: float | None
    title: str


@dataclass(frozen=True)
class DrawnLine:
    """A line of the chart; `paths` are its runs of points without gaps."""

    style: Style
    name: str
    paths: tuple[str, ...]
    marks: tuple[Mark, ...]
    legend_x: int


@dataclass(frozen=True)
class LineChart:
    """A laid-out line chart. `rules` are grid lines; `key` is unique on a page."""

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
    """Lines over the same names, up to 1, with a grid line every `step`, which divides 1.

    The axis starts at or below the lowest value, or at `least` if all values are higher, but never
    below -1. Raises ValueError if there are no names.
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
        width=_LINES_WIDTH,
        height=_LINES_HEIGHT,
        left=_LINES_LEFT,
        right=_LINES_WIDTH - _LINES_RIGHT,
        bottom=_LINES_HEIGHT - _LINES_LOWER,
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
            _drawn(line, floor, _LINES_LEFT + _LEGEND * number) for number, line in enumerate(lines)
        ),
    )


def _ends(point: Point) -> list[float]:
    return [end for end in (point.low, point.value) if end is not None]


def _floor(lowest: float, step: float, least: float | None) -> float:
    """Rounded to whole steps, so that grid lines have round numbers."""
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
    room = _LINES_WIDTH - _LINES_LEFT - _LINES_RIGHT
    return round(_LINES_LEFT + room * (place + 0.5) / points, 1)


def _down(value: float, floor: float) -> float:
    room = _LINES_HEIGHT - _LINES_UPPER - _LINES_LOWER
    return round(_LINES_UPPER + room * (1 - max(value, floor)) / (1 - floor), 1)
