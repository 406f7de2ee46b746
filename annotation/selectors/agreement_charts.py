"""Where everything stands in the charts on agreement. Lengths are in units of the SVG."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from portal.web.charts import Line, LineChart, Point, Style, line_chart

from .agreement_shapes import Agreement, Figure, Level, TrendPoint

_CELL_WIDTH, _CELL_HEIGHT = 92, 56
_NAMES_WIDTH = 190
_TOP = 54
_LONGEST_NAME = 20


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


class _Measure(NamedTuple):
    style: Style
    name: str
    take: Callable[[TrendPoint], Figure]


_LINES = (
    _Measure("first", "Krippendorff's α, entities", lambda point: point.part.entity.alpha),
    _Measure("second", "span F1, exact", lambda point: point.part.spans.exact),
)


def trend_chart(agreement: Agreement) -> LineChart:
    """α and span F1 over time. Raises ValueError without points: there is nothing to draw."""
    points = agreement.trend.points
    axis = "week of completion" if agreement.trend.by == "week" else "documents, as completed"
    return line_chart(
        "trend",
        f"Krippendorff's α and span F1 by {axis}, with 95 % intervals",
        [point.part.name for point in points],
        [Line(line.style, line.name, [_point(line, point) for point in points]) for line in _LINES],
        axis=axis,
        least=0.0,
    )


def _point(measure: _Measure, point: TrendPoint) -> Point:
    figure = measure.take(point)
    title = f"{point.part.name}: {measure.name} {_spelt(figure)}"
    return Point(figure.value, figure.low, figure.high, title)
