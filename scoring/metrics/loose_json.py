"""Reads the JSON objects and lists in a model's response, whatever surrounds them and however they
are quoted. The one tolerant reader; those of the published evaluators are stricter, see
`fields.extract_json` and `structured.parse_record`.

Every complete value of the text is read: between brackets in prose, in a fence, in Python's
notation (`{'a': None}`), with typographic quotes, full-width commas and colons, line breaks in
texts, keys without quotes, and commas before a closing bracket. Time is linear in the length of the
text: what it takes to give up on an opening bracket is counted, and reading stops at a limit.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from scoring.metrics import is_deeper

from .fields import DEEPEST, LONGEST_TEXT, UnparseableError, distinct

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
_OBJECT, _ANY = re.compile(r"\{"), re.compile(r"[{\[]")
# A value that has begun. If it has no end, or too many levels, what follows is a part of it.
_BEGUN = re.compile(r"[{\[]\s*+[\"'“„‘‚]|\[\s*+[{\[]")
_TOO_DEEP = f"nested deeper than {DEEPEST} levels"
# Longer objects must be JSON as it is.
LONGEST_LOOSE = 200_000
# Opening brackets at which a value may begin, and how often the text may be read in vain.
MOST_BRACES = 1000
_IN_VAIN = 2


def read_objects(text: str) -> list[Any]:
    """Return the JSON objects of a text, in order, without repeats.

    Of a key that is repeated with different values, all values are kept, as a list. Raises
    UnparseableError for text that is too long or nested too deep and for text without an object.

    >>> read_objects("So {'a': 1,} it is, or {“a”: [2, None]}.")
    [{'a': 1}, {'a': [2, None]}]
    """
    return distinct([found.value for found in _found(text, _OBJECT)])


def read_values(text: str, *, numbers_as_written: bool = False) -> list[Any]:
    """Return the JSON objects of a text as `read_objects` does; without any, the lists.

    With `numbers_as_written`, numbers are texts, such as 9.80.

    >>> read_values("As in [1]: {'total': 9.80}", numbers_as_written=True), read_values("As in [1]")
    ([{'total': '9.80'}], [[1]])
    """
    chosen = _chosen(text, numbers_as_written=numbers_as_written)
    return distinct([found.value for found in chosen])


def only_json(text: str) -> str:
    """Return the text of the JSON value that `read_values` finds, as JSON; unless it finds exactly
    one, the whole text.

    >>> only_json('So [1]: {"a": 9.80}.'), only_json("{'a': 9.80, 'a': 2,}"), only_json("{} {'a'}")
    ('{"a": 9.80}', '{"a":9.80,"a":2}', '{}')
    """
    try:
        chosen = _chosen(text)
    except UnparseableError:
        return text
    return chosen[0].text if len(chosen) == 1 else text


def json_problem(text: str) -> str:
    """Return why there is no JSON value in an answer; empty if there is one.

    >>> json_problem("I cannot read it."), json_problem('{"total": 9.80'), json_problem("[1] ")
    ('contains no JSON object', 'not valid JSON: a bracket is not closed', '')
    """
    try:
        _chosen(text)
    except UnparseableError as error:
        return str(error)
    return ""


class _Value(NamedTuple):
    """A value and its text, which is JSON."""

    text: str
    value: Any


def _chosen(text: str, *, numbers_as_written: bool = False) -> list[_Value]:
    values = list(_found(text, _ANY, numbers_as_written=numbers_as_written))
    return [found for found in values if isinstance(found.value, dict)] or values


def _found(
    text: str, opening: re.Pattern[str], *, numbers_as_written: bool = False
) -> Iterator[_Value]:
    """Yield every value that no other one contains. Raises UnparseableError without any, with the
    reason why the first opening bracket is none."""
    if len(text) > LONGEST_TEXT:
        raise UnparseableError(f"longer than {LONGEST_TEXT:,} characters")
    problem, is_any = "", False
    left = _IN_VAIN * len(text)
    position = 0
    for _ in range(MOST_BRACES):
        found = opening.search(text, position)
        if found is None or left <= 0:
            break
        start = found.start()
        end, reason = _end_of(text, start)
        try:
            if not reason:
                yield _parsed(text[start:end], numbers_as_written=numbers_as_written)
                is_any = True
        except UnparseableError as error:
            reason = str(error)
        if reason:
            problem = problem or reason
            left -= end - start
            if _BEGUN.match(text, start) and (end == len(text) or reason == _TOO_DEEP):
                break
        position = start + 1 if reason else end
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


def _parsed(text: str, *, numbers_as_written: bool) -> _Value:
    """Return the value of a text, as JSON or else with the differences that are accepted."""
    as_is = str if numbers_as_written else None
    decoder = json.JSONDecoder(
        strict=False, parse_float=as_is, parse_int=as_is, object_pairs_hook=with_all_values
    )
    try:
        value = _loaded(text, decoder)
    except UnparseableError:
        if len(text) > LONGEST_LOOSE:
            raise
        text = _as_json(text)
        value = _loaded(text, decoder)
    if text.count("[") + text.count("{") > DEEPEST and is_deeper(value, DEEPEST):
        raise UnparseableError(_TOO_DEEP)
    return _Value(text, value)


def _loaded(text: str, decoder: json.JSONDecoder) -> Any:
    try:
        return decoder.decode(text)
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


def with_all_values(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object. A key with several different values has a list of them, of which lists are
    parts.

    >>> with_all_values([("a", ["x"]), ("b", 1), ("a", "y"), ("b", 1)])
    {'a': ['x', 'y'], 'b': 1}
    """
    single = dict(pairs)
    if len(single) == len(pairs):
        return single
    values: dict[str, list[Any]] = {}
    for key, value in pairs:
        values.setdefault(key, []).append(value)
    return {key: _one_or_all(several) for key, several in values.items()}


def _one_or_all(values: list[Any]) -> Any:
    different = distinct(values)
    if len(different) == 1:
        return different[0]
    return [item for value in different for item in (value if isinstance(value, list) else [value])]
