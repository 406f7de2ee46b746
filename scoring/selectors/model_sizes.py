"""How many parameters a model card states: one reading for filter, order and chart."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_UNITS = {
    "k": 1e3,
    "m": 1e6,
    "b": 1e9,
    "bn": 1e9,
    "t": 1e12,
    "thousand": 1e3,
    "million": 1e6,
    "billion": 1e9,
    "trillion": 1e12,
}
# More than any card may hold; a reader's filter is of any length.
_LONGEST = 100
_PLAIN = re.compile(r"\s*\d+(?:,\d{3})*(?:\.\d+)?\s*")
# Models that work together, such as "3B + 671B".
_JOINED = re.compile(r"\+|&|;|,\s|\b(?:and|plus|with)\b")
_AMOUNT = re.compile(
    r"""
    (?:(?P<before>active|activated|total)\W*)?
    (?<![\w.,])
    (?:(?P<times>\d+)\s*[x×]\s*)?
    (?P<active>a)?
    (?P<number>\d+(?:[.,]\d+)*)\s*
    (?P<unit>thousand|million|billion|trillion|bn|[kmbt])(?![a-z])
    (?!\s*(?:context|ctx|tokens))
    (?:\s*(?:params?|parameters)\b)?
    (?:\s*(?P<after>active|activated|total))?
    """,
    re.VERBOSE,
)


class _Amount(NamedTuple):
    parameters: float
    role: str
    """`active`, `total`, or nothing."""


def parameters(size: str) -> float | None:
    """The number of parameters that a size such as 7B, 0.9 b or 350M says; None if it says none.

    Models that work together are added up. Of a mixture of experts all parameters count, not only
    the active ones; 8x7B is read as a product. Of several numbers for one model, such as 30B/3B,
    the largest counts.

    >>> parameters("1.2B"), parameters("3B + 671B"), parameters("235B-A22B"), parameters("-")
    (1200000000.0, 674000000000.0, 235000000000.0, None)
    """
    text = size.lower()
    if len(text) > _LONGEST:
        return None
    if _PLAIN.fullmatch(text):
        return float(text.replace(",", ""))
    models = [_of_model(part) for part in _JOINED.split(text)]
    stated = [model for model in models if model is not None]
    return sum(stated) if stated else None


def _of_model(text: str) -> float | None:
    amounts = [each for each in _amounts(text) if each.role != "active"]
    totals = [each for each in amounts if each.role == "total"] or amounts
    return max((each.parameters for each in totals), default=None)


def _amounts(text: str) -> Iterator[_Amount]:
    for match in _AMOUNT.finditer(text):
        role = "active" if match["active"] else match["before"] or match["after"] or ""
        value = _number(match["number"]) * _UNITS[match["unit"]]
        yield _Amount(value * int(match["times"] or 1), role.replace("activated", "active"))


def _number(text: str) -> float:
    """A comma before three digits groups thousands, any other is a decimal one."""
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", text):
        return float(text.replace(",", ""))
    whole, _, rest = text.replace(",", ".").partition(".")
    return float(f"{whole}.{rest.replace('.', '') or 0}")
