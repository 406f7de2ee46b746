"""How a date became the text that stands in its place."""

import re
from collections.abc import Iterable

from rapidfuzz.distance import LCSseq
from rapidfuzz.fuzz import partial_ratio_alignment

from . import number_errors
from .lookalikes import alnum_of, as_digits
from .touching import NO_ERRORS, REACH, Errors, errors_before, errors_behind

_PART = re.compile(r"[^\W\d_]+|\d+")
# A word of so few letters may be a number read as letters.
_SHORT = 2


def is_found(value: str, form: str) -> bool:
    """Whether two of the date's parts are recognisable in the form, or one if it has but two.

    Of a date in digits alone, whose parts are too short to be told apart, half of the digits.
    """
    parts = _PART.findall(value)
    if len(parts) > 1 and all(map(str.isdigit, parts)):
        return number_errors.is_found(value, form)
    read = " ".join(map(_as_digits_in_numbers, form.split()))
    wanted = 2 if len(parts) > 2 else 1
    return max(_recognised(parts, alnum_of(text)) for text in (form, read)) >= wanted


def _recognised(parts: Iterable[str], text: str) -> int:
    """How many of the parts stand in the text, in order and recognisable."""
    recognised = 0
    for part in parts:
        end = _end_of_part(part, text)
        if end:
            recognised += 1
            text = text[end:]
    return recognised


def date_errors(value: str, form: str, before: str, behind: str) -> Errors:
    """The errors that made `form` of `value`; none if the form is the value.

    `before` and `behind` are the gold text beside the fact, each running from it outwards.

    >>> sorted(date_errors("May 27, 2021", "May 27,2021", "", ""))
    ['spacing']
    """
    start, end = _locate(value, form)
    return (
        _inner_errors(value, form[start:end])
        | errors_before(form[:start][::-1][:REACH], before, value[:1], "date")
        | errors_behind(form[end:][:REACH], behind, value[-1:], "date")
    )


def _end_of_part(part: str, text: str) -> int:
    """Where a recognisable form of the part ends in the text; 0 if there is none."""
    found = partial_ratio_alignment(part.lower(), text.lower()) if text else None
    if found is None:
        return 0
    window = text[found.dest_start : found.dest_end].lower()
    is_like = 2 * LCSseq.similarity(part.lower(), window) >= len(part)
    return found.dest_end if is_like else 0


def _as_digits_in_numbers(word: str) -> str:
    """The word with look-alikes as digits, if it may be a number."""
    is_number = len(word) <= _SHORT or any(map(str.isdigit, word))
    return as_digits(word) if is_number else word


def _locate(value: str, form: str) -> tuple[int, int]:
    """The stretch `[start, end)` of the form that stands for the value."""
    at = form.find(value)
    if at >= 0:
        return at, at + len(value)
    equal = [op for op in LCSseq.opcodes(value, form) if op.tag == "equal"]
    if not equal:
        return 0, len(form)
    start, end = equal[0].dest_start, equal[-1].dest_end
    changed, changed_behind = equal[0].src_start, len(value) - equal[-1].src_end
    while end > start and not form[end - 1].isalnum():
        end -= 1
    while changed and start and form[start - 1] != " ":
        start, changed = start - 1, changed - 1
    while changed_behind and end < len(form) and form[end] not in " .,;":
        end, changed_behind = end + 1, changed_behind - 1
    return start, end


def _inner_errors(value: str, text: str) -> Errors:
    if value == text:
        return NO_ERRORS
    if value.replace(" ", "") == text.replace(" ", ""):
        return frozenset({"spacing"})
    if alnum_of(value).casefold() == alnum_of(text).casefold():
        return frozenset({"other"})
    parts, other = _PART.findall(value), _PART.findall(text)
    is_cut_off = 0 < len(other) < len(parts) and other in (
        parts[: len(other)],
        parts[-len(other) :],
    )
    return frozenset({"truncated" if is_cut_off else "date"})
