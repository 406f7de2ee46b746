"""Reads the gold and the OCR texts of financial documents.

Gold is `{"id", "gold"}` with any JSON object or list; predictions are `{"id", "text"}`, or a folder
or ZIP of `ID.txt`.
"""

from collections.abc import Iterator

from scoring.benchmarks.base import GoldLine, Options, PredictionLine
from scoring.benchmarks.checking import check_id, check_text, holds_nul, kind_of
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
    options: Options | None = None,  # noqa: ARG001 - the contract's; nothing here depends on it
    limits: ReadLimits = DEFAULT_LIMITS,
) -> Iterator[GoldLine | ReadFault]:
    """Yield the gold lines. Gold with more than MOST_VALUES numbers and strings is a fault."""
    for record in read_records(source, limits):
        if isinstance(record, ReadFault):
            yield record
        elif problem := _gold_problem(record):
            yield record.fault(problem)
        else:
            payload = {key: record.value[key] for key in ("id", "gold")}
            yield GoldLine(payload["id"], payload, record.file, record.line)


def read_predictions(
    source: Source, *, limits: ReadLimits = DEFAULT_LIMITS
) -> Iterator[PredictionLine | ReadFault]:
    """Yield the prediction lines. Keys other than `id` and `text` are ignored."""
    for record in read_records(source, limits):
        if isinstance(record, ReadFault):
            yield record
            continue
        record = _as_text(record)
        if problem := _prediction_problem(record, limits):
            yield record.fault(problem)
        else:
            payload = {key: record.value[key] for key in ("id", "text")}
            yield PredictionLine(payload["id"], payload, record.file, record.line)


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
        return "'gold' holds a NUL character"
    if len(extract_all_numbers(gold)) + len(extract_all_text(gold)) > MOST_VALUES:
        return f"'gold' has more than {MOST_VALUES:,} numbers and strings"
    return None


def _as_text(record: Record) -> Record:
    """Return a text file's record with its content under `text`."""
    if not record.is_page:
        return record
    value = {"id": record.value["id"], "text": record.value["html"]}
    return Record(record.file, record.line, value, is_page=True)


def _prediction_problem(record: Record, limits: ReadLimits) -> str | None:
    if record.is_page and not record.file.lower().endswith(".txt"):
        return "markup, but the text of a document is ID.txt"
    return check_id(record) or check_text(record, "text", limits.characters)
