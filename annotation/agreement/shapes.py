"""The data of the agreement page and API, and the layout of its charts in SVG units."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, NamedTuple

from portal.web.charts import Line, LineChart, Point, Style, line_chart

Level = Literal["entity", "token"]
LEVELS: tuple[Level, ...] = ("entity", "token")

# The answer of an annotator who did not mark an item. It counts like a label.
NOT_MARKED = "no label"


@dataclass(frozen=True)
class Figure:
    """A figure with its 95% interval and sample size.

    `value` is None if it is undefined; `low` and `high` also for a single document. `observed` is
    the share of equal pairs of answers, None unless the figure is κ or α. `n` counts items; for
    span F1, the spans of both annotators.
    """

    value: float | None
    low: float | None
    high: float | None
    observed: float | None
    n: int
    documents: int


@dataclass(frozen=True)
class Overall:
    """Fleiss' κ over the documents with `annotators` annotators each."""

    annotators: int
    figure: Figure


@dataclass(frozen=True)
class Reliability:
    """Fleiss' κ for each number of annotators per document, and Krippendorff's α over all."""

    fleiss: tuple[Overall, ...]
    alpha: Figure


@dataclass(frozen=True)
class SpanFigures:
    """F1 of spans, pooled over all pairs of annotators.

    `exact` counts spans with the same offsets and label, `overlap` overlapping ones with the same
    label.
    """

    exact: Figure
    overlap: Figure


@dataclass(frozen=True)
class Part:
    """Agreement on a part: everything, a label, a document type, a document, or a period."""

    name: str
    documents: int
    entity: Reliability
    token: Reliability
    spans: SpanFigures


@dataclass(frozen=True)
class Detection:
    """Agreement on whether a place is marked, regardless of the label."""

    token: Reliability
    spans: SpanFigures


@dataclass(frozen=True)
class Labelling:
    """Krippendorff's α of the labels, over spans that two or more annotators marked."""

    entity: Figure
    token: Figure


@dataclass(frozen=True)
class MatrixRow:
    """One annotator against the others; None on the diagonal and for pairs without a document."""

    number: int
    name: str
    cells: tuple[Figure | None, ...]


@dataclass(frozen=True)
class Confusion:
    """Counts of pairs of annotators by their two answers.

    `rows` has the answers in the same order and is symmetric. Its diagonal counts pairs that agree.
    """

    answers: tuple[str, ...]
    rows: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class LevelAgreement:
    """Pairwise Cohen's κ as a matrix, the overall figures, and the confusion of labels."""

    level: Level
    matrix: tuple[MatrixRow, ...]
    overall: Reliability
    confusion: Confusion


@dataclass(frozen=True)
class PairAgreement:
    """Cohen's κ and span F1 of two annotators, by their numbers from 1.

    `detection` is κ of whether a token is marked, `labelling` κ of the labels of spans that both
    marked.
    """

    first: int
    second: int
    documents: int
    entity: Figure
    token: Figure
    detection: Figure
    labelling: Figure
    spans: SpanFigures


@dataclass(frozen=True)
class AnnotatorAgreement:
    """One annotator with all others: the mean of Cohen's κ, and span F1 over all pairs."""

    number: int
    name: str
    documents: int
    entity: Figure
    token: Figure
    spans: SpanFigures


@dataclass(frozen=True)
class TrendPoint:
    """Documents whose last first submission was made between two days."""

    first: date
    last: date
    part: Part


@dataclass(frozen=True)
class Trend:
    """`by` is `week` or, if too few weeks have documents, `batch`: groups of equal size."""

    by: Literal["week", "batch"]
    points: tuple[TrendPoint, ...]


@dataclass(frozen=True)
class Answer:
    """The count of an answer, which is a label or NOT_MARKED."""

    answer: str
    count: int


@dataclass(frozen=True)
class ConfusedText:
    """A text on whose label annotators differ in `disputed` of its `items` occurrences.

    `answers` are those at the disputed places; `document`, `start` and `end` are the first of them.
    """

    text: str
    items: int
    disputed: int
    answers: tuple[Answer, ...]
    document: str
    start: int
    end: int


@dataclass(frozen=True)
class Agreement:
    """Agreement over the documents with at least two annotators who have all submitted.

    Documents with missing submissions (`waiting`) or one annotator (`single`) do not count; without
    any other, `overall` is None. `annotators` are in the order of their numbers. `labels` compares
    each label with all others. `documents` are sorted by agreement, lowest first; `texts`, at most
    50, with the most disputed first.
    """

    annotators: tuple[str, ...]
    overall: Part | None
    levels: tuple[LevelAgreement, ...]
    detection: Detection | None
    labelling: Labelling | None
    pairs: tuple[PairAgreement, ...]
    people: tuple[AnnotatorAgreement, ...]
    labels: tuple[Part, ...]
    doc_types: tuple[Part, ...]
    trend: Trend
    documents: tuple[Part, ...]
    texts: tuple[ConfusedText, ...]
    waiting: int
    single: int


@dataclass(frozen=True)
class SubmittedWork:
    """One annotator's first submission on a document that counts."""

    assignment: int
    document: int
    document_name: str
    doc_type: str
    annotator: int
    name: str
    submitted_at: datetime


_CELL_WIDTH, _CELL_HEIGHT = 92, 56
_NAMES_WIDTH = 190
_TOP = 54
_LONGEST_NAME = 20


@dataclass(frozen=True)
class HeatCell:
    """A cell of the matrix. `shade` is its darkness, 0 to 1, or None without a figure."""

    x: int
    y: int
    text: str
    detail: str
    shade: float | None

    @property
    def is_dark(self) -> bool:
        """Whether its text must be light."""
        return self.shade is not None and self.shade > 0.55


@dataclass(frozen=True)
class HeatMap:
    """Pairwise κ as a heat map, with Fleiss' κ below."""

    level: Level
    width: int
    height: int
    numbers: tuple[tuple[int, str], ...]
    names: tuple[tuple[int, str], ...]
    cells: tuple[HeatCell, ...]
    overall: tuple[tuple[int, str], ...]


def heat_map(agreement: Agreement, level: Level) -> HeatMap:
    """Raises ValueError if there are no figures."""
    found = [item for item in agreement.levels if item.level == level]
    if not found:
        raise ValueError("no document counts yet")
    matrix, overall = found[0].matrix, found[0].overall
    rows = range(len(matrix))
    beneath = _TOP + len(matrix) * _CELL_HEIGHT + 28
    lines = [
        f"Overall (Fleiss' κ, {one.annotators} per document): {_spelt(one.figure)}"
        for one in overall.fleiss
    ] + [f"Krippendorff's α: {_spelt(overall.alpha)}"]
    return HeatMap(
        level=level,
        # The lines below need this width even with few annotators.
        width=max(_NAMES_WIDTH + len(matrix) * _CELL_WIDTH + 16, 470),
        height=beneath + 22 * len(lines),
        numbers=tuple((_middle(row), str(matrix[row].number)) for row in rows),
        names=tuple(
            (_TOP + row * _CELL_HEIGHT + _CELL_HEIGHT // 2 + 5, _name(matrix[row].name, row + 1))
            for row in rows
        ),
        cells=tuple(
            _cell(cell, _NAMES_WIDTH + column * _CELL_WIDTH, _TOP + row * _CELL_HEIGHT)
            for row in rows
            for column, cell in enumerate(matrix[row].cells)
        ),
        overall=tuple((beneath + 22 * number, line) for number, line in enumerate(lines)),
    )


def shade(value: float | None) -> float | None:
    """0 for chance or worse, 1 for perfect agreement; squared to separate high values."""
    return None if value is None else round(max(0.0, min(1.0, value)) ** 2, 2)


def _cell(figure: Figure | None, x: int, y: int) -> HeatCell:
    if figure is None:
        return HeatCell(x, y, "—", "", None)
    text = "n/a" if figure.value is None else f"{figure.value:.4f}"
    return HeatCell(x, y, text, f"n = {figure.n:,}", shade(figure.value))


def _middle(column: int) -> int:
    return _NAMES_WIDTH + column * _CELL_WIDTH + _CELL_WIDTH // 2


def _name(name: str, number: int) -> str:
    short = name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
    return f"{number} {short}"


def _spelt(figure: Figure) -> str:
    if figure.value is None:
        return "n/a"
    interval = "" if figure.low is None else f" [{figure.low:.2f}, {figure.high:.2f}]"
    return f"{figure.value:.4f}{interval}, n = {figure.n:,}"


class _Measure(NamedTuple):
    style: Style
    name: str
    take: Callable[[TrendPoint], Figure]


_LINES = (
    _Measure("first", "Entity-level Krippendorff's α", lambda point: point.part.entity.alpha),
    _Measure("second", "Span F1, exact", lambda point: point.part.spans.exact),
)


def trend_chart(agreement: Agreement) -> LineChart:
    """α and span F1 over time. Raises ValueError without points."""
    points = agreement.trend.points
    is_weekly = agreement.trend.by == "week"
    axis = "week of completion" if is_weekly else "documents in order of completion"
    return line_chart(
        "trend",
        "Krippendorff's α and span F1 over time, with 95% intervals",
        [point.part.name for point in points],
        [Line(line.style, line.name, [_point(line, point) for point in points]) for line in _LINES],
        axis=axis,
        least=0.0,
    )


def _point(measure: _Measure, point: TrendPoint) -> Point:
    figure = measure.take(point)
    title = f"{point.part.name}: {measure.name} {_spelt(figure)}"
    return Point(figure.value, figure.low, figure.high, title)
