"""Agreement as flat rows, for CSV."""

from collections.abc import Iterator

from .agreement import Agreement, Figure, LevelAgreement

COLUMNS = (
    "level",
    "scope",
    "subject",
    "other",
    "measure",
    "annotators_per_document",
    "kappa",
    "observed_agreement",
    "items",
    "documents",
)

Cell = str | int | float


def agreement_rows(agreement: Agreement) -> Iterator[list[Cell]]:
    """One row per figure under COLUMNS; an undefined κ is an empty cell, never 0."""
    for level in agreement.levels:
        yield from _pairs(level)
        for overall in level.overall:
            yield _fleiss(level.level, "overall", "", overall.annotators, overall.figure)
    for scope, parts in (("label", agreement.labels), ("document", agreement.documents)):
        for part in parts:
            yield _fleiss("entity", scope, part.name, part.annotators, part.entity)
            yield _fleiss("token", scope, part.name, part.annotators, part.token)


def _pairs(level: LevelAgreement) -> Iterator[list[Cell]]:
    for row in level.matrix:
        for other, figure in zip(level.matrix, row.cells, strict=True):
            if figure and row.number < other.number:
                names = (_plain(row.name), _plain(other.name))
                yield [level.level, "pair", *names, "cohen", 2, *_cells(figure)]


def _fleiss(level: str, scope: str, subject: str, annotators: int, figure: Figure) -> list[Cell]:
    start: list[Cell] = [level, scope, _plain(subject), "", "fleiss", annotators]
    return start + _cells(figure)


def _cells(figure: Figure) -> list[Cell]:
    kappa = "" if figure.kappa is None else figure.kappa
    observed = "" if figure.observed is None else figure.observed
    return [kappa, observed, figure.items, figure.documents]


def _plain(text: str) -> str:
    """A name that a spreadsheet would take for a formula is made a text."""
    return f"'{text}" if text[:1] in {"=", "+", "-", "@", "\t", "\r"} else text
