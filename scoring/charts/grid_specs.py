"""Rows of figures: as dots, one line a column; or as cells, the darker the more."""

from typing import Any

from .look import (
    ACCENT,
    COLOURS,
    INK,
    LETTER,
    MUTED,
    PADDING,
    PAPER,
    SHAPES,
    Room,
    clean,
    legend_columns,
    legend_letters,
    short_names,
    standing_out,
    tooltip,
)
from .scales import Span, span
from .shapes import Grid

_ROW = 34
_CELL_HEIGHT, _CELL_WIDTH, _NARROWEST = 26, 90, 36
# So many rows, which are the best, have a colour of their own.
COLOURED = len(COLOURS)
_OTHERS = "Others"
# A darker cell would not let its figure be read.
_DARKEST = 0.45


def dots_layers(chart: Grid, room: Room) -> dict[str, Any]:
    """The first rows have colours, all others are grey behind them."""
    columns = _columns(chart, room)
    width = room.width - _beside(columns)
    # Names stand in the legend alone, one below the other if they are long.
    names = short_names([row.name for row in chart.rows], legend_letters(width))
    shown = names[:COLOURED] + ([_OTHERS] if len(names) > COLOURED else [])
    values: list[dict[str, Any]] = [
        {
            "column": column,
            "value": chart.axis.drawn(value),
            "row": name if place < COLOURED else _OTHERS,
            "name": name,
            "whole": clean(row.name),
            "told": chart.axis.show(value),
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
    return {
        "width": width,
        "height": _ROW * len(chart.columns),
        "layer": [
            *(_reference(each, across.low, across.high) for each in reference),
            *(_dots(chart, part, shown, across, room) for part in (grey, coloured) if part),
        ],
    }


def _columns(chart: Grid, room: Room) -> list[str]:
    return short_names(chart.columns, room.longest_head)


def _beside(labels: list[str]) -> int:
    """What the labels take beside the plot, with the padding."""
    return round(max(map(len, labels)) * LETTER) + 20 + 2 * PADDING


def _x(chart: Grid, domain: list[float], room: Room) -> dict[str, Any]:
    return {
        "field": "value",
        "type": "quantitative",
        "title": chart.axis.title,
        "scale": {"domain": domain, "nice": False, "zero": False},
        "axis": {"tickCount": min(10, room.width // 60)},
    }


def _dots(
    chart: Grid, values: list[dict[str, Any]], shown: list[str], across: Span, room: Room
) -> dict[str, Any]:
    # Of the others what lies beneath shows through.
    opacity = 0.5 if values[0]["row"] == _OTHERS else 1
    colours = [MUTED if name == _OTHERS else COLOURS[place] for place, name in enumerate(shown)]
    shapes = ["circle" if name == _OTHERS else SHAPES[place] for place, name in enumerate(shown)]
    scaled = {
        "field": "row",
        "type": "nominal",
        "sort": None,
        "title": None,
        "legend": {"columns": legend_columns(shown, across.length)},
    }
    return {
        "data": {"values": values},
        "mark": {"type": "point", "filled": True, "size": 90},
        "encoding": {
            "x": _x(chart, [across.low, across.high], room),
            "y": {
                "field": "column",
                "type": "nominal",
                "sort": None,
                "title": None,
                "axis": {"grid": True},
                "scale": {"domain": _columns(chart, room)},
            },
            "color": {**scaled, "scale": {"domain": shown, "range": colours}},
            "shape": {**scaled, "scale": {"domain": shown, "range": shapes}},
            "opacity": standing_out(opacity),
            "tooltip": tooltip(
                ("whole", chart.row_head), ("column", "Figure"), ("told", chart.axis.title)
            ),
        },
    }


def _reference(value: float, low: float, high: float) -> dict[str, Any]:
    return {
        "data": {"values": [{"value": value}]},
        "mark": {"type": "rule", "color": INK, "strokeDash": [5, 4]},
        "encoding": {
            "x": {
                "field": "value",
                "type": "quantitative",
                "scale": {"domain": [low, high], "nice": False, "zero": False},
            },
        },
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
    low, high = (each(value["value"] for value in values) for each in (min, max))
    width = (room.width - _beside(names)) // len(columns)
    width = max(_NARROWEST, min(_CELL_WIDTH, width))
    return {
        "width": width * len(columns),
        "height": _CELL_HEIGHT * len(chart.rows),
        "data": {"values": values},
        "encoding": {
            "x": {
                "field": "column",
                "type": "nominal",
                "sort": None,
                "title": None,
                "scale": {"domain": columns},
                "axis": {"orient": "top", "labelAngle": -40, "domain": False, "ticks": False},
            },
            "y": {
                "field": "name",
                "type": "nominal",
                "sort": None,
                "title": None,
                "scale": {"domain": names},
                "axis": {"domain": False, "ticks": False},
            },
        },
        "layer": [
            {
                "mark": {"type": "rect", "color": ACCENT, "stroke": PAPER},
                "encoding": {
                    "fillOpacity": {
                        "field": "value",
                        "type": "quantitative",
                        "legend": None,
                        "scale": {
                            "domain": [low, high if high > low else low + 1],
                            "range": [0.03, _DARKEST],
                        },
                    },
                    "opacity": standing_out(),
                    "tooltip": tooltip(
                        ("whole", chart.row_head), ("column", "Figure"), ("text", chart.axis.title)
                    ),
                },
            },
            {
                "mark": {"type": "text", "color": INK, "fontSize": 11},
                "encoding": {
                    "text": {"field": "text", "type": "nominal"},
                    "opacity": standing_out(),
                },
            },
        ],
    }
