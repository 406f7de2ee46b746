"""Charts: a page with all of a board, each as a file, and what draws them in a browser."""

import gzip

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.views.decorators.http import require_safe

from portal.web.conditional import conditional
from scoring.access import submission_for
from scoring.charts.drawing import DrawingError, library_version
from scoring.charts.look import live_style
from scoring.selectors.chart_files import (
    Form,
    Picture,
    chart_picture,
    chart_pictures,
    file_name,
)
from scoring.selectors.charts import BoardCharts, board_charts
from scoring.selectors.drawings import kept_library
from scoring.selectors.score_charts import score_chart, score_picture
from scoring.selectors.stamps import StampedBoard, stamped_board
from scoring.selectors.submissions import finished_grading

from .chart_responses import RETRY_AFTER, asked_size, chart_response, known_form

_YEAR = 365 * 24 * 60 * 60


@require_safe
def charts(request: HttpRequest, slug: str) -> HttpResponse:
    """The pictures are drawn before the page is sent, so that they come at once."""
    stamped = stamped_board(request.user, slug)
    shown = _shown(request, stamped)
    has_pictures = True
    try:
        pictures = chart_pictures(shown)
    except DrawingError:
        pictures, has_pictures = [Picture(chart) for chart in shown.drawable], False
    return render(
        request,
        "scoring/charts.html",
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
    """A chart as a file; 404 for a picture of a chart with too little to draw."""
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
def score_file(request: HttpRequest, pk: int, form: str) -> HttpResponse:
    """The spread of the scores of a submission's items; 404 where these are not shown."""
    known = known_form(form)
    found = submission_for(request.user, pk)
    grading = finished_grading(request.user, found, request.GET.get("grading", ""))
    chart, size = score_chart(request.user, found, grading), asked_size(request)
    name = f"submission-{found.pk}-{chart.key}"
    response = chart_response(chart, known, size, name, lambda: score_picture(chart, known, size))
    patch_vary_headers(response, ["Cookie"])
    patch_cache_control(response, private=True, no_cache=True)
    return response


@require_safe
def library(request: HttpRequest, version: str) -> HttpResponse:
    """The JavaScript module that draws charts in a browser: made when somebody first asks for it,
    and under this address for good."""
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
