"""Counts by range as bars."""

from typing import Any

from .look import ACCENT, INK, PAPER, Room, tooltip
from .shapes import Bars

# Of the whole picture, which is known before it is drawn.
HEIGHT = 260


def bars_layers(chart: Bars, room: Room) -> dict[str, Any]:
    """A bar for each range, with its count above."""
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
        "width": room.width,
        "height": HEIGHT,
        "autosize": {"type": "fit", "contains": "padding"},
        "data": {
            "values": [
                {
                    "low": chart.axis.drawn(bar.low),
                    "high": chart.axis.drawn(bar.high),
                    "middle": chart.axis.drawn((bar.low + bar.high) / 2),
                    "number": bar.number,
                    "text": str(bar.number) if bar.number else "",
                    "told": chart.told(bar),
                }
                for bar in chart.bars
            ]
        },
        "encoding": {
            "x": {**across, "field": "low"},
            "y": {
                "field": "number",
                "type": "quantitative",
                "title": chart.counted,
                "scale": {"domain": [0, max(most, 1) * 1.1], "nice": False},
                # Nothing is counted by halves.
                "axis": {"tickCount": min(5, most), "tickMinStep": 1, "format": "d"},
            },
        },
        "layer": [
            {
                "mark": {"type": "rect", "color": ACCENT, "stroke": PAPER},
                "encoding": {
                    "x2": {"field": "high"},
                    "y2": {"datum": 0},
                    "tooltip": tooltip(("told", chart.axis.title), ("number", chart.counted)),
                },
            },
            {
                "mark": {"type": "text", "baseline": "bottom", "dy": -3, "color": INK},
                "encoding": {
                    "x": {**across, "field": "middle"},
                    "text": {"field": "text", "type": "nominal"},
                },
            },
        ],
    }
