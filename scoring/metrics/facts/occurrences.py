"""Where a value occurs in a text as a value of its own.

`1,200` occurs in `(1,200)`, in `11,200` and in `1,200.5`, but in none of them does it stand for
itself. Each side of an occurrence gets the *issue* that its neighbour raises: the error type that
a reader would see, or none. A neighbour that the gold fact has as well raises no issue: where the
gold tags `10` in `10b5-1`, the prediction's `10b5-1` holds it.
"""

import re
from dataclasses import dataclass
from typing import Literal

from .normalise import CURRENCY

FactKind = Literal["number", "date", "text"]

# A word of at least this many letters that touches a number is a word whose space was lost; fewer
# letters are rather digits misread.
_WORD_LETTERS = 2
_WORD_LOOKED_AT = 6
_LIKE_DIGITS = frozenset("oOlIiSsBZzQDgq")
_YEAR_FOLLOWS = re.compile(r",? ?(?:19|20)\d\d(?!\d)")
_HAS_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")
_NEAR = 80


@dataclass(frozen=True)
class Side:
    """What touches a value on one side: the issue it raises (or ""), and itself, nearest
    character first."""

    issue: str
    glue: str


NOTHING = Side("", "")


@dataclass(frozen=True)
class Occurrence:
    """`[start, end)` of a normalised text, and its two sides."""

    start: int
    end: int
    left: Side
    right: Side


def kind_of(fact_type: str) -> FactKind:
    """How a label's values are to be read: v1 and v2 labels by name, any other as plain text."""
    name = fact_type.lower()
    if name == "number":
        return "number"
    return "date" if name in {"date", "temporal"} else "text"


def find_occurrences(text: str, value: str, kind: FactKind, limit: int) -> list[Occurrence]:
    """The first `limit` occurrences of a normalised value in a normalised text, overlaps left
    out."""
    found: list[Occurrence] = []
    start = text.find(value) if value else -1
    while start >= 0 and len(found) < limit:
        found.append(occurrence_at(text, start, start + len(value), kind))
        start = text.find(value, start + len(value))
    return found


def occurrence_at(text: str, start: int, end: int, kind: FactKind) -> Occurrence:
    """The occurrence `[start, end)` of the text with what touches it."""
    left = _left_issue(text, start, end, kind) if start else ""
    right = _right_issue(text, start, end, kind) if end < len(text) else ""
    before = text[max(0, start - _NEAR) : start][::-1]
    return Occurrence(
        start, end, Side(left, _glue(before)), Side(right, _glue(text[end : end + _NEAR]))
    )


def _left_issue(text: str, start: int, end: int, kind: FactKind) -> str:
    if kind == "number":
        return _number_left(text, start, end)
    return _date_left(text, start) if kind == "date" else _text_left(text, start)


def _right_issue(text: str, start: int, end: int, kind: FactKind) -> str:
    if kind == "number":
        return _number_right(text, start, end)
    return _date_right(text, start, end) if kind == "date" else _text_right(text, end)


def stands_alone(occurrence: Occurrence, gold: Occurrence) -> bool:
    """Whether the occurrence is the whole value, given what touches the fact in the gold text."""
    return _is_clean(occurrence.left, gold.left) and _is_clean(occurrence.right, gold.right)


def issue_of(occurrence: Occurrence, gold: Occurrence) -> str:
    """The error type of an occurrence that does not stand alone."""
    if not _is_clean(occurrence.left, gold.left):
        return occurrence.left.issue
    return occurrence.right.issue


def _is_clean(side: Side, gold: Side) -> bool:
    if not side.issue or (side.glue == gold.glue and (side.glue or side.issue == gold.issue)):
        return True
    # A currency sign outside the value that was misread as a letter leaves the value intact.
    return gold.glue in CURRENCY and gold.glue != "" and side.glue in {"S", "s", "§", "E"}


def _glue(neighbours: str) -> str:
    """The nearest visible thing: a run of letters and digits, or one other character."""
    near = neighbours.lstrip()
    if not near:
        return ""
    if not near[0].isalnum():
        return near[0]
    if near is not neighbours and near != neighbours:
        return ""  # a word beyond the space touches nothing
    return re.split(r"[^\w]", near, maxsplit=1)[0]


def _letters_before(text: str, end: int) -> str:
    start = end
    while start and text[start - 1].isalpha() and end - start < _WORD_LOOKED_AT:
        start -= 1
    return text[start:end]


def _letters_after(text: str, start: int) -> str:
    end = start
    while end < len(text) and text[end].isalpha() and end - start < _WORD_LOOKED_AT:
        end += 1
    return text[start:end]


def _is_word(letters: str) -> bool:
    return len(letters) >= _WORD_LETTERS and not set(letters) <= _LIKE_DIGITS


def _char(text: str, index: int) -> str:
    return text[index] if 0 <= index < len(text) else " "


def _number_left(text: str, start: int, end: int) -> str:
    first, before, beyond = text[start], text[start - 1], _char(text, start - 2)
    if not (first.isdigit() or first == "."):
        return _signed_left(first, before, beyond)
    if before.isdigit():
        return "digit"
    if before.isalpha():
        return "" if _is_word(_letters_before(text, start)) else "digit"
    if before == "-":
        return "merged" if beyond.isalnum() or beyond in ")%" else "sign"
    if before == "(":
        return "sign" if _negates(text, end) else ""
    if before in CURRENCY:
        return "unit"
    if before == ".":
        return "decimal"
    if before in ",'" and beyond.isdigit():
        return "digit"
    return "merged" if before in "/:%" and beyond.isdigit() else ""


def _signed_left(first: str, before: str, beyond: str) -> str:
    """The left side of a value that begins with a sign, a parenthesis or a currency mark."""
    if first == "-" or first in CURRENCY:
        if before.isdigit():
            return "merged"
        return "sign" if before == "-" and not beyond.isalnum() and first != "-" else ""
    return ""


def _negates(text: str, end: int) -> bool:
    """Whether the parenthesis before a value negates it: it closes right behind, or never."""
    if _char(text, end) == ")" or text[end : end + 2] == "%)":
        return True
    following = re.search(r"[()]", text[end : end + _NEAR])
    return following is None or following.group() == "("


def _number_right(text: str, start: int, end: int) -> str:
    last, after, beyond = text[end - 1], text[end], _char(text, end + 1)
    if last == "%":
        return "merged" if after.isdigit() else ""
    if after == "%":
        return "unit"
    if last == ")":
        return ""
    if after.isdigit():
        return "digit"
    if after.isalpha():
        return "" if _is_word(_letters_after(text, end)) else "digit"
    if after in ".,'":
        return _after_point(text, end, after, beyond)
    if after == ")":
        return "" if _is_inside_parentheses(text, start) else "sign"
    if after == "-":
        return "merged" if beyond.isdigit() or beyond == "(" else ""
    return "merged" if after in "/:" and beyond.isdigit() else ""


def _after_point(text: str, end: int, after: str, beyond: str) -> str:
    """A point or comma behind a number ends a sentence, or goes on with the number."""
    if beyond.isdigit():
        return "decimal" if after == "." else "digit"
    letters = _letters_after(text, end + 1)
    return "digit" if letters and set(letters) <= _LIKE_DIGITS else ""


def _is_inside_parentheses(text: str, start: int) -> bool:
    """Whether a closing parenthesis behind the value belongs to one opened before it, as in
    prose."""
    if _char(text, start - 1) == "(":
        return False
    before = re.search(r"[()]", text[max(0, start - _NEAR) : start][::-1])
    return before is not None and before.group() == "("


def _date_left(text: str, start: int) -> str:
    first, before, beyond = text[start], text[start - 1], _char(text, start - 2)
    if before.isalpha() and first.isalpha():
        # "endedDecember": a lost space leaves a capital behind a small letter.
        return "" if before.islower() and first.isupper() else "merged"
    if first.isdigit():
        if before.isdigit() or (before in "-/." and beyond.isdigit()):
            return "date"
        if before.isalpha():
            return "" if _is_word(_letters_before(text, start)) else "date"
    return "merged" if before.isdigit() else ""


def _date_right(text: str, start: int, end: int) -> str:
    last, after, beyond = text[end - 1], text[end], _char(text, end + 1)
    if _YEAR_FOLLOWS.match(text, end) and not _HAS_YEAR.search(text, start, end):
        return "date"
    if after.isdigit():
        return "date" if last.isdigit() else "merged"
    if after.isalpha():
        if last.isdigit():
            return "" if _is_word(_letters_after(text, end)) else "date"
        return "" if last.islower() and after.isupper() else "merged"
    if after in "-/" and beyond.isdigit() and last.isdigit():
        return "date"
    return "merged" if after in ".," and beyond.isdigit() and last.isdigit() else ""


def _text_left(text: str, start: int) -> str:
    return "merged" if text[start].isalnum() and text[start - 1].isalnum() else ""


def _text_right(text: str, end: int) -> str:
    return "merged" if text[end - 1].isalnum() and text[end].isalnum() else ""
