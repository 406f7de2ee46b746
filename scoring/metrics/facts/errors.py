"""Classifies the error that turned a value into the text in its place.

If several errors apply, the error type is the gravest for a reader of figures. A number is a core
of digits and separators between marks: signs, parentheses, currency, percent. The core is located
in the form; the text next to it is compared with the marks, and then with the gold text next to the
fact. Dates are compared part by part.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from rapidfuzz.distance import LCSseq, Levenshtein
from rapidfuzz.fuzz import partial_ratio_alignment

from .normalise import CURRENCY, HARMLESS, alnum_of, as_digits, digits_of
from .occurrences import NO_ERRORS, REACH, Errors, FactKind, errors_before, errors_behind

# A number is cut off if this many digits are missing at an end; with fewer it lost a digit.
_DIGITS_CUT_OFF = 2
# Also the minus of Japanese accounts, as a triangle.
_SIGNS = "(-+)△▲"
# Misreadings of a percent sign, "0/o" or "96", and of a parenthesis or currency mark.
_PERCENT_READ_AS = re.compile(r"[^\s)]{1,3}")
_MARK_READ_AS = re.compile(r"[^\s.,]")
_PARTS = re.compile(r"([^\d.]*)(.*?)(\D*)", re.DOTALL)
_MARK_REACH = 3
# Digits in parentheses, without other marks.
_BRACKETED = re.compile(r"\(([^\W_](?:[\w.,']*[^\W_])?)\)")
_DIGITS = re.compile(r"\d+")
# The possible core of a form that shares no character with a number.
_CORE = re.compile(r"[^\W_](?:.*[^\W_])?", re.DOTALL)
_UNREAD = "_"
# Characters around a form that are not part of it.
_BARE = "".join(HARMLESS - set("{}[]")) + CURRENCY + "& "
# Read upside down.
_TURNED = str.maketrans("9", "6")


def is_number_found(value: str, form: str) -> bool:
    """Whether the form has half of the value's digits in order, at least one of them as a digit."""
    digits = digits_of(value).translate(_TURNED)
    if not LCSseq.similarity(digits, digits_of(form).translate(_TURNED)):
        return False
    read = digits_of(as_digits(form)).translate(_TURNED)
    return 2 * LCSseq.similarity(digits, read) >= len(digits)


def number_errors(value: str, form: str, before: str, behind: str) -> Errors:
    """Return the errors that made `form` of `value`, which has digits; none if they are equal.

    `before` and `behind` are the gold text around the fact, each running outwards from it.

    >>> sorted(number_errors("(3,627)", "3.627)", "", ""))
    ['separator', 'sign']
    >>> sorted(number_errors("(79)", "(64)", "", ""))
    ['digit']
    """
    bare = form.strip(_BARE if value[-1:] == ")" else _BARE + "{}[]")
    if _is_number_cut_off(value, bare.rstrip(".,")):
        return frozenset({"truncated"})
    if _differs_in_spaces(value, bare):
        return frozenset({"spacing"})
    lead, core, trail = _parts(value)
    start, end = _between_parentheses(value, form) or _locate_core(core, form)
    head, errors_ahead = _take_marks(lead[::-1], form[:start][::-1])
    tail, errors_after = _take_marks(trail, form[end:])
    return (
        frozenset(_core_errors(core, form[start:end]))
        | errors_ahead
        | errors_after
        | errors_before(head[:REACH], before, core[:1], "number")
        | errors_behind(tail[:REACH], behind, core[-1:], "number")
    )


def _is_number_cut_off(value: str, form: str) -> bool:
    """Whether the form is an exact beginning or end of the value, with more than one digit missing:
    two digits, or a group of digits with its separator and a sign."""
    if not form or not (value.startswith(form) or value.endswith(form)):
        return False
    gone = value[len(form) :] if value.startswith(form) else value[: len(value) - len(form)]
    digits = len(digits_of(gone))
    return digits >= _DIGITS_CUT_OFF or (digits > 0 and "," in gone and len(gone) > _DIGITS_CUT_OFF)


def _differs_in_spaces(value: str, form: str) -> bool:
    """Whether only spaces were lost or added, and none that separated two groups of digits."""
    if value == form or value.replace(" ", "") != form.replace(" ", ""):
        return False
    return len(_DIGITS.findall(form)) >= len(_DIGITS.findall(value))


def _parts(value: str) -> tuple[str, str, str]:
    """Return the marks before the core, the core, and the marks after it."""
    match = _PARTS.fullmatch(value)
    return (match[1], match[2], match[3]) if match else ("", value, "")


def _between_parentheses(value: str, form: str) -> tuple[int, int] | None:
    """Return the stretch of the form between its parentheses, if both have parentheses and no other
    sign.

    Then no sign was lost or added, however different the digits are.
    """
    match = _BRACKETED.search(form)
    if match is None or not _signs(value) == _signs(form) == "()":
        return None
    return match.span(1)


def _signs(text: str) -> str:
    return "".join(char for char in text if char in _SIGNS)


def _locate_core(core: str, form: str) -> tuple[int, int]:
    """Return the stretch `[start, end)` of the form that corresponds to the core."""
    read = as_digits(form)
    for text in (form, read):
        at = text.find(core)
        if at >= 0:
            return at, at + len(core)
    if match := re.search("[.,' ]{0,2}".join(digits_of(core)), read):
        return match.span()
    equal = [op for op in LCSseq.opcodes(core, read) if op.tag == "equal"]
    if not equal:
        anything = _CORE.search(form)
        return anything.span() if anything else (0, len(form))
    start, end = equal[0].dest_start, equal[-1].dest_end
    # If the core's first or last characters were changed, the same number of characters belong to
    # it.
    changed, changed_behind = equal[0].src_start, len(core) - equal[-1].src_end
    while changed and start and _belongs_to_core(form[max(0, start - 2) : start][::-1]):
        start, changed = start - 1, changed - (form[start - 1] != " ")
    while changed_behind and end < len(form) and _belongs_to_core(form[end : end + 2]):
        end, changed_behind = end + 1, changed_behind - (form[end] != " ")
    return start, end


def _belongs_to_core(near: str) -> bool:
    """Whether the next character, or the one after a space, may belong to a core."""
    char = near.strip()[:1]
    return char.isalnum() or (char != "" and char in ".,_")


def _take_marks(marks: str, outside: str) -> tuple[str, Errors]:
    """Remove the value's marks from the text next to the core; return the rest and the errors.

    Both run outwards from the core. A missing mark is an error; its probable misreading is removed
    too.
    """
    errors = set()
    for mark in marks:
        near = outside.lstrip(" ")
        at = near.partition(" ")[0].find(mark, 0, _MARK_REACH)
        if at >= 0:
            outside = near[:at] + near[at + 1 :]
            continue
        errors.add("sign" if mark in _SIGNS else "unit")
        read_as = _PERCENT_READ_AS if mark == "%" else _MARK_READ_AS
        outside = read_as.sub("", outside, count=1) if read_as.match(outside) else outside
    return outside, frozenset(errors) if errors else NO_ERRORS


def _core_errors(core: str, form: str) -> Iterator[str]:
    form = form.strip(_UNREAD + " ")
    digits, gaps = _digits_and_gaps(core)
    other, other_gaps = _digits_and_gaps(as_digits(form))
    if _UNREAD in form and digits_of(as_digits(form)) == digits:
        other, other_gaps = _digits_and_gaps(as_digits(form.replace(_UNREAD, "~")))
    is_cut_off = len(digits) - len(other) >= _DIGITS_CUT_OFF and (
        digits.startswith(other) or digits.endswith(other)
    )
    if any(map(str.isalpha, form)) or (digits != other and not is_cut_off):
        yield "digit"
    elif is_cut_off:
        yield "truncated"
    faces = _faces(digits, other, is_cut_off=is_cut_off)
    point = max((at for at, gap in enumerate(gaps) if gap == "."), default=len(digits))
    last = _gap_facing(point, faces) if point < len(digits) else len(other)
    facing = set()
    for at, gap in enumerate(gaps[:-1]):
        index = _gap_facing(at, faces)
        if index is not None and (at or gap):
            facing.add(index)
            groups = _groups(other_gaps, index, last)
            yield from _gap_errors(gap, other_gaps[index], groups == {3})
    if any("." in gap for at, gap in enumerate(other_gaps[1:-1], 1) if at not in facing):
        yield "decimal"


def _digits_and_gaps(text: str) -> tuple[str, list[str]]:
    """Return the digits, with `?` for every unread character between them, and the text before,
    between and after them."""
    digits, gaps = "", [""]
    for char in text:
        if char.isalnum() or char == _UNREAD:
            digits += char if char.isdigit() else "?"
            gaps.append("")
        else:
            gaps[-1] += char
    return digits, gaps


def _faces(digits: str, other: str, *, is_cut_off: bool) -> dict[int, int]:
    """Map the digits of the value to those of the form."""
    if is_cut_off:
        first = 0 if digits.startswith(other) else len(digits) - len(other)
        return {first + at: at for at in range(len(other))}
    return {
        op.src_start + k: op.dest_start + k
        for op in Levenshtein.opcodes(digits, other)
        if op.tag in {"equal", "replace"}
        for k in range(op.src_end - op.src_start)
    }


def _gap_facing(at: int, faces: dict[int, int]) -> int | None:
    """Return the gap of the form that corresponds to the gap before digit `at` of the value."""
    if at in faces:
        return faces[at]
    return faces[at - 1] + 1 if at - 1 in faces else None


def _groups(gaps: list[str], first: int, last: int | None) -> set[int]:
    """Return the sizes of the digit groups of a form from gap `first` to gap `last`."""
    end = len(gaps) - 1 if last is None else last
    marks = [first, *(at for at in range(first + 1, end) if gaps[at]), end]
    return {b - a for a, b in pairwise(marks)}


def _gap_errors(gap: str, other: str, keeps_groups: bool) -> Iterator[str]:
    """Yield the errors of the text between two digits."""
    if other == gap:
        return
    bare = other.replace(" ", "").replace("~", "")
    if bare == gap:
        yield "other" if "~" in other else "spacing"
    elif gap == ".":
        yield "decimal"
    elif "." in other:
        yield "separator" if gap and bare == "." and keeps_groups else "decimal"
    elif gap or set(bare) & set(",'"):
        yield "separator"
    else:
        yield "other"


_PART = re.compile(r"[^\W\d_]+|\d+")
# A word of at most this many characters may be a misread number.
_SHORT = 2


def is_date_found(value: str, form: str) -> bool:
    """Whether two of the date's parts are recognisable in the form, or one if it has only two.

    For a date in digits alone, whose parts are too short to distinguish, half of the digits.
    """
    parts = _PART.findall(value)
    if len(parts) > 1 and all(map(str.isdigit, parts)):
        return is_number_found(value, form)
    read = " ".join(map(_as_digits_in_numbers, form.split()))
    wanted = 2 if len(parts) > 2 else 1
    return max(_recognised(parts, alnum_of(text)) for text in (form, read)) >= wanted


def _recognised(parts: Iterable[str], text: str) -> int:
    """Count the parts that are in the text, in order and recognisable."""
    recognised = 0
    for part in parts:
        end = _end_of_part(part, text)
        if end:
            recognised += 1
            text = text[end:]
    return recognised


def date_errors(value: str, form: str, before: str, behind: str) -> Errors:
    """Return the errors that made `form` of `value`; none if they are equal.

    `before` and `behind` are the gold text around the fact, each running outwards from it.

    >>> sorted(date_errors("May 27, 2021", "May 27,2021", "", ""))
    ['spacing']
    """
    start, end = _locate_date(value, form)
    return (
        _inner_errors(value, form[start:end])
        | errors_before(form[:start][::-1][:REACH], before, value[:1], "date")
        | errors_behind(form[end:][:REACH], behind, value[-1:], "date")
    )


def _end_of_part(part: str, text: str) -> int:
    """Return the end of a recognisable form of the part in the text; 0 if there is none."""
    match = partial_ratio_alignment(part.lower(), text.lower()) if text else None
    if match is None:
        return 0
    window = text[match.dest_start : match.dest_end].lower()
    is_like = 2 * LCSseq.similarity(part.lower(), window) >= len(part)
    return match.dest_end if is_like else 0


def _as_digits_in_numbers(word: str) -> str:
    """Return the word with look-alikes as digits, if it may be a number."""
    is_number = len(word) <= _SHORT or any(map(str.isdigit, word))
    return as_digits(word) if is_number else word


def _locate_date(value: str, form: str) -> tuple[int, int]:
    """Return the stretch `[start, end)` of the form that corresponds to the value."""
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


# The gravest first.
_GRAVITY = "sign decimal digit unit separator date truncated merged other spacing".split()
_LEAST_TEXT_SIMILARITY = 0.6
# A name is cut off if at least this many letters and digits remain, and at least this many are
# missing.
_LEAST_REST = 3
_CUT_OFF = 2


# Words and signs of scale and currency, each line with those of one meaning.
_UNITS = """
thousand thousands
million millions mm mn
billion billions bn
trillion trillions tn
hundred hundreds
dollar dollars $ usd us$
cent cents ¢
euro euros € eur
pound pounds £ gbp
yen ¥ jpy
yuan renminbi rmb cny
won ₩ krw
rupee rupees ₹ inr
franc francs chf
real reais brl
peso pesos mxn
krone kroner krona kronor
percent %
"""
_UNIT_OF = {word: number for number, line in enumerate(_UNITS.split("\n")) for word in line.split()}
_UNIT_WORD = re.compile(
    rf" ?\b(?:{'|'.join(word for word in _UNIT_OF if word.isalpha())})\b", re.IGNORECASE
)
_WORD_OR_SIGN = re.compile(rf"us\$|[{CURRENCY}%]|[a-z]+")


def units_of(text: str) -> list[int]:
    """Return the units that a text names: its scales and currencies, by meaning and in order.

    >>> units_of("In Millions of USD") == units_of("in million $") != units_of("in thousands of $")
    True
    """
    words = _WORD_OR_SIGN.findall(text.lower())
    return [_UNIT_OF[word] for word in words if word in _UNIT_OF]


def is_found(value: str, form: str, kind: FactKind) -> bool:
    """Whether `form`, which is in the place of `value`, is a form of it and not another text."""
    if kind == "number" and digits_of(value):
        return is_number_found(value, form)
    if kind == "date":
        return is_date_found(value, form)
    if units_of(value) and units_of(form):
        return True
    if similarity(value, form) >= _LEAST_TEXT_SIMILARITY or alnum_of(value) in alnum_of(form):
        return any(map(str.isalnum, form))
    return _is_cut_off(alnum_of(value), alnum_of(form))


def explain(value: str, form: str, kind: FactKind, before: str = "", behind: str = "") -> str:
    """Return the error type of `form` in place of `value`; "" if they are equal.

    All texts are normalised. `before` and `behind` are the gold text around the fact, each running
    outwards from it.

    >>> explain("(3,627)", "3,627)", "number"), explain("2.71", "271", "number")
    ('sign', 'decimal')
    >>> explain("4,568", "4568", "number"), explain("3%", "396", "number")
    ('separator', 'unit')
    """
    if kind == "number" and digits_of(value):
        if not _UNIT_WORD.search(value) or units_of(value) == units_of(form):
            return worst(number_errors(value, form, before, behind))
        bare, bare_form = (_UNIT_WORD.sub("", text) for text in (value, form))
        return worst(number_errors(bare, bare_form, before, behind) | {"unit"})
    if kind == "date":
        return worst(date_errors(value, form, before, behind))
    return _text_error(value, form, before, behind)


def worst(errors: Errors) -> str:
    """Return the gravest of the errors, "" for none."""
    return next((error for error in _GRAVITY if error in errors), "")


def similarity(value: str, text: str) -> float:
    """Similarity of two normalised texts without spaces, in [0, 1]: 1 - Levenshtein / longer
    length."""
    return Levenshtein.normalized_similarity(value.replace(" ", ""), text.replace(" ", ""))


def misread(kind: FactKind) -> str:
    """Return the error type of a text that has nothing in common with the value in its place."""
    return {"number": "digit", "date": "date"}.get(kind, "other")


def _text_error(value: str, form: str, before: str, behind: str) -> str:
    if units_of(value) and units_of(form) not in ([], units_of(value)):
        return "unit"
    if at := _but_for_spaces(value, form):
        start, end = at
        return worst(
            frozenset(() if form[start:end] == value else {"spacing"})
            | errors_before(form[:start][::-1], before, value[:1], "text")
            | errors_behind(form[end:], behind, value[-1:], "text")
        )
    return "truncated" if _is_cut_off(alnum_of(value), alnum_of(form)) else "other"


def _but_for_spaces(value: str, form: str) -> tuple[int, int] | None:
    """Find the value in the form, ignoring inner spaces; None if it is not there."""
    at = form.find(value)
    if at >= 0:
        return at, at + len(value)
    match = re.search(" ?".join(map(re.escape, value.replace(" ", ""))), form)
    return match.span() if match else None


def _is_cut_off(value: str, text: str) -> bool:
    if len(text) < _LEAST_REST or len(value) - len(text) < _CUT_OFF:
        return False
    return value.startswith(text) or value.endswith(text)
