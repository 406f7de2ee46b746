"""Reads the JSON objects in a model's response, whatever surrounds them and however they are
quoted.

Every complete object of the text is read: between braces in prose, in a fence, in Python's notation
(`{'a': None}`), with typographic quotes, full-width commas and colons, line breaks in texts, keys
without quotes, and commas before a closing bracket. Time is linear in the length of the text: what
it takes to give up on an opening brace is counted, and reading stops at a limit.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from scoring.metrics import is_deeper

from .fields import DEEPEST, LONGEST_TEXT, UnparseableError, distinct, one_or_all

# Strings end at the first closing quote of their kind, as those of JSON do. Possessive repetition:
# no text is scanned twice for one string.
_STRING = r"""(?P<double>"(?:[^"\\]|\\.)*+")|(?P<single>'(?:[^'\\]|\\.)*+')
    |(?P<curly>[“”„](?:[^“”"\\]|\\.)*+[“”])|(?P<quoted>[‘’‚](?:[^‘’'\\]|\\.)*+[‘’])"""
# Brackets decide where an object ends. A quote by itself opens a string that is not closed.
_BOUNDS = re.compile(rf"""(?P<mark>[{{}}\[\]])|{_STRING}|(?P<open>["'“”„‘’‚])""", re.X | re.S)
_TOKEN = re.compile(
    rf"""\s*+(?:(?P<mark>[{{}}\[\],:，：])|{_STRING}|(?P<word>[^\s{{}}\[\],:，："'“”„‘’‚][^{{}}\[\],:，："'“”„‘’‚]*+))""",
    re.X | re.S,
)
_MARKS = {"，": ",", "：": ":"}
_WORDS = {"None": "null", "True": "true", "False": "false"}
_KEY = re.compile(r"[^\W\d]\w*")
_ESCAPE = re.compile(
    r"\\(x[\da-fA-F]{2}|u[\da-fA-F]{4}|U00(?:0[\da-fA-F]|10)[\da-fA-F]{4}|.)", re.DOTALL
)
_CLOSING = {"{": "}", "[": "]"}
# An object that has begun. If it has no end, or too many levels, what follows is a part of it.
_BEGUN = re.compile(r"\{\s*+[\"'“„‘‚]")
_TOO_DEEP = f"nested deeper than {DEEPEST} levels"
# Longer objects must be JSON as it is.
LONGEST_LOOSE = 200_000
# Opening braces at which an object may begin, and how many characters may be read in vain.
MOST_BRACES = 1000
_IN_VAIN = 2


def read_objects(text: str) -> list[Any]:
    """Return the JSON objects of a text, in order, without repeats.

    Of a key that is repeated with different values, all values are kept, as a list. Raises
    UnparseableError for text that is too long or nested too deep and for text without an object.

    >>> read_objects("So {'a': 1,} it is, or {“a”: [2, None]}.")
    [{'a': 1}, {'a': [2, None]}]
    """
    if len(text) > LONGEST_TEXT:
        raise UnparseableError(f"longer than {LONGEST_TEXT:,} characters")
    values = list(_objects(text))
    return distinct(values)


def _objects(text: str) -> Iterator[Any]:
    """Yield every object that no other one contains. Raises UnparseableError without any, with the
    reason why the first opening brace is none."""
    problem, is_any = "", False
    left = _IN_VAIN * len(text)
    start = text.find("{")
    for _ in range(MOST_BRACES):
        if start < 0 or left <= 0:
            break
        end, reason = _end_of(text, start)
        try:
            if not reason:
                yield _parsed(text[start:end])
                is_any = True
        except UnparseableError as error:
            reason = str(error)
        if reason:
            problem = problem or reason
            left -= end - start
            if _BEGUN.match(text, start) and (end == len(text) or reason == _TOO_DEEP):
                break
        start = text.find("{", start + 1 if reason else end)
    if not is_any:
        raise UnparseableError(problem or "contains no JSON object")


def _end_of(text: str, start: int) -> tuple[int, str]:
    """Return where the object that begins here ends, or how far it was read and why it is none."""
    closing: list[str] = []
    for match in _BOUNDS.finditer(text, start):
        mark = match.group()
        if match.lastgroup == "open":
            return len(text), "not valid JSON: a quotation mark is not closed"
        if mark in _CLOSING:
            closing.append(_CLOSING[mark])
            if len(closing) > DEEPEST:
                return match.end(), _TOO_DEEP
        elif match.lastgroup == "mark":
            if mark != closing.pop():
                return match.end(), "not valid JSON: brackets do not match"
            if not closing:
                return match.end(), ""
    return len(text), "not valid JSON: a bracket is not closed"


def _parsed(text: str) -> Any:
    """Return the value of an object, as JSON or else with the differences that are accepted."""
    try:
        value = _loaded(text)
    except UnparseableError:
        if len(text) > LONGEST_LOOSE:
            raise
        value = _loaded(_as_json(text))
    if text.count("[") + text.count("{") > DEEPEST and is_deeper(value, DEEPEST):
        raise UnparseableError(_TOO_DEEP)
    return value


def _loaded(text: str) -> Any:
    try:
        return json.loads(text, strict=False, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        raise UnparseableError(f"not valid JSON: {error.msg}") from error
    except RecursionError as error:
        raise UnparseableError(_TOO_DEEP) from error
    except ValueError as error:
        raise UnparseableError("contains a number with too many digits") from error


def _as_json(text: str) -> str:
    """Return the text as JSON: a comma before a closing bracket is dropped, quotes and words are
    those of JSON."""
    parts: list[str] = []
    for match in _TOKEN.finditer(text):
        kind, part = match.lastgroup, match.group().strip()
        if kind == "mark":
            part = _MARKS.get(part, part)
            if part in "}]" and parts[-1] == ",":
                parts.pop()
            elif part == ":" and _KEY.fullmatch(parts[-1]):
                parts[-1] = json.dumps(parts[-1])
        elif kind == "word":
            part = _WORDS.get(part, part)
        elif kind != "double" or "\\" in part:
            part = json.dumps(_ESCAPE.sub(_unescaped, part[1:-1]))
        parts.append(part)
    return "".join(parts)


_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def _unescaped(match: re.Match[str]) -> str:
    if len(match[1]) > 1:
        return chr(int(match[1][1:], 16))
    return _ESCAPES.get(match[1], match[1])


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object, with all different values of a repeated key."""
    value = dict(pairs)
    if len(value) == len(pairs):
        return value
    values: dict[str, list[Any]] = {}
    for key, child in pairs:
        values.setdefault(key, []).append(child)
    return {key: one_or_all(children) for key, children in values.items()}
