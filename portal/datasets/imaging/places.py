"""The areas of a stretch of text on an image; the twin of static/js/lib/boxes.js."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Area:
    """Pixels of the image."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.bottom - self.top


def areas_of(boxes: Sequence[Sequence[int]], start: int, end: int) -> list[Area]:
    """One area for each line that [start, end) stands on; `boxes` as they are stored.

    A word of which only a part is meant is cut in proportion.

    >>> areas_of([[0, 4, 100, 50, 40, 20]], 1, 3)
    [Area(left=110.0, top=50, right=130.0, bottom=70)]
    """
    areas: list[Area] = []
    for box in boxes[bisect_right(boxes, start, key=lambda box: box[1]) :]:
        if box[0] >= end:
            break
        area = _cut(box, start, end)
        if areas and _is_beside(areas[-1], area):
            areas[-1] = _joined(areas[-1], area)
        else:
            areas.append(area)
    return areas


def _cut(box: Sequence[int], start: int, end: int) -> Area:
    first, last, left, top, width, height = box

    def share(offset: int) -> float:
        return left + width * (min(max(offset, first), last) - first) / (last - first)

    return Area(share(start), top, share(end), top + height)


def _is_beside(one: Area, other: Area) -> bool:
    """The next word of the same line begins within a character or two of where one ended."""
    overlap = min(one.bottom, other.bottom) - max(one.top, other.top)
    gap = other.left - one.right
    return overlap > one.height / 2 and -one.height / 2 <= gap < one.height


def _joined(one: Area, other: Area) -> Area:
    return replace(
        one,
        top=min(one.top, other.top),
        right=max(one.right, other.right),
        bottom=max(one.bottom, other.bottom),
    )
