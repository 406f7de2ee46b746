"""Values of receipts: which are empty, which are equal as texts, which are amounts.

Source: ReceiptBench, section 3.4 (types A to C). Every function takes any JSON value and never
raises.
"""

import math
from typing import Any

# Beyond it floating point does not hold cents.
LARGEST_AMOUNT = 1e15
AMOUNT_TOLERANCE = 1e-6

_TRUE = frozenset({"true", "yes", "1"})
_DIGITS_TOO_MANY = "a number with too many digits"


def normal_text(value: Any) -> str | None:
    """A scalar as text, lower-cased and trimmed; None for a list or an object.

    null is the empty text. Nothing else changes: white space inside, punctuation and accents
    count.

    >>> normal_text("  NSW TrainLink "), normal_text(12.5), normal_text(None), normal_text(["x"])
    ('nsw trainlink', '12.5', '', None)
    """
    if value is None:
        return ""
    if isinstance(value, list | dict):
        return None
    try:
        return str(value).strip().lower()
    except ValueError:  # Python prints no whole number of more than 4,300 digits.
        return _DIGITS_TOO_MANY


def is_empty(value: Any) -> bool:
    """Whether a value says nothing: null, blank text, `[]`, `{}`, or a list of only such values.

    >>> [is_empty(value) for value in (None, " ", [], {}, [""], 0, False)]
    [True, True, True, True, True, False, False]
    """
    if isinstance(value, list):
        return all(not item if isinstance(item, list) else is_empty(item) for item in value)
    return not value if isinstance(value, dict) else normal_text(value) == ""


def parse_amount(value: Any) -> float | None:
    """The number in an amount once `$`, `,` and white space are dropped; None if there is none.

    A list, an object, true, NaN and what is not below LARGEST_AMOUNT are no amounts.

    >>> parse_amount("$1,200.00"), parse_amount("12 000"), parse_amount("€5"), parse_amount("nan")
    (1200.0, 12000.0, None, None)
    """
    text = normal_text(value)
    if not text:
        return None
    try:
        number = float("".join(text.replace("$", "").replace(",", "").split()))
    except ValueError:
        return None
    return number if math.isfinite(number) and abs(number) < LARGEST_AMOUNT else None


def is_empty_amount(value: Any) -> bool:
    """Whether an amount says nothing: empty, or 0.

    >>> is_empty_amount("0.00"), is_empty_amount(""), is_empty_amount("0.01")
    (True, True, False)
    """
    if is_empty(value):
        return True
    number = parse_amount(value)
    return number is not None and abs(number) < AMOUNT_TOLERANCE


def same_text(gold: Any, prediction: Any) -> bool:
    """Whether two scalars are equal as lower-cased, trimmed texts.

    >>> same_text("USD", " usd "), same_text("USD", ["USD"])
    (True, False)
    """
    text = normal_text(gold)
    return text is not None and text == normal_text(prediction)


def same_amount(gold: Any, prediction: Any) -> bool:
    """Whether two amounts differ by less than 1e-6; two that hold no number are compared as texts.

    >>> same_amount("1,200.00", "$1200"), same_amount("1,200.00", 1200.01), same_amount("€5", "€5")
    (True, False, True)
    """
    first, second = parse_amount(gold), parse_amount(prediction)
    if first is None and second is None:
        return same_text(gold, prediction)
    return first is not None and second is not None and abs(first - second) < AMOUNT_TOLERANCE


def is_true(value: Any) -> bool:
    """Whether a flag says yes, as true or as a word; a flag that is left out says no.

    >>> is_true(True), is_true("True"), is_true("False"), is_true(None)
    (True, True, False, False)
    """
    return normal_text(value) in _TRUE
