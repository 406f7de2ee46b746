"""Scatter charts: one point per system, with names next to the first ones where they cover
nothing."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from itertools import pairwise
from typing import Any

from .labels import Bar, place_labels
from .look import (
    COLOURS,
    INK,
    MUTED,
    Margins,
    Room,
    clean,
    drawn_groups,
    framed,
    group_styles,
    highlighted,
    legend_height,
    scaled,
    short_names,
    text_of,
    tooltip,
)
from .shapes import Axis, Point, Scatter

_ROOM = 0.08


@dataclass(frozen=True)
class Span:
    """An axis from `low` to `high` over so many units of the picture."""

    low: float
    high: float
    length: float
    is_log: bool = False

    def place(self, value: float) -> float:
        """Return the distance of the value from the low end, in units of the picture."""
        low, high, at = (self._scaled(end) for end in (self.low, self.high, value))
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
    shown = [tick for tick in ticks if room.low <= tick <= room.high]
    if len(shown) > 1:
        return shown
    rounded = {float(f"{room.value(share * room.length):.2g}") for share in (0.1, 0.5, 0.9)}
    return sorted(tick for tick in rounded if room.low <= tick <= room.high)


# The room of the axes with their titles, and of half a label, such as a date, at their ends.
_MARGINS = Margins(left=72, right=48, top=12, bottom=56)
# More names than one per this width would cover each other.
_WIDTH_A_NAME = 44
_HALF_LETTER = 7
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
    if not chart.points:
        raise ValueError("a chart needs at least one point")
    width = room.width - _MARGINS.left - _MARGINS.right
    groups = _groups(chart)
    top = legend_height(groups, width) if groups else _MARGINS.top
    frame = framed(room.width, room.height + top, _MARGINS._replace(top=top))
    xs = [_drawn(chart.x, point.x) for point in chart.points]
    ys = [chart.y.drawn(point.y) for point in chart.points]
    least = 3 * _DAY if chart.x.scale == "time" else 0
    across = span(
        [*xs, *_ends(chart.x, [point.x_ends for point in chart.points])],
        width,
        is_log=chart.x.scale == "log",
        least=least,
    )
    up = span([*ys, *_ends(chart.y, [point.y_ends for point in chart.points])], frame["height"])
    layers = [_line(chart)] if len(chart.line) > 1 else []
    layers += _intervals(chart, room)
    layers += [_points(chart, room), *_names(chart, xs, ys, across, up, room)]
    return {
        **frame,
        "encoding": {
            "x": _axis(chart.x, "x", across, room),
            "y": _axis(chart.y, "y", up, room),
        },
        "layer": layers,
    }


def _ends(axis: Axis, intervals: Sequence[tuple[float, float] | None]) -> list[float]:
    return [axis.drawn(end) for ends in intervals if ends for end in ends]


def _groups(chart: Scatter) -> list[str]:
    return drawn_groups([point.group for point in chart.points], chart.groups)


def _intervals(chart: Scatter, room: Room) -> list[dict[str, Any]]:
    """Draw the 95% intervals as thin lines behind the points."""
    names, layers = _names_of(chart, room), []
    for field, other in (("x", "y"), ("y", "x")):
        axis, across = getattr(chart, field), getattr(chart, other)
        values = [
            {
                field: axis.drawn(ends[0]),
                "to": axis.drawn(ends[1]),
                other: _drawn(across, getattr(point, other)),
                "name": name,
                "group": point.group,
            }
            for name, point in zip(names, chart.points, strict=True)
            if (ends := getattr(point, f"{field}_ends"))
        ]
        if values:
            layers.append(_rules(values, f"{field}2", chart))
    return layers


def _rules(values: list[dict[str, Any]], to: str, chart: Scatter) -> dict[str, Any]:
    colours = group_styles(_groups(chart), chart.groups).get("color")
    # The legend is that of the points.
    scale = {"domain": _groups(chart), "range": colours}
    encoding = {"color": {**text_of("group"), "scale": scale}} if colours else {}
    return {
        "data": {"values": values},
        "mark": {"type": "rule", "strokeWidth": 1.6, "color": COLOURS[0], "clip": True},
        "encoding": {to: {"field": "to"}, **encoding, "opacity": highlighted(0.45)},
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
        domain = [_moment(end) for end in domain]
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
                "labelSeparation": 14,
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


def _points(chart: Scatter, room: Room) -> dict[str, Any]:
    names = _names_of(chart, room)
    layer: dict[str, Any] = {
        "data": {
            "values": [
                _point(chart, point, name) for point, name in zip(chart.points, names, strict=True)
            ]
        },
        "mark": {"type": "point", "filled": True, "size": 110, "color": COLOURS[0], "clip": True},
        "encoding": {"opacity": highlighted(), "tooltip": tooltip(*_tooltip_fields(chart))},
        # The ticks of a logarithmic axis are chosen for its full range.
        "params": [
            {
                "name": "zoom",
                "select": {**_ZOOM, "encodings": ["y"] if chart.x.scale == "log" else ["x", "y"]},
                "bind": "scales",
            }
        ],
    }
    width = room.width - _MARGINS.left - _MARGINS.right
    layer["encoding"] |= {
        channel: scaled("group", _groups(chart), values, width)
        for channel, values in group_styles(_groups(chart), chart.groups).items()
    }
    return layer


def _point(chart: Scatter, point: Point, name: str) -> dict[str, Any]:
    return {
        "x": _drawn(chart.x, point.x),
        "y": chart.y.drawn(point.y),
        "group": point.group,
        "name": name,
        "whole": clean(point.name),
        "text_x": _text(chart.x, point.x, point.x_ends),
        "text_y": _text(chart.y, point.y, point.y_ends),
    }


def _text(axis: Axis, value: float | date, ends: tuple[float, float] | None) -> str:
    interval = f" ({axis.show(ends[0])} to {axis.show(ends[1])})" if ends else ""
    return axis.show(value) + interval


def _tooltip_fields(chart: Scatter) -> list[tuple[str, str]]:
    fields = [("whole", "Model"), ("text_x", chart.x.title), ("text_y", chart.y.title)]
    return [*fields, *([("group", "Category")] if chart.groups else [])]


def _names_of(chart: Scatter, room: Room) -> list[str]:
    return short_names([point.name for point in chart.points], room.longest_name)


def _names(
    chart: Scatter, xs: list[float], ys: list[float], across: Span, up: Span, room: Room
) -> list[dict[str, Any]]:
    """Draw the names that fit, with a thin line to points that are not next to them. Points on the
    line of the chart are named first."""
    on_line = {(_drawn(chart.x, x), chart.y.drawn(y)) for x, y in chart.line}
    marks = sorted(
        zip(xs, ys, _names_of(chart, room), strict=True),
        key=lambda mark: mark[:2] not in on_line,
    )
    places = [(across.place(x), up.place(y)) for x, y, _ in marks]
    names = [name for _, _, name in marks[: named(room)]]
    labels = place_labels(places, names, across.length, up.length, bars=_bars(chart, across, up))
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
        for (x, y, name), label in zip(marks, labels, strict=False)
        if label is not None
    ]
    far = [value for value in values if value.pop("is_far")]
    return [*([_leaders(far)] if far else []), _texts(values)]


def _bars(chart: Scatter, across: Span, up: Span) -> list[Bar]:
    """Return the places of the intervals and of the steps of the line."""
    corners = [
        (across.place(_drawn(chart.x, x)), up.place(chart.y.drawn(y))) for x, y in chart.line
    ]
    bars: list[Bar] = [
        bar
        for (left, low), (right, high) in pairwise(corners)
        for bar in ((left, right, low, low), (right, right, min(low, high), max(low, high)))
    ]
    for point in chart.points:
        x, y = across.place(_drawn(chart.x, point.x)), up.place(chart.y.drawn(point.y))
        if point.x_ends:
            low, high = (across.place(chart.x.drawn(end)) for end in point.x_ends)
            bars.append((low, high, y, y))
        if point.y_ends:
            low, high = (up.place(chart.y.drawn(end)) for end in point.y_ends)
            bars.append((x, x, low, high))
    return bars


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
