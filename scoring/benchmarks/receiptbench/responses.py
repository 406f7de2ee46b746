"""The fields in a model's response. What cannot be read is unparseable; nothing else is raised."""

import json
import math
import re
from typing import Any, NoReturn

LONGEST_RESPONSE = 2_000_000
DEEPEST = 20
# Items in one list: a receipt has a few dozen.
MOST_ITEMS = 2_000

_TOO_DEEP = f"nested deeper than {DEEPEST} levels"
# A string, closed or not, so that a word inside is left alone; or a word of Python.
_PYTHON_WORD = re.compile(r'"(?:[^"\\]|\\.)*+"?|\b(True|False|None)\b', re.DOTALL)
_JSON_WORDS = {"True": "true", "False": "false", "None": "null"}


class UnparseableError(ValueError):
    """A response without usable fields; the message says why and quotes nothing of it."""


def read_fields(response: str) -> dict[str, Any]:
    """The object in a response: its text from the first `{` to the last `}`.

    `True`, `False` and `None` are read too, since the published prompt shows them in its example.
    NaN, Infinity, numbers that no float holds, a key twice, deep nesting and overlong lists are
    unparseable. Raises UnparseableError.

    >>> read_fields('```json {"type": "taxi", "detail": [{"ifTax": False}]} ```')
    {'type': 'taxi', 'detail': [{'ifTax': False}]}
    """
    start, end = response.find("{"), response.rfind("}")
    if start < 0 or end < start:
        raise UnparseableError("holds no JSON object")
    if end - start > LONGEST_RESPONSE:
        raise UnparseableError(f"longer than {LONGEST_RESPONSE:,} characters")
    text = _PYTHON_WORD.sub(_json_word, response[start : end + 1])
    fields = _parse(text)
    if problem := problem_of(fields):
        raise UnparseableError(problem)
    return fields


def problem_of(value: Any) -> str | None:
    """Which limit a JSON value breaks, if any. Level by level, so that it needs no stack."""
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
        raise UnparseableError("holds a number with too many digits") from error
    return value


def _json_word(match: re.Match[str]) -> str:
    return _JSON_WORDS[match[1]] if match[1] else match[0]


def _refuse_constant(name: str) -> NoReturn:
    raise UnparseableError(f"{name} is not a JSON value")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise UnparseableError("holds a number that is too large")
    return number


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise UnparseableError("a key stands twice in one object")
    return value
