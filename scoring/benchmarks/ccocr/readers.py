"""Reads CC-OCR's gold and submissions: JSON Lines, or the benchmark's own folders (`published`).

Gold is `{"id", "subset", "track", "op", "answer"}` with an optional `orientation`, predictions are
`{"id", "subset", "response"}`. Images of different subsets may have the same id: an item is known
as `subset:id`. Other keys are left aside.
"""

from collections.abc import Iterator
from typing import Any

from scoring.benchmarks.base import GoldLine, Options, PredictionLine
from scoring.benchmarks.json_files import holds_json_files
from scoring.benchmarks.line_checks import check_id, check_text, holds_nul, kind_of, named
from scoring.benchmarks.reading import (
    DEFAULT_LIMITS,
    LONGEST_ID,
    ReadFault,
    ReadLimits,
    Record,
    Source,
    read_records,
)
from scoring.metrics.grounding import check_words, word_of
from scoring.metrics.limits import TooLargeError, is_deeper
from scoring.metrics.structured import (
    DEEPEST,
    UnparseableError,
    check_gold_record,
    parse_record,
)
from scoring.metrics.tables import check_gold_table

from .published import read_published_gold, read_published_predictions
from .subsets import OPS, TRACKS

ORIENTATIONS = (0, 90, 180, 270)
_NO_PAGE = "a page, but this benchmark is read from JSON Lines or label.json files"


def read_gold(
    source: Source,
    *,
    options: Options | None = None,  # noqa: ARG001 - the contract's; nothing here depends on it
    limits: ReadLimits = DEFAULT_LIMITS,
) -> Iterator[GoldLine | ReadFault]:
    """The gold lines; one whose answer is not of the kind its op asks for is a fault."""
    published = holds_json_files(source, limits)
    records = read_published_gold(source, limits) if published else read_records(source, limits)
    for record in records:
        if isinstance(record, ReadFault):
            yield record
        elif problem := _gold_problem(record, limits):
            yield record.fault(problem)
        else:
            payload = _gold_payload(record.value)
            yield GoldLine(_item(payload), payload, record.file, record.line)


def read_predictions(
    source: Source, *, limits: ReadLimits = DEFAULT_LIMITS
) -> Iterator[PredictionLine | ReadFault]:
    """The prediction lines. A response may be any text, and null, which stands for no words at
    all."""
    published = holds_json_files(source, limits)
    records = (
        read_published_predictions(source, limits) if published else read_records(source, limits)
    )
    for record in records:
        if isinstance(record, ReadFault):
            yield record
        elif problem := _prediction_problem(record, limits):
            yield record.fault(problem)
        else:
            payload = {key: record.value[key] for key in ("id", "subset")}
            payload["response"] = record.value["response"] or ""
            yield PredictionLine(_item(payload), payload, record.file, record.line)


def _item(payload: dict[str, Any]) -> str:
    return f"{payload['subset']}:{payload['id']}"


def _gold_payload(value: dict[str, Any]) -> dict[str, Any]:
    answer = value["answer"]
    if value["op"] in {"kie", "grounding"} and isinstance(answer, str):
        answer = parse_record(answer)
    payload = {
        "id": value["id"],
        "subset": value["subset"],
        "track": TRACKS[value["track"]],
        "op": value["op"],
        "answer": answer,
    }
    if value.get("orientation") is not None:
        payload["orientation"] = value["orientation"]
    return payload


def _names_problem(record: Record) -> str | None:
    """What is wrong with the names that every line has, if anything."""
    if record.is_page:
        return _NO_PAGE
    problem = check_id(record) or check_text(record, "subset", LONGEST_ID)
    if problem:
        return problem
    if not record.value["subset"].strip() or not record.value["subset"].isprintable():
        return "'subset' must have printable characters"
    if len(_item(record.value)) > LONGEST_ID:
        return f"'subset' and 'id' have more than {LONGEST_ID} characters together"
    return None


def _gold_problem(record: Record, limits: ReadLimits) -> str | None:
    if problem := _names_problem(record):
        return problem
    for key, known in (("track", tuple(TRACKS)), ("op", OPS)):
        if key not in record.value:
            return f"has no {key!r}"
        if record.value[key] not in known:
            return f"{key!r} must be one of {', '.join(known)}, not {named(record.value[key])}"
    orientation = record.value.get("orientation")
    if orientation is not None and (
        type(orientation) is not int or orientation not in ORIENTATIONS
    ):
        return f"'orientation' must be 0, 90, 180 or 270, not {named(orientation)}"
    if "answer" not in record.value:
        return "has no 'answer'"
    return _answer_problem(record, limits)


def _answer_problem(record: Record, limits: ReadLimits) -> str | None:
    op = record.value["op"]
    if op in {"kie", "grounding"}:
        return _json_answer_problem(op, record.value["answer"])
    if problem := check_text(record, "answer", limits.characters):
        return problem
    if op == "table":
        try:
            check_gold_table(record.value["answer"])
        except TooLargeError as error:
            return f"'answer' holds too large a table: {error}"
    return None


def _json_answer_problem(op: str, answer: Any) -> str | None:
    """What is wrong with an answer that is a record or a list of words, or such a thing as text."""
    try:
        value = parse_record(answer) if isinstance(answer, str) else answer
        if holds_nul(value):
            return "'answer' holds a NUL character"
        if is_deeper(value, DEEPEST):
            return f"'answer' is nested more than {DEEPEST} deep"
        if op == "grounding":
            return _words_problem(value)
        if not isinstance(value, dict | list):
            return f"'answer' must be an object, not {kind_of(value)}"
        check_gold_record(value)
    except UnparseableError as error:
        return f"'answer' cannot be read: {error}"
    except TooLargeError as error:
        return f"'answer' is too large: {error}"
    return None


def _words_problem(value: Any) -> str | None:
    if not isinstance(value, list):
        return f"'answer' must be a list of words, not {kind_of(value)}"
    for number, entry in enumerate(value, 1):
        if word_of(entry) is None:
            return f"word {number} of 'answer' needs a 'text' and a 'point' or a 'box' of numbers"
    check_words(len(value), len(value))
    return None


def _prediction_problem(record: Record, limits: ReadLimits) -> str | None:
    problem = _names_problem(record)
    if problem is None and record.value.get("response", "") is not None:
        problem = check_text(record, "response", limits.characters)
    return problem
