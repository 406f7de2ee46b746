"""What a span means: derived from its quote, or said otherwise by its annotator. No Django."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from portal.facts import SIGNS, FactValue, check_value, read_value

MAX_VALUE = 200
# Every save sends the whole page again, mostly with the quotes of the one before.
_READINGS_KEPT = 20_000
_QUOTE_KEPT = 100

# Those that people are not shown as they are stored.
_SIGN_NAMES = {"trailing_minus": "trailing minus", "trailing_cr": "trailing CR"}

# Every sign with its name, as a form offers it.
SIGN_CHOICES = [(sign, _SIGN_NAMES.get(sign, sign)) for sign in SIGNS]


class Meaning(NamedTuple):
    """Value and sign as `portal.facts` has them; `edited` when they are the annotator's own."""

    value: str
    sign: str
    edited: bool


def derived(quote: str, label: str) -> FactValue:
    """What the quote means, by our own rules."""
    return _remembered(quote, label) if len(quote) <= _QUOTE_KEPT else read_value(quote, label)


@lru_cache(maxsize=_READINGS_KEPT)
def _remembered(quote: str, label: str) -> FactValue:
    return read_value(quote, label)


def meaning_of(span: Mapping[str, Any]) -> Meaning:
    """The meaning of a span that gives `value`, `sign` and `edited`, or leaves some of them out.

    Nothing given, or `edited` given as false, has both derived. So what was read can be sent back
    with other borders, and the value follows. What equals the derived is not an edit.
    """
    own = derived(span["quote"], span["label"])
    if span.get("edited") is False:
        return Meaning(*own, edited=False)
    value, sign = span.get("value"), span.get("sign")
    given = FactValue(own.value if value is None else value, own.sign if sign is None else sign)
    return Meaning(*given, edited=given != own)


def meaning_problem(meaning: Meaning, label: str) -> str | None:
    """What is wrong with an annotator's own value and sign; None when nothing is."""
    if not meaning.edited:
        return None
    if len(meaning.value) > MAX_VALUE:
        return f"value is longer than {MAX_VALUE} characters"
    if not meaning.value.isprintable() or not meaning.sign.isprintable():
        return "value and sign must be of printable characters"
    return check_value(meaning.value, meaning.sign, label)


def settled_value(readings: Iterable[FactValue], quote: str, label: str) -> FactValue:
    """The value of a gold span: what all who marked it read alike, else what we derive.

    >>> settled_value([FactValue("12", "plain"), FactValue("12000", "plain")], "12", "Number").value
    '12'
    """
    distinct = set(readings)
    return distinct.pop() if len(distinct) == 1 else derived(quote, label)
