"""What kind of error turned a value into the text that stands in its place."""

from rapidfuzz.distance import Levenshtein

from .normalise import CURRENCY
from .occurrences import FactKind, Occurrence

# What may surround a value without belonging to it.
_EDGE = " .,;:|\"'*=~!"
_BRACKETS = "{}[]"
_SIGNS = "()-+" + _BRACKETS
_UNITS = CURRENCY + "%"
_SEPARATORS = ".,'"
# A value is cut off, rather than short of a digit, when at least this many of its characters are
# gone.
_CUT_OFF = 2
# What is left of a name or date that was cut off must have at least this many letters and digits.
_LEAST_REST = 3
_LEAST_SIMILARITY = {"number": 0.5, "date": 0.5, "text": 0.6}
_LEAST_NUMBER_SIMILARITY = 0.25
_DIGITS_READ_AS_LETTERS = str.maketrans("oOQDlIiSsZzBgq", "00001115522899")


def trim_form(text: str, value: str, gold: Occurrence, kind: FactKind) -> tuple[int, int]:
    """The part `[start, end)` of `text` that stands for the value, without what surrounds it.

    Outer punctuation goes, and so does what the gold text has beside the value as well: the
    currency sign before it, the percent sign behind it.
    """
    left = right = _EDGE
    if kind != "number":
        left = right = "".join({char for char in text if not char.isalnum()} - {"(", ")"})
    elif not set(value) & set(_SIGNS):
        left = right = _EDGE + _BRACKETS
    if gold.left.glue and gold.left.glue in _UNITS:
        left += gold.left.glue
    if gold.right.glue and gold.right.glue in _UNITS:
        right += gold.right.glue
    start = len(text) - len(text.lstrip(left))
    return start, max(start, len(text.rstrip(right)))


def similarity(value: str, text: str) -> float:
    """How alike two normalised texts are but for spaces, in [0, 1]: 1 - Levenshtein / longer
    length."""
    return Levenshtein.normalized_similarity(value.replace(" ", ""), text.replace(" ", ""))


def is_recognisable(value: str, text: str, kind: FactKind) -> bool:
    """Whether `text`, which stands in the place of `value`, is a damaged form of it rather than
    anything else.

    A number in a number's place counts already when they share a quarter of their characters and
    about their length, since the place speaks for it.
    """
    if not any(map(str.isalnum, text)):
        return False
    if kind == "number":
        text = text.translate(_DIGITS_READ_AS_LETTERS)
    alike = similarity(value, text)
    if alike >= _LEAST_SIMILARITY[kind] or _alnum(value) in _alnum(text):
        return True
    if kind != "number":
        rest = _alnum(text)
        return len(rest) >= _LEAST_REST and _is_cut_off(_alnum(value), rest)
    if not _digits(text):
        return False
    same_length = abs(len(_digits(value)) - len(_digits(text))) <= 1
    return same_length and alike >= _LEAST_NUMBER_SIMILARITY


def error_type(value: str, text: str, kind: FactKind) -> str:
    """The error type of `text` standing for `value`; both normalised, `text` not equal to `value`.

    Where several marks of a number changed at once, the gravest counts: a moved point before a
    lost sign, a lost sign before a lost percent or currency mark, that before changed separators.

    >>> error_type("(3,627)", "3,627)", "number"), error_type("2.71", "271", "number")
    ('sign', 'decimal')
    >>> error_type("4,568", "4568", "number"), error_type("3%", "396", "number")
    ('separator', 'unit')
    """
    if kind == "number" and _digits(value):
        return _number_error(value, text)
    return _date_error(value, text) if kind == "date" else _text_error(value, text)


def _number_error(value: str, text: str) -> str:
    at = text.find(value)
    if at >= 0 and text != value:
        return _surrounded_error(value, text[:at], text[at + len(value) :])
    if _digits(value) == _digits(text):
        return _mark_error(value, text)
    if _is_unit_misread(value, text):
        return "unit"
    return "truncated" if _is_cut_off(value.strip(_SIGNS), text.strip(_SIGNS)) else "digit"


def _surrounded_error(value: str, before: str, after: str) -> str:
    """The value is intact but something touches it."""
    around = before + after
    if not set(around) - set(_SIGNS):
        return "sign"
    if not set(around) - set(_UNITS):
        return "unit"
    if before[-1:].isdigit() and value[0].isdigit():
        return "digit"
    if after[:1] == "." and after[1:2].isdigit():
        return "decimal"
    touching = after[:1].isdigit() or (after[:1] in {",", "'"} and after[1:2].isdigit())
    return "digit" if touching and value[-1].isdigit() else "merged"


def _mark_error(value: str, text: str) -> str:
    """All digits are right: which mark is lost, added or changed?"""
    point = _decimal_digits(value)
    marks, other = _marks(value), _marks(text)
    if point is not None:
        if other.get(point) != ".":
            return "decimal"
    elif any(mark == "." and place not in marks for place, mark in other.items()):
        return "decimal"
    if _only(value, _SIGNS) != _only(text, _SIGNS):
        return "sign"
    if _only(value, _UNITS) != _only(text, _UNITS):
        return "unit"
    return "separator" if marks != other or " " in text else "other"


def _decimal_digits(number: str) -> int | None:
    """How many digits follow the decimal point; None without one."""
    head, point, tail = number.rpartition(".")
    return len(_digits(tail)) if point and (head or tail) else None


def _marks(number: str) -> dict[int, str]:
    """The separators of a number, by how many digits follow each."""
    marks: dict[int, str] = {}
    following = len(_digits(number))
    for char in number:
        if char.isdigit():
            following -= 1
        elif char in _SEPARATORS and following:
            marks[following] = char
    return marks


def _is_unit_misread(value: str, text: str) -> bool:
    """A percent or currency mark read as one or two other characters: `3%` as `396`, `$5` as
    `85`."""
    if value.endswith("%"):
        read_as = len(text) - len(value) + 1
        return "%" not in text and text.startswith(value[:-1]) and read_as <= 2
    return value[0] in CURRENCY and text.endswith(value[1:]) and len(text) == len(value)


def _date_error(value: str, text: str) -> str:
    letters, other = _alnum(value), _alnum(text)
    if letters == other:
        return "other"
    if _is_cut_off(letters, other):
        return "truncated"
    at = other.find(letters)
    if at < 0:
        return "date"
    if other[:at][-1:].isdigit() and letters[0].isdigit():
        return "date"
    if other[at + len(letters) :][:1].isdigit() and letters[-1].isdigit():
        return "date"
    return "merged" if value in text else "other"


def _text_error(value: str, text: str) -> str:
    if value in text:
        return "merged"
    return "truncated" if _is_cut_off(_alnum(value), _alnum(text)) else "other"


def _is_cut_off(value: str, text: str) -> bool:
    if not text or len(value) - len(text) < _CUT_OFF:
        return False
    return value.startswith(text) or value.endswith(text)


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))


def _alnum(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _only(text: str, characters: str) -> str:
    return "".join(char for char in text if char in characters)
