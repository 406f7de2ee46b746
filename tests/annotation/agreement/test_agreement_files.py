"""Agreement as CSV, LaTeX and SVG, by browser and API."""

import csv
import io
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from annotation.agreement.files import agreement_latex
from annotation.agreement.selectors import campaign_agreement
from annotation.agreement.shapes import Trend, shade, trend_chart
from annotation.models import Campaign
from annotation.templatetags.annotation_figures import heat, reading
from portal.accounts.models import User
from tests.conftest import make_user
from tests.fixture_types import ApiOf, ClientOf
from tests.latex import complaints
from tests.worlds import shared

from .agreement_campaign import labelled_campaign

pytestmark = pytest.mark.django_db

EXPORT = "/campaigns/spring-round/agreement/export/"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
@shared
def four(ann: User, ben: User, cleo: User, lead: User) -> Campaign:
    people = [ann, ben, cleo, make_user("Dora")]
    return labelled_campaign(people, lead=lead, documents=6, days=5)


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_csv_holds_every_figure(disputed: Campaign, lead: User, client_of: ClientOf) -> None:
    response = client_of(lead).get(EXPORT)
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert response["Content-Disposition"] == 'attachment; filename="agreement-spring-round.csv"'
    rows = rows_of(response.content.decode())
    assert {(row["scope"], row["measure"], row["level"]) for row in rows} == {
        *((scope, "fleiss", level) for scope in PARTS for level in ("entity", "token")),
        *((scope, "alpha", level) for scope in PARTS for level in ("entity", "token")),
        *((scope, f1, "span") for scope in [*PARTS, *PEOPLE] for f1 in ("f1_exact", "f1_overlap")),
        *(("pair", "cohen", level) for level in ("entity", "token")),
        ("pair", "cohen_detection", "token"),
        ("pair", "cohen_labelling", "entity"),
        *(("annotator", "mean_cohen", level) for level in ("entity", "token")),
        *((scope, "alpha", "token") for scope in ("detection", "labelling")),
        ("detection", "fleiss", "token"),
        ("labelling", "alpha", "entity"),
        *(("confusion", "pairs", level) for level in ("entity", "token")),
    }
    (pair,) = [row for row in rows if (row["scope"], row["measure"]) == ("pair", "cohen")][:1]
    expected = campaign_agreement(disputed).levels[0].matrix[0].cells[1]
    assert expected is not None
    assert expected.value is not None
    assert float(pair["value"]) == round(expected.value, 6)
    assert (pair["subject"], pair["other"], pair["n"], pair["low_95"]) == ("Ann", "Ben", "5", "")


PARTS = ("overall", "label", "document_type", "batch", "document")
PEOPLE = ("pair", "annotator", "detection")


def test_csv_defuses_names_a_spreadsheet_would_run(
    disputed: Campaign, ann: User, lead: User, client_of: ClientOf
) -> None:
    ann.name = "=HYPERLINK(1)"
    ann.save()
    text = client_of(lead).get(EXPORT).content.decode()
    assert "'=HYPERLINK(1)" in text
    assert ",=HYPERLINK" not in text


def test_latex_has_the_layout_of_published_tables(
    four: Campaign, lead: User, client_of: ClientOf
) -> None:
    response = client_of(lead).get(f"{EXPORT}?form=latex")
    assert response["Content-Disposition"] == 'attachment; filename="agreement-spring-round.tex"'
    lines = response.content.decode().split("\n")
    level = campaign_agreement(four).levels[0]
    cells = [f"${cell.value:.4f}$" if cell else "---" for cell in level.matrix[1].cells]
    assert lines[2:10] == [
        r"\begin{table}",
        r"\centering",
        r"\small",
        r"\setlength{\tabcolsep}{3pt}",
        r"\begin{tabular}{@{}>{\raggedright\arraybackslash}p{82pt}rrrr@{}}",
        r"\toprule",
        r"Annotator & 1 & 2 & 3 & 4 \\",
        r"\midrule",
    ]
    assert lines[11] == f"2 & {' & '.join(cells)} " + r"\\"
    value = level.overall.fleiss[0].figure.value
    assert lines[15].startswith(
        rf"Overall (Fleiss' $\kappa$) & \multicolumn{{4}}{{c}}{{${value:.4f}$"
    )
    assert lines.count(r"\begin{table}") == lines.count(r"\end{table}") == 3
    # Print shows numbers instead of the annotators' names.
    assert not any(name in response.content.decode() for name in ("Ann ", "Ben", "Cleo", "Dora"))


@pytest.mark.tex
def test_latex_fits_the_page(four: Campaign, tmp_path: Path) -> None:
    agreement = campaign_agreement(four)
    # A dozen annotators, and labels of maximum length.
    level = agreement.levels[0]
    cell = level.matrix[1].cells[0]
    row = replace(level.matrix[0], cells=(cell,) * 12)
    matrix = tuple(replace(row, number=number) for number in range(1, 13))
    labels = [replace(part, name="MonetaryUnit" * 5) for part in agreement.labels]
    agreement = replace(agreement, levels=(replace(level, matrix=matrix),), labels=tuple(labels))
    assert complaints(agreement_latex(agreement, "Title" * 30), tmp_path) == []


def test_latex_escapes_what_is_not_ours(four: Campaign) -> None:
    text = agreement_latex(campaign_agreement(four), "A\n\\input{secrets}")
    assert text.startswith(r"% Agreement in A \textbackslash{}input\{secrets\};")


@pytest.mark.parametrize("level", ["entity", "token"])
def test_heat_map_holds_the_matrix(
    four: Campaign, ann: User, lead: User, client_of: ClientOf, level: str
) -> None:
    ann.name = "Ann <script>alert(1)</script>"
    ann.save()
    response = client_of(lead).get(f"{EXPORT}?form=matrix&level={level}")
    assert response["Content-Type"] == "image/svg+xml; charset=utf-8"
    root = ElementTree.fromstring(response.content)
    texts = [element.text or "" for element in root.iter(f"{SVG}text")]
    (found,) = [item for item in campaign_agreement(four).levels if item.level == level]
    for row in found.matrix:
        for cell in row.cells:
            assert (f"{cell.value:.4f}" if cell else "—") in texts
    assert not list(root.iter(f"{SVG}script"))
    assert texts.count("—") == 4


def test_trend_draws_every_point(four: Campaign, lead: User, client_of: ClientOf) -> None:
    root = ElementTree.fromstring(client_of(lead).get(f"{EXPORT}?form=trend").content)
    points = campaign_agreement(four).trend.points
    assert len(list(root.iter(f"{SVG}circle"))) == len(points) > 2
    titles = [title.text or "" for title in root.iter(f"{SVG}title")]
    assert any(f"{points[0].part.entity.alpha.value:.4f}" in title for title in titles)


def test_trend_leaves_a_gap_where_a_figure_is_undefined(four: Campaign) -> None:
    agreement = campaign_agreement(four)
    points = list(agreement.trend.points)
    part = points[1].part
    undefined = replace(part.entity, alpha=replace(part.entity.alpha, value=None, low=None))
    points[1] = replace(points[1], part=replace(part, entity=undefined))
    chart = trend_chart(replace(agreement, trend=Trend("week", tuple(points))))
    assert len(chart.lines[0].marks) == len(points) - 1
    # The first point is isolated, the others are one line.
    assert [path.count(",") for path in chart.lines[0].paths] == [len(points) - 2]
    assert all(20 <= mark.y <= chart.bottom for line in chart.lines for mark in line.marks)


def test_trend_reaches_below_chance(four: Campaign) -> None:
    agreement = campaign_agreement(four)
    points = list(agreement.trend.points)
    part = points[0].part
    worse = replace(part.entity, alpha=replace(part.entity.alpha, value=-0.3, low=-0.35))
    points[0] = replace(points[0], part=replace(part, entity=worse))
    chart = trend_chart(replace(agreement, trend=Trend("week", tuple(points))))
    assert next(value for _, value in chart.rules) == "-0.4"
    assert [value for _, value in chart.rules][-1] == "1.0"
    assert chart.lines[0].marks[0].y < chart.bottom


def test_charts_need_figures(
    campaign: Campaign, lead: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    for form in ("matrix", "trend"):
        assert client_of(lead).get(f"{EXPORT}?form={form}").status_code == 404
        assert api_of(lead).get(f"/api/v1{EXPORT}?form={form}").status_code == 404
    for form in ("csv", "latex"):
        assert client_of(lead).get(f"{EXPORT}?form={form}").status_code == 200


def test_unknown_form_is_told(
    campaign: Campaign, lead: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    assert client_of(lead).get(f"{EXPORT}?form=pdf").status_code == 404
    assert client_of(lead).get(f"{EXPORT}?level=page").status_code == 404
    response = api_of(lead).get(f"/api/v1{EXPORT}?form=pdf")
    assert response.status_code == 400
    assert "pdf" in str(response.json()["form"])


@pytest.mark.parametrize("query", ["", "?form=latex", "?form=matrix&level=token", "?form=trend"])
def test_api_gives_the_same_files(
    four: Campaign, lead: User, client_of: ClientOf, api_of: ApiOf, query: str
) -> None:
    page = client_of(lead).get(f"{EXPORT}{query}")
    answer = api_of(lead).get(f"/api/v1{EXPORT}{query}")
    assert answer.content == page.content
    for header in ("Content-Type", "Content-Disposition", "Cache-Control"):
        assert answer[header] == page[header]


def test_words_and_shades_of_kappa() -> None:
    words = [reading(value) for value in (None, -0.1, 0.2, 0.21, 0.5, 0.8, 0.81, 1.0)]
    assert words == [
        *("", "poor", "slight", "fair", "moderate", "substantial"),
        *("almost perfect", "almost perfect"),
    ]
    assert [shade(value) for value in (None, -0.5, 0.5, 1.0)] == [None, 0.0, 0.25, 1.0]
    assert [heat(value) for value in (None, 0.0, 0.9, 1.0)] == ["", "heat-0", "heat-4", "heat-5"]
