"""Charts as files: SVG, PNG, PDF, CSV and Vega-Lite.

A separate process draws each picture once. The cache keys are made of the drawn data.
"""

import gzip
import json
from base64 import b64decode, b64encode
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple, get_args
from urllib.parse import parse_qs

from django.contrib.auth.models import AnonymousUser
from django.core.cache import cache

from portal.files.tables import csv_text
from portal.jobs.services import enqueue
from portal.web.conditional import etag_of
from scoring.charts.drawing import (
    draw_file,
    draw_svg,
    library_version,
    make_library,
    start_engine,
)
from scoring.charts.look import NARROW, WIDE, Room, Size, Words, size_of, with_words
from scoring.charts.shapes import Shape
from scoring.charts.specs import specification
from scoring.models import Board

from .charts import BoardChart, BoardCharts, board_charts
from .selectors import stamped_board

_WEEK = 7 * 24 * 60 * 60


def _kept_svg(chart: BoardChart, shape: Shape, room: Room) -> str:
    """Return the picture. Raises DrawingError."""
    spec, words = specification(shape, room), Words(chart.title, chart.description)
    name = _name("svg", spec, words)
    svg: str | None = cache.get(name)
    if svg is None:
        svg = with_words(draw_svg(spec), words)
        cache.set(name, svg, _WEEK)
    return svg


def _kept_file(shape: Shape, form: Literal["png", "pdf"]) -> bytes:
    """Return the chart in light colours. Raises DrawingError."""
    spec = specification(shape)
    name = _name(form, spec)
    found = cache.get(name)
    if found is None:
        found = b64encode(draw_file(spec, form)).decode()
        cache.set(name, found, _WEEK)
    return b64decode(found)


def _name(form: str, *made_of: Any) -> str:
    """Return a cache key that changes with the data and with the drawing code."""
    return f"chart:{form}:{etag_of(library_version(), *made_of)}"


def kept_library() -> bytes:
    """Return the library for browsers, compressed with gzip. Raises DrawingError."""
    name = f"chart-library:{library_version()}"
    found = cache.get(name)
    if found is None:
        found = b64encode(gzip.compress(make_library().encode(), mtime=0)).decode()
        cache.set(name, found, None)
    return b64decode(found)


Form = Literal["svg", "png", "pdf", "csv", "vl"]
FORMS: tuple[Form, ...] = get_args(Form)
MEDIA_TYPES: dict[Form, str] = {
    "svg": "image/svg+xml",
    "png": "image/png",
    "pdf": "application/pdf",
    "csv": "text/csv",
    "vl": "application/vnd.vegalite.v6+json",
}
# The sizes of SVG and Vega-Lite.
ROOMS: dict[str, Room] = {"": WIDE, "narrow": NARROW}


def suffix(form: Form) -> str:
    return "vl.json" if form == "vl" else form


def file_name(shown: BoardCharts, chart: BoardChart) -> str:
    """Return a name of board, phase and chart, such as `board-test-ranks`, without an extension."""
    phase = f"-{shown.phase.slug}" if shown.phase else ""
    return f"{shown.board.slug}{phase}-{chart.key}"


def chart_csv(chart: BoardChart) -> str:
    """Return the drawn rows: rates in [0, 1], at most six decimals. Empty for a chart without
    rows."""
    if chart.table is None:
        return ""
    return csv_text([chart.table.heads, *chart.table.lines])


def chart_vega_lite(shape: Shape, size: str = "") -> bytes:
    """Return the Vega-Lite specification. It holds no more data than the chart's table."""
    return json.dumps(specification(shape, ROOMS[size])).encode()


def chart_picture(chart: BoardChart, form: Form, size: str = "") -> bytes:
    """Return the picture of a chart that has a shape. Raises DrawingError."""
    assert chart.shape is not None
    if form == "png" or form == "pdf":
        return _kept_file(chart.shape, form)
    return _kept_svg(chart, chart.shape, ROOMS[size]).encode()


class Picture(NamedTuple):
    """A chart on the page, with the sizes reserved for it on wide and on narrow screens."""

    chart: BoardChart
    wide: Size
    narrow: Size


def pictures(charts: Iterable[BoardChart]) -> list[Picture]:
    """Return the charts that have a shape with the sizes of their pictures, which need not be
    drawn."""
    return [
        Picture(chart, *(size_of(specification(chart.shape, room)) for room in ROOMS.values()))
        for chart in charts
        if chart.shape is not None
    ]


def prepare_drawing(shown: BoardCharts) -> None:
    """Start the drawing process if the pictures are not drawn yet: the browser will request them
    next."""
    for chart in shown.drawable[:1]:
        assert chart.shape is not None
        words = Words(chart.title, chart.description)
        if _name("svg", specification(chart.shape), words) not in cache:
            start_engine()


def public_charts(slug: str) -> list[BoardCharts]:
    """Return what the public sees of a published board: its newest phase, with rows of each
    source."""
    public = AnonymousUser()
    stamped = stamped_board(public, slug)
    first = board_charts(public, stamped.board, stamped.windows)
    keys = [parse_qs(tab.query).get("rows", [""])[0] for tab in first.origins]
    others = [key for key in keys if key != first.origin]
    return [
        first,
        *(board_charts(public, stamped.board, stamped.windows, origin=key) for key in others),
    ]


def draw_ahead(shown: Iterable[BoardCharts]) -> None:
    """Draw the pictures of several pages before anyone requests them. Raises DrawingError."""
    for page in shown:
        for chart in page.drawable:
            for size in ROOMS:
                chart_picture(chart, "svg", size)


DRAWING_KIND = "draw_charts"
# As long as pictures are cached.
_QUEUED_FOR = 7 * 24 * 60 * 60


def queue_undrawn() -> int:
    """Queue the published boards that changed since they were last queued; return how many.

    Two workers that run this at the same time queue a board once.
    """
    boards = Board.objects.published().values_list("pk", "revision")
    marks = {etag_of("charts were queued", *each): each[0] for each in boards}
    known = cache.get_many(marks)
    queued = 0
    for mark, pk in marks.items():
        if mark not in known and cache.add(mark, 1, _QUEUED_FOR):
            enqueue(kind=DRAWING_KIND, payload={"board": pk})
            queued += 1
    return queued
