"""Pages and files of leaderboards: the table in other formats, citations, and the charts."""

import gzip
from collections.abc import Callable, Mapping

from django.contrib.auth.models import AnonymousUser
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.utils.http import content_disposition_header
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_safe

from portal.datasets.responses import TextFile, file_response, stream_response
from portal.web.requests import conditional, refuse_unknown
from scoring.access import submission_for
from scoring.charts.drawing import DrawingError, library_version
from scoring.charts.look import live_style

from .charts import ROOMS, BoardChart, chart_csv, file_name, pictures
from .citing import (
    CHARTS,
    SUBMISSION,
    badge,
    chart_tabs,
    citations,
    cite_page,
    cited_charts,
    cited_entry,
    cited_rows,
    embedded_table,
)
from .files import Export, ExportForm, file_stem, leaderboard_csv, leaderboard_file
from .filters import QueryForm, RowFilterForm
from .pictures import (
    FORMS,
    MEDIA_TYPES,
    BeingDrawnError,
    ChartRequest,
    Form,
    chart_vega_lite,
    kept_library,
    suffix,
)
from .selectors import (
    Leaderboard,
    StampedBoard,
    kept_leaderboard,
    stamped_board,
    unknown_choices,
)

# The parameters of a table, apart from its filters.
CHOICES = ("phase", "sort", "view", "part")
OF_CHARTS = ("phase", "rows", "part", "size")


@require_safe
def leaderboard_table(request: HttpRequest, slug: str, ending: str) -> HttpResponseBase:
    """The table of the page as CSV, LaTeX or Markdown.

    Invalid filters and choices are refused, because a file does not show which rows were left out.
    """
    stamped, filters = stamped_board(request.user, slug), RowFilterForm(request.GET)
    if not filters.is_valid():
        return _refused(filters)
    table = _asked_table(request, stamped, filters)
    form = ExportForm(request.GET, table.columns)
    if not form.is_valid():
        return _refused(form)
    refuse_unknown(request, {*CHOICES, *filters.fields, *form.fields})
    asked = {name: request.GET.get(name, "") for name in CHOICES}
    if unknown := unknown_choices(table, stamped.windows, asked):
        return _errors(unknown)
    export = form.export()
    if ending == "csv":
        name = f"{file_stem(table)}.csv"
        return stream_response(name, "text/csv", leaderboard_csv(export.of(table)))
    return file_response(leaderboard_file(table, export, ending))


def _refused(form: QueryForm) -> HttpResponse:
    return _errors(form.messages)


def _errors(messages: Mapping[str, list[str]]) -> HttpResponse:
    errors = "".join(f"{name}: {' '.join(texts)}\n" for name, texts in messages.items())
    return HttpResponse(errors, status=400, content_type="text/plain; charset=utf-8")


def _asked_table(
    request: HttpRequest, stamped: StampedBoard, filters: RowFilterForm
) -> Leaderboard:
    asked = {name: request.GET.get(name, "") for name in CHOICES}
    return kept_leaderboard(request.user, stamped, asked, filters.wanted())


@require_safe
def cite(request: HttpRequest, slug: str) -> HttpResponse:
    """Show how to cite a board and its entries, and the table in the formats of papers."""
    stamped, filters = stamped_board(request.user, slug), RowFilterForm(request.GET)
    table = _asked_table(request, stamped, filters)
    form = ExportForm(request.GET, table.columns)
    page = cite_page(
        request.user,
        table,
        form.export() if form.is_valid() else Export(),
        request.GET.dict(),
        root=request.build_absolute_uri("/").rstrip("/"),
    )
    # The rest of the query selects the same table.
    kept = [
        (name, value)
        for name, values in request.GET.lists()
        for value in values
        if name not in form.fields and name not in {SUBMISSION, CHARTS}
    ]
    charts = cited_charts(request.user, stamped, table, request.GET.get(CHARTS, ""))
    context = {
        "board": stamped.board,
        "page": page,
        "form": form,
        "filters": filters,
        "kept": kept,
        "charts": charts,
        "chart_tabs": chart_tabs(page, charts),
    }
    status = 200 if form.is_valid() else 400
    return render(request, "scoring/leaderboard/cite.html", context, status=status)


@require_safe
def citation_file(request: HttpRequest, slug: str) -> HttpResponse:
    """All citations of the page in one BibTeX file."""
    stamped, filters = stamped_board(request.user, slug), RowFilterForm(request.GET)
    table = _asked_table(request, stamped, filters)
    form = ExportForm(request.GET, table.columns)
    refuse_unknown(request, {*CHOICES, *filters.fields, *form.fields, SUBMISSION, CHARTS})
    asked = {name: request.GET.get(name, "") for name in CHOICES}
    if unknown := unknown_choices(table, stamped.windows, asked):
        return _errors(unknown)
    root = request.build_absolute_uri("/").rstrip("/")
    entry = cited_entry(cited_rows(table), request.GET.dict())
    today = timezone.now().date()
    cited = citations(request.user, table, entry, root=root, accessed=today)
    text = "\n".join(citation.bibtex for citation in cited)
    return file_response(TextFile(f"{slug}.bib", "application/x-bibtex", text))


# Other sites show badges and embedded tables, so everyone gets what the public sees.
_SHARED_SECONDS = 5 * 60
_EMBED_POLICY = (
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors *"
)


@require_safe
def badge_file(request: HttpRequest, pk: int, form: str) -> HttpResponseBase:
    """The rank of a published submission as a picture, or as text."""
    if form not in {"svg", "txt"}:
        raise Http404("Badges are available as SVG and as text.")
    refuse_unknown(request, ())
    public = AnonymousUser()
    submission = submission_for(public, pk)
    etag = stamped_board(public, submission.phase.board.slug).etag(public, {"badge": [pk, form]})

    def drawn() -> HttpResponse:
        made = badge(submission)
        if form == "txt":
            return HttpResponse(f"{made.text}\n", content_type="text/plain; charset=utf-8")
        response = render(
            request, "scoring/leaderboard/badge.svg", {"badge": made}, MEDIA_TYPES["svg"]
        )
        response["Content-Security-Policy"] = _PICTURE_POLICY
        return response

    response = conditional(request, etag, drawn)
    patch_cache_control(response, public=True, max_age=_SHARED_SECONDS)
    return response


@require_safe
@xframe_options_exempt
def embed(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The best rows of the public table, without navigation, for a frame on another site. It has
    neither forms nor buttons, so a frame cannot make a user do anything."""
    public = AnonymousUser()
    stamped, filters = stamped_board(public, slug), RowFilterForm(request.GET)
    asked = {name: request.GET.get(name, "") for name in CHOICES}

    def page() -> HttpResponse:
        if not filters.is_valid():
            return _refused(filters)
        table = kept_leaderboard(public, stamped, asked, filters.wanted())
        form = ExportForm(request.GET, table.columns)
        if not form.is_valid():
            return _refused(form)
        refuse_unknown(request, {*CHOICES, *filters.fields, *form.fields})
        if unknown := unknown_choices(table, stamped.windows, asked):
            return _errors(unknown)
        shown = embedded_table(table, form.export())
        return render(request, "scoring/leaderboard/embed.html", shown)

    response = conditional(request, stamped.etag(public, dict(request.GET.lists())), page)
    response["Content-Security-Policy"] = _EMBED_POLICY
    patch_cache_control(response, public=True, max_age=_SHARED_SECONDS)
    return response


# For pictures opened on their own: allow inline styles and nothing else.
_PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
RETRY_AFTER, DRAWN_AFTER = "10", "3"
_FAILED = "The chart could not be drawn. Try again in a moment."


def known_form(form: str) -> Form:
    """Return the file format. Raises Http404 if charts do not have it."""
    for known in FORMS:
        if known == form:
            return known
    raise Http404("Charts are available as SVG, PNG, PDF, CSV and Vega-Lite.")


def asked_size(request: HttpRequest) -> str:
    """Return the requested size. Raises Http404 if charts do not have it."""
    size = request.GET.get("size", "")
    if size not in ROOMS:
        raise Http404("The size must be empty or narrow.")
    return size


def chart_response(
    chart: BoardChart,
    form: Form,
    size: str,
    name: str,
    picture: Callable[[BoardChart, Form, str], bytes],
) -> HttpResponse:
    """Return the chart as a file of this name: 503 if `picture` raises DrawingError, 404 if the
    chart has too little to draw for this format."""
    if form == "csv":
        response = HttpResponse(chart_csv(chart), content_type="text/csv; charset=utf-8")
    elif chart.shape is None:
        raise Http404(chart.too_little)
    elif form == "vl":
        response = HttpResponse(chart_vega_lite(chart.shape, size), content_type=MEDIA_TYPES[form])
    else:
        try:
            response = HttpResponse(picture(chart, form, size), content_type=MEDIA_TYPES[form])
        except DrawingError as error:
            return _not_drawn(error)
        response["Content-Security-Policy"] = _PICTURE_POLICY
    disposition = content_disposition_header(form != "svg", f"{name}.{suffix(form)}")
    assert disposition is not None
    response["Content-Disposition"] = disposition
    return response


def _not_drawn(error: DrawingError) -> HttpResponse:
    """A browser that opens the file requests it again by itself, without a script."""
    if isinstance(error, BeingDrawnError):
        text = "The chart is being drawn. It will be here in a few seconds."
        headers = {"Retry-After": DRAWN_AFTER, "Refresh": DRAWN_AFTER}
    else:
        text, headers = _FAILED, {"Retry-After": RETRY_AFTER}
    headers["Cache-Control"] = "no-store"
    return HttpResponse(text, status=503, content_type="text/plain", headers=headers)


_YEAR = 365 * 24 * 60 * 60


@require_safe
def charts(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the charts of a board, and the pictures that are drawn."""
    requested = _requested(request, stamped_board(request.user, slug))
    shown, state = None, ""
    try:
        shown = requested.charts(or_wait=True)
        state = "" if requested.are_drawn(shown) else "waiting"
    except BeingDrawnError:
        state = "waiting"
    except DrawingError:
        state = "failed"
    context = {
        "board": requested.stamped.board,
        "page": shown,
        "state": state,
        "pictures": pictures(shown.charts) if shown else [],
        "library": library_version(),
        "live_style": live_style(),
    }
    response = render(request, "scoring/leaderboard/charts.html", context)
    # The script of the page asks for it.
    response["Chart-State"] = state or "drawn"
    return response


@require_safe
def chart_file(request: HttpRequest, slug: str, chart: str, form: str) -> HttpResponseBase:
    """Return a chart as a file; 404 for a picture of a chart with too little to draw."""
    known = known_form(form)
    refuse_unknown(request, OF_CHARTS)
    stamped = stamped_board(request.user, slug)
    asked = [request.path, *(request.GET.get(name, "") for name in OF_CHARTS)]

    def file() -> HttpResponse:
        size, query = asked_size(request), request.GET.dict()
        return _file(_requested(request, stamped), chart, known, size, query)

    response = conditional(request, stamped.etag(request.user, {"asked": asked}), file)
    patch_vary_headers(response, ["Cookie"])
    patch_cache_control(response, private=True, no_cache=True)
    return response


def _file(
    requested: ChartRequest, key: str, form: Form, size: str, asked: Mapping[str, str]
) -> HttpResponse:
    try:
        shown = requested.charts(or_wait=True)
    except DrawingError as error:
        return _not_drawn(error)
    if unknown := shown.unknown_choices(asked):
        return _errors(unknown)
    chart = shown.chart(key)
    return chart_response(chart, form, size, file_name(shown, chart), requested.picture)


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


def _requested(request: HttpRequest, stamped: StampedBoard) -> ChartRequest:
    return ChartRequest.of(request.user, stamped, request.GET.dict())
