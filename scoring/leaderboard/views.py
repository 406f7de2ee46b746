"""Pages and files of leaderboards: the table as CSV and LaTeX, and the charts."""

import gzip
from collections.abc import Callable
from functools import partial

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_safe

from portal.datasets.responses import TextFile, file_response
from portal.web.conditional import conditional
from scoring.access import board_for
from scoring.charts.drawing import DrawingError, library_version
from scoring.charts.look import live_style
from scoring.models.boards import phase_windows

from .charts import BoardChart, BoardCharts, board_charts
from .drawings import (
    FORMS,
    MEDIA_TYPES,
    ROOMS,
    SUFFIXES,
    Form,
    Picture,
    chart_csv,
    chart_picture,
    chart_pictures,
    chart_vega_lite,
    file_name,
    kept_library,
)
from .files import leaderboard_file, leaderboard_latex_file
from .filters import RowFilterForm
from .selectors import Leaderboard, StampedBoard, requested_leaderboard, stamped_board


@require_safe
def leaderboard_table(request: HttpRequest, slug: str) -> HttpResponse:
    """The table of the page as CSV."""
    return _table_file(request, slug, leaderboard_file)


@require_safe
def leaderboard_latex(request: HttpRequest, slug: str) -> HttpResponse:
    """The table of the page as LaTeX, with intervals on request."""
    with_intervals = "intervals" in request.GET
    return _table_file(
        request, slug, partial(leaderboard_latex_file, with_intervals=with_intervals)
    )


def _table_file(
    request: HttpRequest, slug: str, make: Callable[[Leaderboard], TextFile]
) -> HttpResponse:
    """Return the table as a file. Invalid filters are refused, because a file does not show which
    rows were left out."""
    board, form = board_for(request.user, slug), RowFilterForm(request.GET)
    if not form.is_valid():
        errors = "".join(f"{name}: {' '.join(each)}\n" for name, each in form.messages.items())
        return HttpResponse(errors, status=400, content_type="text/plain; charset=utf-8")
    asked = {name: request.GET.get(name, "") for name in ("phase", "sort", "view", "part")}
    windows = phase_windows(board)
    return file_response(
        make(requested_leaderboard(request.user, board, windows, asked, form.wanted()))
    )


# For pictures opened on their own: allow inline styles and nothing else.
_PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
RETRY_AFTER = "10"


def known_form(form: str) -> Form:
    """Return the file format. Raises Http404 if charts do not have it."""
    for each in FORMS:
        if each == form:
            return each
    raise Http404("Charts are available as SVG, PNG, CSV and Vega-Lite.")


def asked_size(request: HttpRequest) -> str:
    """Return the requested size. Raises Http404 if charts do not have it."""
    size = request.GET.get("size", "")
    if size not in ROOMS:
        raise Http404("The size must be empty or narrow.")
    return size


def chart_response(
    chart: BoardChart, form: Form, size: str, name: str, picture: Callable[[], bytes]
) -> HttpResponse:
    """Return the chart as a file of this name; `picture` draws it. Responds 503 if it cannot be
    drawn, and 404 if the chart has too little to draw for this format."""
    if form == "csv":
        response = HttpResponse(chart_csv(chart), content_type="text/csv; charset=utf-8")
    elif chart.shape is None:
        raise Http404(chart.too_little)
    elif form == "vl":
        response = HttpResponse(chart_vega_lite(chart.shape, size), content_type=MEDIA_TYPES[form])
    else:
        try:
            response = HttpResponse(picture(), content_type=MEDIA_TYPES[form])
        except DrawingError:
            return _not_drawn()
        response["Content-Security-Policy"] = _PICTURE_POLICY
    disposition = content_disposition_header(form in {"csv", "vl"}, f"{name}.{SUFFIXES[form]}")
    assert disposition is not None
    response["Content-Disposition"] = disposition
    return response


def _not_drawn() -> HttpResponse:
    return HttpResponse(
        "The picture could not be drawn. Try again in a moment.",
        status=503,
        content_type="text/plain",
        headers={"Retry-After": RETRY_AFTER},
    )


_YEAR = 365 * 24 * 60 * 60


@require_safe
def charts(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the charts of a board. Pictures are drawn before the page is sent."""
    stamped = stamped_board(request.user, slug)
    shown = _shown(request, stamped)
    has_pictures = True
    try:
        pictures = chart_pictures(shown)
    except DrawingError:
        pictures, has_pictures = [Picture(chart) for chart in shown.drawable], False
    return render(
        request,
        "scoring/leaderboard/charts.html",
        {
            "page": shown,
            "pictures": pictures,
            "has_pictures": has_pictures,
            "library": library_version(),
            "live_style": live_style(),
        },
    )


@require_safe
def chart_file(request: HttpRequest, slug: str, chart: str, form: str) -> HttpResponseBase:
    """Return a chart as a file; 404 for a picture of a chart with too little to draw."""
    known = known_form(form)
    stamped = stamped_board(request.user, slug)
    asked = [
        request.path,
        *(request.GET.get(name, "") for name in ("phase", "rows", "part", "size")),
    ]

    def file() -> HttpResponse:
        return _file(request, stamped, chart, known)

    response = conditional(request, stamped.etag(request.user, {"asked": asked}), file)
    patch_vary_headers(response, ["Cookie"])
    patch_cache_control(response, private=True, no_cache=True)
    return response


def _file(request: HttpRequest, stamped: StampedBoard, key: str, form: Form) -> HttpResponse:
    shown, size = _shown(request, stamped), asked_size(request)
    chart = shown.chart(key)

    def picture() -> bytes:
        return chart_picture(shown, chart, form, size)

    return chart_response(chart, form, size, file_name(shown, chart), picture)


@require_safe
def library(request: HttpRequest, version: str) -> HttpResponse:
    """Return the JavaScript module that draws charts in a browser. It is built on the first
    request; its URL contains the version and can be cached forever."""
    if version != library_version():
        raise Http404("There is no such version.")
    try:
        module = kept_library()
    except DrawingError:
        return HttpResponse(status=503, headers={"Retry-After": RETRY_AFTER})
    takes_gzip = "gzip" in request.headers.get("Accept-Encoding", "")
    response = HttpResponse(
        module if takes_gzip else gzip.decompress(module),
        content_type="text/javascript; charset=utf-8",
    )
    if takes_gzip:
        response["Content-Encoding"] = "gzip"
    patch_vary_headers(response, ["Accept-Encoding"])
    patch_cache_control(response, public=True, max_age=_YEAR, immutable=True)
    return response


def _shown(request: HttpRequest, stamped: StampedBoard) -> BoardCharts:
    return board_charts(
        request.user,
        stamped.board,
        stamped.windows,
        phase=request.GET.get("phase", ""),
        origin=request.GET.get("rows", ""),
        part=request.GET.get("part", ""),
    )
