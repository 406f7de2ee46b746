"""Where everything stands in the charts on agreement. Lengths are in units of the SVG."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .agreement_shapes import Agreement, Figure, Level, TrendPoint

_CELL_WIDTH, _CELL_HEIGHT = 92, 56
_NAMES_WIDTH = 190
_TOP = 54
_LONGEST_NAME = 20

_WIDTH, _HEIGHT = 720, 300
_LEFT, _RIGHT, _UPPER, _LOWER = 46, 16, 20, 62
# More labels would run into each other.
_MOST_TICKS = 8


@dataclass(frozen=True)
class HeatCell:
    """A field of the matrix; `shade`, 0 to 1, is how dark it is, None where there is no figure."""

    x: int
    y: int
    text: str
    detail: str
    shade: float | None

    @property
    def is_dark(self) -> bool:
        """Whether what is written on it must be light."""
        return self.shade is not None and self.shade > 0.55


@dataclass(frozen=True)
class HeatMap:
    """Pairwise κ as a heat map with Fleiss' κ beneath."""

    level: Level
    width: int
    height: int
    numbers: tuple[tuple[int, str], ...]
    names: tuple[tuple[int, str], ...]
    cells: tuple[HeatCell, ...]
    overall: tuple[tuple[int, str], ...]


def heat_map(agreement: Agreement, level: Level) -> HeatMap:
    """Raises ValueError without figures: there is nothing to draw."""
    found = [item for item in agreement.levels if item.level == level]
    if not found:
        raise ValueError("no document counts yet")
    matrix, overall = found[0].matrix, found[0].overall
    rows = range(len(matrix))
    beneath = _TOP + len(matrix) * _CELL_HEIGHT + 28
    lines = [
        f"Overall (Fleiss' κ, {one.annotators} per document): {_spelt(one.figure)}"
        for one in overall.fleiss
    ] + [f"Krippendorff's α: {_spelt(overall.alpha)}"]
    return HeatMap(
        level=level,
        # The lines beneath need their room, however few annotators there are.
        width=max(_NAMES_WIDTH + len(matrix) * _CELL_WIDTH + 16, 470),
        height=beneath + 22 * len(lines),
        numbers=tuple((_middle(row), str(matrix[row].number)) for row in rows),
        names=tuple(
            (_TOP + row * _CELL_HEIGHT + _CELL_HEIGHT // 2 + 5, _name(matrix[row].name, row + 1))
            for row in rows
        ),
        cells=tuple(
            _cell(cell, _NAMES_WIDTH + column * _CELL_WIDTH, _TOP + row * _CELL_HEIGHT)
            for row in rows
            for column, cell in enumerate(matrix[row].cells)
        ),
        overall=tuple((beneath + 22 * number, line) for number, line in enumerate(lines)),
    )


def shade(value: float | None) -> float | None:
    """0 for chance or worse, 1 for perfect agreement; most of the range goes to what is good."""
    return None if value is None else round(max(0.0, min(1.0, value)) ** 2, 2)


def _cell(figure: Figure | None, x: int, y: int) -> HeatCell:
    if figure is None:
        return HeatCell(x, y, "—", "", None)
    text = "n/a" if figure.value is None else f"{figure.value:.4f}"
    return HeatCell(x, y, text, f"n = {figure.n:,}", shade(figure.value))


def _middle(column: int) -> int:
    return _NAMES_WIDTH + column * _CELL_WIDTH + _CELL_WIDTH // 2


def _name(name: str, number: int) -> str:
    short = name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
    return f"{number} {short}"


def _spelt(figure: Figure) -> str:
    if figure.value is None:
        return "n/a"
    interval = "" if figure.low is None else f" [{figure.low:.2f}, {figure.high:.2f}]"
    return f"{figure.value:.4f}{interval}, n = {figure.n:,}"


@dataclass(frozen=True)
class TrendMark:
    """One point of a line; `top` and `bottom` are the ends of its interval, if it has one."""

    x: float
    y: float
    top: float | None
    bottom: float | None
    title: str


@dataclass(frozen=True)
class TrendLine:
    """A measure over time; `paths` are the runs of points without a gap between them."""

    key: str
    name: str
    paths: tuple[str, ...]
    marks: tuple[TrendMark, ...]
    legend_x: int


@dataclass(frozen=True)
class TrendChart:
    """α and span F1 over time. `rules` are the lines of the axis, `ticks` the names below."""

    width: int
    height: int
    left: int
    right: int
    bottom: int
    rules: tuple[tuple[float, str], ...]
    ticks: tuple[tuple[float, str], ...]
    axis: str
    lines: tuple[TrendLine, ...]


class _Measure(NamedTuple):
    key: str
    name: str
    take: Callable[[TrendPoint], Figure]


_LINES = (
    _Measure("alpha", "Krippendorff's α, entities", lambda point: point.part.entity.alpha),
    _Measure("f1", "span F1, exact", lambda point: point.part.spans.exact),
)


def trend_chart(agreement: Agreement) -> TrendChart:
    """Raises ValueError without points: there is nothing to draw."""
    points = agreement.trend.points
    if not points:
        raise ValueError("no document counts yet")
    figures = [line.take(point) for line in _LINES for point in points]
    ends = [end for one in figures for end in (one.low, one.value) if end is not None]
    lowest = min(ends, default=0.0)
    # In steps of a fifth, so that the rules have round numbers.
    floor = 0.0 if lowest >= 0 else max(-1.0, -0.2 * -(lowest // 0.2))
    every = -(-len(points) // _MOST_TICKS)
    return TrendChart(
        width=_WIDTH,
        height=_HEIGHT,
        left=_LEFT,
        right=_WIDTH - _RIGHT,
        bottom=_HEIGHT - _LOWER,
        rules=tuple(
            (_down(value, floor), f"{value:.1f}")
            for value in (floor + 0.2 * step for step in range(round((1 - floor) / 0.2) + 1))
        ),
        ticks=tuple(
            (_across(place, len(points)), point.part.name)
            for place, point in enumerate(points)
            if place % every == 0
        ),
        axis="week of completion" if agreement.trend.by == "week" else "documents, as completed",
        lines=tuple(
            _line(line, points, floor, _LEFT + 230 * number) for number, line in enumerate(_LINES)
        ),
    )


def _line(
    measure: _Measure, points: Sequence[TrendPoint], floor: float, legend_x: int
) -> TrendLine:
    marks: list[TrendMark] = []
    runs: list[list[str]] = [[]]
    for place, point in enumerate(points):
        figure = measure.take(point)
        if figure.value is None:
            runs.append([])
            continue
        x, y = _across(place, len(points)), _down(figure.value, floor)
        runs[-1].append(f"{x},{y}")
        top = None if figure.high is None else _down(figure.high, floor)
        bottom = None if figure.low is None else _down(figure.low, floor)
        title = f"{point.part.name}: {measure.name} {_spelt(figure)}"
        marks.append(TrendMark(x, y, top, bottom, title))
    paths = tuple(" ".join(run) for run in runs if len(run) > 1)
    return TrendLine(measure.key, measure.name, paths, tuple(marks), legend_x)


def _across(place: int, points: int) -> float:
    room = _WIDTH - _LEFT - _RIGHT
    return round(_LEFT + room * (place + 0.5) / points, 1)


def _down(value: float, floor: float) -> float:
    room = _HEIGHT - _UPPER - _LOWER
    return round(_UPPER + room * (1 - max(value, floor)) / (1 - floor), 1)
