"""Agreement as files: CSV, LaTeX tables, and charts as SVG."""

from collections.abc import Iterator, Sequence
from typing import Literal, get_args

from django.template.loader import render_to_string

from annotation.models import Campaign
from portal.datasets.responses import TextFile
from portal.files.tables import (
    PACKAGES,
    Cell,
    Head,
    Heading,
    Line,
    Overall,
    Row,
    Table,
    csv_text,
    escaped,
)

from .shapes import (
    LEVELS,
    Agreement,
    Figure,
    Level,
    LevelAgreement,
    Part,
    Reliability,
    SpanFigures,
    heat_map,
    trend_chart,
)

COLUMNS = (
    "level", "scope", "subject", "other", "measure", "annotators_per_document", "value",
    "low_95", "high_95", "observed_agreement", "n", "documents",
)  # fmt: skip

RowCell = str | int | float


def agreement_rows(agreement: Agreement) -> Iterator[list[RowCell]]:
    """One row per figure under COLUMNS. Undefined figures are empty cells.

    The level of figures on spans is `span`. Rows of scope `confusion` count pairs of answers.
    """
    if agreement.overall is None:
        return
    yield from _part_rows("overall", agreement.overall)
    yield from _people(agreement)
    yield from _apart(agreement)
    for scope, parts in (
        ("label", agreement.labels),
        ("document_type", agreement.doc_types),
        (agreement.trend.by, [point.part for point in agreement.trend.points]),
        ("document", agreement.documents),
    ):
        for part in parts:
            yield from _part_rows(scope, part)
    for level in agreement.levels:
        yield from _confusions(level)


def _people(agreement: Agreement) -> Iterator[list[RowCell]]:
    names = agreement.annotators
    for pair in agreement.pairs:
        who = (names[pair.first - 1], names[pair.second - 1])
        yield _row("entity", "pair", *who, "cohen", 2, pair.entity)
        yield _row("token", "pair", *who, "cohen", 2, pair.token)
        yield _row("token", "pair", *who, "cohen_detection", 2, pair.detection)
        yield _row("entity", "pair", *who, "cohen_labelling", 2, pair.labelling)
        yield from _spans("pair", *who, pair.spans)
    for person in agreement.people:
        yield _row("entity", "annotator", person.name, "", "mean_cohen", "", person.entity)
        yield _row("token", "annotator", person.name, "", "mean_cohen", "", person.token)
        yield from _spans("annotator", person.name, "", person.spans)


def _apart(agreement: Agreement) -> Iterator[list[RowCell]]:
    if agreement.detection:
        yield from _reliability("token", "detection", "", agreement.detection.token)
        yield from _spans("detection", "", "", agreement.detection.spans)
    if agreement.labelling:
        for level in LEVELS:
            figure = getattr(agreement.labelling, level)
            yield _row(level, "labelling", "", "", "alpha", "", figure)


def _part_rows(scope: str, part: Part) -> Iterator[list[RowCell]]:
    for level in LEVELS:
        yield from _reliability(level, scope, part.name, getattr(part, level))
    yield from _spans(scope, part.name, "", part.spans)


def _reliability(
    level: Level, scope: str, subject: str, reliability: Reliability
) -> Iterator[list[RowCell]]:
    for overall in reliability.fleiss:
        yield _row(level, scope, subject, "", "fleiss", overall.annotators, overall.figure)
    yield _row(level, scope, subject, "", "alpha", "", reliability.alpha)


def _spans(scope: str, subject: str, other: str, spans: SpanFigures) -> Iterator[list[RowCell]]:
    yield _row("span", scope, subject, other, "f1_exact", "", spans.exact)
    yield _row("span", scope, subject, other, "f1_overlap", "", spans.overlap)


def _confusions(level: LevelAgreement) -> Iterator[list[RowCell]]:
    answers = level.confusion.answers
    for place, answer in enumerate(answers):
        for other in range(place, len(answers)):
            count = level.confusion.rows[place][other]
            start = [level.level, "confusion", answer, answers[other], "pairs"]
            yield [*start, 2, count, "", "", "", "", ""]


def _row(
    level: str, scope: str, subject: str, other: str, measure: str, size: RowCell, figure: Figure
) -> list[RowCell]:
    numbers = (figure.value, figure.low, figure.high, figure.observed)
    return [
        level,
        scope,
        subject,
        other,
        measure,
        size,
        *("" if number is None else number for number in numbers),
        figure.n,
        figure.documents,
    ]


_EMPTY = Cell("---", "---")
_ALPHA, _SPANS = "Krippendorff's alpha", "Span F1"
_PART_HEADS = (
    Head("Documents"),
    Head("Entities", group=_ALPHA),
    Head("Tokens", group=_ALPHA),
    Head("Exact", group=_SPANS),
    Head("Overlap", group=_SPANS),
)


def agreement_latex(agreement: Agreement, title: str) -> str:
    """The κ matrix of each level with the overall κ, and the figures of every part."""
    lines = [f"% Agreement in {escaped(title)}; needs {PACKAGES}."]
    for level in agreement.levels:
        lines += ["", *_matrix(level)]
    if agreement.overall:
        lines += ["", *_parts(agreement)]
    return "\n".join(lines) + "\n"


def _matrix(level: LevelAgreement) -> Iterator[str]:
    heads = [Head(str(row.number)) for row in level.matrix]
    lines: list[Line] = [
        Row(str(row.number), (), tuple(_cell(cell) if cell else _EMPTY for cell in row.cells))
        for row in level.matrix
    ]
    lines.append(Heading())
    several = len(level.overall.fleiss) > 1
    for overall in level.overall.fleiss:
        each = f", {overall.annotators} per document" if several else ""
        name = rf"Overall (Fleiss' $\kappa${each})"
        lines.append(Overall(name, _with_interval(overall.figure)))
    alpha = level.overall.alpha
    caption = (
        rf"Pairwise Cohen's $\kappa$ of annotators and overall Fleiss' $\kappa$, {level.level} "
        rf"level ($n = {alpha.n}$ items in {alpha.documents} documents; Krippendorff's $\alpha$: "
        rf"{_with_interval(alpha)}; 95\,\% bootstrap intervals over documents)."
    )
    table = Table(("Annotator",), heads, lines)
    yield from table.lines_of_latex(caption, f"agreement-{level.level}")


def _parts(agreement: Agreement) -> Iterator[str]:
    lines: list[Line] = []
    groups: list[Sequence[Part]] = [agreement.labels, agreement.doc_types]
    for parts in groups:
        lines += [_part_row(part.name, part) for part in parts]
        lines.append(Heading())
    if agreement.overall:
        lines.append(_part_row("All", agreement.overall))
    caption = (
        r"Krippendorff's $\alpha$ and span $F_1$ between annotators by label (against the rest) "
        r"and by document type, with 95\,\% bootstrap intervals over documents below."
    )
    table = Table(("Part",), _PART_HEADS, lines)
    yield from table.lines_of_latex(caption, "agreement-parts")


def _part_row(name: str, part: Part) -> Row:
    figures = (part.entity.alpha, part.token.alpha, part.spans.exact, part.spans.overlap)
    documents = Cell(str(part.documents), str(part.documents))
    return Row(name, (), (documents, *(_cell(figure, has_interval=True) for figure in figures)))


def _cell(figure: Figure, *, has_interval: bool = False) -> Cell:
    under = _ends(figure) if has_interval else ""
    return Cell(_value(figure), _value(figure), under)


def _ends(figure: Figure) -> str:
    if figure.low is None or figure.high is None:
        return ""
    return f"[${figure.low:.2f}$, ${figure.high:.2f}$]"


def _value(figure: Figure) -> str:
    return "n/a" if figure.value is None else f"${figure.value:.4f}$"


def _with_interval(figure: Figure) -> str:
    return f"{_value(figure)} {_ends(figure)}".rstrip()


Form = Literal["csv", "latex", "matrix", "trend"]
FORMS: tuple[Form, ...] = get_args(Form)

SVG = "image/svg+xml"


class NothingToShow(Exception):
    """No document counts yet, so a chart cannot be drawn."""


def agreement_file(
    campaign: Campaign, agreement: Agreement, form: Form, level: Level = "entity"
) -> TextFile:
    """`level` applies to the matrix. Raises NothingToShow for a chart without figures."""
    stem = f"agreement-{campaign.slug}"
    if form == "csv":
        return TextFile(f"{stem}.csv", "text/csv", csv_text([COLUMNS, *agreement_rows(agreement)]))
    if form == "latex":
        text = agreement_latex(agreement, campaign.title)
        return TextFile(f"{stem}.tex", "application/x-tex", text)
    if agreement.overall is None:
        raise NothingToShow
    if form == "matrix":
        chart = render_to_string(
            "annotation/agreement/matrix.svg", {"chart": heat_map(agreement, level)}
        )
        return TextFile(f"{stem}-{level}-matrix.svg", SVG, chart)
    chart = render_to_string("charts/lines.svg", {"chart": trend_chart(agreement)})
    return TextFile(f"{stem}-trend.svg", SVG, chart)
