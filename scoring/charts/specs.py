"""A chart as Vega-Lite. Names are values of the data, never parts of an expression."""

from typing import Any

from .bar_specs import bars_layers
from .grid_specs import cells_layers, dots_layers
from .look import CONFIG, PADDING, PAPER, PARAMS, WIDE, Room
from .scatter_specs import scatter_layers
from .shapes import Bars, Grid, Scatter, Shape
from .slope_specs import slope_layers

Spec = dict[str, Any]

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"


def specification(shape: Shape, room: Room = WIDE) -> Spec:
    """The whole chart. Raises ValueError of a shape without rows."""
    return {
        "$schema": SCHEMA,
        "background": PAPER,
        "padding": PADDING,
        "autosize": {"type": "pad", "contains": "padding"},
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
        return dots_layers(shape, room) if shape.style == "dots" else cells_layers(shape, room)
    return slope_layers(shape, room)
