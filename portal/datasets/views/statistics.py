"""The statistics of a dataset: the page, and its figures and charts as files."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from portal.datasets.access import get_dataset
from portal.datasets.curation.statistics import fact_title
from portal.datasets.file_responses import file_response
from portal.datasets.models import Release
from portal.datasets.selectors.statistics import StatisticsPage, statistics_page
from portal.datasets.selectors.statistics_charts import statistics_charts, type_name
from portal.datasets.selectors.statistics_exports import (
    FORMS,
    Form,
    NothingToDrawError,
    statistics_file,
)
from portal.web.requests import refuse_unknown


@require_safe
def statistics(request: HttpRequest, slug: str) -> HttpResponse:
    page = _page(request, slug)
    figures = page.statistics
    context = {
        "page": page,
        "rows": [(fact_title(row.label), row) for row in figures.rows],
        "types": [(type_name(row.doc_type), row) for row in figures.types],
        "charts": {chart.key: chart for chart in statistics_charts(figures, page.dataset.title)},
    }
    return render(request, "datasets/statistics.html", context)


@require_safe
def statistics_export(request: HttpRequest, slug: str) -> HttpResponse:
    """Figures, the table or a chart as a file; `form` chooses which."""
    refuse_unknown(request, {"form", "release"})
    page = _page(request, slug)
    try:
        return file_response(statistics_file(page, _form(request.GET.get("form", FORMS[0]))))
    except NothingToDrawError as error:
        raise Http404("There is nothing to draw.") from error


def _page(request: HttpRequest, slug: str) -> StatisticsPage:
    dataset = get_dataset(request.user, slug)
    try:
        return statistics_page(request.user, dataset, request.GET.get("release", ""))
    except Release.DoesNotExist as error:
        raise Http404("There is no such release.") from error


def _form(wanted: str) -> Form:
    for form in FORMS:
        if form == wanted:
            return form
    raise Http404(f"There is no form of this name; there are {', '.join(FORMS)}.")
