"""One answer of FCMBench against its gold answer, by the rules of its subtask."""

from dataclasses import dataclass
from typing import Any

from scoring.metrics.fields import (
    Fields,
    UnparseableError,
    extract_json,
    flatten,
    is_close,
    parse_json,
    set_f1,
    unwrap_answer,
)

from .tasks import asks_for_a_number, counts_present_only

TOLERANCE = 2.0
_PRESENT = "present_categories"


@dataclass(frozen=True)
class Answer:
    """What a text answers: its value, null if it cannot be read, its fields, and why it cannot be
    read."""

    value: Any
    fields: Fields
    problem: str = ""


@dataclass(frozen=True)
class Comparison:
    """An answer's F1 in [0, 1], and the fields that are right, missed and too many.

    `f1` is None where the published evaluator takes no account of the answer.
    """

    f1: float | None
    right: int
    missed: Fields
    extra: Fields


def read_gold_answer(text: str, subtask: str) -> Answer:
    """The gold answer; the whole text is JSON. Raises UnparseableError."""
    return _answer(unwrap_answer(parse_json(text)), subtask)


def read_answer(response: str, subtask: str) -> Answer:
    """The answer in a model's response; never raises."""
    try:
        return _answer(unwrap_answer(extract_json(response)), subtask)
    except UnparseableError as error:
        return Answer(None, frozenset(), str(error))


def compare(gold: Answer, answer: Answer, subtask: str) -> Comparison:
    """F1 of the fields, or for the calculations whether the number is close enough.

    An answer that is null or cannot be read has no fields; for a calculation it has no F1 either.
    """
    if asks_for_a_number(subtask):
        return _compare_numbers(gold, answer)
    return Comparison(
        f1=set_f1(gold.fields, answer.fields),
        right=len(gold.fields & answer.fields),
        missed=gold.fields - answer.fields,
        extra=answer.fields - gold.fields,
    )


def _compare_numbers(gold: Answer, answer: Answer) -> Comparison:
    is_right = is_close(gold.value, answer.value, TOLERANCE)
    return Comparison(
        f1=None if answer.value is None else float(is_right),
        right=int(is_right),
        missed=frozenset() if is_right else gold.fields,
        extra=frozenset() if is_right else answer.fields,
    )


def _answer(value: Any, subtask: str) -> Answer:
    if counts_present_only(subtask):
        value = {_PRESENT: value.get(_PRESENT, [])} if isinstance(value, dict) else {}
    return Answer(value, flatten(value))
