"""The data of charts: plain rows that are drawn, shown as a table and downloaded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal, NamedTuple

NO_VALUE = "–"
Cell = str | float | int | date | None
Scale = Literal["linear", "log", "time"]


@dataclass(frozen=True)
class Axis:
    """The scale of an axis or a column of figures. Values with the unit "%" are rates."""

    label: str
    unit: Literal["%", ""] = ""
    decimals: int = 2
    scale: Scale = "linear"

    @property
    def title(self) -> str:
        return f"{self.label} (%)" if self.unit else self.label

    def drawn(self, value: float) -> float:
        """Return the value as the axis shows it: rates times 100."""
        return 100 * value if self.unit else value

    def show(self, value: Cell) -> str:
        """Format the value. Nothing is rounded before this."""
        if value is None:
            return NO_VALUE
        if isinstance(value, str | date):
            return str(value)
        return f"{self.drawn(value):,.{self.decimals}f}"


class Table(NamedTuple):
    """The rows of a chart with their headings; each row begins with its name."""

    heads: tuple[str, ...]
    lines: tuple[tuple[Cell, ...], ...]
    texts: tuple[tuple[str, ...], ...]
    """The rows formatted for a page."""


# The low and high end of a 95% interval.
Ends = tuple[float, float]


class Point(NamedTuple):
    """A system in a scatter chart. Moments are dates. `group` sets colour and shape; `x_ends` and
    `y_ends` are the intervals."""

    name: str
    x: float | date
    y: float
    group: str = ""
    x_ends: Ends | None = None
    y_ends: Ends | None = None


@dataclass(frozen=True)
class Scatter:
    """`line` connects, in steps from left to right, the best results so far or the Pareto front.
    `groups` are all groups that the board can have, in the order of their colours. `points` are the
    drawn ones of `total`."""

    x: Axis
    y: Axis
    points: tuple[Point, ...]
    groups: tuple[str, ...] = ()
    line: tuple[tuple[float | date, float], ...] = ()
    total: int = 0

    def table(self) -> Table:
        has_ends = {
            field: any(getattr(point, f"{field}_ends") for point in self.points) for field in "xy"
        }
        rows = [self._cells(point, has_ends) for point in self.points]
        return Table(
            self._heads(has_ends),
            tuple(tuple(cell for cell, _ in row) for row in rows),
            tuple(tuple(text for _, text in row) for row in rows),
        )

    def _heads(self, has_ends: Mapping[str, bool]) -> tuple[str, ...]:
        return (
            "Model",
            self.x.label,
            *_end_heads(self.x, has_ends["x"]),
            self.y.label,
            *_end_heads(self.y, has_ends["y"]),
            *(("Category",) if self.groups else ()),
        )

    def _cells(self, point: Point, has_ends: Mapping[str, bool]) -> list[tuple[Cell, str]]:
        cells: list[tuple[Cell, str]] = [(point.name, point.name)]
        for axis, field in ((self.x, "x"), (self.y, "y")):
            values: list[Cell] = [getattr(point, field)]
            if has_ends[field]:
                values += getattr(point, f"{field}_ends") or (None, None)
            cells += [(value, axis.show(value)) for value in values]
        return [*cells, *([(point.group, point.group)] if self.groups else [])]


def _end_heads(axis: Axis, has_ends: bool) -> tuple[str, ...]:
    return (f"{axis.label} low", f"{axis.label} high") if has_ends else ()


class Slope(NamedTuple):
    """A system with its rank in two orders."""

    name: str
    left: int
    right: int


@dataclass(frozen=True)
class Slopes:
    left: str
    right: str
    slopes: tuple[Slope, ...]

    def table(self) -> Table:
        lines = tuple((slope.name, slope.left, slope.right) for slope in self.slopes)
        texts = tuple(tuple(map(str, line)) for line in lines)
        return Table(("Model", self.left, self.right), lines, texts)


class GridRow(NamedTuple):
    """A row with its figures and, if it has any, their intervals and its group."""

    name: str
    values: tuple[float | None, ...]
    ends: tuple[Ends | None, ...] = ()
    group: str = ""


Style = Literal["dots", "cells", "bars", "radar"]


@dataclass(frozen=True)
class Grid:
    """Rows of figures in the same columns: drawn as dots on one axis, as shaded cells, as a small
    bar chart for each column, or as a radar. `best` are the best figures of the columns; `groups`
    are as for `Scatter`."""

    style: Style
    row_head: str
    axis: Axis
    columns: tuple[str, ...]
    rows: tuple[GridRow, ...]
    reference: float | None = None
    best: tuple[float | None, ...] = ()
    groups: tuple[str, ...] = ()

    def table(self) -> Table:
        lines = tuple((row.name, *row.values) for row in self.rows)
        texts = tuple((row.name, *map(self.axis.show, row.values)) for row in self.rows)
        return Table((self.row_head, *self.columns), lines, texts)


class Bar(NamedTuple):
    """The number of items from `low` (inclusive) to `high` (exclusive)."""

    low: float
    high: float
    number: int


@dataclass(frozen=True)
class Bars:
    """Counts per range. The last range includes its upper end."""

    axis: Axis
    counted: str
    bars: tuple[Bar, ...]

    def range_text(self, bar: Bar) -> str:
        joint = "to" if bar == self.bars[-1] else "to below"
        return f"{self.axis.show(bar.low)} {joint} {self.axis.show(bar.high)}"

    def table(self) -> Table:
        lines = tuple((bar.low, bar.high, bar.number) for bar in self.bars)
        texts = tuple(
            (self.axis.show(bar.low), self.axis.show(bar.high), f"{bar.number:,}")
            for bar in self.bars
        )
        return Table((f"{self.axis.label} from", "to", self.counted), lines, texts)


Shape = Scatter | Slopes | Grid | Bars


def front(points: Sequence[Point], *, higher_is_better: bool) -> tuple[Point, ...]:
    """Return the Pareto front, from left to right: points for which no other is at least as good
    with a lower x.

    >>> [p.name for p in front([Point("a", 1, 0.2), Point("b", 2, 0.1), Point("c", 3, 0.4)],
    ...                        higher_is_better=True)]
    ['a', 'c']
    """
    sign = 1 if higher_is_better else -1
    found: list[Point] = []
    for point in sorted(points, key=lambda point: (point.x, -sign * point.y, point.name)):
        if not found or sign * point.y > sign * found[-1].y:
            found.append(point)
    return tuple(found)
