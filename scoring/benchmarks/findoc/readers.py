"""Reads the gold and the OCR texts of financial documents.

Gold is `{"id", "gold"}` with any JSON object or list; predictions are `{"id", "text"}`, or a folder
or ZIP of `ID.txt`.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from scoring.benchmarks.base import GoldLine, PredictionLine
from scoring.benchmarks.checking import check_id, check_text, holds_nul, kind_of, read_lines
from scoring.benchmarks.items import Options, Payload
from scoring.benchmarks.reading import (
    DEFAULT_LIMITS,
    ReadFault,
    ReadLimits,
    Record,
    Source,
    read_records,
)
from scoring.metrics.document_accuracy import extract_all_numbers, extract_all_text

# Each value is searched for in the whole text, so this bounds the cost of one document.
MOST_VALUES = 20_000


def read_gold(
    source: Source,
    *,
    options: Options | None = None,  # noqa: ARG001 - nothing here depends on it
    limits: ReadLimits = DEFAULT_LIMITS,
) -> Iterator[GoldLine | ReadFault]:
    """Yield the gold lines. Gold with more than MOST_VALUES numbers and strings is a fault."""
    records = read_records(source, limits)
    return read_lines(GoldLine, records, _gold_problem, partial(_payload, key="gold"))


def read_predictions(
    source: Source, *, limits: ReadLimits = DEFAULT_LIMITS
) -> Iterator[PredictionLine | ReadFault]:
    """Yield the prediction lines. Keys other than `id` and `text` are ignored."""
    records = map(_as_text, read_records(source, limits))
    problem = partial(_prediction_problem, limits=limits)
    return read_lines(PredictionLine, records, problem, partial(_payload, key="text"))


def _payload(value: dict[str, Any], key: str) -> Payload:
    return {"id": value["id"], key: value[key]}


def _gold_problem(record: Record) -> str | None:
    if record.is_page:
        return "a text, but gold is read from JSON Lines"
    if problem := check_id(record):
        return problem
    if "gold" not in record.value:
        return "has no 'gold'"
    gold = record.value["gold"]
    if not isinstance(gold, dict | list):
        return f"'gold' must be an object or a list, not {kind_of(gold)}"
    if holds_nul(gold):
        return "'gold' contains a NUL character"
    if len(extract_all_numbers(gold)) + len(extract_all_text(gold)) > MOST_VALUES:
        return f"'gold' has more than {MOST_VALUES:,} numbers and strings"
    return None


def _as_text(record: Record | ReadFault) -> Record | ReadFault:
    """Return a text file's record with its content under `text`."""
    if isinstance(record, ReadFault) or not record.is_page:
        return record
    return replace(record, value={"id": record.value["id"], "text": record.value["html"]})


def _prediction_problem(record: Record, limits: ReadLimits) -> str | None:
    if record.is_page and not record.file.lower().endswith(".txt"):
        return "markup, but the text of a document is ID.txt"
    return check_id(record) or check_text(record, "text", limits.characters)
