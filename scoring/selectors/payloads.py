"""Any JSON as a readable table: the gold, the prediction and the result of one item."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

# What one page can usefully show; what is left out is said.
MOST_ROWS = 200
MOST_CHARACTERS = 2000
LONGEST_PATH = 300


@dataclass(frozen=True)
class FieldRow:
    """A field of a JSON value: its path, such as `fields.detail[0].amount`, and its text."""

    path: str
    text: str
    is_cut: bool = False


@dataclass(frozen=True)
class FieldTable:
    """The fields of a JSON object in its own order; `has_more` if only the first are listed."""

    title: str
    rows: tuple[FieldRow, ...]
    has_more: bool = False


def field_table(title: str, value: Mapping[str, Any], *, without: frozenset[str]) -> FieldTable:
    """The object's fields, one row for each value that is no list or object; `without` are keys of
    the object to be left out."""
    shown = {key: part for key, part in value.items() if key not in without}
    rows = tuple(islice(field_rows(shown), MOST_ROWS + 1))
    return FieldTable(title, rows[:MOST_ROWS], has_more=len(rows) > MOST_ROWS)


def field_rows(value: Mapping[str, Any]) -> Iterator[FieldRow]:
    """Depth first without recursion: how deep untrusted JSON is nested must not matter."""
    waiting: list[Iterator[tuple[str, Any]]] = [_inside("", value)]
    while waiting:
        path, part = next(waiting[-1], ("", None))
        if not path:
            waiting.pop()
        elif isinstance(part, dict | list) and part and not _is_plain_list(part):
            waiting.append(_inside(path, part))
        else:
            text = _text(part)
            yield FieldRow(
                path[:LONGEST_PATH], text[:MOST_CHARACTERS], is_cut=len(text) > MOST_CHARACTERS
            )


def _inside(path: str, value: Mapping[str, Any] | list[Any]) -> Iterator[tuple[str, Any]]:
    if isinstance(value, list):
        return ((f"{path}[{n}]", part) for n, part in enumerate(value))
    before = f"{path}." if path else ""
    return ((f"{before}{key}" or "(no name)", part) for key, part in value.items())


def _is_plain_list(value: Any) -> bool:
    """Whether it is a list short and simple enough for one line, such as counts or a box."""
    return (
        isinstance(value, list)
        and len(value) <= 8
        and not any(isinstance(part, dict | list) for part in value)
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
