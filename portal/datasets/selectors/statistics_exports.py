"""The statistics of a dataset as files: figures as CSV, the table as LaTeX, charts as SVG."""

from typing import Literal, get_args

from django.template.loader import render_to_string

from portal.datasets.curation.statistics_files import statistics_csv, statistics_latex
from portal.datasets.file_responses import TextFile

from .statistics import StatisticsPage
from .statistics_charts import statistics_charts

Form = Literal["csv", "latex", "facts", "types", "years"]
FORMS: tuple[Form, ...] = get_args(Form)

SVG = "image/svg+xml"


class NothingToDrawError(Exception):
    """A chart of figures that are not there, or not told."""


def statistics_file(page: StatisticsPage, form: Form) -> TextFile:
    """Raises NothingToDrawError for a chart without figures."""
    version = f"-{page.release.version}" if page.release else ""
    stem = f"statistics-{page.dataset.slug}{version}"
    title = f"{page.dataset.title} {page.release.version}" if page.release else page.dataset.title
    if form == "csv":
        return TextFile(f"{stem}.csv", "text/csv", statistics_csv(page.statistics))
    if form == "latex":
        text = statistics_latex(page.statistics, title)
        return TextFile(f"{stem}.tex", "application/x-tex", text)
    for chart in statistics_charts(page.statistics, title):
        if chart.key == form:
            drawn = render_to_string("charts/bars.svg", {"chart": chart})
            return TextFile(f"{stem}-{form}.svg", SVG, drawn)
    raise NothingToDrawError(form)
