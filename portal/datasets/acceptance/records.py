"""The named fields of a benchmark's record, and schemas that they are checked against. No Django.

Benchmarks keep these fields under different keys of their gold lines. Validation checks the form
of every field, sums, and the order of dates. Source of the checks: ReceiptBench, section 3.1
(schema, standard dates, line items against total).

A schema is a list of fields, or an object `{fields, sums, orders}`, in JSON or TOML:

- field: `name`; `kind`, one of KINDS; `required`: may not be empty; `choices`: allowed texts;
  `form`, one of FORMS: how the value is written; `several`: may also be a list of texts;
  `evidence`: a field that must not be empty if this one has a value; `items`: the fields of the
  objects in a list. A list without `items` contains texts.
- sum: the `amount` of all `items` equals the `total` within `tolerance`, if both exist.
- order: the date `first` is not after the date `last`.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StringConstraints,
    ValidationError,
    model_validator,
)

from portal.facts import read_value

Kind: TypeAlias = Literal["text", "number", "date", "flag", "list"]
KINDS: tuple[Kind, ...] = get_args(Kind)

# Built-in schemas by name.
BUILT_IN = {"receipts": Path(__file__).with_name("receipts.toml")}

MAX_FIELDS = 200


class Form(NamedTuple):
    """A format of values, with an example for messages."""

    pattern: re.Pattern[str]
    example: str


# Users choose a form by name: a regular expression of their own could block a worker.
FORMS = {
    "currency": Form(re.compile("[A-Z]{3}"), "USD"),
    "amount": Form(re.compile(r"-?[0-9]{1,3}(?:,[0-9]{3})*+\.[0-9]{2}"), "1,200.00"),
    "year": Form(re.compile("(?:19|20)[0-9]{2}"), "2025"),
    "digits": Form(re.compile("[0-9]+"), "0012345"),
}


class SchemaError(ValueError):
    """The schema cannot be used. The message names the place in it."""


def _known_form(form: str) -> str:
    if form and form not in FORMS:
        raise ValueError(f"must be one of {', '.join(FORMS)}, not {form!r}")
    return form


def _distinct(rules: tuple["FieldRule", ...]) -> tuple["FieldRule", ...]:
    names = [rule.name for rule in rules]
    if not names:
        raise ValueError("there must be at least one field")
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"{twice} occurs twice")
    return rules


class _Rule(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


Name = Annotated[str, StringConstraints(pattern=r"\S")]
Rules = Annotated[tuple["FieldRule", ...], Field(max_length=MAX_FIELDS), AfterValidator(_distinct)]


class FieldRule(_Rule):
    name: Name
    kind: Kind = "text"
    required: StrictBool = False
    choices: tuple[str, ...] = Field((), max_length=MAX_FIELDS)
    form: Annotated[str, AfterValidator(_known_form)] = ""
    several: StrictBool = False
    evidence: str = ""
    items: Rules = ()

    @model_validator(mode="after")
    def _check_items(self) -> "FieldRule":
        if self.items and self.kind != "list":
            raise ValueError("only a list has items")
        return self


class SumRule(_Rule):
    items: Name
    amount: Name
    total: Name
    tolerance: Decimal = Field(Decimal("0.05"), ge=0)


class OrderRule(_Rule):
    first: Name
    last: Name


class Schema(_Rule):
    fields: Rules
    sums: tuple[SumRule, ...] = Field((), max_length=MAX_FIELDS)
    orders: tuple[OrderRule, ...] = Field((), max_length=MAX_FIELDS)

    @property
    def names(self) -> list[str]:
        return [field.name for field in self.fields]

    @model_validator(mode="after")
    def _check_references(self) -> "Schema":
        """Check that every field in a rule exists and has the right kind."""
        for field in self.fields:
            if field.evidence:
                _check_kind(field.evidence, None, self.fields)
        for rule in self.sums:
            items = _check_kind(rule.items, "list", self.fields).items
            _check_kind(rule.total, "number", self.fields)
            _check_kind(rule.amount, "number", items)
        for order in self.orders:
            _check_kind(order.first, "date", self.fields)
            _check_kind(order.last, "date", self.fields)
        return self


def raw_schema(name: str) -> dict[str, Any]:
    """Return one of BUILT_IN as plain JSON for `read_schema`. Raises KeyError."""
    return tomllib.loads(BUILT_IN[name].read_text(encoding="utf-8"))


def read_schema(data: Any) -> Schema:
    """Read a schema from plain JSON or TOML. Raises SchemaError with the place of the fault."""
    try:
        return Schema.model_validate({"fields": data} if isinstance(data, list) else data)
    except ValidationError as error:
        fault = error.errors()[0]
        steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in fault["loc"])
        place = "".join(steps).removeprefix(".") or "schema"
        reason = fault.get("ctx", {}).get("error") or _REASONS.get(fault["type"]) or fault["msg"]
        raise SchemaError(f"{place}: {reason}") from error


# Clearer than the messages of pydantic.
_REASONS = {
    "bool_type": "must be true or false",
    "decimal_parsing": "must be a number",
    "extra_forbidden": "unknown key",
    "missing": "this key is required",
    "model_type": "must be an object",
    "string_pattern_mismatch": "must not be empty",
    "string_type": "must be text",
    "too_long": f"has more than {MAX_FIELDS} entries",
    "tuple_type": "must be a list",
}


def _check_kind(name: str, kind: Kind | None, fields: tuple[FieldRule, ...]) -> FieldRule:
    rule = next((field for field in fields if field.name == name), None)
    if rule is None:
        raise ValueError(f"a rule names {name}, which is not a field")
    if kind and rule.kind != kind:
        raise ValueError(f"a rule needs {name} to be a {kind}, not a {rule.kind}")
    return rule


# Longest amount, in characters.
MAX_NUMBER = 40
_QUOTED = 60
_FIGURE = re.compile("[0-9]")
# Groups of thousands have three digits, so this comma can only be a decimal mark.
_DECIMAL_COMMA = re.compile(r"([0-9]+),([0-9]{1,2})")
_ISO_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class FieldFault(NamedTuple):
    """A fault of a field. `field` is a field of the schema, or the unknown key.

    `code` is one of absent (no such key), unknown, empty, kind, choice, form, number, date,
    evidence, sum, order. The message names the item if the field is a list.
    """

    field: str
    code: str
    message: str


# The faults in words, by code.
FAULT_LABELS = {
    "absent": "missing field",
    "unknown": "unknown field",
    "empty": "empty value",
    "kind": "wrong type",
    "choice": "not one of the choices",
    "form": "wrong format",
    "number": "not a number",
    "date": "not a date",
    "evidence": "required counterpart is empty",
    "sum": "wrong sum",
    "order": "dates out of order",
}


def validate_record(record: Any, schema: Schema) -> list[FieldFault]:
    """Return the faults of a record, in the order of the schema.

    Null, blank text and an empty list or object count as empty, which is a fault of required fields
    only. `record` may be any value; the running time is linear in its size.
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
    """Whether the value is null, blank text, or an empty list or object."""
    return value is None or value in ([], {}) or (isinstance(value, str) and not value.strip())


def read_amount(value: Any) -> Decimal | None:
    """Read an amount from a number or from digits in a text; None if it is not an amount.

    >>> read_amount("1,200.50"), read_amount("12,90"), read_amount(-3), read_amount("about 3")
    (Decimal('1200.50'), Decimal('12.90'), Decimal('-3'), None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, float) and not Decimal(value).is_finite():
        return None
    # Formatting an integer with thousands of digits would take too long.
    if isinstance(value, int) and value.bit_length() > 3 * MAX_NUMBER:
        return None
    written = value.strip() if isinstance(value, str) else format(Decimal(repr(value)), "f")
    if len(written) > MAX_NUMBER or not _FIGURE.search(written):
        return None
    if comma := _DECIMAL_COMMA.fullmatch(written):
        return Decimal(f"{comma[1]}.{comma[2]}")
    amount = read_value(written, "Number").value
    return Decimal(amount) if amount and "/" not in amount else None


def _field_faults(
    record: Mapping[str, Any], rule: FieldRule, item: str = ""
) -> Iterator[FieldFault]:
    """Yield the faults of one field. `item` names the list item that contains it."""
    if rule.name not in record:
        yield FieldFault(rule.name, "absent", f"{item}{rule.name} is missing")
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
    """Return the code and message of the fault of one value that is not empty."""
    if rule.kind == "flag":
        return (
            None if isinstance(value, bool) else ("kind", f"is {_quoted(value)}, not true or false")
        )
    if rule.kind == "number":
        if read_amount(value) is None:
            return "number", f"is {_quoted(value)}, which is not a number"
    elif not isinstance(value, str):
        return "kind", f"is {_quoted(value)}, not text"
    elif rule.kind == "date" and _date(value) is None:
        return "date", f"is {_quoted(value)}, not a date such as 2026-03-31"
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
            wanted = "an object" if rule.items else "text"
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
    """Compare the sum only if all amounts are readable; others are faults of their own."""
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
    message = f"the items in {rule.items} add up to {added:,f}, but {rule.total} is {total:,f}"
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
    """Format a value for a message, shortened."""
    if isinstance(value, list | Mapping):
        return "a list" if isinstance(value, list) else "an object"
    if isinstance(value, int) and value.bit_length() > 3 * MAX_NUMBER:
        return "a very large number"
    written = json.dumps(value, ensure_ascii=False, default=str)
    return written if len(written) <= _QUOTED else f"{written[:_QUOTED]}…"


# Keys under which gold lines keep their fields; the first one that holds an object is used.
_PLACES = ("fields", "gold", "answer", "response")
# Longest response that is read as JSON, in characters.
_MOST = 1_000_000


def record_fields(gold: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a gold line by name; a nested object gives names as `outer.inner`.

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
    """Return a schema for `read_schema` that fits the records, without required fields or rules.

    Fields are in the order of their first use, at most MAX_FIELDS. The kind of a field is that of
    all its values that are not empty, or text if they differ. Objects in a list have fields;
    lists within those objects do not.
    """
    return {"fields": _rules(records, deep=True)}


def is_storable(value: Any) -> bool:
    """Whether a JSON value can be stored: no NUL, no NaN, no nesting beyond Python's limit."""
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
            own_kinds = kinds.setdefault(name, set())
            if not is_empty(value):
                own_kinds.add(_kind(value))
            if deep and isinstance(value, list):
                inner.setdefault(name, []).extend(
                    item for item in value if isinstance(item, Mapping)
                )
    return [_rule(name, own_kinds, inner.get(name, [])) for name, own_kinds in kinds.items()]


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
    return "date" if isinstance(value, str) and _ISO_DATE.fullmatch(value) else "text"


def _flat(value: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    """Flatten without recursion, because an uploaded record may be nested deeply."""
    waiting = [(f"{prefix}{key}", part) for key, part in reversed(list(value.items()))]
    while waiting:
        name, part = waiting.pop()
        if isinstance(part, Mapping) and part:
            waiting += [(f"{name}.{key}", inner) for key, inner in reversed(list(part.items()))]
        else:
            yield name, part


def _object(value: Any) -> Mapping[str, Any] | None:
    """Return an object, or parse a text that contains one as JSON."""
    if isinstance(value, str) and value.lstrip().startswith("{") and len(value) <= _MOST:
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, Mapping) and value else None
