"""Charts as pictures, which are drawn once for what the leaderboard says, as tables, and as
Vega-Lite for whoever wants to look at them in a browser or to draw them in another way."""

import json
import re
from collections.abc import Iterable
from typing import Literal, NamedTuple, get_args

from portal.files.tables import csv_text
from scoring.charts.look import NARROW, WIDE, Room, Words
from scoring.charts.shapes import Shape
from scoring.charts.specs import specification

from .charts import BoardChart, BoardCharts
from .drawings import Sketch, kept_png, kept_svgs

Form = Literal["svg", "png", "csv", "vl"]
FORMS: tuple[Form, ...] = get_args(Form)
MEDIA_TYPES: dict[Form, str] = {
    "svg": "image/svg+xml",
    "png": "image/png",
    "csv": "text/csv",
    "vl": "application/vnd.vegalite.v6+json",
}
SUFFIXES: dict[Form, str] = {"svg": "svg", "png": "png", "csv": "csv", "vl": "vl.json"}
# SVG and Vega-Lite come in two sizes.
ROOMS: dict[str, Room] = {"": WIDE, "narrow": NARROW}

_SIZE = re.compile(r'width="(\d+)" height="(\d+)"')


def file_name(shown: BoardCharts, chart: BoardChart) -> str:
    """After board, phase and chart, such as `board-test-ranks`; its form gives the ending."""
    phase = f"-{shown.phase.slug}" if shown.phase else ""
    return f"{shown.board.slug}{phase}-{chart.key}"


def chart_csv(chart: BoardChart) -> str:
    """The rows that are drawn, rates in [0, 1], with six decimals at most. Empty of a chart without
    rows."""
    if chart.table is None:
        return ""
    return csv_text([chart.table.heads, *chart.table.lines])


def chart_vega_lite(shape: Shape, size: str = "") -> bytes:
    """What a chart is drawn from, with no more in it than its table."""
    return json.dumps(specification(shape, ROOMS[size])).encode()


def chart_picture(shown: BoardCharts, chart: BoardChart, form: Form, size: str = "") -> bytes:
    """Of a chart with a shape. Raises DrawingError."""
    assert chart.shape is not None
    if form == "png":
        return kept_png(chart.shape)
    return kept_svgs(_sketches(shown))[chart.key, size].encode()


class Size(NamedTuple):
    width: int = 0
    height: int = 0


class Picture(NamedTuple):
    """A chart as the page shows it, with the sizes that are kept free for it: on most screens, and
    on narrow ones."""

    chart: BoardChart
    wide: Size = Size()
    narrow: Size = Size()


def chart_pictures(shown: BoardCharts) -> list[Picture]:
    """All charts with a shape, drawn if they were not. Raises DrawingError."""
    svgs = kept_svgs(_sketches(shown))
    return [
        Picture(chart, *(_size(svgs[chart.key, size]) for size in ROOMS))
        for chart in shown.drawable
    ]


def draw_ahead(shown: Iterable[BoardCharts]) -> None:
    """The pictures of several pages, by one process, for whoever looks first. Raises
    DrawingError."""
    kept_svgs({(each.query, *key): made for each in shown for key, made in _sketches(each).items()})


def _size(svg: str) -> Size:
    found = _SIZE.search(svg)
    assert found
    return Size(int(found[1]), int(found[2]))


def _sketches(shown: BoardCharts) -> dict[tuple[str, str], Sketch]:
    """All pictures of the board's charts by the chart's key and the size."""
    return {
        (chart.key, size): Sketch(chart.shape, Words(chart.title, chart.told), room)
        for chart in shown.drawable
        if chart.shape
        for size, room in ROOMS.items()
    }
