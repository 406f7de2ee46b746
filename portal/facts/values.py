"""The normalised value of a fact and the convention its sign is written in, derived and checked."""

from typing import NamedTuple

from portal.facts.date_values import check_date, read_date
from portal.facts.labels import label_kind
from portal.facts.number_values import SIGNS, check_number, read_number

__all__ = ["SIGNS", "FactValue", "check_value", "read_value"]


class FactValue(NamedTuple):
    """A value as `check_value` wants it, and one of SIGNS for a number; empty when not known."""

    value: str
    sign: str


def read_value(quote: str, label: str) -> FactValue:
    """The value and sign convention of a fact, as far as its quote tells them.

    A number is a decimal with all the places that were written, or a fraction: `(1,200.50)` is
    -1200.50 in parentheses. It is not scaled, neither by a percent sign nor by what stands around
    it. A date is ISO 8601, with the additions of `date_values`. Labels of other kinds have neither
    value nor sign. Any quote is accepted; what cannot be read is empty.

    >>> read_value("(1,200)", "Number"), read_value("March 24, 2025", "Date").value
    (FactValue(value='-1200', sign='parentheses'), '2025-03-24')
    """
    kind = label_kind(label)
    if kind == "number":
        return FactValue(*read_number(quote))
    return FactValue(read_date(quote) if kind == "date" else "", "")


def check_value(value: str, sign: str, label: str) -> str | None:
    """What is wrong with a value and sign convention, as a sentence; None when nothing is.

    Whatever `read_value` gives is fine, and so are two empty strings.
    """
    kind = label_kind(label)
    if kind == "number":
        return check_number(value, sign)
    if kind == "date":
        return check_date(value, sign)
    return f"the label {label} has no value and no sign" if value or sign else None
