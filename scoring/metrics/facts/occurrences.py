"""Where a value occurs in a text, and whether the occurrence is a whole value.

`1,200` occurs in `(1,200)`, in `11,200` and in `1,200.5`, but none of them is a whole value. The
adjacent characters decide: a sentence's full stop, quotes, the rules of a table or a currency mark
do not change a value; a digit, a sign, a parenthesis, a percent sign or an adjacent word do, unless
the gold text has the same there.

In all functions `outside` is the prediction's text next to the value and `gold` the gold text next
to the fact, both running outwards from the value, REACH characters at most. The last part finds
gold facts in normalised text, and the rows of the text.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from portal.facts.spans import Fact

from .normalise import CURRENCY, HARMLESS, LOOK_ALIKES, Normalised, digits_of
from .page import Page

FactKind = Literal["number", "date", "text"]
Errors = frozenset[str]

REACH = 24
NO_ERRORS: Errors = frozenset()
# At least this many adjacent digits belong to a neighbour, fewer to the number itself.
_NEIGHBOURS_DIGITS = 3
# The most characters a percent sign is misread as: "0/o".
_MISREAD_PERCENT = 3
_SKIPPED = "".join(HARMLESS) + CURRENCY


@lru_cache(maxsize=20_000)
def errors_before(outside: str, gold: str, edge: str, kind: FactKind) -> Errors:
    """Return the errors of the text before a value whose first character is `edge`."""
    return _errors_next_to(outside, gold, edge, kind, _errors_before_number)


@lru_cache(maxsize=20_000)
def errors_behind(outside: str, gold: str, edge: str, kind: FactKind) -> Errors:
    """Return the errors of the text after a value whose last character is `edge`."""
    return _errors_next_to(outside, gold, edge, kind, _errors_behind_number)


def _errors_next_to(
    outside: str,
    gold: str,
    edge: str,
    kind: FactKind,
    next_to_number: Callable[[str, str, str], Errors],
) -> Errors:
    run = outside.partition(" ")[0]
    if not run:
        return NO_ERRORS
    if kind == "number":
        return next_to_number(run, gold, edge)
    return _errors_next_to_words(run, gold, edge, kind)


def _errors_next_to_words(run: str, gold: str, edge: str, kind: FactKind) -> Errors:
    """Return errors next to a date or a name: letters and digits, and the continuation of a date in
    digits."""
    near, beyond = run[0], run[1:2]
    if near.isalnum():
        if gold[:1].isalnum():
            return NO_ERRORS
        is_changed = kind == "date" and near.isdigit() and edge.isdigit()
        return frozenset({"date" if is_changed else "merged"})
    goes_on = kind == "date" and edge.isdigit() and beyond.isdigit() and near in "-/.,"
    if not goes_on or gold[:1] == near:
        return NO_ERRORS
    return frozenset({"date" if near in "-/" else "merged"})


def _errors_before_number(run: str, gold: str, edge: str) -> Errors:
    bare = run.lstrip(_SKIPPED)
    near, beyond = bare[:1], bare[1:2]
    expected = _nearest(gold)
    if not near or near == expected == "(":
        return NO_ERRORS
    if near.isalnum():
        # Beyond a quote, a rule or a currency mark there is another value or word.
        if bare != run or edge in CURRENCY:
            return NO_ERRORS
        return _letters_before(run, gold, edge)
    if near in "(△▲":
        return NO_ERRORS if near == gold[:1] else frozenset({"sign"})
    if near in "-+":
        if gold[:1] == near:
            return NO_ERRORS
        if beyond.isalnum() or (beyond and beyond in ")%"):
            # A dash between two things, which may be set apart in the gold text.
            return NO_ERRORS if expected == near else frozenset({"merged"})
        return frozenset({"sign"})
    if near in ".,":
        is_leader = beyond == near
        if bare != run or gold[:1] == near or is_leader or not _belongs_to_number(edge):
            return NO_ERRORS
        return frozenset({"decimal" if near == "." else "separator"})
    is_joint = (near in ")%" and expected != near) or (near in "/" and beyond.isdigit())
    return frozenset({"merged"}) if is_joint and gold[:1] != near else NO_ERRORS


def _letters_before(run: str, gold: str, edge: str) -> Errors:
    if gold[:1].isalnum():
        return NO_ERRORS
    if not _belongs_to_number(edge):
        return frozenset({"merged"})
    # The currency mark before the number may have been read as a letter or digit.
    has_mark = gold.lstrip()[:1] in CURRENCY and gold.strip() != ""
    if run[0].isdigit():
        if has_mark and not run[1:2].isdigit() and (run[1:2] or " ") not in CURRENCY:
            return frozenset({"unit"})
        return _adjacent_digits(run, gold)
    return NO_ERRORS if has_mark else _adjacent_word(run)


def _errors_behind_number(run: str, gold: str, edge: str) -> Errors:
    bare = run.lstrip(_SKIPPED)
    near, beyond = bare[:1], bare[1:2]
    expected = _nearest(gold)
    if not near or (near == expected and near in ")%-"):
        return NO_ERRORS
    if near.isalnum():
        return NO_ERRORS if bare != run else _letters_behind(run, gold, edge)
    if near == "%":
        return frozenset({"unit"})
    if near == ")":
        return frozenset({"sign"})
    if near == "-":
        return frozenset({"merged" if beyond.isdigit() or beyond == "(" else "sign"})
    if near in ".,":
        goes_on = bare == run and _belongs_to_number(edge) and beyond.isdigit() and gold[:1] != near
        return _after_point(run, gold) if goes_on else NO_ERRORS
    is_joint = near == "/" and beyond.isdigit() and expected != near
    return frozenset({"merged"}) if is_joint else NO_ERRORS


def _letters_behind(run: str, gold: str, edge: str) -> Errors:
    if gold[:1].isalnum():
        return NO_ERRORS
    word = _alnum_run(run)
    expected = gold.lstrip()[:1]
    if not _belongs_to_number(edge) and not (expected and expected in CURRENCY and len(word) == 1):
        return frozenset({"merged"})
    if expected == "%" and len(word) <= _MISREAD_PERCENT and not word.isalpha():
        return frozenset({"unit"})
    if word[0].isdigit():
        return _adjacent_digits(run, gold)
    # A single character may be a misread percent sign or the next value's currency mark.
    is_mark = expected and expected in CURRENCY + "%" and len(word) == 1
    return NO_ERRORS if is_mark else _adjacent_word(run)


def _adjacent_digits(run: str, gold: str) -> Errors:
    """Return the error of digits adjacent to a number: added ones, or those of its neighbour."""
    digits = digits_of(_alnum_run(run))
    is_neighbour = len(digits) >= _NEIGHBOURS_DIGITS or digits_of(gold).startswith(digits)
    return frozenset({"merged" if is_neighbour else "digit"})


def _adjacent_word(run: str) -> Errors:
    """Return the error of a word adjacent to a number: one that lost its space, or one that looks
    like a digit."""
    word = _alnum_run(run)
    is_digit = len(word) == 1 and word in LOOK_ALIKES
    return frozenset({"digit" if is_digit else "merged"})


def _after_point(run: str, gold: str) -> Errors:
    """Return the error of a number that continues after a point or comma."""
    if digits_of(gold).startswith(digits_of(run)):
        return frozenset({"merged"})
    return frozenset({"decimal" if run[0] == "." else "digit"})


def _alnum_run(run: str) -> str:
    return run[: next((i for i, char in enumerate(run) if not char.isalnum()), len(run))]


def _nearest(gold: str) -> str:
    """Return the nearest gold character that matters next to a number."""
    return next((char for char in gold if char != " " and char not in _SKIPPED), "")


def _belongs_to_number(edge: str) -> bool:
    """Whether the edge of a value is a digit or point, rather than a sign or mark around it."""
    return edge.isdigit() or edge == "."


_YEAR_FOLLOWS = re.compile(r",? ?(?:19|20)\d\d(?!\d)")
_HAS_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")


@dataclass(frozen=True)
class Occurrence:
    """`[start, end)` of a normalised text, and the text around it, running outwards."""

    start: int
    end: int
    before: str
    behind: str


def kind_of(fact_type: str) -> FactKind:
    """Return how to read the values of a label: v1 and v2 labels by name, any other as plain
    text."""
    name = fact_type.lower()
    if name == "number":
        return "number"
    return "date" if name in {"date", "temporal"} else "text"


def find_occurrences(text: str, value: str, limit: int) -> list[Occurrence]:
    """Return the first `limit` non-overlapping occurrences of a normalised value in a normalised
    text."""
    found: list[Occurrence] = []
    start = text.find(value) if value else -1
    while start >= 0 and len(found) < limit:
        found.append(occurrence_at(text, start, start + len(value)))
        start = text.find(value, start + len(value))
    return found


def occurrence_at(text: str, start: int, end: int) -> Occurrence:
    """Return the occurrence `[start, end)` of the text with the text around it."""
    before = text[max(0, start - REACH) : start][::-1]
    return Occurrence(start, end, before, text[end : end + REACH])


def is_whole_value(value: str, kind: FactKind, occurrence: Occurrence, gold: Occurrence) -> bool:
    """Whether the occurrence is the whole value, given the gold text around the fact."""
    return not errors_around(value, kind, occurrence, gold)


def errors_around(value: str, kind: FactKind, occurrence: Occurrence, gold: Occurrence) -> Errors:
    """Return the errors of the text adjacent to the occurrence."""
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


# Letters and digits in a table row or line. A longer one is a layout table or a paragraph.
_LONGEST_ROW = 300


@dataclass(frozen=True)
class GoldFact:
    """A gold fact in normalised text: its value, its kind, its place and the text around it."""

    fact: Fact
    value: str
    kind: FactKind
    place: Occurrence

    @property
    def n(self) -> int:
        return self.fact.n


def gold_fact(fact: Fact, text: Normalised) -> GoldFact:
    """Return the fact's place in the normalised gold text: everything that came from `[start,
    end)`.

    A value of invisible characters is empty and cannot be found.
    """
    start, end = text.span(fact.start, fact.end)
    value = text.text[start:end]
    start += len(value) - len(value.lstrip())
    value = value.strip()
    place = occurrence_at(text.text, start, start + len(value))
    return GoldFact(fact, value, kind_of(fact.type), place)


def rows_of(page: Page, text: Normalised) -> NDArray[np.int64]:
    """Return the row of every character of the normalised text: a table row, or a line outside of
    tables.

    The row of the innermost table counts. Rows of more than _LONGEST_ROW letters and digits lay out
    the page or are paragraphs, and count as none: -1.
    """
    spans: dict[tuple[int, int], tuple[int, int]] = {}
    for cell in page.cells:
        start, end = spans.get((cell.table, cell.row), (cell.start, cell.end))
        spans[cell.table, cell.row] = (min(start, cell.start), max(end, cell.end))
    rows = np.full(len(page.text) + 1, -1, dtype=np.int64)
    longest_first = sorted(spans.values(), key=lambda span: span[0] - span[1])
    for number, (start, end) in enumerate([*page.lines, *longest_first]):
        is_row = end - start <= _LONGEST_ROW or (
            sum(map(str.isalnum, page.text[start:end])) <= _LONGEST_ROW
        )
        rows[start:end] = number if is_row else -1
    return rows[text.starts]
