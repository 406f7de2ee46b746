"""Schemas of records: fields, their kinds, and rules between them.

A schema is a list of fields, or an object `{fields, sums, orders}`, in JSON or TOML:

- field: `name`; `kind`, one of KINDS; `required`: may not be empty; `choices`: allowed texts;
  `form`, one of FORMS: how the value is written; `several`: may also be a list of texts;
  `evidence`: a field that must not be empty if this one has a value; `items`: the fields of the
  objects in a list. A list without `items` contains texts.
- sum: the `amount` of all `items` equals the `total` within `tolerance`, if both exist.
- order: the date `first` is not after the date `last`.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, cast, get_args

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


@dataclass(frozen=True)
class FieldRule:
    name: str
    kind: Kind
    required: bool = False
    choices: tuple[str, ...] = ()
    form: str = ""
    several: bool = False
    evidence: str = ""
    items: tuple["FieldRule", ...] = ()


@dataclass(frozen=True)
class SumRule:
    items: str
    amount: str
    total: str
    tolerance: Decimal = Decimal("0.05")


@dataclass(frozen=True)
class OrderRule:
    first: str
    last: str


@dataclass(frozen=True)
class Schema:
    fields: tuple[FieldRule, ...]
    sums: tuple[SumRule, ...] = ()
    orders: tuple[OrderRule, ...] = ()

    @property
    def names(self) -> list[str]:
        return [field.name for field in self.fields]


def raw_schema(name: str) -> dict[str, Any]:
    """Return one of BUILT_IN as plain JSON for `read_schema`. Raises KeyError."""
    return tomllib.loads(BUILT_IN[name].read_text(encoding="utf-8"))


def read_schema(data: Any) -> Schema:
    """Read a schema from plain JSON or TOML. Raises SchemaError with the place of the fault."""
    if isinstance(data, list):
        data = {"fields": data}
    raw = _object(data, "schema", {"fields", "sums", "orders"})
    rules = _fields(raw.get("fields"), "fields")
    schema = Schema(
        rules,
        tuple(_sum(item, place) for item, place in _list(raw.get("sums", []), "sums")),
        tuple(_order(item, place) for item, place in _list(raw.get("orders", []), "orders")),
    )
    _check_references(schema)
    return schema


def _fields(data: Any, place: str) -> tuple[FieldRule, ...]:
    rules = tuple(_field(item, where) for item, where in _list(data, place))
    if not rules:
        raise SchemaError(f"{place}: there must be at least one field")
    names = [rule.name for rule in rules]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise SchemaError(f"{place}: {twice} occurs twice")
    return rules


def _field(data: Any, place: str) -> FieldRule:
    raw = _object(data, place, {field.name for field in fields(FieldRule)})
    kind = raw.get("kind", "text")
    if kind not in KINDS:
        raise SchemaError(f"{place}.kind: must be one of {', '.join(KINDS)}, not {kind!r}")
    if "items" in raw and kind != "list":
        raise SchemaError(f"{place}.items: only a list has items")
    return FieldRule(
        name=_text(raw, "name", place, needed=True),
        kind=cast("Kind", kind),
        required=_flag(raw, "required", place),
        choices=_choices(raw.get("choices", []), f"{place}.choices"),
        form=_form(raw, place),
        several=_flag(raw, "several", place),
        evidence=_text(raw, "evidence", place),
        items=_fields(raw["items"], f"{place}.items") if "items" in raw else (),
    )


def _sum(data: Any, place: str) -> SumRule:
    raw = _object(data, place, {"items", "amount", "total", "tolerance"})
    try:
        tolerance = Decimal(str(raw.get("tolerance", "0.05")))
    except InvalidOperation:
        tolerance = Decimal(-1)
    if not (tolerance.is_finite() and tolerance >= 0):
        raise SchemaError(f"{place}.tolerance: must be a number, 0 or more")
    items, amount, total = (_text(raw, key, place, needed=True) for key in _SUM)
    return SumRule(items, amount, total, tolerance)


_SUM = ("items", "amount", "total")


def _order(data: Any, place: str) -> OrderRule:
    raw = _object(data, place, {"first", "last"})
    return OrderRule(*(_text(raw, key, place, needed=True) for key in ("first", "last")))


def _check_references(schema: Schema) -> None:
    """Check that every field in a rule exists and has the right kind. Raises SchemaError."""
    by_name = {field.name: field for field in schema.fields}

    def must_be(name: str, kind: Kind | None, rules: Mapping[str, FieldRule]) -> None:
        if name not in rules:
            raise SchemaError(f"a rule names {name}, which is not a field")
        if kind and rules[name].kind != kind:
            raise SchemaError(f"a rule needs {name} to be a {kind}, not a {rules[name].kind}")

    for field in schema.fields:
        if field.evidence:
            must_be(field.evidence, None, by_name)
    for rule in schema.sums:
        must_be(rule.items, "list", by_name)
        must_be(rule.total, "number", by_name)
        inside = {item.name: item for item in by_name[rule.items].items}
        must_be(rule.amount, "number", inside)
    for order in schema.orders:
        must_be(order.first, "date", by_name)
        must_be(order.last, "date", by_name)


def _object(data: Any, place: str, known: set[str]) -> Mapping[str, Any]:
    if not isinstance(data, Mapping):
        raise SchemaError(f"{place}: must be an object")
    if unknown := sorted(str(key) for key in data if key not in known):
        raise SchemaError(f"{place}: unknown key {unknown[0]}; use {', '.join(sorted(known))}")
    return data


def _list(data: Any, place: str) -> Iterator[tuple[Any, str]]:
    if not isinstance(data, Sequence) or isinstance(data, str):
        raise SchemaError(f"{place}: must be a list")
    if len(data) > MAX_FIELDS:
        raise SchemaError(f"{place}: has more than {MAX_FIELDS} entries")
    return ((item, f"{place}[{index}]") for index, item in enumerate(data))


def _text(raw: Mapping[str, Any], key: str, place: str, *, needed: bool = False) -> str:
    value = raw.get(key, "")
    if not isinstance(value, str) or (needed and not value.strip()):
        raise SchemaError(f"{place}.{key}: must be a text")
    return value


def _flag(raw: Mapping[str, Any], key: str, place: str) -> bool:
    value = raw.get(key, False)
    if not isinstance(value, bool):
        raise SchemaError(f"{place}.{key}: must be true or false")
    return value


def _choices(data: Any, place: str) -> tuple[str, ...]:
    choices = tuple(item for item, _ in _list(data, place))
    if not all(isinstance(item, str) for item in choices):
        raise SchemaError(f"{place}: must be texts")
    return choices


def _form(raw: Mapping[str, Any], place: str) -> str:
    form = _text(raw, "form", place)
    if form and form not in FORMS:
        raise SchemaError(f"{place}.form: must be one of {', '.join(FORMS)}, not {form!r}")
    return form
