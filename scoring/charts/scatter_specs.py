"""Scatter charts: one point a system, the names beside the first ones."""

from datetime import UTC, date, datetime, time
from typing import Any

from .look import (
    COLOURS,
    INK,
    MUTED,
    PADDING,
    SHAPES,
    Room,
    clean,
    legend_columns,
    short_names,
    standing_out,
    tooltip,
)
from .scales import Span, log_ticks, place_labels, span
from .shapes import Axis, Scatter

# The axis with its title takes as much beside the plot.
_BESIDE_PLOT = 54 + 2 * PADDING
_PLOT_HEIGHT = 340
# More names than one for so much of the width would cover each other.
_WIDTH_A_NAME = 40
_HALF_LETTER = 6
_DAY = 24 * 60 * 60 * 1000
# Sizes are told in billions, 7B, not in giga.
_BILLIONS = "replace(format(datum.value, '~s'), 'G', 'B')"


# Dragging with a finger, and turning the wheel, are for the page that the chart is on.
_ZOOM = {
    "type": "interval",
    "translate": "[pointerdown[event.pointerType === 'mouse'], window:pointerup] > "
    "window:pointermove!",
    "zoom": "wheel![event.ctrlKey || event.metaKey]",
}


def named(room: Room) -> int:
    """So many points have their names beside them."""
    return room.width // _WIDTH_A_NAME


def scatter_layers(chart: Scatter, room: Room) -> dict[str, Any]:
    xs = [_drawn(chart.x, point.x) for point in chart.points]
    ys = [chart.y.drawn(point.y) for point in chart.points]
    if not xs:
        raise ValueError("a chart needs at least one point")
    least = 3 * _DAY if chart.x.scale == "time" else 0
    width = room.width - _BESIDE_PLOT
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
    """Moments are milliseconds since 1970, as Vega counts them."""
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
    """As Vega-Lite has it: a bare number becomes a call that only compiled expressions know."""
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
    """Days where a month would stand at every tick."""
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
    told = [("whole", "System"), ("told_x", chart.x.title), ("told_y", chart.y.title)]
    told += [("group", "Kind")] if chart.groups else []
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
        "encoding": {"opacity": standing_out(), "tooltip": tooltip(*told)},
        # The ticks of a logarithmic axis are chosen for all of its length.
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
            "color": _scaled(groups, COLOURS, room),
            "shape": _scaled(groups, SHAPES, room),
        }
    return layer


def _names_of(chart: Scatter, room: Room) -> list[str]:
    return short_names([point.name for point in chart.points], room.longest_name)


def _scaled(groups: list[str], values: tuple[str, ...], room: Room) -> dict[str, Any]:
    return {
        "field": "group",
        "type": "nominal",
        "sort": None,
        "title": None,
        "scale": {"domain": groups, "range": list(values[: len(groups)])},
        "legend": {"columns": legend_columns(groups, room.width - _BESIDE_PLOT)},
    }


def _names(
    chart: Scatter, xs: list[float], ys: list[float], across: Span, up: Span, room: Room
) -> list[dict[str, Any]]:
    """The names for which there is room, and a thin line from each to its point that does not
    stand right beside it."""
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
            "opacity": standing_out(),
        },
    }


def _lead(down: float) -> float:
    """How far down the line to a name goes: to the edge of its letters."""
    return down - _HALF_LETTER if down > 0 else down + _HALF_LETTER


def _texts(values: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "data": {"values": values},
        # The names stay by their points when somebody moves the axes.
        "mark": {
            "type": "text",
            "align": {"expr": "datum.align"},
            "dx": {"expr": "datum.dx"},
            "dy": {"expr": "datum.dy"},
            "baseline": "middle",
            "color": INK,
            "clip": True,
        },
        "encoding": {
            "text": {"field": "name", "type": "nominal"},
            "opacity": standing_out(),
        },
    }
