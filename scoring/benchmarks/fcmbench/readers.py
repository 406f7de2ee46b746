"""Reads FCMBench's gold and submissions: JSON Lines, which is the benchmark's own layout.

Gold is `{"id", "task", "subtask", "robustness", "response"}`, predictions are `{"id", "response"}`
with an optional `output_tokens`. Other keys, such as the question, are ignored.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

from scoring.benchmarks.base import GoldLine, PredictionLine
from scoring.benchmarks.checking import check_id, check_text, kind_of, read_lines
from scoring.benchmarks.items import Options, Payload
from scoring.benchmarks.reading import (
    DEFAULT_LIMITS,
    ReadFault,
    ReadLimits,
    Record,
    Source,
    read_records,
)
from scoring.metrics.fields import UnparseableError

from .comparing import read_gold_answer
from .scorer import TASKS, check_options

_NAMES = ("subtask", "robustness")
_LONGEST_NAME = 100
_MOST_TOKENS = 10**9


def read_gold(
    source: Source,
    *,
    options: Options | None = None,  # noqa: ARG001 - nothing here depends on it
    limits: ReadLimits = DEFAULT_LIMITS,
) -> Iterator[GoldLine | ReadFault]:
    """Yield the gold lines. An answer that is not JSON, or a task that is not one of the seven, is
    a fault."""
    problem = partial(_gold_problem, limits=limits)
    return read_lines(GoldLine, read_records(source, limits), problem, _gold_payload)


def read_predictions(
    source: Source, *, limits: ReadLimits = DEFAULT_LIMITS
) -> Iterator[PredictionLine | ReadFault]:
    """Yield the prediction lines. A response may be any text, or null, which means no words at
    all."""
    problem = partial(_prediction_problem, limits=limits)
    return read_lines(PredictionLine, read_records(source, limits), problem, _prediction_payload)


def _gold_payload(value: dict[str, Any]) -> Payload:
    return {key: value[key] for key in ("id", "task", *_NAMES, "response")}


def _prediction_payload(value: dict[str, Any]) -> Payload:
    payload = {"id": value["id"], "response": value["response"] or ""}
    if value.get("output_tokens") is not None:
        payload["output_tokens"] = value["output_tokens"]
    return payload


def _gold_problem(record: Record, limits: ReadLimits) -> str | None:
    if record.is_page:
        return "a page, but this benchmark is read from JSON Lines"
    problem = check_id(record) or check_text(record, "response", limits.characters)
    for key in ("task", *_NAMES):
        problem = problem or check_text(record, key, _LONGEST_NAME)
    return problem or _name_problem(record) or _answer_problem(record)


def _name_problem(record: Record) -> str | None:
    task = record.value["task"]
    if task not in TASKS:
        return f"'task' must be one of {', '.join(TASKS)}, not {task!r}"
    for key in _NAMES:
        if not record.value[key].strip() or not record.value[key].isprintable():
            return f"{key!r} must have 1 to {_LONGEST_NAME} printable characters"
    return None


def _answer_problem(record: Record) -> str | None:
    try:
        read_gold_answer(record.value["response"], record.value, check_options({}))
    except UnparseableError as error:
        return f"'response' is {error}"
    return None


def _prediction_problem(record: Record, limits: ReadLimits) -> str | None:
    if record.is_page:
        return "a page, but this benchmark is read from JSON Lines"
    problem = check_id(record)
    if problem is None and record.value.get("response", "") is not None:
        problem = check_text(record, "response", limits.characters)
    return problem or _token_problem(record.value.get("output_tokens"))


def _token_problem(tokens: object) -> str | None:
    if tokens is None:
        return None
    if isinstance(tokens, bool) or not isinstance(tokens, int):
        return f"'output_tokens' must be a whole number, not {kind_of(tokens)}"
    if not 0 <= tokens <= _MOST_TOKENS:
        return f"'output_tokens' must be between 0 and {_MOST_TOKENS:,}"
    return None
