"""Charts as files: SVG, PNG, CSV and Vega-Lite.

A separate process draws each picture once. The cache keys are made of the drawn data.
"""

import gzip
import json
import re
import threading
from base64 import b64decode, b64encode
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple, TypeVar, get_args

from django.core.cache import cache

from portal.files.tables import csv_text
from portal.jobs.services import enqueue
from portal.web.conditional import etag_of
from scoring.charts.drawing import DrawingError, draw_png, draw_svg, library_version, make_library
from scoring.charts.look import NARROW, WIDE, Room, Words, with_words
from scoring.charts.shapes import Shape
from scoring.charts.specs import specification
from scoring.models import Board

from .charts import BoardChart, BoardCharts

_Key = TypeVar("_Key", bound=Hashable)
_WEEK = 7 * 24 * 60 * 60
# One drawing process at a time: it needs a processor and much memory.
_one_at_a_time = threading.Lock()
_LONGEST_WAIT = 30


@contextmanager
def _process() -> Iterator[None]:
    if not _one_at_a_time.acquire(timeout=_LONGEST_WAIT):
        raise DrawingError("other charts are being drawn")
    try:
        yield
    finally:
        _one_at_a_time.release()


class Sketch(NamedTuple):
    """The input of one drawing."""

    shape: Shape
    words: Words
    room: Room = WIDE


def kept_svgs(wanted: Mapping[_Key, Sketch]) -> dict[_Key, str]:
    """Return pictures by key. All uncached pictures are drawn together, since starting the process
    takes longer than drawing. Equal sketches share one picture. Raises DrawingError."""
    specs = {key: specification(each.shape, each.room) for key, each in wanted.items()}
    names = {key: _name("svg", specs[key], each.words) for key, each in wanted.items()}
    found: dict[str, str] = cache.get_many(set(names.values()))
    if len(found) < len(set(names.values())):
        with _process():
            # The previous holder of the lock may have drawn them.
            found = cache.get_many(set(names.values()))
            missing = {name: key for key, name in names.items() if name not in found}
            if missing:
                svgs = draw_svg([specs[key] for key in missing.values()])
                drawn = {
                    name: with_words(svg, wanted[key].words)
                    for (name, key), svg in zip(missing.items(), svgs, strict=True)
                }
                cache.set_many(drawn, _WEEK)
                found |= drawn
    return {key: found[name] for key, name in names.items()}


def kept_png(shape: Shape) -> bytes:
    """Return the chart in light colours. Raises DrawingError."""
    spec = specification(shape)
    name = _name("png", spec)
    found = cache.get(name)
    if found is None:
        with _process():
            found = b64encode(draw_png(spec)).decode()
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
        with _process():
            found = cache.get(name)
            if found is None:
                found = b64encode(gzip.compress(make_library().encode(), mtime=0)).decode()
                cache.set(name, found, None)
    return b64decode(found)


Form = Literal["svg", "png", "csv", "vl"]
FORMS: tuple[Form, ...] = get_args(Form)
MEDIA_TYPES: dict[Form, str] = {
    "svg": "image/svg+xml",
    "png": "image/png",
    "csv": "text/csv",
    "vl": "application/vnd.vegalite.v6+json",
}
SUFFIXES: dict[Form, str] = {"svg": "svg", "png": "png", "csv": "csv", "vl": "vl.json"}
# The sizes of SVG and Vega-Lite.
ROOMS: dict[str, Room] = {"": WIDE, "narrow": NARROW}

_SIZE = re.compile(r'width="(\d+)" height="(\d+)"')


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


def chart_picture(shown: BoardCharts, chart: BoardChart, form: Form, size: str = "") -> bytes:
    """Return the picture of a chart that has a shape. Raises DrawingError."""
    assert chart.shape is not None
    if form == "png":
        return kept_png(chart.shape)
    return kept_svgs(_sketches(shown))[chart.key, size].encode()


class Size(NamedTuple):
    width: int = 0
    height: int = 0


class Picture(NamedTuple):
    """A chart on the page, with the sizes reserved for it on wide and on narrow screens."""

    chart: BoardChart
    wide: Size = Size()
    narrow: Size = Size()


def chart_pictures(shown: BoardCharts) -> list[Picture]:
    """Return all charts with a shape, drawing the missing ones. Raises DrawingError."""
    svgs = kept_svgs(_sketches(shown))
    return [
        Picture(chart, *(_size(svgs[chart.key, size]) for size in ROOMS))
        for chart in shown.drawable
    ]


def draw_ahead(shown: Iterable[BoardCharts]) -> None:
    """Draw the pictures of several pages in one process, before anyone requests them. Raises
    DrawingError."""
    kept_svgs({(each.query, *key): made for each in shown for key, made in _sketches(each).items()})


def _size(svg: str) -> Size:
    found = _SIZE.search(svg)
    assert found
    return Size(int(found[1]), int(found[2]))


def _sketches(shown: BoardCharts) -> dict[tuple[str, str], Sketch]:
    """Return all pictures of the board's charts by chart key and size."""
    return {
        (chart.key, size): Sketch(chart.shape, Words(chart.title, chart.description), room)
        for chart in shown.drawable
        if chart.shape
        for size, room in ROOMS.items()
    }


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
