"""Answers of simulated readers: the gold with seeded errors of named kinds.

They fill leaderboards for tasks that an OCR engine alone cannot answer. Their model cards
state that they are simulated; their figures do not describe a real system.
"""

from collections.abc import Callable
from typing import Any

from sample.generator.figures import Draw

_LOOKALIKES = {"0": "O", "1": "l", "5": "S", "8": "B", "6": "b", "2": "Z", "o": "0", "l": "1"}


def _swap(word: str, draw: Draw) -> str:
    """Two neighbouring characters change places."""
    place = draw.between(0, max(len(word) - 2, 0))
    return word[:place] + word[place : place + 2][::-1] + word[place + 2 :]


def _drop(word: str, draw: Draw) -> str:
    """A character is lost."""
    place = draw.between(0, len(word) - 1)
    return word[:place] + word[place + 1 :]


def _look_alike(word: str, draw: Draw) -> str:
    """A character is taken for another; a word without such a character loses one."""
    places = [place for place, sign in enumerate(word) if sign in _LOOKALIKES]
    if not places:
        return _drop(word, draw)
    place = places[draw.between(0, len(places) - 1)]
    return word[:place] + _LOOKALIKES[word[place]] + word[place + 1 :]


def _lose(word: str, draw: Draw) -> str:  # noqa: ARG001 - one of several kinds of errors
    """The whole word is missed."""
    return ""


KINDS: tuple[Callable[[str, Draw], str], ...] = (_swap, _drop, _look_alike, _lose)


def misread(value: Any, draw: Draw, errors: int) -> Any:
    """The value with `errors` of a thousand words, numbers and keys' values read wrongly.

    >>> misread({"total": ["12.50", True]}, Draw("x"), 0)
    {'total': ['12.50', True]}
    """
    if isinstance(value, dict):
        return {key: misread(inner, draw, errors) for key, inner in value.items()}
    if isinstance(value, list):
        return [misread(inner, draw, errors) for inner in value]
    if isinstance(value, str):
        return misread_text(value, draw, errors)
    if isinstance(value, bool):
        return value != _happens(draw, errors)
    if isinstance(value, int | float):
        return value + draw.between(1, 9) if _happens(draw, errors) else value
    return value


def misread_text(text: str, draw: Draw, errors: int) -> str:
    """Words of a text go wrong one by one; the spaces between them stay.

    >>> misread_text("Net sales 1,204", Draw("x"), 1000) == "Net sales 1,204"
    False
    """
    return " ".join(_misread_word(word, draw, errors) for word in text.split(" "))


def _misread_word(word: str, draw: Draw, errors: int) -> str:
    if not word or not _happens(draw, errors):
        return word
    return KINDS[draw.between(0, len(KINDS) - 1)](word, draw)


def _happens(draw: Draw, errors: int) -> bool:
    return draw.between(1, 1000) <= errors
