"""Charts as pictures, which are drawn once for what the leaderboard says, as tables, and as
Vega-Lite for whoever wants to look at them in a browser or to draw them in another way."""

import json
import re
from typing import Literal, NamedTuple, get_args

from portal.common.spreadsheets import csv_text
from scoring.access import Viewer
from scoring.charts.look import NARROW, WIDE, Room, Words
from scoring.charts.shapes import Shape
from scoring.charts.specs import specification

from .charts import BoardChart, BoardCharts
from .drawings import Sketch, kept_png, kept_svgs
from .stamps import StampedBoard

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


def chart_stamp(user: Viewer, stamped: StampedBoard, shown: BoardCharts) -> str:
    """What a chart's picture depends on: as long as it is the same, so is the picture."""
    phase = shown.phase.pk if shown.phase else None
    return stamped.etag(user, {"charts": [phase, shown.origin, shown.part]}).strip('"')


def chart_vega_lite(shape: Shape, size: str = "") -> bytes:
    """What a chart is drawn from, with no more in it than its table."""
    return json.dumps(specification(shape, ROOMS[size])).encode()


def chart_picture(
    shown: BoardCharts, chart: BoardChart, stamp: str, form: Form, size: str = ""
) -> bytes:
    """Of a chart with a shape. Raises DrawingError."""
    assert chart.shape is not None
    if form == "png":
        return kept_png(_key(stamp, chart, "png"), chart.shape)
    svgs = kept_svgs(_sketches(shown, stamp))
    return svgs[_key(stamp, chart, "svg", size)].encode()


class Size(NamedTuple):
    width: int = 0
    height: int = 0


class Picture(NamedTuple):
    """A chart as the page shows it, with the sizes that are kept free for it: on most screens, and
    on narrow ones."""

    chart: BoardChart
    wide: Size = Size()
    narrow: Size = Size()


def chart_pictures(shown: BoardCharts, stamp: str) -> list[Picture]:
    """All charts with a shape, drawn if they were not. `stamp` stands for all that they are made
    of. Raises DrawingError."""
    svgs = kept_svgs(_sketches(shown, stamp))
    return [
        Picture(chart, *(_size(svgs[_key(stamp, chart, "svg", size)]) for size in ROOMS))
        for chart in shown.drawable
    ]


def _size(svg: str) -> Size:
    found = _SIZE.search(svg)
    assert found
    return Size(int(found[1]), int(found[2]))


def _sketches(shown: BoardCharts, stamp: str) -> dict[str, Sketch]:
    """All pictures of the board's charts by the names under which they are kept."""
    return {
        _key(stamp, chart, "svg", size): Sketch(chart.shape, Words(chart.title, chart.told), room)
        for chart in shown.drawable
        if chart.shape
        for size, room in ROOMS.items()
    }


def _key(stamp: str, chart: BoardChart, form: Form, size: str = "") -> str:
    return f"chart:{stamp}:{chart.key}:{form}:{size}"
