"""Agreement as flat rows, for CSV."""

from collections.abc import Iterator

from .agreement_shapes import (
    LEVELS,
    Agreement,
    Figure,
    Level,
    LevelAgreement,
    Part,
    Reliability,
    SpanFigures,
)

COLUMNS = (
    "level",
    "scope",
    "subject",
    "other",
    "measure",
    "annotators_per_document",
    "value",
    "low_95",
    "high_95",
    "observed_agreement",
    "n",
    "documents",
)

Cell = str | int | float


def agreement_rows(agreement: Agreement) -> Iterator[list[Cell]]:
    """One row per figure under COLUMNS; what is undefined is an empty cell, never 0.

    The level of figures on spans is `span`; rows of scope `confusion` count pairs of answers.
    """
    if agreement.overall is None:
        return
    yield from _part("overall", agreement.overall)
    yield from _people(agreement)
    yield from _apart(agreement)
    for scope, parts in (
        ("label", agreement.labels),
        ("document_type", agreement.doc_types),
        (agreement.trend.by, [point.part for point in agreement.trend.points]),
        ("document", agreement.documents),
    ):
        for part in parts:
            yield from _part(scope, part)
    for level in agreement.levels:
        yield from _confusions(level)


def _people(agreement: Agreement) -> Iterator[list[Cell]]:
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


def _apart(agreement: Agreement) -> Iterator[list[Cell]]:
    if agreement.detection:
        yield from _reliability("token", "detection", "", agreement.detection.token)
        yield from _spans("detection", "", "", agreement.detection.spans)
    if agreement.labelling:
        for level in LEVELS:
            figure = getattr(agreement.labelling, level)
            yield _row(level, "labelling", "", "", "alpha", "", figure)


def _part(scope: str, part: Part) -> Iterator[list[Cell]]:
    for level in LEVELS:
        yield from _reliability(level, scope, part.name, getattr(part, level))
    yield from _spans(scope, part.name, "", part.spans)


def _reliability(
    level: Level, scope: str, subject: str, reliability: Reliability
) -> Iterator[list[Cell]]:
    for overall in reliability.fleiss:
        yield _row(level, scope, subject, "", "fleiss", overall.annotators, overall.figure)
    yield _row(level, scope, subject, "", "alpha", "", reliability.alpha)


def _spans(scope: str, subject: str, other: str, spans: SpanFigures) -> Iterator[list[Cell]]:
    yield _row("span", scope, subject, other, "f1_exact", "", spans.exact)
    yield _row("span", scope, subject, other, "f1_overlap", "", spans.overlap)


def _confusions(level: LevelAgreement) -> Iterator[list[Cell]]:
    answers = level.confusion.answers
    for place, answer in enumerate(answers):
        for other in range(place, len(answers)):
            count = level.confusion.rows[place][other]
            start = [level.level, "confusion", answer, answers[other], "pairs"]
            yield [*start, 2, count, "", "", "", "", ""]


def _row(
    level: str, scope: str, subject: str, other: str, measure: str, size: Cell, figure: Figure
) -> list[Cell]:
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
