"""Places for the names of points, where they cover nothing."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Literal, NamedTuple

from .look import LETTER

Align = Literal["left", "center", "right"]
_LINE, _GAP = 14, 9


class Label(NamedTuple):
    """The offset of a name from its point, in units of the picture to the right and up, and whether
    its start, middle or end is there."""

    x: float
    y: float
    align: Align

    @property
    def is_far(self) -> bool:
        """Whether the name is more than a line away, so that a line must connect it to its
        point."""
        return abs(self.y) > _LINE


# The left, right, low and high end of an interval.
Bar = tuple[float, float, float, float]


class _Box(NamedTuple):
    left: float
    right: float
    low: float
    high: float

    def overlap(self, other: "_Box") -> float:
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.high, other.high) - max(self.low, other.low)
        return width * height if width > 0 and height > 0 else 0


class _Boxes:
    """Boxes by the cells of a grid, so that a name is compared only with those near it."""

    _CELL = 40

    def __init__(self) -> None:
        self._cells: defaultdict[tuple[int, int], list[_Box]] = defaultdict(list)

    def add(self, box: _Box) -> None:
        for cell in self._of(box):
            self._cells[cell].append(box)

    def covered(self, boxes: Sequence[_Box], most: float) -> float:
        """Return the area that the boxes cover; a part of it above `most` as soon as it is more."""
        area = 0.0
        for box in boxes:
            near = {known for cell in self._of(box) for known in self._cells.get(cell, ())}
            for known in near:
                area += box.overlap(known)
                if area > most:
                    return area
        return area

    def _of(self, box: _Box) -> Iterator[tuple[int, int]]:
        columns = range(int(box.left // self._CELL), int(box.right // self._CELL) + 1)
        rows = range(int(box.low // self._CELL), int(box.high // self._CELL) + 1)
        return product(columns, rows)


def place_labels(
    points: Sequence[tuple[float, float]],
    names: Sequence[str],
    width: float,
    height: float,
    *,
    bars: Sequence[Bar] = (),
) -> list[Label | None]:
    """Choose a place for the name of each point: next to, above or below it, where it covers the
    least; None if it would cover others everywhere. Points after the last name have no name and may
    be covered. `bars` are the intervals, which names cover only if they must.

    Places are chosen one after another, so the first points get the best places. The result is
    deterministic.
    """
    dots = _Boxes()
    for x, y in points:
        dots.add(_Box(x - 6, x + 6, y - 6, y + 6))
    for left, right, low, high in bars:
        dots.add(_Box(left - 1, right + 1, low - 1, high + 1))
    covered = _Boxes()
    placed: list[Label | None] = []
    for (x, y), name in zip(points, names, strict=False):
        length = LETTER * len(name)
        best = _best_place((x, y), length, dots, covered, _Box(0, width, 0, height))
        if best is not None:
            for box in (_box(x, y, length, best), *_leader(x, y, best)):
                covered.add(box)
        placed.append(best)
    return placed


# From best to worst: right, left, then above and below, at growing distance.
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
# Names may touch at corners without covering characters, and in a crowd may cover two points.
_MOST_COVERED, _MOST_DOTS = 40, 200
_MOST_COST = _MOST_COVERED + _MOST_DOTS


def _best_place(
    point: tuple[float, float],
    length: float,
    dots: _Boxes,
    covered: _Boxes,
    picture: _Box,
) -> Label | None:
    """Return the first place that covers nothing, or the one that covers least; None if that is too
    much. `covered` are the boxes of the names and lines placed so far."""
    costs: dict[Label, float] = {}
    for label in _PLACES:
        name = _box(*point, length, label)
        outside = _outside(name, picture)
        if outside > _MOST_COVERED or dots.covered([name], _MOST_DOTS) > _MOST_DOTS:
            continue
        boxes = [name, *_leader(*point, label)]
        names = covered.covered(boxes, _MOST_COVERED)
        if names > _MOST_COVERED:
            continue
        cost = names + outside + dots.covered(boxes, _MOST_COST)
        if not cost:
            return label
        if cost <= _MOST_COST:
            costs[label] = cost
    return min(costs, key=lambda label: costs[label]) if costs else None


def _box(x: float, y: float, length: float, label: Label) -> _Box:
    left = x + label.x - length * {"left": 0, "center": 0.5, "right": 1}[label.align]
    middle = y + label.y
    return _Box(left, left + length, middle - _LINE / 2, middle + _LINE / 2)


def _leader(x: float, y: float, label: Label) -> list[_Box]:
    """Return the line from a point to its name as small boxes, without the point's own box."""
    if not label.is_far:
        return []
    steps = int(abs(label.y) // 5)
    shares = [step / steps for step in range(2, steps)]
    spots = [(x + share * label.x, y + share * label.y) for share in shares]
    return [_Box(left - 2, left + 2, low - 2, low + 2) for left, low in spots]


def _outside(name: _Box, picture: _Box) -> float:
    """Return the area of the name outside the picture. It weighs more than covered area."""
    across = max(0, picture.left - name.left) + max(0, name.right - picture.right)
    above = max(0, picture.low - name.low) + max(0, name.high - picture.high)
    return (across + above) * _LINE * 4
