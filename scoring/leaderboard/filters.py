"""The filters of a leaderboard, shared by page, files and API.

A filter hides rows. Ranks and best figures are those of the whole table. Filters, sorting and
charts read the size on a model card with the same parser.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, date
from functools import lru_cache, partial
from operator import attrgetter
from typing import Any, NamedTuple

from django import forms

from scoring.models import Category, Entry

from .rows import Row

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
# Longer than any model card allows; a filter may be of any length.
_LONGEST = 100
_PLAIN = re.compile(r"\s*\d+(?:,\d{3})*(?:\.\d+)?\s*")
# Separates models that work together, such as "3B + 671B".
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
    """`active`, `total` or empty."""


def parameters(size: str) -> float | None:
    """Parse a number of parameters from a size such as 7B, 0.9 b or 350M. None if there is none.

    Sizes of models that work together are added up. For a mixture of experts, all parameters count,
    not only the active ones; 8x7B is read as a product. Of several numbers for one model, such as
    30B/3B, the largest counts.

    >>> parameters("1.2B"), parameters("3B + 671B"), parameters("235B-A22B"), parameters("-")
    (1200000000.0, 674000000000.0, 235000000000.0, None)
    """
    return None if len(size) > _LONGEST else _parsed(size.lower())


# A filter reads the sizes of all rows of a board on every request.
@lru_cache(maxsize=4096)
def _parsed(text: str) -> float | None:
    if _PLAIN.fullmatch(text):
        return float(text.replace(",", ""))
    models = [_of_model(part) for part in _JOINED.split(text)]
    stated = [model for model in models if model is not None]
    return sum(stated) if stated else None


def active_parameters(size: str) -> float | None:
    """Parse the active parameters of a mixture of experts; None if the size does not state them.

    >>> [active_parameters(size) for size in ("235B/A22B", "30B, 3B active", "8B")]
    [22000000000.0, 3000000000.0, None]
    """
    text = size.lower()
    if len(text) > _LONGEST:
        return None
    models = [part for part in _JOINED.split(text) if _of_model(part) is not None]
    active = [amount.parameters for amount in _amounts(text) if amount.role == "active"]
    # Of several models, each must state its own.
    return sum(active) if active and len(active) == max(1, len(models)) else None


def _of_model(text: str) -> float | None:
    amounts = [amount for amount in _amounts(text) if amount.role != "active"]
    totals = [amount for amount in amounts if amount.role == "total"] or amounts
    return max((amount.parameters for amount in totals), default=None)


def _amounts(text: str) -> Iterator[_Amount]:
    for match in _AMOUNT.finditer(text):
        role = "active" if match["active"] else match["before"] or match["after"] or ""
        value = _number(match["number"]) * _UNITS[match["unit"]]
        yield _Amount(value * int(match["times"] or 1), role.replace("activated", "active"))


def _number(text: str) -> float:
    """Read a comma before three digits as a thousands separator, any other as a decimal point."""
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", text):
        return float(text.replace(",", ""))
    whole, _, rest = text.replace(",", ".").partition(".")
    return float(f"{whole}.{rest.replace('.', '') or 0}")


OPEN, CLOSED = "open", "closed"
# Whether the weights are open if the card does not say, as for reported rows.
_OPEN_BY_CATEGORY: dict[str, bool] = {Category.OPEN_VLM: True, Category.PROPRIETARY_VLM: False}

Query = dict[str, str | list[str]]
RowTest = Callable[[Entry], bool]


@dataclass(frozen=True)
class RowFilter:
    """The requested filters; an empty field filters nothing.

    `q` is a part of the system's name or organisation, ignoring case. `size_from` and `size_to` are
    sizes such as 7B, both inclusive; `weights` is OPEN or CLOSED. `published_from` keeps only rows
    graded here. Rows that lack the filtered information are left out.
    """

    q: str = ""
    category: str = ""
    size_from: str = ""
    size_to: str = ""
    weights: str = ""
    verified: bool = False
    kind: tuple[str, ...] = ()
    released_from: date | None = None
    published_from: date | None = None

    @property
    def is_set(self) -> bool:
        return self != ALL_ROWS

    @property
    def query(self) -> Query:
        """The set filters as URL parameters."""
        return {name: _parameter(value) for name, value in asdict(self).items() if value}

    def kept(self, rows: Iterable[Row]) -> tuple[Row, ...]:
        """Return the rows that are shown. Pinned rows always are."""
        for test in _tests(self):
            rows = [row for row in rows if row.entry.is_pinned or test(row.entry)]
        return tuple(rows)


ALL_ROWS = RowFilter()


def _parameter(value: object) -> str | list[str]:
    if value is True:
        return "on"
    return list(value) if isinstance(value, tuple) else str(value)


def _tests(wanted: RowFilter) -> Iterator[RowTest]:
    """Yield a test for each field that is set. The wanted values are parsed once, because a board
    may have thousands of rows."""
    if wanted.q:
        yield partial(_is_named, wanted.q.casefold())
    if wanted.kind:
        yield lambda entry: entry.kind in wanted.kind
    if wanted.category:
        yield lambda entry: entry.category == wanted.category
    least, most = parameters(wanted.size_from), parameters(wanted.size_to)
    if least is not None or most is not None:
        yield partial(_is_sized, least or 0.0, math.inf if most is None else most)
    if wanted.weights:
        yield partial(_has_weights, wanted.weights == OPEN)
    if wanted.verified:
        yield attrgetter("is_verified")
    if wanted.released_from:
        yield partial(_is_released, wanted.released_from)
    if wanted.published_from:
        yield partial(_is_published, wanted.published_from)


def _is_named(sought: str, entry: Entry) -> bool:
    return sought in entry.name.casefold() or sought in entry.organisation.casefold()


def _is_sized(least: float, most: float, entry: Entry) -> bool:
    size = parameters(entry.size)
    return size is not None and least <= size <= most


def _has_weights(open_wanted: bool, entry: Entry) -> bool:
    stated = entry.open_weights
    is_open = _OPEN_BY_CATEGORY.get(entry.category) if stated is None else stated
    return is_open is open_wanted


def _is_released(first: date, entry: Entry) -> bool:
    return entry.released_on is not None and entry.released_on >= first


def _is_published(first: date, entry: Entry) -> bool:
    if entry.kind != Entry.Kind.GRADED:
        return False
    return entry.published_at.astimezone(UTC).date() >= first


_SIZE = re.compile(r"\d+(\.\d+)?\s*[kmbt]", re.IGNORECASE)
KINDS = [
    (Entry.Kind.GRADED, "Graded by Factboard"),
    (Entry.Kind.REPORTED, "Results from papers"),
    (Entry.Kind.HUMAN, "Human baseline"),
]
WEIGHTS = [(OPEN, "Open weights"), (CLOSED, "Closed weights")]


class SizeField(forms.CharField):
    """A number of parameters with its unit, such as 7B or 350M, kept as entered."""

    def __init__(self, **options: Any) -> None:
        attributes = {"placeholder": "such as 7B", "size": "8", "autocomplete": "off"}
        widget = forms.TextInput(attrs=attributes)
        super().__init__(required=False, max_length=20, widget=widget, **options)

    def clean(self, value: Any) -> str:
        size = str(super().clean(value))
        if size and not _SIZE.fullmatch(size):
            raise forms.ValidationError("Enter a number and a unit, such as 350M, 7B or 1.5T.")
        return size


class DayField(forms.DateField):
    def __init__(self, **options: Any) -> None:
        day = "%Y-%m-%d"
        widget = forms.DateInput(format=day, attrs={"type": "date"})
        messages = {"invalid": "Enter a date as year-month-day, such as 2026-05-31."}
        super().__init__(
            required=False, input_formats=[day], widget=widget, error_messages=messages, **options
        )


class QueryForm(forms.Form):
    """A form that is filled from a query string."""

    @property
    def messages(self) -> dict[str, list[str]]:
        """Errors by parameter."""
        faults = self.errors.get_json_data()
        return {
            name: [str(error["message"]) for error in errors] for name, errors in faults.items()
        }


class RowFilterForm(QueryForm):
    """Filters of a leaderboard. Invalid values are reported and filter nothing."""

    q = forms.CharField(
        required=False,
        max_length=100,
        label="Search",
        widget=forms.TextInput(attrs={"type": "search", "placeholder": "Name or organisation"}),
    )
    category = forms.ChoiceField(
        required=False,
        label="Category",
        choices=[("", "All categories"), *Category.choices],
    )
    size_from = SizeField(label="Parameters from")
    size_to = SizeField(label="Parameters to")
    weights = forms.ChoiceField(
        required=False, label="Weights", choices=[("", "Any weights"), *WEIGHTS]
    )
    released_from = DayField(label="Released on or after")
    published_from = DayField(label="Published on or after")
    kind = forms.MultipleChoiceField(
        required=False, label="Rows", choices=KINDS, widget=forms.CheckboxSelectMultiple
    )
    verified = forms.BooleanField(required=False, label="Verified only")

    def clean(self) -> dict[str, Any]:
        values = self.cleaned_data
        least, most = (parameters(values.get(name) or "") for name in ("size_from", "size_to"))
        if least is not None and most is not None and least > most:
            self.add_error("size_to", "Enter a number that is not smaller than “Parameters from”.")
        return values

    def wanted(self) -> RowFilter:
        """Return the filter made of the valid values."""
        self.is_valid()
        values = {name: value for name, value in self.cleaned_data.items() if value}
        if "kind" in values:
            values["kind"] = tuple(kind for kind, _ in KINDS if kind in values["kind"])
        return RowFilter(**values)
