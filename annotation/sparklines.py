"""Small lines of a rate over time, as an SVG draws them. No Django.

All lines of a page share one scale, so that they can be compared: from the lowest tenth below every
value up to 1.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor

WIDTH, HEIGHT = 120, 28
# Room for a point's own radius.
MARGIN = 4


@dataclass(frozen=True)
class Point:
    """Pixels from the upper left corner, and what the point says."""

    x: float
    y: float
    name: str
    value: float


@dataclass(frozen=True)
class Sparkline:
    width: int
    height: int
    points: tuple[Point, ...]

    @property
    def last(self) -> Point | None:
        return self.points[-1] if self.points else None

    @property
    def path(self) -> str:
        """The points as an SVG polyline wants them."""
        return " ".join(f"{point.x:g},{point.y:g}" for point in self.points)


@dataclass(frozen=True)
class Sparklines:
    """The lines by key; `lowest` is the value at the bottom of all of them."""

    lowest: float
    lines: dict[int, Sparkline]


def sparklines(series: Mapping[int, Sequence[tuple[str, float]]]) -> Sparklines:
    """Lines through (name, value), values 0 to 1, evenly spaced in the order given.

    >>> drawn = sparklines({1: [("a", 0.75), ("b", 1.0)]})
    >>> drawn.lowest, drawn.lines[1].path
    (0.7, '4,20.6667 116,4')
    """
    values = [value for points in series.values() for _, value in points]
    # Rounded first: 0.7 * 10 is less than 7 in binary. A line at 1 needs some room below as well.
    lowest = min(floor(round(min(values, default=0.9) * 10, 6)) / 10, 0.9)
    return Sparklines(lowest, {key: _line(points, lowest) for key, points in series.items()})


def _line(points: Sequence[tuple[str, float]], lowest: float) -> Sparkline:
    step = (WIDTH - 2 * MARGIN) / max(len(points) - 1, 1)
    rise = (HEIGHT - 2 * MARGIN) / (1 - lowest)
    return Sparkline(
        WIDTH,
        HEIGHT,
        tuple(
            Point(
                round(MARGIN + place * step, 2), round(MARGIN + (1 - value) * rise, 4), name, value
            )
            for place, (name, value) in enumerate(points)
        ),
    )
