"""Charts whose marks are placed in units of the picture: small bar charts, and a radar."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .look import (
    COLOURS,
    HAIRLINE,
    INK,
    LETTER,
    MUTED,
    PADDING,
    SHAPES,
    Margins,
    Room,
    clean,
    drawn_groups,
    framed,
    group_styles,
    highlighted,
    short_names,
    text_of,
    tooltip,
    without_legend,
)
from .shapes import Grid, GridRow

Values = list[dict[str, Any]]
Layer = dict[str, Any]

_LINE, _BAR, _HEAD, _GAP = 23, 15, 34, 18
# The room of a figure with its star, after the longest bar.
_FIGURE, _STAR = 64, 22
# A mark of the legend with the gap to its text, and the gap after the text.
_MARK, _AFTER = 20, 18


def _picture(room: Room, height: float, layers: Sequence[Layer]) -> Layer:
    """Return a picture whose x and y are its own units, from the upper left."""
    frame = framed(room.width, round(height), Margins(0, 0, 0, 0))
    x = {"domain": [0, frame["width"]], "nice": False}
    y = {"domain": [0, frame["height"]], "nice": False, "reverse": True}
    return {
        **frame,
        "encoding": {
            "x": {"field": "x", "type": "quantitative", "axis": None, "scale": x},
            "y": {"field": "y", "type": "quantitative", "axis": None, "scale": y},
        },
        "layer": [layer for layer in layers if layer["data"]["values"]],
    }


def _texts(values: Values, align: str = "left", **options: Any) -> Layer:
    return {
        "data": {"values": values},
        "mark": {"type": "text", "align": align, "baseline": "middle", "color": INK, **options},
        "encoding": {"text": text_of("text"), "opacity": highlighted()},
    }


def _between(values: Values, mark: Literal["rule", "rect"], **options: Any) -> Layer:
    """Draw lines or bars from x and y to x2 and y2."""
    return {
        "data": {"values": values},
        "mark": {"type": mark, "color": COLOURS[0], **options},
        "encoding": {"x2": {"field": "x2"}, "y2": {"field": "y2"}, "opacity": highlighted()},
    }


def _symbols(values: Values, names: Sequence[str], styles: dict[str, list[str]]) -> Layer:
    channels = {at: without_legend("row", names, found) for at, found in styles.items()}
    return {
        "data": {"values": values},
        "mark": {"type": "point", "filled": True, "size": 90},
        "encoding": {**channels, "opacity": highlighted()},
    }


def _legend(
    names: Sequence[str], styles: dict[str, list[str]], room: Room, left: float, top: float
) -> tuple[list[Layer], float]:
    """Return marks with their names, in lines from the left to the end of the picture, and where
    the legend ends."""
    marks: Values = []
    x, y = left, top + _LINE / 2
    for name in names:
        length = _MARK + len(name) * LETTER
        if x > left and x + length > room.width:
            x, y = left, y + _LINE
        marks.append({"x": x + 6, "y": y, "row": name, "text": name})
        x += length + _AFTER
    texts = [{**mark, "x": mark["x"] + _MARK - 6} for mark in marks]
    return [_symbols(marks, names, styles), _texts(texts)], y + _LINE / 2


# --- small bar charts ------------------------------------------------------------------------


@dataclass(frozen=True)
class _Panels:
    """Small bar charts next to each other and, if there is no more room, below each other."""

    chart: Grid
    room: Room
    names: Sequence[str]
    top: float

    @property
    def abreast(self) -> int:
        """Charts next to each other, about as many in every line."""
        lines = math.ceil(len(self.chart.columns) / self.room.abreast)
        return math.ceil(len(self.chart.columns) / lines)

    @property
    def left(self) -> float:
        """The room of the names."""
        return max(map(len, self.names)) * LETTER + 2 * PADDING

    @property
    def length(self) -> float:
        """The length of the longest bar."""
        used = self.left + self.abreast * _FIGURE + (self.abreast - 1) * _GAP
        return (self.room.width - used) / self.abreast

    @property
    def height(self) -> float:
        """The height of one chart with its heading and the gap below it."""
        return _HEAD + _LINE * len(self.names) + _GAP

    @property
    def end(self) -> float:
        return self.top + self.height * math.ceil(len(self.chart.columns) / self.abreast)

    def corner(self, place: int) -> tuple[float, float]:
        """Return where the bars of a chart begin."""
        across, down = place % self.abreast, place // self.abreast
        x = self.left + across * (self.length + _FIGURE + _GAP)
        return x, self.top + down * self.height + _HEAD

    def x(self, place: int, value: float) -> float:
        low, high = _range(self.chart)
        return self.corner(place)[0] + (value - low) / (high - low) * self.length

    def y(self, place: int, row: int) -> float:
        """Return the middle of a bar."""
        return self.corner(place)[1] + _LINE * (row + 0.5)


def _range(chart: Grid) -> tuple[float, float]:
    """Return the axis of all bars: from 0, for rates to 1."""
    found = [value for row in chart.rows for value in row.values if value is not None]
    found += [end for row in chart.rows for ends in row.ends if ends for end in ends]
    least = 1.0 if chart.axis.unit else 0.0
    return min(0.0, *found), max(least, *found) or 1.0


def panel_layers(chart: Grid, room: Room) -> Layer:
    """Draw a bar chart for each figure, all on the same axis. The best bars have a star."""
    names = short_names([row.name for row in chart.rows], room.longest_name)
    kinds = drawn_groups((row.group for row in chart.rows), chart.groups)
    styles = group_styles(kinds, chart.groups)
    squares = {**styles, "shape": ["square"] * len(kinds)}
    legend, top = _legend(kinds, squares, room, PADDING, PADDING) if kinds else ([], PADDING)
    panels = _Panels(chart, room, names, top)
    places = range(len(chart.columns))
    bars = [bar for place in places for bar in _bars(panels, place)]
    if not bars:
        raise ValueError("a chart needs at least one figure")
    return _picture(
        room,
        panels.end,
        [
            *legend,
            _between(_baselines(panels), "rule", color=HAIRLINE),
            _coloured(_between(bars, "rect"), chart, kinds, styles),
            _between(_intervals(panels), "rule", color=INK, strokeWidth=1.4),
            _texts([_figure(bar) for bar in bars]),
            _texts(_stars(bars)),
            _texts(_row_names(panels)),
            _texts(_heads(panels), fontWeight="bold"),
        ],
    )


def _coloured(
    layer: Layer, chart: Grid, kinds: Sequence[str], styles: dict[str, list[str]]
) -> Layer:
    """Give the bars the colours of their groups, and describe them on hover."""
    fields = (("whole", chart.row_head), ("column", "Figure"), ("shown", chart.axis.title))
    layer["encoding"]["tooltip"] = tooltip(*fields)
    if kinds:
        layer["encoding"]["color"] = without_legend("row", kinds, styles["color"])
    return layer


def _bars(panels: _Panels, place: int) -> Values:
    chart = panels.chart
    best = chart.best[place] if chart.best else None
    found = []
    for at, (name, row) in enumerate(zip(panels.names, chart.rows, strict=True)):
        value = row.values[place]
        if value is None:
            continue
        ends, middle = _ends(row, place), panels.y(place, at)
        found.append(
            {
                "x": panels.x(place, 0),
                "x2": panels.x(place, value),
                "y": middle - _BAR / 2,
                "y2": middle + _BAR / 2,
                "middle": middle,
                "end": panels.x(place, max(value, *(ends or (0, 0)))),
                "is_best": value == best,
                "row": row.group,
                "name": name,
                "whole": clean(row.name),
                "column": chart.columns[place],
                "shown": chart.axis.show(value),
            }
        )
    return found


def _figure(bar: dict[str, Any]) -> dict[str, Any]:
    """Return the figure after a bar."""
    place = {"x": bar["end"] + PADDING, "y": bar["middle"]}
    return {**place, "text": bar["shown"], "name": bar["name"]}


def _stars(bars: Values) -> Values:
    """Mark the best figures. Apart from the figures, whose fonts have no star."""
    return [
        {**(figure := _figure(bar)), "x": figure["x"] + _FIGURE - _STAR, "text": "★"}
        for bar in bars
        if bar["is_best"]
    ]


def _ends(row: GridRow, place: int) -> tuple[float, float] | None:
    return row.ends[place] if row.ends else None


def _intervals(panels: _Panels) -> Values:
    return [
        {
            "x": panels.x(place, ends[0]),
            "x2": panels.x(place, ends[1]),
            "y": panels.y(place, at),
            "y2": panels.y(place, at),
            "name": panels.names[at],
        }
        for place in range(len(panels.chart.columns))
        for at, row in enumerate(panels.chart.rows)
        if (ends := _ends(row, place))
    ]


def _baselines(panels: _Panels) -> Values:
    """Draw the two ends of each axis."""
    low, high = _range(panels.chart)
    height = _LINE * len(panels.names)
    return [
        {"x": x, "x2": x, "y": panels.corner(place)[1], "y2": panels.corner(place)[1] + height}
        for place in range(len(panels.chart.columns))
        for x in (panels.x(place, max(low, 0)), panels.x(place, high))
    ]


def _row_names(panels: _Panels) -> Values:
    """Name the rows at the left of each line of charts."""
    return [
        {"x": PADDING, "y": panels.y(place, at), "text": name, "name": name}
        for place in range(0, len(panels.chart.columns), panels.abreast)
        for at, name in enumerate(panels.names)
    ]


def _heads(panels: _Panels) -> Values:
    unit = f" ({panels.chart.axis.unit})" if panels.chart.axis.unit else ""
    heads = short_names(panels.chart.columns, panels.room.longest_head)
    corners = [panels.corner(place) for place in range(len(heads))]
    return [
        {"x": x, "y": y - _HEAD / 2 + 4, "text": head + unit}
        for head, (x, y) in zip(heads, corners, strict=True)
    ]


# --- radar -----------------------------------------------------------------------------------

# A radar needs three axes, and more lines than colours could not be distinguished.
FEWEST_AXES, MOST_LINES = 3, len(COLOURS)
_RINGS = 4
_LABEL_LINE = 16
# How much wider bold characters are.
_BOLD = 1.08


@dataclass(frozen=True)
class _Radar:
    """The circle of a radar: its centre, radius, the value at its edge, and its axes."""

    x: float
    y: float
    radius: float
    most: float
    axes: int

    def spot(self, axis: int, value: float, further: float = 0) -> dict[str, float]:
        """Return the place of a value; the first axis points up, the next are clockwise."""
        angle = 2 * math.pi * axis / self.axes
        length = max(value, 0) / self.most * self.radius + further
        return {"x": self.x + length * math.sin(angle), "y": self.y - length * math.cos(angle)}


def radar_layers(chart: Grid, room: Room) -> Layer:
    """Draw the first rows that have all figures as closed lines around a centre."""
    rows = [row for row in chart.rows if None not in row.values][:MOST_LINES]
    if not rows or len(chart.columns) < FEWEST_AXES:
        raise ValueError("a radar needs three figures and a row that has at least one of each")
    names = short_names([row.name for row in rows], room.longest_name)
    radius = room.height / 2 - 2 * _LABEL_LINE if room.abreast > 1 else room.width * 0.26
    top = _LABEL_LINE * 2 + PADDING
    most = _edge(max(value for row in rows for value in row.values if value is not None))
    # On wide pictures the legend is next to the circle, on narrow ones below it.
    is_wide = room.abreast > 1
    x = room.width * (0.36 if is_wide else 0.5)
    radar = _Radar(x, top + radius, radius, most, len(chart.columns))
    end = top + 2 * radius + 2 * _LABEL_LINE
    styles = {"color": list(COLOURS[: len(rows)]), "shape": list(SHAPES[: len(rows)])}
    left, at = (room.width * 0.68, top) if is_wide else (PADDING, end)
    # One name in a line.
    legend, below = _legend(names, styles, room._replace(width=0), left, at)
    values = _spots(chart, rows, names, radar)
    return _picture(
        room,
        max(end, below) + PADDING,
        [
            _lines(_web(radar), {"color": HAIRLINE}),
            *(_axis_names(chart, radar, room)),
            _texts(_ring_names(chart, radar), fontSize=11, color=MUTED),
            _lines(values, {}, without_legend("row", names, styles["color"])),
            _described(_symbols(values, names, styles), chart),
            *legend,
        ],
    )


def _edge(most: float) -> float:
    """Return the value of the outermost ring: the next of four equal steps of a round number.

    >>> _edge(0.87), _edge(1.0), _edge(0.3), _edge(0.0)
    (1.0, 1.0, 0.4, 1.0)
    """
    if most <= 0:
        return 1.0
    # A little less, so that exactly 1 is ten steps of 0.1.
    step = 10.0 ** math.floor(math.log10(most * 0.999))
    return next(factor * step for factor in (2, 4, 6, 8, 10) if factor * step >= most * 0.999)


def _spots(chart: Grid, rows: Sequence[GridRow], names: Sequence[str], radar: _Radar) -> Values:
    """Return the corners of every line; the first closes it."""
    return [
        {
            **radar.spot(axis % radar.axes, row.values[axis % radar.axes] or 0),
            "order": axis,
            "row": name,
            "name": name,
            "whole": clean(row.name),
            "column": chart.columns[axis % radar.axes],
            "shown": chart.axis.show(row.values[axis % radar.axes]),
        }
        for name, row in zip(names, rows, strict=True)
        for axis in range(radar.axes + 1)
    ]


def _lines(values: Values, mark: dict[str, Any], colour: dict[str, Any] | None = None) -> Layer:
    return {
        "data": {"values": values},
        "mark": {"type": "line", "strokeWidth": 2 if colour else 1, **mark},
        "encoding": {
            "order": {"field": "order", "type": "quantitative"},
            "detail": text_of("row"),
            **({"color": colour, "opacity": highlighted()} if colour else {}),
        },
    }


def _described(layer: Layer, chart: Grid) -> Layer:
    fields = (("whole", chart.row_head), ("column", "Figure"), ("shown", chart.axis.title))
    layer["encoding"]["tooltip"] = tooltip(*fields)
    return layer


def _web(radar: _Radar) -> Values:
    """Return the rings and the axes."""
    rings = [
        {**radar.spot(axis, radar.most * ring / _RINGS), "order": axis, "row": f"ring {ring}"}
        for ring in range(1, _RINGS + 1)
        for axis in range(radar.axes + 1)
    ]
    spokes = [
        {**radar.spot(axis, value), "order": value, "row": f"axis {axis}"}
        for axis in range(radar.axes)
        for value in (0, radar.most)
    ]
    return rings + spokes


def _axis_names(chart: Grid, radar: _Radar, room: Room) -> list[Layer]:
    """Name the axes outside the circle: to the right, to the left, above or below."""
    by_side: dict[str, Values] = {"left": [], "right": [], "center": []}
    for axis, label in enumerate(short_names(chart.columns, room.longest_head)):
        spot = radar.spot(axis, radar.most, further=_LABEL_LINE)
        across = spot["x"] - radar.x
        side = "center" if abs(across) < _LABEL_LINE else "left" if across > 0 else "right"
        shown = label if room.abreast > 1 else label.replace(" ", "\n")
        by_side[side].append({**_inside(spot, shown, side, room), "text": shown})
    return [
        _texts(values, side, fontWeight="bold", lineBreak="\n") for side, values in by_side.items()
    ]


def _inside(spot: dict[str, float], text: str, side: str, room: Room) -> dict[str, float]:
    """Move a name that would leave the picture above the end of its axis."""
    length = max(map(len, text.split("\n"))) * LETTER * _BOLD
    most = room.width - PADDING - length
    if side == "left" and spot["x"] > most:
        return {"x": most, "y": spot["y"] - _LABEL_LINE}
    if side == "right" and spot["x"] < PADDING + length:
        return {"x": PADDING + length, "y": spot["y"] - 2 * _LABEL_LINE}
    return spot


def _ring_names(chart: Grid, radar: _Radar) -> Values:
    axis = chart.axis
    return [
        {
            **(spot := radar.spot(0, radar.most * ring / _RINGS)),
            "x": spot["x"] + 4,
            "text": f"{axis.drawn(radar.most * ring / _RINGS):g}",
        }
        for ring in range(1, _RINGS + 1)
    ]
