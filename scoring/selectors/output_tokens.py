"""How many tokens a system wrote for an item: what its card states, else what its lines state."""

from typing import Any, Literal, NamedTuple

from django.db.models import Expression, F
from django.db.models.fields.json import KeyTransform

from scoring.models import Entry

Source = Literal["card", "lines"]


class Tokens(NamedTuple):
    per_item: float
    source: Source


def token_annotations() -> dict[str, Expression | F]:
    """What a query of entries adds for `tokens_of`."""
    counts = "grading__counts"
    return {
        "items_total": F("grading__items_total"),
        "line_tokens": KeyTransform("output_tokens", counts),
        "token_lines": KeyTransform("with_output_tokens", counts),
    }


def tokens_of(entry: Entry) -> Tokens | None:
    """The mean per item; None for a row that states nothing, and for one that was not graded here,
    of which the number of items is not known.

    The card states tokens of all items together and counts wherever it says anything; else the
    mean of the predictions that state their tokens does.
    """
    items: int | None = getattr(entry, "items_total", None)
    if entry.output_tokens is not None:
        return Tokens(entry.output_tokens / items, "card") if items else None
    total, lines = _whole(entry, "line_tokens"), _whole(entry, "token_lines")
    return Tokens(total / lines, "lines") if total is not None and lines else None


def _whole(entry: Entry, name: str) -> int | None:
    value: Any = getattr(entry, name, None)
    return value if isinstance(value, int) else None
