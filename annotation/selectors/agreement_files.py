"""Agreement as a file: all figures as CSV, tables as LaTeX, charts as SVG."""

from dataclasses import dataclass
from typing import Literal, get_args

from django.template.loader import render_to_string

from annotation.models import Campaign
from portal.files.tables import csv_text

from .agreement_charts import heat_map, trend_chart
from .agreement_latex import agreement_latex
from .agreement_rows import COLUMNS, agreement_rows
from .agreement_shapes import Agreement, Level

Form = Literal["csv", "latex", "matrix", "trend"]
FORMS: tuple[Form, ...] = get_args(Form)

SVG = "image/svg+xml"


class NothingToShow(Exception):
    """No document counts yet, so that there is nothing to draw."""


@dataclass(frozen=True)
class AgreementFile:
    name: str
    media_type: str
    content: str


def agreement_file(
    campaign: Campaign, agreement: Agreement, form: Form, level: Level = "entity"
) -> AgreementFile:
    """`level` is that of the matrix. Raises NothingToShow for charts without figures."""
    stem = f"agreement-{campaign.slug}"
    if form == "csv":
        return AgreementFile(
            f"{stem}.csv", "text/csv", csv_text([COLUMNS, *agreement_rows(agreement)])
        )
    if form == "latex":
        text = agreement_latex(agreement, campaign.title)
        return AgreementFile(f"{stem}.tex", "application/x-tex", text)
    if agreement.overall is None:
        raise NothingToShow
    if form == "matrix":
        chart = render_to_string(
            "annotation/charts/matrix.svg", {"chart": heat_map(agreement, level)}
        )
        return AgreementFile(f"{stem}-{level}-matrix.svg", SVG, chart)
    chart = render_to_string("charts/lines.svg", {"chart": trend_chart(agreement)})
    return AgreementFile(f"{stem}-trend.svg", SVG, chart)
