"""The fields of a record of any benchmark, and a schema made up from records.

Benchmarks keep what is to be read under different keys of their gold line; acceptance looks at
fields, each with a name.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .records import is_empty
from .schemas import MAX_FIELDS, Kind

# Where the gold lines of the benchmarks keep their fields; the first that holds an object counts.
_PLACES = ("fields", "gold", "answer", "response")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
# The longest response that is read as JSON, characters.
_MOST = 1_000_000


def record_fields(gold: Mapping[str, Any]) -> dict[str, Any]:
    """What a gold line says, by name of the field; an object in an object is `outer.inner`.

    >>> record_fields({"id": "r1", "fields": {"total": "3.00", "seller": {"name": "A"}}})
    {'total': '3.00', 'seller.name': 'A'}
    >>> record_fields({"id": "c1", "task": "KIE", "response": "seven"})
    {'task': 'KIE', 'response': 'seven'}
    """
    for place in _PLACES:
        inner = _object(gold.get(place))
        if inner is not None:
            return dict(_flat(inner, ""))
    return dict(_flat({key: value for key, value in gold.items() if key != "id"}, ""))


def derived_schema(records: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """A schema, as `read_schema` takes it, that fits the fields of the records.

    The fields come in the order they are met, at most MAX_FIELDS; a kind is what all values that
    are not empty have in common, else text. Objects in a list have fields too, those in a list
    within them no more. It asks for nothing and has no rules.
    """
    return {"fields": _rules(records, deep=True)}


def is_storable(value: Any) -> bool:
    """Whether a JSON value can be kept: no NUL, no NaN, nested no deeper than Python goes."""
    try:
        return "\\u0000" not in json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        return False


def _rules(records: Iterable[Mapping[str, Any]], *, deep: bool) -> list[dict[str, Any]]:
    kinds: dict[str, set[Kind]] = {}
    inner: dict[str, list[Mapping[str, Any]]] = {}
    for record in records:
        for name, value in record.items():
            if name not in kinds and len(kinds) == MAX_FIELDS:
                continue
            found = kinds.setdefault(name, set())
            if not is_empty(value):
                found.add(_kind(value))
            if deep and isinstance(value, list):
                inner.setdefault(name, []).extend(one for one in value if isinstance(one, Mapping))
    return [_rule(name, found, inner.get(name, [])) for name, found in kinds.items()]


def _rule(name: str, kinds: set[Kind], inner: list[Mapping[str, Any]]) -> dict[str, Any]:
    kind = next(iter(kinds)) if len(kinds) == 1 else "text"
    if kind == "list" and inner:
        return {"name": name, "kind": kind, "items": _rules(inner, deep=False)}
    return {"name": name, "kind": kind}


def _kind(value: Any) -> Kind:
    if isinstance(value, bool):
        return "flag"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, list):
        return "list"
    return "date" if isinstance(value, str) and _DATE.fullmatch(value) else "text"


def _flat(value: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    """Without calling itself: a record from outside may be nested deeply."""
    waiting = [(f"{prefix}{key}", part) for key, part in reversed(list(value.items()))]
    while waiting:
        name, part = waiting.pop()
        if isinstance(part, Mapping) and part:
            waiting += [(f"{name}.{key}", inner) for key, inner in reversed(list(part.items()))]
        else:
            yield name, part


def _object(value: Any) -> Mapping[str, Any] | None:
    """An object, or a text that spells one."""
    if isinstance(value, str) and value.lstrip().startswith("{") and len(value) <= _MOST:
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, Mapping) and value else None
