"""Gold without facts, prepared for display: texts and tables, and the JSON of its line."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.utils.text import capfirst

# The part of a gold line that is shown, in characters. Longer gold is shown as JSON only.
LONGEST_LINE = 20_000
# Longest list or object that is written in one line, in characters.
LINE_WIDTH = 80
# Keys under which gold lines keep their fields; they are left out of the names of parts.
_PLACES = ("gold", "fields")


@dataclass(frozen=True)
class GoldTable:
    """A list of objects: its name, the keys of the objects, and their values."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class GoldTexts:
    """Values that are no table, each with its name."""

    values: tuple[tuple[str, str], ...]


GoldPart = GoldTable | GoldTexts


def gold_json(gold: Mapping[str, Any]) -> str:
    """The gold line as JSON over several lines, cut at LONGEST_LINE."""
    text = "\n".join(_written(gold))
    return text if len(text) <= LONGEST_LINE else f"{text[:LONGEST_LINE]}\n…"


def gold_parts(gold: Mapping[str, Any]) -> list[GoldPart]:
    """The parts of a gold line in their order, without its id; none if it is too long.

    >>> gold_parts({"id": "a", "gold": {"total": "3", "lines": [{"item": "x", "amount": 2}]}})
    ... # doctest: +NORMALIZE_WHITESPACE
    [GoldTexts(values=(('total', '3'),)),
     GoldTable(name='lines', columns=('item', 'amount'), rows=(('x', '2'),))]
    """
    if len(json.dumps(gold, ensure_ascii=False)) > LONGEST_LINE:
        return []
    found = list(_parts((), {key: value for key, value in gold.items() if key != "id"}))
    parts: list[GoldPart] = []
    for is_table, group in groupby(found, key=lambda part: isinstance(part, GoldTable)):
        if is_table:
            parts += [part for part in group if isinstance(part, GoldTable)]
        else:
            parts.append(GoldTexts(tuple(part for part in group if isinstance(part, tuple))))
    return parts


def _parts(path: tuple[str, ...], value: Any) -> Iterator[GoldTable | tuple[str, str]]:
    if isinstance(value, Mapping) and value:
        for key, part in value.items():
            yield from _parts((*path, str(key)), part)
    elif isinstance(value, list) and value and all(isinstance(part, Mapping) for part in value):
        if any(isinstance(cell, Mapping | list) for part in value for cell in part.values()):
            for number, part in enumerate(value, start=1):
                yield from _parts((*path[:-1], _numbered(path[-1], number)), part)
        else:
            columns = tuple(dict.fromkeys(str(key) for part in value for key in part))
            rows = tuple(tuple(_text(part.get(key)) for key in columns) for part in value)
            yield GoldTable(_name(path), columns, rows)
    elif isinstance(value, list) and not any(isinstance(part, Mapping | list) for part in value):
        yield _name(path), "\n".join(map(_text, value))
    else:
        yield _name(path), _text(value)


def _numbered(key: str, number: int) -> str:
    """One element of a list, such as “Statement 2” of `statements`."""
    return f"{capfirst(key.removesuffix('s').replace('_', ' '))} {number}"


def _name(path: tuple[str, ...]) -> str:
    for place in _PLACES:
        if len(path) > 1 and path[0] == place:
            path = path[1:]
    return " › ".join(path)


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _written(value: Any) -> list[str]:
    """The lines of a JSON value. Lists and objects that fit into a short line stay in one."""
    if isinstance(value, Mapping):
        opening, closing = "{", "}"
        parts = [
            (f"{json.dumps(key, ensure_ascii=False)}: ", _written(part))
            for key, part in value.items()
        ]
    elif isinstance(value, list):
        opening, closing = "[", "]"
        parts = [("", _written(part)) for part in value]
    else:
        return [json.dumps(value, ensure_ascii=False)]
    if all(len(lines) == 1 for _, lines in parts):
        line = f"{opening}{', '.join(key + lines[0] for key, lines in parts)}{closing}"
        if len(line) <= LINE_WIDTH:
            return [line]
    written = [opening]
    for number, (key, lines) in enumerate(parts, start=1):
        indented = [f"  {line}" for line in [f"{key}{lines[0]}", *lines[1:]]]
        comma = "," if number < len(parts) else ""
        written += [*indented[:-1], f"{indented[-1]}{comma}"]
    return [*written, closing]
