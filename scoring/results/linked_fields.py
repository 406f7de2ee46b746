"""The fields of one item without facts, and their places in gold and prediction.

They show gold, so they are only for readers who may see it. Fields are listed, chosen and linked
like facts.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scoring.benchmarks import FieldName, GradedItem, Sheet
from scoring.models import Grading, ItemScore

from .facts import FactChoice, FactLine, FactQuery, choose_lines

FIELD = "field"


@dataclass(frozen=True)
class ShownPiece:
    """A piece of a side with the numbers of its fields, joined by spaces."""

    text: str
    numbers: str = ""
    is_wrong: bool = False
    is_current: bool = False


@dataclass(frozen=True)
class ShownSheet:
    """One side with its pieces by row."""

    form: str
    rows: list[list[ShownPiece]]
    is_cut: bool


@dataclass(frozen=True)
class LinkedFields:
    choice: FactChoice
    gold: ShownSheet
    prediction: ShownSheet | None


def graded_item(
    grading: Grading,
    score: ItemScore,
    gold: Mapping[str, Any],
    prediction: Mapping[str, Any] | None,
) -> GradedItem | None:
    """Return the fields of an item; None if it was not graded by field."""
    grades = grading.submission.phase.board.spec.field_grades
    return grades.item(gold, prediction, score.result, grading.options) if grades else None


def linked_fields(item: GradedItem, asked: FactQuery, kept: Mapping[str, str]) -> LinkedFields:
    lines = field_lines(item)
    choice = choose_lines(lines, (), asked, kept, FIELD)
    current = choice.current.n if choice.current else None
    wrong = frozenset(line.n for line in lines if not line.correct)
    return LinkedFields(
        choice,
        _shown(item.gold, wrong, current),
        None if item.prediction is None else _shown(item.prediction, wrong, current),
    )


def field_lines(item: GradedItem) -> list[FactLine]:
    """Return the fields as the lines of facts."""
    return [
        FactLine(
            n=n,
            type=field.name,
            label=0,
            value=field.value,
            correct=not field.error,
            found=field.read is not None,
            matched_text=field.read,
            error=field.error or None,
            start=None,
            end=None,
        )
        for n, field in enumerate(item.fields)
    ]


def number_of(item: GradedItem | None, wanted: FieldName) -> int | None:
    """Return the number of a wrong field of a result, preferably of one that is wrong."""
    if item is None:
        return None
    found = [
        n
        for n, field in enumerate(item.fields)
        if field.key[:2] == wanted[:2] and wanted.value in {"", field.key.value}
    ]
    return next((n for n in found if item.fields[n].error), found[0] if found else None)


def _shown(sheet: Sheet, wrong: frozenset[int], current: int | None) -> ShownSheet:
    rows = [
        [
            ShownPiece(
                piece.text,
                " ".join(map(str, piece.fields)),
                is_wrong=bool(wrong.intersection(piece.fields)),
                is_current=current in piece.fields,
            )
            for piece in row
        ]
        for row in sheet.rows
    ]
    return ShownSheet(sheet.form, rows, sheet.is_cut)
