"""Reads ReceiptBench's gold and submissions: JSON Lines, or one JSON file per image, named after
it.

Gold is `{"id", "fields"}`, optionally with `language`, `category` and `balanced`; predictions are
`{"id", "fields"}` or `{"id", "response"}`. Other keys are ignored. A response whose fields cannot
be read is unparseable; no other error is raised.
"""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from pathlib import PurePosixPath
from typing import Any, NoReturn

from portal.files.archives import Archive
from scoring.benchmarks.base import GoldLine, PredictionLine
from scoring.benchmarks.checking import check_id, check_text, holds_nul, kind_of, read_lines
from scoring.benchmarks.items import Options, Payload
from scoring.benchmarks.reading import (
    DEFAULT_LIMITS,
    ReadFault,
    ReadLimits,
    Record,
    Source,
    holds_json_files,
    read_json_files,
    read_json_object,
    read_records,
)
from scoring.metrics.receipts import DETAIL, FIELDS, Rule

LONGEST_RESPONSE = 2_000_000
DEEPEST = 20
# Items in one list: a receipt has a few dozen.
MOST_ITEMS = 2_000

_TOO_DEEP = f"nested deeper than {DEEPEST} levels"
# A string, closed or not, to protect words inside it; or a Python keyword.
_PYTHON_WORD = re.compile(r'"(?:[^"\\]|\\.)*+"?|\b(True|False|None)\b', re.DOTALL)
_JSON_WORDS = {"True": "true", "False": "false", "None": "null"}


class UnparseableError(ValueError):
    """A response without usable fields. The message gives the reason and does not quote the
    response."""


def read_fields(response: str) -> dict[str, Any]:
    """Parse the object in a response: its text from the first `{` to the last `}`.

    `True`, `False` and `None` are accepted too, since the published prompt shows them in its
    example. NaN, Infinity, numbers too large for a float, repeated keys, deep nesting and overlong
    lists are unparseable. Raises UnparseableError.

    >>> read_fields('```json {"type": "taxi", "detail": [{"ifTax": False}]} ```')
    {'type': 'taxi', 'detail': [{'ifTax': False}]}
    """
    start, end = response.find("{"), response.rfind("}")
    if start < 0 or end < start:
        raise UnparseableError("contains no JSON object")
    if end - start > LONGEST_RESPONSE:
        raise UnparseableError(f"longer than {LONGEST_RESPONSE:,} characters")
    text = _PYTHON_WORD.sub(_json_word, response[start : end + 1])
    fields = _parse(text)
    if problem := problem_of(fields):
        raise UnparseableError(problem)
    return fields


def problem_of(value: Any) -> str | None:
    """Return the limit that a JSON value breaks, or None. Works level by level, without a stack."""
    level = [value]
    for _ in range(DEEPEST + 1):
        inner: list[Any] = []
        for node in level:
            if isinstance(node, dict):
                inner.extend(node.values())
            elif isinstance(node, list):
                if len(node) > MOST_ITEMS:
                    return f"a list of more than {MOST_ITEMS:,} items"
                inner.extend(node)
        if not inner:
            return None
        level = inner
    return _TOO_DEEP


def _parse(text: str) -> dict[str, Any]:
    try:
        value: dict[str, Any] = json.loads(
            text,
            parse_constant=_refuse_constant,
            parse_float=_finite,
            object_pairs_hook=_distinct,
        )
    except json.JSONDecodeError as error:
        raise UnparseableError(f"not valid JSON: {error.msg}") from error
    except RecursionError as error:
        raise UnparseableError(_TOO_DEEP) from error
    except UnparseableError:
        raise
    except ValueError as error:
        raise UnparseableError("contains a number with too many digits") from error
    return value


def _json_word(match: re.Match[str]) -> str:
    return _JSON_WORDS[match[1]] if match[1] else match[0]


def _refuse_constant(name: str) -> NoReturn:
    raise UnparseableError(f"{name} is not a JSON value")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise UnparseableError("contains a number that is too large")
    return number


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise UnparseableError("a key occurs twice in one object")
    return value


_FIELD_NAMES = frozenset(rule.name for rule in FIELDS)
# A key that only a canonical object has, not bare fields.
_WRAPPED = ("fields", "response")
_ABOUT = ("id", "language", "category", "balanced")


def read_any(source: Source, limits: ReadLimits) -> Iterator[Record | ReadFault]:
    """Read the records of JSON Lines, or of a folder or ZIP of `IMAGE.json`.

    The object in such a file is a canonical line or only the fields. Its id is its own, or else the
    file's name.
    """
    if holds_json_files(source, limits):
        yield from read_json_files(source, limits, partial(_read_file, limits=limits))
    else:
        yield from read_records(source, limits)


def _read_file(archive: Archive, member: str, shown: str, limits: ReadLimits) -> Record | ReadFault:
    item = PurePosixPath(member).stem
    record = read_json_object(archive, member, shown, limits)
    if isinstance(record, ReadFault):
        return replace(record, id=item)
    return replace(record, value={"id": item, **_wrapped(record.value)})


def _wrapped(value: dict[str, Any]) -> dict[str, Any]:
    """Return the object as a canonical line. Bare fields other than the 19 are dropped."""
    if any(key in value for key in _WRAPPED) or not _FIELD_NAMES & value.keys():
        return value
    about = {key: value[key] for key in _ABOUT if key in value}
    return {**about, "fields": {key: value[key] for key in value if key in _FIELD_NAMES}}


# Items of one gold list. Few enough to compare with the most that a prediction may have.
MOST_GOLD_ITEMS = 500
_LONGEST_VALUE = 10_000
_LONGEST_NAME = 60
_NAMES = ("language", "category")
_BY_NAME = {rule.name: rule for rule in FIELDS}
_LINE_KEYS = ("content", "amount", "ifTax")


def read_gold(
    source: Source,
    *,
    options: Options | None = None,  # noqa: ARG001 - nothing here depends on it
    limits: ReadLimits = DEFAULT_LIMITS,
) -> Iterator[GoldLine | ReadFault]:
    """Yield the gold lines. An unknown field or a value of a wrong type is a fault.

    Missing fields are empty.
    """
    return read_lines(GoldLine, read_any(source, limits), _gold_problem, _gold_payload)


def read_predictions(
    source: Source, *, limits: ReadLimits = DEFAULT_LIMITS
) -> Iterator[PredictionLine | ReadFault]:
    """Yield the prediction lines. A response may be any text, or null, which means no words at all.
    A value in `fields` may have any type; a wrong type is scored as wrong."""
    problem = partial(_prediction_problem, limits=limits)
    return read_lines(PredictionLine, read_any(source, limits), problem, _prediction_payload)


def _gold_payload(value: dict[str, Any]) -> Payload:
    keys = ("id", "fields", *_NAMES, "balanced")
    return {key: value[key] for key in keys if value.get(key) not in (None, "")}


def _prediction_payload(value: dict[str, Any]) -> Payload:
    key = "fields" if "fields" in value else "response"
    return {"id": value["id"], key: "" if value[key] is None else value[key]}


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
        return "'fields' contains a NUL character"
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
    """Return what is wrong with a gold field, or None."""
    rule = _BY_NAME.get(name)
    if rule is None:
        near = get_close_matches(name, _BY_NAME, n=1)
        hint = f"did you mean {near[0]}?" if near else "it is not one of the 19 fields"
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
