"""What the page on agreement shows, and the API answers. No numbers are computed here."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

Level = Literal["entity", "token"]
LEVELS: tuple[Level, ...] = ("entity", "token")

# What an annotator says of an item by leaving it alone: a class like any label.
NOT_MARKED = "not marked"


@dataclass(frozen=True)
class Figure:
    """A figure with its 95 % interval and what it was computed from.

    `value` is None where it is undefined, `low` and `high` there and for a single document.
    `observed` is the share of pairs of answers that are alike, None for figures other than κ and α.
    `n` counts items; for a span F1 the spans that both marked together.
    """

    value: float | None
    low: float | None
    high: float | None
    observed: float | None
    n: int
    documents: int


@dataclass(frozen=True)
class Overall:
    """Fleiss' κ over the documents that `annotators` people labelled each."""

    annotators: int
    figure: Figure


@dataclass(frozen=True)
class Reliability:
    """Fleiss' κ for each number of annotators per document, and Krippendorff's α over all."""

    fleiss: tuple[Overall, ...]
    alpha: Figure


@dataclass(frozen=True)
class SpanFigures:
    """F1 of the spans of every two annotators, all pairs together."""

    exact: Figure
    overlap: Figure


@dataclass(frozen=True)
class Part:
    """Agreement in a part of the work: all of it, a label, a document type, a document, a time."""

    name: str
    documents: int
    entity: Reliability
    token: Reliability
    spans: SpanFigures


@dataclass(frozen=True)
class Detection:
    """Whether a place is marked at all, whatever the label: α and κ of tokens, F1 of spans."""

    token: Reliability
    spans: SpanFigures


@dataclass(frozen=True)
class Labelling:
    """Krippendorff's α of the labels alone, over what two annotators or more marked."""

    entity: Figure
    token: Figure


@dataclass(frozen=True)
class MatrixRow:
    """One annotator against the others; None on the diagonal and for pairs that never met."""

    number: int
    name: str
    cells: tuple[Figure | None, ...]


@dataclass(frozen=True)
class Confusion:
    """How often one of two annotators gave the one answer and the other gave the other.

    `rows` has the answers in the same order; it is symmetric, since no annotator comes first, and
    the diagonal counts pairs of annotators who agree.
    """

    answers: tuple[str, ...]
    rows: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class LevelAgreement:
    """Pairwise Cohen's κ as a matrix, the overall figures beneath it, and what is confused."""

    level: Level
    matrix: tuple[MatrixRow, ...]
    overall: Reliability
    confusion: Confusion


@dataclass(frozen=True)
class PairAgreement:
    """Two annotators, by their numbers. All κ are Cohen's.

    `detection` is that of tokens marked or not, `labelling` that of the labels of spans both
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
    """One annotator with all others: the mean of Cohen's κ, and span F1 over all their pairs."""

    number: int
    name: str
    documents: int
    entity: Figure
    token: Figure
    spans: SpanFigures


@dataclass(frozen=True)
class TrendPoint:
    """Documents that were completed, by their last first submission, from one day to another."""

    first: date
    last: date
    part: Part


@dataclass(frozen=True)
class Trend:
    """`by` is `week` or, where too few weeks have documents, `batch`: as many documents each."""

    by: Literal["week", "batch"]
    points: tuple[TrendPoint, ...]


@dataclass(frozen=True)
class Answer:
    """How often annotators gave this answer; `answer` is a label or NOT_MARKED."""

    answer: str
    count: int


@dataclass(frozen=True)
class ConfusedText:
    """A text that annotators answered differently in `disputed` of the `items` where it stands.

    `answers` are those given where it was disputed; `document`, `start` and `end` are the first of
    these places.
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
    """Agreement over the documents that at least two people labelled and everybody has submitted.

    `waiting` documents are not submitted by everybody, `single` ones were labelled by one person;
    neither counts. `documents` stand with the least agreement first, `texts` with the most
    disputed.
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
