"""A chart as a file, whatever it is of."""

from collections.abc import Callable

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.http import content_disposition_header

from scoring.charts.drawing import DrawingError
from scoring.selectors.chart_files import (
    FORMS,
    MEDIA_TYPES,
    ROOMS,
    SUFFIXES,
    Form,
    chart_csv,
    chart_vega_lite,
)
from scoring.selectors.charts import BoardChart

# A picture that is opened by itself: it has a style, and nothing else that could do anything.
_PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
RETRY_AFTER = "10"


def known_form(form: str) -> Form:
    """404 for a form that charts do not have."""
    for each in FORMS:
        if each == form:
            return each
    raise Http404("A chart is SVG, PNG, CSV or Vega-Lite.")


def asked_size(request: HttpRequest) -> str:
    """404 for a size that charts do not have."""
    size = request.GET.get("size", "")
    if size not in ROOMS:
        raise Http404("A chart comes in the usual size and in narrow.")
    return size


def chart_response(
    chart: BoardChart, form: Form, size: str, name: str, picture: Callable[[], bytes]
) -> HttpResponse:
    """The chart as a file of this name; `picture` draws it. 503 while it cannot be drawn, 404 for
    what a chart with too little to draw does not have."""
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
        "The picture could not be drawn; try again in a moment.",
        status=503,
        content_type="text/plain",
        headers={"Retry-After": RETRY_AFTER},
    )
