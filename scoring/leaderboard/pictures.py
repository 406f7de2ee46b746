"""Pictures of charts: jobs draw them, and the cache keeps them under what they show.

A reader never waits for a picture. The first who requests charts that are not drawn queues a job,
and those after it find this job. If no worker takes the job for a while, the web process draws the
requested picture itself. The charts of a board, without pictures, are kept until it changes.
"""

import gzip
import hashlib
import json
import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import product
from typing import Any, Literal, get_args

from django.contrib.auth.models import AnonymousUser
from django.core.cache import cache
from django.db.models import Q
from django.http import Http404
from django.utils import timezone

from portal.accounts.access import is_organiser
from portal.accounts.models import User
from portal.jobs.models import Job
from portal.jobs.services import enqueue
from portal.web.requests import etag_of, one_at_a_time
from scoring.access import Viewer
from scoring.charts.drawing import (
    DrawingError,
    draw_file,
    draw_svg,
    library_version,
    make_library,
)
from scoring.charts.look import Words, with_words
from scoring.charts.shapes import Shape
from scoring.charts.specs import specification
from scoring.models import Board, Entry
from scoring.models.boards import choose_phase
from scoring.web import cached

from .charts import ROOMS, BoardChart, BoardCharts, charts_of
from .selectors import StampedBoard, kept_leaderboard, part_for, stamped_board

_WEEK = 7 * 24 * 60 * 60

Form = Literal["svg", "png", "pdf", "csv", "vl"]
FORMS: tuple[Form, ...] = get_args(Form)
MEDIA_TYPES: dict[Form, str] = {
    "svg": "image/svg+xml",
    "png": "image/png",
    "pdf": "application/pdf",
    "csv": "text/csv",
    "vl": "application/vnd.vegalite.v6+json",
}


class BeingDrawnError(DrawingError):
    """A job draws the chart."""


def suffix(form: Form) -> str:
    return "vl.json" if form == "vl" else form


# --- one picture -------------------------------------------------------------------------------
def chart_vega_lite(shape: Shape, size: str = "") -> bytes:
    """Return the Vega-Lite specification. It holds no more data than the chart's table."""
    return json.dumps(specification(shape, ROOMS[size])).encode()


def drawn_picture(chart: BoardChart, form: Form, size: str = "") -> bytes:
    """Return the picture of a chart that has a shape, and draw it if it is not kept. Raises
    DrawingError."""
    assert chart.shape is not None
    shape = chart.shape

    def draw() -> str:
        if form == "png" or form == "pdf":
            return b64encode(draw_file(specification(shape), form)).decode()
        svg = draw_svg(specification(shape, ROOMS[size]))
        return with_words(svg, Words(chart.title, chart.description))

    name = _name(chart, form, size)
    with one_at_a_time(name):
        return _bytes(form, cached(name, draw, _WEEK))


def _kept_picture(chart: BoardChart, form: Form, size: str) -> bytes | None:
    found = cache.get(_name(chart, form, size))
    return None if found is None else _bytes(form, found)


def _bytes(form: Form, kept: str) -> bytes:
    return kept.encode() if form == "svg" else b64decode(kept)


def _name(chart: BoardChart, form: Form, size: str = "") -> str:
    """Return a cache key that changes with the data, the texts and the code that draws."""
    words = (chart.title, chart.description) if form == "svg" else ()
    shape = (type(chart.shape).__name__, repr(chart.shape))
    return f"chart:{form}:{etag_of(library_version(), size, words, shape)}"


def kept_library() -> bytes:
    """Return the library for browsers, compressed with gzip. Raises DrawingError."""

    def packed() -> str:
        return b64encode(gzip.compress(make_library().encode(), mtime=0)).decode()

    name = f"chart-library:{library_version()}"
    with one_at_a_time(name):
        return b64decode(cached(name, packed, None))


# --- what a reader requests -----------------------------------------------------------------------
# Of a board with more rows, a job makes the charts, too, and not only their pictures.
MOST_ROWS_AT_ONCE = 2_000
_ORIGIN = re.compile(r"(graded|human|reported)(-\d{1,3})?")


@dataclass(frozen=True)
class ChartRequest:
    """The charts that a reader requests: the rows of one source of one phase."""

    user: Viewer
    stamped: StampedBoard
    phase: str = ""
    rows: str = ""
    part: str = ""

    @classmethod
    def of(cls, user: Viewer, stamped: StampedBoard, asked: Mapping[str, str]) -> "ChartRequest":
        """An unknown phase selects the newest, an unknown source of rows the first. Organisers may
        request a part that is not public now."""
        phase = choose_phase(stamped.windows, asked.get("phase", ""))
        rows = asked.get("rows", "")
        return cls(
            user,
            stamped,
            phase.slug if phase else "",
            rows if _ORIGIN.fullmatch(rows) else "",
            part_for(user, phase, asked.get("part", "")),
        )

    def charts(self, *, or_wait: bool = False) -> BoardCharts:
        """Return the charts, kept until the board changes. With `or_wait`, raises BeingDrawnError
        if a job makes them because the board has many rows."""
        name = self._name(self.rows)
        found: BoardCharts | None = cache.get(name)
        if found is None and or_wait and self._has_many_rows() and not self.queue():
            raise BeingDrawnError
        if found is None:
            with one_at_a_time(name):
                found = cache.get(name) or self._made()
        return replace(found, board=self.stamped.board, phases=self.stamped.windows)

    def _made(self) -> BoardCharts:
        asked = {"phase": self.phase, "sort": "", "view": "", "part": self.part}
        table = kept_leaderboard(self.user, self.stamped, asked)
        made = charts_of(self.user, table, self.stamped.windows, origin=self.rows, part=self.part)
        for chart in made.drawable:
            # Kept with the chart.
            assert chart.sizes
        for rows in {made.origin, self.rows} if self.rows in {"", made.origin} else {made.origin}:
            cache.set(self._name(rows), replace(made, phases=()), _WEEK)
        return made

    def _name(self, rows: str) -> str:
        asked = {"charts": [self.phase, rows, self.part]}
        return f"charts:{self.stamped.etag(self.user, asked)}"

    def _has_many_rows(self) -> bool:
        rows = Entry.objects.filter(board=self.stamped.board)
        rows = rows.filter(Q(phase__slug=self.phase) | Q(phase=None))
        return rows[: MOST_ROWS_AT_ONCE + 1].count() > MOST_ROWS_AT_ONCE

    def queue(self, **file: str) -> bool:
        """Queue the job that draws these charts, or a `file` of one of them, unless it is queued.
        Returns whether it has waited for too long. Raises DrawingError if it failed lately."""
        return _queue(self._payload() | file)

    def _payload(self) -> dict[str, Any]:
        newest = choose_phase(self.stamped.windows, "")
        organiser = self.user.pk if is_organiser(self.user) else None
        if not organiser and (newest is None or self.phase == newest.slug):
            return {"board": self.stamped.board.pk}
        return {
            "board": self.stamped.board.pk,
            "phase": self.phase,
            "rows": self.rows,
            "part": self.part,
            "user": organiser,
        }

    def are_drawn(self, shown: BoardCharts) -> bool:
        """Whether the browser can request the pictures of the page: a job has drawn them, or could
        not draw them all, or no worker took it. Queues the job if there is none."""
        try:
            return cache.get(_mark(shown)) is not None or self.queue()
        except DrawingError:
            return True

    def picture(self, chart: BoardChart, form: Form, size: str = "") -> bytes:
        """Return the picture of a chart that has a shape. Raises BeingDrawnError while a job draws
        it, and DrawingError if it cannot be drawn."""
        kept = _kept_picture(chart, form, size)
        if kept is not None:
            return kept
        file = {} if form == "svg" else {"chart": chart.key, "form": form}
        if not self.queue(**file):
            raise BeingDrawnError
        return drawn_picture(chart, form, size)


def _mark(shown: BoardCharts) -> str:
    """The cache key that says that all pictures of these charts are drawn."""
    return f"charts-drawn:{etag_of([_name(chart, 'svg') for chart in shown.drawable])}"


# --- the jobs ------------------------------------------------------------------------------
DRAWING_KIND = "draw_charts"
# A job that waited for longer has no worker, or one that is busy.
_OVERDUE = timedelta(seconds=20)
_NOT_AGAIN_FOR = timedelta(minutes=5)
_SECONDS_TO_QUEUE = 5


def _queue(payload: Mapping[str, Any]) -> bool:
    jobs, now = Job.objects.filter(group=_group(payload)), timezone.now()
    last = jobs.order_by("-id").first()
    if last and not last.is_finished:
        return last.state == Job.State.QUEUED and last.created_at < now - _OVERDUE
    has_failed = last is not None and last.state == Job.State.FAILED
    if has_failed and jobs.filter(finished_at__gt=now - _NOT_AGAIN_FOR).exists():
        raise DrawingError("the chart could not be drawn")
    # Of several readers at the same time, one queues it.
    if cache.add(f"queued:{_group(payload)}", 1, _SECONDS_TO_QUEUE):
        _enqueue(payload)
    return False


def _enqueue(payload: Mapping[str, Any]) -> None:
    enqueue(kind=DRAWING_KIND, payload=payload, group=_group(payload))


def _group(payload: Mapping[str, Any]) -> str:
    digest = hashlib.sha256(json.dumps(payload, sort_keys=True).encode()).hexdigest()
    return f"charts:{digest[:32]}"


def draw_requested(payload: Mapping[str, Any]) -> None:
    """Draw the charts of a job: those of one request, a file of one of them, or all that the public
    sees of the newest phase. Nothing if the board is gone. Raises DrawingError."""
    board = Board.objects.filter(pk=payload["board"]).first()
    user: Viewer = AnonymousUser()
    if payload.get("user"):
        user = User.objects.filter(pk=payload["user"]).first() or user
    try:
        stamped = stamped_board(user, board.slug if board else "")
    except Http404:
        return
    wanted = ChartRequest.of(user, stamped, payload)
    shown = wanted.charts()
    if "form" in payload:
        chart = next((each for each in shown.drawable if each.key == payload["chart"]), None)
        if chart:
            drawn_picture(chart, payload["form"])
        return
    draw_ahead([shown] if "phase" in payload else public_charts(wanted, shown))


def public_charts(wanted: ChartRequest, first: BoardCharts) -> list[BoardCharts]:
    """Return the charts of every source of rows."""
    others = [key for key in first.titles if key != first.origin]
    return [first, *(replace(wanted, rows=key).charts() for key in others)]


def draw_ahead(shown: Iterable[BoardCharts]) -> None:
    """Draw the pictures of several pages. Raises DrawingError at the end if one cannot be drawn."""
    failure = None
    for page in shown:
        for chart, size in product(page.drawable, ROOMS):
            try:
                drawn_picture(chart, "svg", size)
            except DrawingError as error:
                failure = error
        if failure is None:
            cache.set(_mark(page), 1, _WEEK)
    if failure:
        raise failure
    kept_library()


def queue_undrawn() -> int:
    """Queue the published boards that changed since they were last queued; return how many.

    Two workers that run this at the same time queue a board once.
    """
    boards = Board.objects.published().values_list("pk", "revision")
    marks = {etag_of("charts were queued", *row): row[0] for row in boards}
    known = cache.get_many(marks)
    queued = 0
    for mark, pk in marks.items():
        # As long as pictures are kept.
        if mark not in known and cache.add(mark, 1, _WEEK):
            _enqueue({"board": pk})
            queued += 1
    return queued
