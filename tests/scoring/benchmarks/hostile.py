"""File contents that could break readers."""

import json
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

DEEP = 100_000
# The beginning of a line, so that only the rest is wrong.
HALF = b'{"id": "a", "x": '


@cache
def fifty_megabytes() -> bytes:
    """A line that would be an object."""
    return HALF + b'"' + b"x" * 50_000_000 + b'"}'


ENCODINGS: dict[str, Callable[[str], bytes]] = {
    "latin-1": lambda text: text.encode("latin-1", "replace"),
    "UTF-16": lambda text: text.encode("utf-16"),
    "UTF-16 without mark": lambda text: text.encode("utf-16-be"),
    "UTF-32": lambda text: text.encode("utf-32"),
    "half a surrogate pair": lambda text: text.replace("é", "\ud800").encode(
        "utf-8", "surrogatepass"
    ),
    "half a surrogate pair, escaped": lambda text: text.replace("é", "\\ud800").encode(),
    "NUL": lambda text: text.replace("é", "\0").encode(),
    "NUL, escaped": lambda text: text.replace("é", "\\u0000").encode(),
    "overlong": lambda text: text.encode().replace("é".encode(), b"\xc0\x80"),
}

BAD_VALUES = {
    "lists too deep": b"[" * DEEP + b"]" * DEEP,
    "lists a little too deep": b"[" * 201 + b"]" * 201,
    "objects too deep": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "lists that never end": b"[" * DEEP,
    "objects that never end": b'{"a":' * DEEP,
    "a huge whole number": b"1" + b"0" * 5000,
    "a huge exponent": b"1e999",
    "a huge negative": b"-1e999",
    "many digits and a point": b"9" * 1_000_000 + b".5",
    "NaN": b"NaN",
    "Infinity": b"Infinity",
    "-Infinity": b"-Infinity",
    "a key twice": b'{"a": 1, "a": 2}',
    "a long key twice": b'{"%s": 1, "%s": 2}' % (b"k" * 5000, b"k" * 5000),
    "half a surrogate pair": b'"\\udc00"',
    "nothing": b"",
    "a word": b"nil",
}

WRONG_VALUES: list[Any] = [
    *(None, True, False, 0, -1, 45, 1.5, 1e308, -(10**400), "", " ", "\0", "\n", "\u202e"),
    *("x" * 300, "9" * 5000, "1e999", "NaN", [], {}, [[]], [None], [{}], {"": {}}),
    *({"a": {"b": [1, None]}}, [["a", 1], {"a": "b"}], [1] * 3000, {"text": "a", "point": [1, 2]}),
    [{"text": "a", "point": [10**400, float(10**300)]}],
    json.loads('{"a":' * 150 + "1" + "}" * 150),
    json.loads("[" * 150 + "]" * 150),
]


def changed(value: Any, wrong: Any) -> Iterator[Any]:
    """Yield the value with one part replaced, each in turn, or with a part added or removed.

    Only the first item of a list: the others are read in the same way.
    """
    yield wrong
    if isinstance(value, dict):
        for key, inner in value.items():
            yield {name: other for name, other in value.items() if name != key}
            for other in changed(inner, wrong):
                yield {**value, key: other}
        yield {**value, "another": wrong}
    if isinstance(value, list):
        for other in changed(value[0], wrong) if value else ():
            yield [other, *value[1:]]
        yield [*value, wrong]
