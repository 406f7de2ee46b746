"""Charts as Vega-Lite: bars, slopes, dots, cells. Names are values of the data, never parts of an
expression.
"""

from collections.abc import Callable
from typing import Any

from .look import (
    ACCENT,
    COLOURS,
    CONFIG,
    INK,
    LETTER,
    MUTED,
    ORANGE,
    PADDING,
    PAPER,
    PARAMS,
    SHAPES,
    WIDE,
    Margins,
    Room,
    clean,
    framed,
    highlighted,
    legend_characters,
    legend_height,
    nominal,
    quantitative,
    scaled,
    short_names,
    text_of,
    tooltip,
)
from .panels import panel_layers, radar_layers
from .scatter import Span, scatter_layers, span
from .shapes import Bars, Grid, Scatter, Shape, Slope, Slopes, Style

_BARS_HEIGHT = 280
_BARS_MARGINS = Margins(left=64, right=24, top=14, bottom=56)


def bars_layers(chart: Bars, room: Room) -> dict[str, Any]:
    """Draw a bar for each range, with its count above."""
    if not chart.bars:
        raise ValueError("a chart needs at least one bar")
    most = max(bar.number for bar in chart.bars)
    edges = sorted({chart.axis.drawn(end) for bar in chart.bars for end in (bar.low, bar.high)})
    across = {
        "type": "quantitative",
        "title": chart.axis.title,
        "scale": {"domain": [edges[0], edges[-1]], "nice": False},
        "axis": {"grid": False, "labelFlush": False, "values": edges},
    }
    return {
        **framed(room.width, _BARS_HEIGHT, _BARS_MARGINS),
        "data": {
            "values": [
                {
                    "low": chart.axis.drawn(bar.low),
                    "high": chart.axis.drawn(bar.high),
                    "middle": chart.axis.drawn((bar.low + bar.high) / 2),
                    "number": bar.number,
                    "text": str(bar.number) if bar.number else "",
                    "shown": chart.range_text(bar),
                }
                for bar in chart.bars
            ]
        },
        "encoding": {
            "x": {**across, "field": "low"},
            "y": quantitative(
                "number",
                title=chart.counted,
                scale={"domain": [0, max(most, 1) * 1.1], "nice": False},
                # Counts have no half ticks.
                axis={"tickCount": min(5, most), "tickMinStep": 1, "format": "d"},
            ),
        },
        "layer": [
            {
                "mark": {"type": "rect", "color": ACCENT, "stroke": PAPER},
                "encoding": {
                    "x2": {"field": "high"},
                    "y2": {"datum": 0},
                    "tooltip": tooltip(("shown", chart.axis.title), ("number", chart.counted)),
                },
            },
            {
                "mark": {"type": "text", "baseline": "bottom", "dy": -3, "color": INK},
                "encoding": {"x": {**across, "field": "middle"}, "text": text_of("text")},
            },
        ],
    }


_ROW = 26
# Of a rank next to a name, and the gap to its line.
_RANK_WIDTH = 36
UP, SAME, DOWN = "better on the right", "same rank", "worse on the right"
_COLOURS = {UP: ACCENT, SAME: MUTED, DOWN: ORANGE}
_DASHES = {UP: [1, 0], SAME: [2, 3], DOWN: [7, 4]}


def slope_layers(chart: Slopes, room: Room) -> dict[str, Any]:
    """Draw equal ranks one below the other, with the same number."""
    if not chart.slopes:
        raise ValueError("a chart needs at least one line")
    names = short_names([slope.name for slope in chart.slopes], room.longest_name)
    rows = list(zip(names, chart.slopes, strict=True))
    left = _places([(slope.left, name) for name, slope in rows])
    right = _places([(slope.right, name) for name, slope in rows])
    lines = [
        {
            "x": x,
            "y": place,
            "name": name,
            "change": _change(slope),
            "whole": clean(slope.name),
            "left": slope.left,
            "right": slope.right,
        }
        for name, slope in rows
        for x, place in ((0, left[name]), (1, right[name]))
    ]
    changes = [change for change in _COLOURS if any(line["change"] == change for line in lines)]
    side = round(max(map(len, (*names, chart.left, chart.right))) * LETTER) + _RANK_WIDTH
    between = room.width - 2 * side
    top = legend_height(changes, between)
    return {
        **framed(
            room.width,
            _ROW * (len(names) + 1) + top + PADDING,
            Margins(side, side, top, PADDING),
        ),
        "encoding": {
            "x": quantitative("x", axis=None, scale={"domain": [0, 1], "nice": False}),
            "y": quantitative(
                "y",
                axis=None,
                scale={"domain": [-1.2, len(names)], "reverse": True, "nice": False},
            ),
        },
        "layer": [
            _lines(chart, lines, changes, between),
            _texts(chart.left, "right", 0, {n: f"{n}  {s.left}" for n, s in rows}, left),
            _texts(chart.right, "left", 1, {n: f"{s.right}  {n}" for n, s in rows}, right),
        ],
    }


def _places(ranked: list[tuple[int, str]]) -> dict[str, int]:
    return {name: place for place, (_, name) in enumerate(sorted(ranked))}


def _change(slope: Slope) -> str:
    return SAME if slope.left == slope.right else UP if slope.right < slope.left else DOWN


def _lines(
    chart: Slopes, lines: list[dict[str, Any]], changes: list[str], width: float
) -> dict[str, Any]:
    colours = [_COLOURS[change] for change in changes]
    dashes = [_DASHES[change] for change in changes]
    ranks = (("left", f"Rank {chart.left}"), ("right", f"Rank {chart.right}"))
    return {
        "data": {"values": lines},
        "mark": {"type": "line", "strokeWidth": 2},
        "encoding": {
            "detail": text_of("name"),
            "color": scaled("change", changes, colours, width),
            "strokeDash": scaled("change", changes, dashes, width),
            "opacity": highlighted(),
            "tooltip": tooltip(("whole", "Model"), *ranks),
        },
    }


def _texts(
    head: str, align: str, x: int, texts: dict[str, str], places: dict[str, int]
) -> dict[str, Any]:
    rows = [{"x": x, "y": places[name], "text": text, "name": name} for name, text in texts.items()]
    return {
        "layer": [
            _text([{"x": x, "y": -1, "text": head}], align),
            _text(rows, align, opacity=highlighted()),
        ]
    }


def _text(values: list[dict[str, Any]], align: str, **encoding: Any) -> dict[str, Any]:
    return {
        "data": {"values": values},
        "mark": {
            "type": "text",
            "align": align,
            "baseline": "middle",
            "dx": -10 if align == "right" else 10,
            "color": INK,
        },
        "encoding": {"text": text_of("text"), **encoding},
    }


_DOTS_ROW = 36
_DOTS_BELOW, _DOTS_RIGHT = 56, 20
_CELL_HEIGHT, _CELL_WIDTH, _NARROWEST = 28, 160, 36
# Headings of cells are at an angle of 40 degrees, of which these are sine and cosine.
_RISE, _RUN = 0.64, 0.77
# This many of the best rows have a colour of their own.
COLOURED = len(COLOURS)
_OTHERS = "Others"
# On darker cells the figure would be unreadable.
_DARKEST = 0.45


def dots_layers(chart: Grid, room: Room) -> dict[str, Any]:
    """Draw the first rows in colour and all others in grey behind them."""
    columns = _columns(chart, room)
    left = _label_width(columns)
    width = room.width - left - _DOTS_RIGHT
    # Names appear only in the legend, one below the other if they are long.
    names = short_names([row.name for row in chart.rows], legend_characters(width))
    shown = names[:COLOURED] + ([_OTHERS] if len(names) > COLOURED else [])
    values: list[dict[str, Any]] = [
        {
            "column": column,
            "value": chart.axis.drawn(value),
            "row": name if place < COLOURED else _OTHERS,
            "name": name,
            "whole": clean(row.name),
            "shown": chart.axis.show(value),
        }
        for place, (name, row) in enumerate(zip(names, chart.rows, strict=True))
        for column, value in zip(columns, row.values, strict=True)
        if value is not None
    ]
    if not values:
        raise ValueError("a chart needs at least one figure")
    reference = [] if chart.reference is None else [chart.axis.drawn(chart.reference)]
    across = span([*(value["value"] for value in values), *reference], width)
    coloured = [value for value in values if value["row"] != _OTHERS]
    grey = [value for value in values if value["row"] == _OTHERS]
    top = legend_height(shown, width)
    height = _DOTS_ROW * len(chart.columns) + top + _DOTS_BELOW
    return {
        **framed(room.width, height, Margins(left, _DOTS_RIGHT, top, _DOTS_BELOW)),
        "layer": [
            *(_reference(value, across) for value in reference),
            *(_dots(chart, part, shown, across, room) for part in (grey, coloured) if part),
        ],
    }


def _columns(chart: Grid, room: Room) -> list[str]:
    return short_names(chart.columns, room.longest_head)


def _label_width(labels: list[str]) -> int:
    """Return the width that the labels take next to the plot, with the padding."""
    return round(max(map(len, labels)) * LETTER) + 20 + 2 * PADDING


def _value(across: Span, **options: Any) -> dict[str, Any]:
    scale = {"domain": [across.low, across.high], "nice": False, "zero": False}
    return quantitative("value", scale=scale, **options)


def _dots(
    chart: Grid, values: list[dict[str, Any]], shown: list[str], across: Span, room: Room
) -> dict[str, Any]:
    # The other marks are transparent.
    opacity = 0.5 if values[0]["row"] == _OTHERS else 1
    colours = [MUTED if name == _OTHERS else COLOURS[place] for place, name in enumerate(shown)]
    shapes = ["circle" if name == _OTHERS else SHAPES[place] for place, name in enumerate(shown)]
    return {
        "data": {"values": values},
        "mark": {"type": "point", "filled": True, "size": 90},
        "encoding": {
            "x": _value(
                across,
                title=chart.axis.title,
                axis={"tickCount": min(10, room.width // 60)},
            ),
            "y": nominal("column", axis={"grid": True}, scale={"domain": _columns(chart, room)}),
            "color": scaled("row", shown, colours, across.length),
            "shape": scaled("row", shown, shapes, across.length),
            "opacity": highlighted(opacity),
            "tooltip": tooltip(
                ("whole", chart.row_head), ("column", "Figure"), ("shown", chart.axis.title)
            ),
        },
    }


def _reference(value: float, across: Span) -> dict[str, Any]:
    return {
        "data": {"values": [{"value": value}]},
        "mark": {"type": "rule", "color": INK, "strokeDash": [5, 4]},
        "encoding": {"x": _value(across)},
    }


def cells_layers(chart: Grid, room: Room) -> dict[str, Any]:
    columns = _columns(chart, room)
    names = short_names([row.name for row in chart.rows], room.longest_name)
    values: list[dict[str, Any]] = [
        {
            "name": name,
            "whole": clean(row.name),
            "column": column,
            "value": chart.axis.drawn(value),
            "text": chart.axis.show(value),
        }
        for name, row in zip(names, chart.rows, strict=True)
        for column, value in zip(columns, row.values, strict=True)
        if value is not None
    ]
    if not values:
        raise ValueError("a chart needs at least one figure")
    low, high = (end_of(value["value"] for value in values) for end_of in (min, max))
    left, longest = _label_width(names), max(map(len, columns)) * LETTER
    top, right = round(longest * _RISE) + 24, round(len(columns[-1]) * LETTER * _RUN)
    width = (room.width - left - right) // len(columns)
    width = max(_NARROWEST, min(_CELL_WIDTH, width))
    whole = min(room.width, width * len(columns) + left + right)
    right = whole - left - width * len(columns)
    height = _CELL_HEIGHT * len(chart.rows) + top + PADDING
    return {
        **framed(whole, height, Margins(left, right, top, PADDING)),
        "data": {"values": values},
        "encoding": {
            "x": nominal(
                "column",
                scale={"domain": columns},
                axis={"orient": "top", "labelAngle": -40, "domain": False, "ticks": False},
            ),
            "y": nominal("name", scale={"domain": names}, axis={"domain": False, "ticks": False}),
        },
        "layer": [
            {
                "mark": {"type": "rect", "color": ACCENT, "stroke": PAPER},
                "encoding": {
                    "fillOpacity": quantitative(
                        "value",
                        legend=None,
                        scale={
                            "domain": [low, high if high > low else low + 1],
                            "range": [0.03, _DARKEST],
                        },
                    ),
                    "opacity": highlighted(),
                    "tooltip": tooltip(
                        ("whole", chart.row_head), ("column", "Figure"), ("text", chart.axis.title)
                    ),
                },
            },
            {
                "mark": {"type": "text", "color": INK, "fontSize": 12},
                "encoding": {"text": text_of("text"), "opacity": highlighted()},
            },
        ],
    }


Spec = dict[str, Any]

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"


def specification(shape: Shape, room: Room = WIDE) -> Spec:
    """Return the whole chart. Raises ValueError if a shape has no rows."""
    return {
        "$schema": SCHEMA,
        "background": PAPER,
        "config": CONFIG,
        "params": PARAMS,
        **_drawn(shape, room),
    }


def _drawn(shape: Shape, room: Room) -> Spec:
    if isinstance(shape, Scatter):
        return scatter_layers(shape, room)
    if isinstance(shape, Bars):
        return bars_layers(shape, room)
    if isinstance(shape, Grid):
        return _GRIDS[shape.style](shape, room)
    return slope_layers(shape, room)


_GRIDS: dict[Style, Callable[[Grid, Room], Spec]] = {
    "dots": dots_layers,
    "cells": cells_layers,
    "bars": panel_layers,
    "radar": radar_layers,
}
