"""Template filters for figures and names on annotation's pages."""

from collections.abc import Sequence
from typing import Any

from django import template

from annotation.adjudication.settling import letter_of
from annotation.agreement.shapes import Confusion, shade
from annotation.models import Screening
from annotation.spans import SIGN_CHOICES
from portal.facts.spans import characters

register = template.Library()
register.filter("letter", letter_of)

# J. R. Landis and G. G. Koch, Biometrics 33(1), 1977: the end of each band of κ, and its name.
_BANDS = ((0.0, "poor"), (0.2, "slight"), (0.4, "fair"), (0.6, "moderate"), (0.8, "substantial"))
_BEST = "almost perfect"
_SHADES = 5
_FAULTS = dict(Screening.Fault.choices)
_SIGNS = dict(SIGN_CHOICES)


@register.filter
def reading(kappa: float | None) -> str:
    """A word for κ or α: from poor (at most 0) to almost perfect (above 0.8)."""
    if kappa is None:
        return ""
    return next((name for end, name in _BANDS if kappa <= end), _BEST)


@register.filter
def place(span: Any) -> str:
    """Where a span, case or sampled fact is, such as "characters 1518–1525"."""
    return characters(
        *(span["start"], span["end"]) if isinstance(span, dict) else (span.start, span.end)
    )


@register.filter
def sign_name(sign: str) -> str:
    """A sign convention in words, such as "trailing CR"."""
    return _SIGNS.get(sign, sign)


@register.filter
def heat(kappa: float | None) -> str:
    """The CSS class that shades a matrix cell: heat-0 for chance to heat-5 for perfect."""
    level = shade(kappa)
    return "" if level is None else f"heat-{round(level * _SHADES)}"


@register.filter
def labelled_rows(confusion: Confusion) -> list[tuple[str, list[tuple[int, str, str]]]]:
    """The rows of a confusion matrix with their answers. A cell has its count, its share of the row
    and the CSS class of its shade.
    """
    return [
        (answer, [_confusion_cell(count, sum(row)) for count in row])
        for answer, row in zip(confusion.answers, confusion.rows, strict=True)
    ]


def _confusion_cell(count: int, total: int) -> tuple[int, str, str]:
    share = count / total if total else 0.0
    return count, f"{share:.1%}" if total else "", f"heat-{round(_SHADES * share)}"


@register.filter
def fault_names(codes: Sequence[str]) -> list[str]:
    """The names of screening faults."""
    return [str(_FAULTS.get(code, code)) for code in codes]


_ERRORS = {
    "range": "outside the text",
    "label": "unknown label",
    "blank": "no visible text",
    "overlap": "overlap",
    "duplicate": "duplicate",
    "key": "missing key",
    "quote": "different text",
    "text_hash": "changed document",
    "omission": "missing labels",
}


@register.filter
def error_name(code: str) -> str:
    """The name of an error that validation finds."""
    return _ERRORS.get(code, code)


@register.filter
def percent(share: float) -> str:
    """A share of 0 to 1 with at most one decimal, such as 5% or 97.5%.

    >>> percent(0.05), percent(0.9754)
    ('5%', '97.5%')
    """
    return f"{100 * share:.1f}".removesuffix(".0") + "%"
