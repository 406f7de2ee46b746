"""JSON values as rows of a path and a text, for readers."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

# The most of a path and of a text that a row holds.
LONGEST_PATH = 300
MOST_CHARACTERS = 2000


@dataclass(frozen=True)
class FieldRow:
    """A field of a JSON value: its path, such as `fields.detail[0].amount`, and its text."""

    path: str
    text: str
    is_cut: bool = False


def field_rows(value: Mapping[str, Any]) -> Iterator[FieldRow]:
    """Walk depth first without recursion, since untrusted JSON may be nested deeply."""
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
    """Whether the list is short and simple enough for one line, such as counts or a box."""
    return (
        isinstance(value, list)
        and len(value) <= 8
        and not any(isinstance(part, dict | list) for part in value)
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
