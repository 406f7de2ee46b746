"""Axes' ranges, and where the names of points stand so that they do not cover each other."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from .look import LETTER

Align = Literal["left", "center", "right"]

_ROOM = 0.08
_LINE, _GAP = 13, 8


@dataclass(frozen=True)
class Span:
    """An axis from `low` to `high` over so many units of the picture."""

    low: float
    high: float
    length: float
    is_log: bool = False

    def place(self, value: float) -> float:
        """How far from the low end the value stands, in units of the picture."""
        low, high, at = (self._scaled(each) for each in (self.low, self.high, value))
        return (at - low) / (high - low) * self.length

    def value(self, place: float) -> float:
        """What stands at this place: the inverse of `place`."""
        low, high = self._scaled(self.low), self._scaled(self.high)
        at = low + place / self.length * (high - low)
        return math.exp(at) if self.is_log else at

    def _scaled(self, value: float) -> float:
        return math.log(value) if self.is_log else value


def span(values: Sequence[float], length: float, *, is_log: bool = False, least: float = 0) -> Span:
    """An axis on which all values have some room around them, equal values too; `least` is the
    least room at either end."""
    low, high = min(values), max(values)
    if is_log:
        room = (high / low) ** _ROOM if high > low else 2
        return Span(low / room, high * room, length, is_log=True)
    room = max((high - low) * _ROOM, least) or abs(high) * _ROOM or 1
    return Span(low - room, high + room, length)


def log_ticks(room: Span) -> list[float]:
    """1, 2 and 5 times the powers of ten on the axis; where there are fewer than two of them, round
    values that divide it.

    >>> log_ticks(span([3e9, 30e9], 100, is_log=True))
    [5000000000.0, 10000000000.0, 20000000000.0]
    >>> log_ticks(span([72, 76], 100, is_log=True))
    [72.0, 74.0, 76.0]
    """
    powers = range(math.floor(math.log10(room.low)), math.ceil(math.log10(room.high)) + 1)
    ticks = [factor * 10.0**power for power in powers for factor in (1, 2, 5)]
    found = [tick for tick in ticks if room.low <= tick <= room.high]
    if len(found) > 1:
        return found
    rounded = {float(f"{room.value(share * room.length):.2g}") for share in (0.1, 0.5, 0.9)}
    return sorted(tick for tick in rounded if room.low <= tick <= room.high)


class Label(NamedTuple):
    """Where a name stands from its point, in units of the picture to the right and up, and which
    end or the middle of it stands there."""

    x: float
    y: float
    align: Align

    @property
    def is_far(self) -> bool:
        """Whether another line would have room between: which point is meant must be shown."""
        return abs(self.y) > _LINE


class _Box(NamedTuple):
    left: float
    right: float
    low: float
    high: float

    def overlap(self, other: "_Box") -> float:
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.high, other.high) - max(self.low, other.low)
        return width * height if width > 0 and height > 0 else 0


def place_labels(
    points: Sequence[tuple[float, float]], names: Sequence[str], width: float, height: float
) -> list[Label | None]:
    """A place for the name of each point: beside, above or below it, where it covers the least;
    None where it would cover others everywhere. Points after the last name have none, and are
    nothing to write on.

    One after another, so that the first ones get the best places; the same points give the same
    places.
    """
    dots = [_Box(x - 5, x + 5, y - 5, y + 5) for x, y in points]
    taken: list[_Box] = []
    placed: list[Label | None] = []
    for (x, y), name in zip(points, names, strict=False):
        length = LETTER * len(name)
        near = _Box(x - length - _REACH, x + length + _REACH, y - _REACH, y + _REACH)
        best = _best_place(
            (x, y),
            length,
            [dot for dot in dots if dot.overlap(near)],
            [box for box in taken if box.overlap(near)],
            _Box(0, width, 0, height),
        )
        if best is not None:
            taken += [_box(x, y, length, best), *_leader(x, y, best)]
        placed.append(best)
    return placed


# From the best to the worst: right, left, then above and below, ever further away.
_BESIDE = Label(_GAP, 0, "left"), Label(-_GAP, 0, "right")
_FURTHER = Label(4 * _GAP, 0, "left"), Label(-4 * _GAP, 0, "right")
_PLACES: tuple[Label, ...] = (
    *_BESIDE,
    *(
        label._replace(y=sign * line * _LINE)
        for line in range(1, 9)
        for sign in (1, -1)
        for label in (Label(0, 0, "center"), *_BESIDE, *(_FURTHER if line > 1 else ()))
    ),
)
# No name is further from its point, nor is any line between them longer.
_REACH = 9 * _LINE
# A corner of another name may be touched, no letter of it; and in a crowd two points be written on.
_MOST_COVERED, _MOST_DOTS = 40, 200


def _best_place(
    point: tuple[float, float],
    length: float,
    dots: Sequence[_Box],
    taken: Sequence[_Box],
    picture: _Box,
) -> Label | None:
    """The first place that covers nothing, else the one that covers least; None if that is too
    much. `taken` is by names and lines."""
    found: dict[Label, float] = {}
    for label in _PLACES:
        name = _box(*point, length, label)
        outside = _outside(name, picture)
        if outside > _MOST_COVERED or _covered([name], dots) > _MOST_DOTS:
            continue
        boxes = [name, *_leader(*point, label)]
        names = _covered(boxes, taken)
        if names > _MOST_COVERED:
            continue
        cost = names + outside + _covered(boxes, dots)
        if not cost:
            return label
        if cost <= _MOST_COVERED + _MOST_DOTS:
            found[label] = cost
    return min(found, key=lambda label: found[label]) if found else None


def _box(x: float, y: float, length: float, label: Label) -> _Box:
    left = x + label.x - length * {"left": 0, "center": 0.5, "right": 1}[label.align]
    middle = y + label.y
    return _Box(left, left + length, middle - _LINE / 2, middle + _LINE / 2)


def _leader(x: float, y: float, label: Label) -> list[_Box]:
    """Where the line from a point to its name runs, as small boxes; the point's own is left out."""
    if not label.is_far:
        return []
    steps = int(abs(label.y) // 5)
    shares = [step / steps for step in range(2, steps)]
    spots = [(x + share * label.x, y + share * label.y) for share in shares]
    return [_Box(left - 2, left + 2, low - 2, low + 2) for left, low in spots]


def _covered(boxes: Sequence[_Box], taken: Sequence[_Box]) -> float:
    return sum(box.overlap(other) for box in boxes for other in taken)


def _outside(name: _Box, picture: _Box) -> float:
    """What of the name would be outside the picture, which counts for more than what it covers."""
    beside = max(0, picture.left - name.left) + max(0, name.right - picture.right)
    above = max(0, picture.low - name.low) + max(0, name.high - picture.high)
    return (beside + above) * _LINE * 4
