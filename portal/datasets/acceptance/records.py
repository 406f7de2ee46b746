"""Records: the fields of any benchmark's record, and their automatic validation against a schema.

Benchmarks keep what is to be read under different keys of their gold line; acceptance looks at
fields, each with a name. Validation checks the form of every field, and sums and orders. Source
of the checks: ReceiptBench, section 3.1 (schema, standard dates, line items against total). No
Django.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple

from portal.facts import read_value

from .schemas import FORMS, MAX_FIELDS, FieldRule, Kind, OrderRule, Schema, SumRule

# Nothing longer is an amount.
MAX_NUMBER = 40
_QUOTED = 60
_FIGURE = re.compile("[0-9]")
# Groups of thousands have three figures, so this comma can only be a decimal mark.
_DECIMAL_COMMA = re.compile(r"([0-9]+),([0-9]{1,2})")
_ISO_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class FieldFault(NamedTuple):
    """What is wrong with a field. `field` is one of the schema's, or the unknown key itself.

    `code`: absent (no such key), unknown, empty, kind, choice, form, number, date, evidence,
    sum, order. The message is a sentence that names the item for a list.
    """

    field: str
    code: str
    message: str


def validate_record(record: Any, schema: Schema) -> list[FieldFault]:
    """The faults of a record, in the order of the schema; none when all of it can be right.

    Empty are null, blank text and an empty list or object: fine unless the field is required.
    Any value is accepted; the time is linear in the record.
    """
    if not isinstance(record, Mapping):
        return [FieldFault("", "kind", "the record is not an object")]
    faults = [fault for rule in schema.fields for fault in _field_faults(record, rule)]
    for rule in schema.sums:
        faults += _sum_faults(record, rule)
    for order in schema.orders:
        faults += _order_faults(record, order)
    return faults + _unknown_faults(record, schema.names, "")


def is_empty(value: Any) -> bool:
    """Null, blank text, an empty list or object."""
    return value is None or value in ([], {}) or (isinstance(value, str) and not value.strip())


def read_amount(value: Any) -> Decimal | None:
    """The amount that a number, or figures in a text, say; None when it is none.

    >>> read_amount("1,200.50"), read_amount("12,90"), read_amount(-3), read_amount("about 3")
    (Decimal('1200.50'), Decimal('12.90'), Decimal('-3'), None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, float) and not Decimal(value).is_finite():
        return None
    # A whole number of thousands of digits must not even be written out.
    if isinstance(value, int) and value.bit_length() > 3 * MAX_NUMBER:
        return None
    written = value.strip() if isinstance(value, str) else format(Decimal(repr(value)), "f")
    if len(written) > MAX_NUMBER or not _FIGURE.search(written):
        return None
    if comma := _DECIMAL_COMMA.fullmatch(written):
        return Decimal(f"{comma[1]}.{comma[2]}")
    found = read_value(written, "Number").value
    return Decimal(found) if found and "/" not in found else None


def _field_faults(
    record: Mapping[str, Any], rule: FieldRule, item: str = ""
) -> Iterator[FieldFault]:
    """The faults of one field; `item` names the item of a list that it is in."""
    if rule.name not in record:
        yield FieldFault(rule.name, "absent", f"{item}{rule.name} is not there")
        return
    value = record[rule.name]
    if is_empty(value):
        if rule.required:
            yield FieldFault(rule.name, "empty", f"{item}{rule.name} is empty")
        return
    if rule.evidence and is_empty(record.get(rule.evidence)):
        message = f"{item}{rule.name} has a value, but {rule.evidence} is empty"
        yield FieldFault(rule.name, "evidence", message)
    if rule.kind == "list":
        yield from _list_faults(value, rule, item)
        return
    values = value if rule.several and isinstance(value, list) else [value]
    for single in values:
        if fault := _form_fault(single, rule):
            code, message = fault
            yield FieldFault(rule.name, code, f"{item}{rule.name} {message}")


def _form_fault(value: Any, rule: FieldRule) -> tuple[str, str] | None:
    """Code and message of what is wrong with one value that is not empty."""
    if rule.kind == "flag":
        return (
            None if isinstance(value, bool) else ("kind", f"is {_quoted(value)}, not true or false")
        )
    if rule.kind == "number":
        if read_amount(value) is None:
            return "number", f"is {_quoted(value)}, which is not a number"
    elif not isinstance(value, str):
        return "kind", f"is {_quoted(value)}, not a text"
    elif rule.kind == "date" and _date(value) is None:
        return "date", f"is {_quoted(value)}, not a date as YYYY-MM-DD"
    if rule.choices and value not in rule.choices:
        return "choice", f"is {_quoted(value)}, not one of {', '.join(rule.choices)}"
    if rule.form and not (isinstance(value, str) and FORMS[rule.form].pattern.fullmatch(value)):
        return "form", f"is {_quoted(value)}, not written as {FORMS[rule.form].example}"
    return None


def _list_faults(value: Any, rule: FieldRule, item: str) -> Iterator[FieldFault]:
    if not isinstance(value, list):
        yield FieldFault(rule.name, "kind", f"{item}{rule.name} is {_quoted(value)}, not a list")
        return
    for number, entry in enumerate(value, start=1):
        where = f"{rule.name}, item {number}: "
        if not rule.items and isinstance(entry, str):
            continue
        if not rule.items or not isinstance(entry, Mapping):
            wanted = "an object" if rule.items else "a text"
            yield FieldFault(rule.name, "kind", f"{where}is {_quoted(entry)}, not {wanted}")
            continue
        inner = [fault for inside in rule.items for fault in _field_faults(entry, inside, where)]
        inner += _unknown_faults(entry, [inside.name for inside in rule.items], where)
        yield from (FieldFault(rule.name, fault.code, fault.message) for fault in inner)


def _unknown_faults(record: Mapping[str, Any], names: list[str], item: str) -> list[FieldFault]:
    keys = [str(key) for key in record if key not in names]
    return [
        FieldFault(key[:_QUOTED], "unknown", f"{item}{_quoted(key)} is not a field of the schema")
        for key in keys
    ]


def _sum_faults(record: Mapping[str, Any], rule: SumRule) -> list[FieldFault]:
    """Only where there is something to compare: a wrong amount is a fault of its own already."""
    items, total = record.get(rule.items), read_amount(record.get(rule.total))
    if not isinstance(items, list) or not items or total is None:
        return []
    amounts = [read_amount(item.get(rule.amount)) for item in items if isinstance(item, Mapping)]
    known = [amount for amount in amounts if amount is not None]
    if len(known) < len(items):
        return []
    added = sum(known, Decimal(0))
    if abs(added - total) <= rule.tolerance:
        return []
    message = f"the items of {rule.items} add up to {added:,f}, {rule.total} is {total:,f}"
    return [FieldFault(rule.total, "sum", message)]


def _order_faults(record: Mapping[str, Any], rule: OrderRule) -> list[FieldFault]:
    first, last = _date(record.get(rule.first)), _date(record.get(rule.last))
    if first is None or last is None or first <= last:
        return []
    return [FieldFault(rule.last, "order", f"{rule.last} {last} is before {rule.first} {first}")]


def _date(value: Any) -> date | None:
    if not isinstance(value, str) or not _ISO_DATE.fullmatch(value):
        return None
    try:
        return date.fromisoformat(value)
    except ValueError:
        return None


def _quoted(value: Any) -> str:
    """A value of any kind for a message, shortened."""
    if isinstance(value, list | Mapping):
        return "a list" if isinstance(value, list) else "an object"
    if isinstance(value, int) and value.bit_length() > 3 * MAX_NUMBER:
        return "a very large number"
    written = json.dumps(value, ensure_ascii=False, default=str)
    return written if len(written) <= _QUOTED else f"{written[:_QUOTED]}…"


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
