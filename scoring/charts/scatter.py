"""Scatter charts: one point per system, with names next to the first ones where they cover
nothing."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any, Literal, NamedTuple

from .look import (
    COLOURS,
    INK,
    LETTER,
    MUTED,
    PADDING,
    SHAPES,
    Room,
    clean,
    highlighted,
    scaled,
    short_names,
    text_of,
    tooltip,
)
from .shapes import Axis, Scatter

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
        """Return the distance of the value from the low end, in units of the picture."""
        low, high, at = (self._scaled(each) for each in (self.low, self.high, value))
        return (at - low) / (high - low) * self.length

    def value(self, place: float) -> float:
        """Return the value at this distance: the inverse of `place`."""
        low, high = self._scaled(self.low), self._scaled(self.high)
        at = low + place / self.length * (high - low)
        return math.exp(at) if self.is_log else at

    def _scaled(self, value: float) -> float:
        return math.log(value) if self.is_log else value


def span(values: Sequence[float], length: float, *, is_log: bool = False, least: float = 0) -> Span:
    """Return an axis with some margin around all values, even if they are equal. `least` is the
    smallest margin at either end."""
    low, high = min(values), max(values)
    if is_log:
        room = (high / low) ** _ROOM if high > low else 2
        return Span(low / room, high * room, length, is_log=True)
    room = max((high - low) * _ROOM, least) or abs(high) * _ROOM or 1
    return Span(low - room, high + room, length)


def log_ticks(room: Span) -> list[float]:
    """Return 1, 2 and 5 times the powers of ten on the axis, or, if there are fewer than two, round
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
    """Choose a place for the name of each point: next to, above or below it, where it covers the
    least; None if it would cover others everywhere. Points after the last name have no name and may
    be covered.

    Places are chosen one after another, so the first points get the best places. The result is
    deterministic.
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
# The longest distance of a name from its point, and the longest connecting line.
_REACH = 9 * _LINE
# Names may touch at corners without covering characters, and in a crowd may cover two points.
_MOST_COVERED, _MOST_DOTS = 40, 200


def _best_place(
    point: tuple[float, float],
    length: float,
    dots: Sequence[_Box],
    taken: Sequence[_Box],
    picture: _Box,
) -> Label | None:
    """Return the first place that covers nothing, or the one that covers least; None if that is too
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
    """Return the line from a point to its name as small boxes, without the point's own box."""
    if not label.is_far:
        return []
    steps = int(abs(label.y) // 5)
    shares = [step / steps for step in range(2, steps)]
    spots = [(x + share * label.x, y + share * label.y) for share in shares]
    return [_Box(left - 2, left + 2, low - 2, low + 2) for left, low in spots]


def _covered(boxes: Sequence[_Box], taken: Sequence[_Box]) -> float:
    return sum(box.overlap(other) for box in boxes for other in taken)


def _outside(name: _Box, picture: _Box) -> float:
    """Return the area of the name outside the picture. It weighs more than covered area."""
    across = max(0, picture.left - name.left) + max(0, name.right - picture.right)
    above = max(0, picture.low - name.low) + max(0, name.high - picture.high)
    return (across + above) * _LINE * 4


# Width of the axis with its title.
_AXIS_WIDTH = 54 + 2 * PADDING
_PLOT_HEIGHT = 340
# More names than one per this width would cover each other.
_WIDTH_A_NAME = 40
_HALF_LETTER = 6
_DAY = 24 * 60 * 60 * 1000
# Sizes are shown in billions (7B) instead of giga.
_BILLIONS = "replace(format(datum.value, '~s'), 'G', 'B')"


# Touch drags and the wheel are left to the page, for scrolling.
_ZOOM = {
    "type": "interval",
    "translate": "[pointerdown[event.pointerType === 'mouse'], window:pointerup] > "
    "window:pointermove!",
    "zoom": "wheel![event.ctrlKey || event.metaKey]",
}


def named(room: Room) -> int:
    """Return how many points get names."""
    return room.width // _WIDTH_A_NAME


def scatter_layers(chart: Scatter, room: Room) -> dict[str, Any]:
    xs = [_drawn(chart.x, point.x) for point in chart.points]
    ys = [chart.y.drawn(point.y) for point in chart.points]
    if not xs:
        raise ValueError("a chart needs at least one point")
    least = 3 * _DAY if chart.x.scale == "time" else 0
    width = room.width - _AXIS_WIDTH
    across = span(xs, width, is_log=chart.x.scale == "log", least=least)
    up = span(ys, _PLOT_HEIGHT)
    layers = [_line(chart)] if len(chart.line) > 1 else []
    layers += [_points(chart, xs, ys, room), *_names(chart, xs, ys, across, up, room)]
    return {
        "width": width,
        "height": _PLOT_HEIGHT,
        "encoding": {
            "x": _axis(chart.x, "x", across, room),
            "y": _axis(chart.y, "y", up, room),
        },
        "layer": layers,
    }


def _drawn(axis: Axis, value: float | date) -> float:
    """Convert dates to milliseconds since 1970, as Vega counts."""
    if isinstance(value, date):
        return datetime.combine(value, time(), UTC).timestamp() * 1000
    return axis.drawn(value)


def _axis(axis: Axis, field: str, span: Span, room: Room) -> dict[str, Any]:
    types = {"linear": "linear", "log": "log", "time": "utc"}
    domain: list[Any] = [span.low, span.high]
    if axis.scale == "time":
        domain = [_moment(each) for each in domain]
    scale = {"type": types[axis.scale], "domain": domain, "nice": False}
    if axis.scale == "linear":
        scale["zero"] = False
    encoded = {
        "field": field,
        "type": "temporal" if axis.scale == "time" else "quantitative",
        "scale": scale,
        "title": axis.title,
    }
    if axis.scale == "log":
        return {
            **encoded,
            "axis": {"labelExpr": _BILLIONS, "values": log_ticks(span), "labelOverlap": "greedy"},
        }
    if axis.scale == "time":
        return {
            **encoded,
            "axis": {
                "format": _date_format(span),
                "labelOverlap": "greedy",
                "labelSeparation": 12,
                "labelFlush": False,
                "tickCount": room.width // 130,
            },
        }
    return {**encoded, "axis": {"tickCount": min(8, room.width // 50)}}


def _moment(milliseconds: float) -> dict[str, Any]:
    """Write a moment for Vega-Lite. A bare number would become a call that only compiled
    expressions can evaluate."""
    at = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return {
        "utc": True,
        "year": at.year,
        "month": at.month,
        "date": at.day,
        "hours": at.hour,
        "minutes": at.minute,
        "seconds": at.second,
    }


def _date_format(span: Span) -> str:
    """Return a format with days if every tick would show the same month."""
    return "%-d %b %Y" if span.high - span.low < 200 * _DAY else "%b %Y"


def _line(chart: Scatter) -> dict[str, Any]:
    values = [{"x": _drawn(chart.x, x), "y": chart.y.drawn(y)} for x, y in chart.line]
    return {
        "data": {"values": values},
        "mark": {
            "type": "line",
            "interpolate": "step-after",
            "color": MUTED,
            "strokeDash": [5, 4],
            "clip": True,
        },
    }


def _points(chart: Scatter, xs: list[float], ys: list[float], room: Room) -> dict[str, Any]:
    groups = list(chart.groups) or [""]
    names = _names_of(chart, room)
    fields = [("whole", "System"), ("told_x", chart.x.title), ("told_y", chart.y.title)]
    fields += [("group", "Kind")] if chart.groups else []
    layer: dict[str, Any] = {
        "data": {
            "values": [
                {
                    "x": x,
                    "y": y,
                    "group": point.group,
                    "name": name,
                    "whole": clean(point.name),
                    "told_x": chart.x.show(point.x),
                    "told_y": chart.y.show(point.y),
                }
                for point, name, x, y in zip(chart.points, names, xs, ys, strict=True)
            ]
        },
        "mark": {"type": "point", "filled": True, "size": 70, "color": COLOURS[0], "clip": True},
        "encoding": {"opacity": highlighted(), "tooltip": tooltip(*fields)},
        # The ticks of a logarithmic axis are chosen for its full range.
        "params": [
            {
                "name": "zoom",
                "select": {**_ZOOM, "encodings": ["y"] if chart.x.scale == "log" else ["x", "y"]},
                "bind": "scales",
            }
        ],
    }
    if len(groups) > 1:
        layer["encoding"] |= {
            "color": scaled("group", groups, COLOURS, room.width - _AXIS_WIDTH),
            "shape": scaled("group", groups, SHAPES, room.width - _AXIS_WIDTH),
        }
    return layer


def _names_of(chart: Scatter, room: Room) -> list[str]:
    return short_names([point.name for point in chart.points], room.longest_name)


def _names(
    chart: Scatter, xs: list[float], ys: list[float], across: Span, up: Span, room: Room
) -> list[dict[str, Any]]:
    """Draw the names that fit, with a thin line to points that are not next to them."""
    names = _names_of(chart, room)[: named(room)]
    places = [(across.place(x), up.place(y)) for x, y in zip(xs, ys, strict=True)]
    labels = place_labels(places, names, across.length, up.length)
    values = [
        {
            "x": x,
            "y": y,
            "name": name,
            "dx": label.x,
            "dy": -label.y,
            "align": label.align,
            "is_far": label.is_far,
        }
        for x, y, label, name in zip(xs, ys, labels, names, strict=False)
        if label is not None
    ]
    far = [value for value in values if value.pop("is_far")]
    return [*([_leaders(far)] if far else []), _texts(values)]


def _leaders(values: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "data": {"values": [{**value, "to_y": _lead(value["dy"])} for value in values]},
        "mark": {
            "type": "rule",
            "x2Offset": {"expr": "datum.dx"},
            "y2Offset": {"expr": "datum.to_y"},
            "color": MUTED,
            "strokeWidth": 0.8,
            "clip": True,
        },
        "encoding": {
            "x2": {"field": "x"},
            "y2": {"field": "y"},
            "opacity": highlighted(),
        },
    }


def _lead(down: float) -> float:
    """Return how far the line to a name goes vertically: to the edge of its characters."""
    return down - _HALF_LETTER if down > 0 else down + _HALF_LETTER


def _texts(values: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "data": {"values": values},
        # Names stay next to their points when the reader pans or zooms.
        "mark": {
            "type": "text",
            "align": {"expr": "datum.align"},
            "dx": {"expr": "datum.dx"},
            "dy": {"expr": "datum.dy"},
            "baseline": "middle",
            "color": INK,
            "clip": True,
        },
        "encoding": {"text": text_of("name"), "opacity": highlighted()},
    }
