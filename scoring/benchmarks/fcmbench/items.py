"""One answer in short, and its fields beside those of the gold."""

from collections.abc import Mapping
from typing import Any

from scoring.benchmarks.base import Payload
from scoring.benchmarks.items import ItemSummary, Sides, named_errors

from .answers import read_answer, read_gold_answer
from .scorer import UNPARSEABLE

_ERRORS = {"extra_count": "extra fields", "missed_count": "missed fields"}


def summarise(
    result: Mapping[str, Any],
    options: Mapping[str, str],  # noqa: ARG001 - what they change has been done to the result
) -> ItemSummary:
    """Its F1, its task and subtask, and whether fields are missed or too many."""
    errors = named_errors(result, _ERRORS)
    if result["outcome"] == UNPARSEABLE:
        errors.append(UNPARSEABLE)
    return ItemSummary(result["f1"], f"{result['task']} {result['subtask']}", tuple(errors))


def sides(
    gold: Payload,
    prediction: Payload | None,
    options: Mapping[str, str],  # noqa: ARG001 - fields are read alike under all of them
) -> Sides:
    subtask = gold["subtask"]
    answer = None if prediction is None else read_answer(prediction["response"], subtask)
    return Sides(
        {"answer": read_gold_answer(gold["response"], subtask).value},
        None if answer is None or answer.problem else {"answer": answer.value},
    )
