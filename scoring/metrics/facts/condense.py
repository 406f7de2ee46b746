"""A text as the alignment reads it: lower case, without spaces and without leaders."""

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_NUMBER = re.compile(r"[(\-+$€£¥]{0,3}\d[\d.,'()%\-/]*")
# Dots and rules that lead from a label to its value; they only stretch distances.
_DOTS = re.compile(r"[._·…] ?(?:[._·…] ?){3,}")
_RULE = re.compile(r"-{4,}")
# Only the first characters of a text are aligned; a page has some thousands.
MOST_CHARACTERS = 400_000


@dataclass(frozen=True, eq=False)
class Condensed:
    """`chars[i]` is the character at `places[i]` of the text; word `k` is `[starts[k], starts[k +
    1])` of `chars`."""

    chars: str
    places: NDArray[np.int64]
    words: list[str]
    starts: NDArray[np.int64]

    def number_bounds(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the number that each character belongs to begins and ends.

        A character of no number begins and ends with itself.
        """
        first = np.arange(len(self.chars) + 1)
        last = first + 1
        for word, start in zip(self.words, self.starts.tolist(), strict=False):
            if word.isalpha():
                continue
            for match in _NUMBER.finditer(word):
                begin, end = start + match.start(), start + match.end()
                first[begin:end] = begin
                last[begin:end] = end
        return first, last

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The stretch of `chars` that came from `[start, end)` of the text."""
        first, last = np.searchsorted(self.places, (start, end))
        return int(first), int(last)


def condense(text: str) -> Condensed:
    """Condenses a normalised text, or the beginning of one of more than MOST_CHARACTERS.

    >>> condense("Total assets ........ 1,200").chars
    'totalassets1,200'
    """
    text = text[:MOST_CHARACTERS]
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = "".join(low if len(low := char.lower()) == 1 else char for char in text)
    blanked = _RULE.sub(_blank, _DOTS.sub(_blank, lowered))
    words = blanked.split()
    visible = np.frombuffer(blanked.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    places = np.flatnonzero(visible != ord(" "))
    starts = np.cumsum([0, *map(len, words)], dtype=np.int64)
    return Condensed("".join(words), places, words, starts)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())
