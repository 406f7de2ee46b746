"""Where a value occurs in a text, and whether it stands there for itself.

`1,200` occurs in `(1,200)`, in `11,200` and in `1,200.5`, but in none of them does it stand for
itself. What touches an occurrence decides (see `touching`).
"""

import re
from dataclasses import dataclass

from .touching import NO_ERRORS, REACH, Errors, FactKind, errors_before, errors_behind

_YEAR_FOLLOWS = re.compile(r",? ?(?:19|20)\d\d(?!\d)")
_HAS_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")


@dataclass(frozen=True)
class Occurrence:
    """`[start, end)` of a normalised text, and the text beside it, running outwards."""

    start: int
    end: int
    before: str
    behind: str


def kind_of(fact_type: str) -> FactKind:
    """How a label's values are to be read: v1 and v2 labels by name, any other as plain text."""
    name = fact_type.lower()
    if name == "number":
        return "number"
    return "date" if name in {"date", "temporal"} else "text"


def find_occurrences(text: str, value: str, limit: int) -> list[Occurrence]:
    """The first `limit` occurrences of a normalised value in a normalised text, overlaps left
    out."""
    found: list[Occurrence] = []
    start = text.find(value) if value else -1
    while start >= 0 and len(found) < limit:
        found.append(occurrence_at(text, start, start + len(value)))
        start = text.find(value, start + len(value))
    return found


def occurrence_at(text: str, start: int, end: int) -> Occurrence:
    """The occurrence `[start, end)` of the text with what stands beside it."""
    before = text[max(0, start - REACH) : start][::-1]
    return Occurrence(start, end, before, text[end : end + REACH])


def stands_alone(value: str, kind: FactKind, occurrence: Occurrence, gold: Occurrence) -> bool:
    """Whether the occurrence is the whole value, given what the gold text has beside the fact."""
    return not errors_around(value, kind, occurrence, gold)


def errors_around(value: str, kind: FactKind, occurrence: Occurrence, gold: Occurrence) -> Errors:
    """The errors of what touches the occurrence."""
    before, behind = occurrence.before, occurrence.behind
    errors = NO_ERRORS
    if before and before[0] != " ":
        errors |= errors_before(before, gold.before, value[:1], kind)
    if behind and behind[0] != " ":
        errors |= errors_behind(behind, gold.behind, value[-1:], kind)
    if kind == "date" and _gains_year(value, behind, gold.behind):
        errors |= {"date"}
    return errors


def _gains_year(value: str, behind: str, gold: str) -> bool:
    """Whether a year follows a date that has none."""
    if not _YEAR_FOLLOWS.match(behind) or _YEAR_FOLLOWS.match(gold):
        return False
    return not _HAS_YEAR.search(value)
