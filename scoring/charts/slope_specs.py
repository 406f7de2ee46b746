"""Two orders of the same systems beside each other, joined by lines."""

from typing import Any

from .look import (
    ACCENT,
    INK,
    MUTED,
    ORANGE,
    Room,
    clean,
    legend_columns,
    short_names,
    standing_out,
    tooltip,
)
from .shapes import Slope, Slopes

_ROW = 24
UP, SAME, DOWN = "better on the right", "same rank", "worse on the right"
_COLOURS = {UP: ACCENT, SAME: MUTED, DOWN: ORANGE}
_DASHES = {UP: [1, 0], SAME: [2, 3], DOWN: [7, 4]}


def slope_layers(chart: Slopes, room: Room) -> dict[str, Any]:
    """Equal ranks stand below each other, with the same number."""
    if not chart.slopes:
        raise ValueError("a chart needs at least one line")
    names = short_names([slope.name for slope in chart.slopes], room.longest_name)
    left = _places([(slope.left, name) for slope, name in zip(chart.slopes, names, strict=True)])
    right = _places([(slope.right, name) for slope, name in zip(chart.slopes, names, strict=True)])
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
        for slope, name in zip(chart.slopes, names, strict=True)
        for x, place in ((0, left[name]), (1, right[name]))
    ]
    changes = [each for each in _COLOURS if any(line["change"] == each for line in lines)]
    return {
        "width": room.between,
        "height": _ROW * len(names),
        "encoding": {
            "x": {
                "field": "x",
                "type": "quantitative",
                "axis": None,
                "scale": {"domain": [0, 1], "nice": False},
            },
            "y": {
                "field": "y",
                "type": "quantitative",
                "axis": None,
                "scale": {"domain": [-1.2, len(names)], "reverse": True, "nice": False},
            },
        },
        "layer": [
            _lines(chart, lines, changes, room),
            _texts(
                chart.left,
                "right",
                0,
                [f"{n}  {s.left}" for n, s in _named(chart, names)],
                left,
                names,
            ),
            _texts(
                chart.right,
                "left",
                1,
                [f"{s.right}  {n}" for n, s in _named(chart, names)],
                right,
                names,
            ),
        ],
    }


def _named(chart: Slopes, names: list[str]) -> list[tuple[str, Slope]]:
    return list(zip(names, chart.slopes, strict=True))


def _places(ranked: list[tuple[int, str]]) -> dict[str, int]:
    return {name: place for place, (_, name) in enumerate(sorted(ranked))}


def _change(slope: Slope) -> str:
    return SAME if slope.left == slope.right else UP if slope.right < slope.left else DOWN


def _lines(
    chart: Slopes, lines: list[dict[str, Any]], changes: list[str], room: Room
) -> dict[str, Any]:
    told = (("whole", "System"), ("left", _rank(chart.left)), ("right", _rank(chart.right)))
    return {
        "data": {"values": lines},
        "mark": {"type": "line", "strokeWidth": 2},
        "encoding": {
            "detail": {"field": "name", "type": "nominal"},
            "color": _scaled(changes, [_COLOURS[each] for each in changes], room),
            "strokeDash": _scaled(changes, [_DASHES[each] for each in changes], room),
            "opacity": standing_out(),
            "tooltip": tooltip(*told),
        },
    }


def _rank(order: str) -> str:
    return f"Rank {order}"


def _scaled(domain: list[str], values: list[Any], room: Room) -> dict[str, Any]:
    return {
        "field": "change",
        "type": "nominal",
        "sort": None,
        "title": None,
        "scale": {"domain": domain, "range": values},
        "legend": {"columns": legend_columns(domain, room.width)},
    }


def _texts(
    head: str, align: str, x: int, texts: list[str], places: dict[str, int], names: list[str]
) -> dict[str, Any]:
    rows = [
        {"x": x, "y": places[name], "text": text, "name": name}
        for name, text in zip(names, texts, strict=True)
    ]
    return {
        "layer": [
            _text([{"x": x, "y": -1, "text": head}], align),
            _text(rows, align, opacity=standing_out()),
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
        "encoding": {"text": {"field": "text", "type": "nominal"}, **encoding},
    }
