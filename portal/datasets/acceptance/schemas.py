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
    "string_type": "must be a text",
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
