"""JSON from outside, read more strictly than Python reads it."""

import json
import math
from typing import Any, NoReturn

# Lists and objects inside each other; the deepest published gold has about ten.
DEEPEST = 100


class JsonError(ValueError):
    """Bytes that are no JSON we take; `line` counts from 1 within them."""

    def __init__(self, reason: str, line: int = 1) -> None:
        super().__init__(reason)
        self.line = line


def read_json(data: bytes) -> Any:
    """The value that UTF-8 bytes spell; a byte order mark is no part of it.

    Refuses what JSON can spell and a database cannot keep: NUL, half characters, numbers beyond
    floating point, more than DEEPEST levels; and NaN, and a key that stands twice in an object.
    Raises JsonError.
    """
    try:
        text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise JsonError(f"not UTF-8 at byte {error.start + 1}", line) from error
    try:
        value = json.loads(text, parse_constant=no_number, object_pairs_hook=_distinct)
    except json.JSONDecodeError as error:
        # Some of Python's messages end in the word that comes next.
        reason = f"not JSON: {error.msg.removesuffix(' at')} at column {error.colno}"
        raise JsonError(reason, error.lineno) from error
    except RecursionError as error:
        raise JsonError(f"nested more than {DEEPEST} deep") from error
    except JsonError:
        raise
    except ValueError as error:
        # Python refuses whole numbers of more than 4,300 digits.
        raise JsonError("a number has too many digits") from error
    check_plain(value)
    return value


def read_object(data: bytes) -> dict[str, Any]:
    """The JSON object that the bytes spell. Raises JsonError."""
    value = read_json(data)
    if not isinstance(value, dict):
        raise JsonError("not a JSON object")
    return value


def check_plain(value: Any) -> None:
    """Raises JsonError for what a database cannot keep. Level by level, so it needs no stack."""
    level, depth = [value], 0
    while level:
        if depth == DEEPEST and any(isinstance(node, dict | list) for node in level):
            raise JsonError(f"nested more than {DEEPEST} deep")
        following: list[Any] = []
        for node in level:
            if isinstance(node, dict):
                following += [*node.keys(), *node.values()]
            elif isinstance(node, list):
                following += node
            else:
                _check_scalar(node)
        level, depth = following, depth + 1


def _check_scalar(node: Any) -> None:
    if isinstance(node, str):
        if "\x00" in node or any("\ud800" <= c <= "\udfff" for c in node):
            raise JsonError("a text contains a NUL or half a character")
    elif isinstance(node, float) and not math.isfinite(node):
        raise JsonError("a number is too large")


def no_number(name: str) -> NoReturn:
    raise JsonError(f"{name} is no JSON number")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise JsonError("a key stands twice in one object")
    return value
