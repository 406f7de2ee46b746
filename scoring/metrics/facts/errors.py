"""Which kind of error turned a value into the text that stands in its place.

Where several things happened to a value at once, the error type is the worst of them for a reader
of figures.
"""

import re

from rapidfuzz.distance import Levenshtein

from . import date_errors, number_errors
from .lookalikes import alnum_of, digits_of
from .touching import Errors, FactKind, errors_before, errors_behind

# The worst first.
_GRAVITY = (
    "sign",
    "decimal",
    "digit",
    "unit",
    "separator",
    "date",
    "truncated",
    "merged",
    "other",
    "spacing",
)
_LEAST_TEXT_SIMILARITY = 0.6
# What is left of a name that was cut off must have at least this many letters and digits, and
# this many must be gone.
_LEAST_REST = 3
_CUT_OFF = 2


def is_found(value: str, form: str, kind: FactKind) -> bool:
    """Whether `form`, which stands in the place of `value`, is a form of it rather than anything
    else."""
    if kind == "number" and digits_of(value):
        return number_errors.is_found(value, form)
    if kind == "date":
        return date_errors.is_found(value, form)
    if similarity(value, form) >= _LEAST_TEXT_SIMILARITY or alnum_of(value) in alnum_of(form):
        return any(map(str.isalnum, form))
    return _is_cut_off(alnum_of(value), alnum_of(form))


def explain(value: str, form: str, kind: FactKind, before: str = "", behind: str = "") -> str:
    """The error type of `form` standing for `value`; "" if it is the value.

    All are normalised. `before` and `behind` are the gold text beside the fact, each running from
    it outwards.

    >>> explain("(3,627)", "3,627)", "number"), explain("2.71", "271", "number")
    ('sign', 'decimal')
    >>> explain("4,568", "4568", "number"), explain("3%", "396", "number")
    ('separator', 'unit')
    """
    if kind == "number" and digits_of(value):
        return worst(number_errors.number_errors(value, form, before, behind))
    if kind == "date":
        return worst(date_errors.date_errors(value, form, before, behind))
    return _text_error(value, form, before, behind)


def worst(errors: Errors) -> str:
    """The gravest of some errors, "" for none."""
    return next((error for error in _GRAVITY if error in errors), "")


def similarity(value: str, text: str) -> float:
    """How alike two normalised texts are but for spaces, in [0, 1]: 1 - Levenshtein / longer
    length."""
    return Levenshtein.normalized_similarity(value.replace(" ", ""), text.replace(" ", ""))


def _text_error(value: str, form: str, before: str, behind: str) -> str:
    if at := _but_for_spaces(value, form):
        start, end = at
        return worst(
            frozenset(() if form[start:end] == value else {"spacing"})
            | errors_before(form[:start][::-1], before, value[:1], "text")
            | errors_behind(form[end:], behind, value[-1:], "text")
        )
    return "truncated" if _is_cut_off(alnum_of(value), alnum_of(form)) else "other"


def _but_for_spaces(value: str, form: str) -> tuple[int, int] | None:
    """Where the value stands in the form, itself or with other spaces inside; None if nowhere."""
    at = form.find(value)
    if at >= 0:
        return at, at + len(value)
    match = re.search(" ?".join(map(re.escape, value.replace(" ", ""))), form)
    return match.span() if match else None


def _is_cut_off(value: str, text: str) -> bool:
    if len(text) < _LEAST_REST or len(value) - len(text) < _CUT_OFF:
        return False
    return value.startswith(text) or value.endswith(text)
