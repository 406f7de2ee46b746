"""Reads ReceiptBench's gold and submissions: JSON Lines, or one JSON file per image.

Gold is `{"id", "fields"}`, optionally with `language`, `category` and `balanced`; predictions are
`{"id", "fields"}` or `{"id", "response"}`. Other keys are left aside.
"""

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from scoring.benchmarks.base import GoldLine, Options, PredictionLine
from scoring.benchmarks.line_checks import check_id, check_text, holds_nul, kind_of
from scoring.benchmarks.reading import DEFAULT_LIMITS, ReadFault, ReadLimits, Record, Source
from scoring.metrics.receipts import DETAIL, FIELDS, Rule

from .published import read_any
from .responses import problem_of

# Items of one gold list. With the most that a prediction may have, few enough to be compared.
MOST_GOLD_ITEMS = 500
_LONGEST_VALUE = 10_000
_LONGEST_NAME = 60
_NAMES = ("language", "category")
_BY_NAME = {rule.name: rule for rule in FIELDS}
_LINE_KEYS = ("content", "amount", "ifTax")


def read_gold(
    source: Source,
    *,
    options: Options | None = None,  # noqa: ARG001 - the contract's; nothing here depends on it
    limits: ReadLimits = DEFAULT_LIMITS,
) -> Iterator[GoldLine | ReadFault]:
    """The gold lines; a field that does not exist or has a value of a wrong kind is a fault.

    A field that is not there is empty.
    """
    for record in read_any(source, limits):
        if isinstance(record, ReadFault):
            yield record
        elif problem := _gold_problem(record):
            yield record.fault(problem)
        else:
            keys = ("id", "fields", *_NAMES, "balanced")
            payload = {
                key: record.value[key] for key in keys if record.value.get(key) not in (None, "")
            }
            yield GoldLine(payload["id"], payload, record.file, record.line)


def read_predictions(
    source: Source, *, limits: ReadLimits = DEFAULT_LIMITS
) -> Iterator[PredictionLine | ReadFault]:
    """The prediction lines. A response may be any text, and null, which stands for no words at
    all; a value in `fields` may be of any kind, and is then wrong."""
    for record in read_any(source, limits):
        if isinstance(record, ReadFault):
            yield record
        elif problem := _prediction_problem(record, limits):
            yield record.fault(problem)
        else:
            key = "fields" if "fields" in record.value else "response"
            payload = {"id": record.value["id"], key: record.value[key]}
            if payload[key] is None:
                payload[key] = ""
            yield PredictionLine(payload["id"], payload, record.file, record.line)


def _gold_problem(record: Record) -> str | None:
    problem = _page_problem(record) or check_id(record) or _fields_problem(record)
    if problem is None:
        problem = _about_problem(record)
    for name, value in () if problem else record.value["fields"].items():
        problem = problem or _value_problem(name, value)
    return problem


def _page_problem(record: Record) -> str | None:
    return "a page, but this benchmark is read from JSON" if record.is_page else None


def _fields_problem(record: Record) -> str | None:
    if "fields" not in record.value:
        return "has no 'fields'"
    fields = record.value["fields"]
    if not isinstance(fields, dict):
        return f"'fields' must be an object, not {kind_of(fields)}"
    if holds_nul(fields):
        return "'fields' holds a NUL character"
    problem = problem_of(fields)
    return f"'fields': {problem}" if problem else None


def _about_problem(record: Record) -> str | None:
    for key in _NAMES:
        if record.value.get(key) is None:
            continue
        if problem := check_text(record, key, _LONGEST_NAME):
            return problem
        if not record.value[key].isprintable():
            return f"{key!r} must have printable characters only"
    balanced = record.value.get("balanced")
    if balanced is not None and not isinstance(balanced, bool):
        return f"'balanced' must be true or false, not {kind_of(balanced)}"
    return None


def _value_problem(name: str, value: Any) -> str | None:
    """What is wrong with a gold field, if anything."""
    rule = _BY_NAME.get(name)
    if rule is None:
        near = get_close_matches(name, _BY_NAME, n=1)
        hint = f"did you mean {near[0]}?" if near else "it is none of the 19"
        return f"there is no field {name[:_LONGEST_NAME]!r}; {hint}"
    if value in (None, "", [], {}):
        return None
    if rule.kind in ("exact", "amount"):
        return _scalar_problem(name, value)
    items = value if isinstance(value, list) else [value]
    if len(items) > MOST_GOLD_ITEMS:
        return f"{name!r} has more than {MOST_GOLD_ITEMS} items"
    problems = (_item_problem(rule, item) for item in items)
    return next(filter(None, problems), None)


def _item_problem(rule: Rule, item: Any) -> str | None:
    if rule.name != DETAIL:
        return _scalar_problem(rule.name, item)
    if not isinstance(item, dict):
        return f"an item of {rule.name!r} must be an object, not {kind_of(item)}"
    problems = (_scalar_problem(f"{rule.name}.{key}", item.get(key)) for key in _LINE_KEYS)
    return next(filter(None, problems), None)


def _scalar_problem(name: str, value: Any) -> str | None:
    if isinstance(value, list | dict):
        return f"{name!r} must be a text or a number, not {kind_of(value)}"
    if isinstance(value, str) and len(value) > _LONGEST_VALUE:
        return f"{name!r} is longer than {_LONGEST_VALUE:,} characters"
    return None


def _prediction_problem(record: Record, limits: ReadLimits) -> str | None:
    if problem := _page_problem(record) or check_id(record):
        return problem
    if "fields" in record.value:
        if "response" in record.value:
            return "has both 'fields' and 'response'"
        return _fields_problem(record)
    if "response" not in record.value:
        return "has neither 'fields' nor 'response'"
    if record.value["response"] is None:
        return None
    return check_text(record, "response", limits.characters)
