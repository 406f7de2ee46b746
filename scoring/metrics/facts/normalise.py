"""Typographic normalisation of text, with a mapping to the original offsets.

Only differences that a typesetter may introduce are removed: Unicode compatibility forms, dash,
minus and quote look-alikes, invisible characters, repeated spaces, the spaces inside parentheses,
after currency signs and before a percent sign, and marks of LaTeX (`1{,}200`). Digits, separators
and the alphabet never change. Superscript digits stay as they are: after a number they are footnote
marks, and folding them would append a digit to it.

This module also has the look-alikes of digits, and the text as the alignment reads it, in lower
case, without spaces and without leaders.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

_DIGITS = {
    **dict.fromkeys("OoQD", "0"),
    **dict.fromkeys("lIi|]", "1"),
    **dict.fromkeys("Zz", "2"),
    **dict.fromkeys("Ss", "5"),
    **dict.fromkeys("Gb", "6"),
    "B": "8",
    **dict.fromkeys("gq", "9"),
}
LOOK_ALIKES = frozenset(_DIGITS)
_AS_DIGITS = str.maketrans(_DIGITS)

# Characters that a page or its reader sets next to a value without changing it: quotes, rules,
# bullets.
HARMLESS = frozenset("\"'|_~*[]{}:;!?<>•·=")


def as_digits(text: str) -> str:
    """Return the text with every look-alike as its digit; the length does not change.

    >>> as_digits("1,ooo"), as_digits("3l")
    ('1,000', '31')
    """
    return text.translate(_AS_DIGITS)


def digits_of(text: str) -> str:
    return "".join(filter(str.isdigit, text))


def alnum_of(text: str) -> str:
    return "".join(filter(str.isalnum, text))


_DASHES = "‐‑‒–—―−⁃˗﹘﹣－➖"
_SINGLE_QUOTES = "‘’‚‛′ʼ`´"
_DOUBLE_QUOTES = "“”„‟″"
_LOOK_ALIKES = str.maketrans(
    {
        **dict.fromkeys(_DASHES, "-"),
        **dict.fromkeys(_SINGLE_QUOTES, "'"),
        **dict.fromkeys(_DOUBLE_QUOTES, '"'),
        "⁄": "/",  # in the compatibility form of ½
    }
)
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff\ufe00-\ufe0f]")
_MARKS = "[\u0300-\u036f\u1ab0-\u1aff\u20d0-\u20ff\ufe20-\ufe2f]"
# A character with combining marks, or one beyond ASCII: all that folding can change.
_CLUSTER = re.compile(rf".{_MARKS}+|[^\x00-\x7f]", re.DOTALL)
CURRENCY = "$€£¥₹₩¢"
# For text with single spaces. Every alternative begins with the space, which is fast to search.
_SPACE_TO_DROP = re.compile(
    rf" (?:(?<=[(\[]\ )|(?=[)\]])|(?<=[{CURRENCY}]\ )(?=[\d(.\-])|(?<=[\d)]\ )(?=%))"
)
_SPACES = re.compile(r"\s+")
# LaTeX: spaces, which become spaces of the same length, and marks of its own, which are dropped:
# braces around a separator, borders of a formula, and what makes a sign an ordinary character.
_LATEX_SPACE = re.compile(r"\\[,;:> ]")
_LATEX = re.compile(
    r"\{(?=[.,]\})|(?<=\{[.,])\}|\\(?:left|right)(?=[()\[\]])|\\[()\[\]!]|\\(?=[$%&#_{}])"
)


@dataclass(frozen=True, eq=False)
class Normalised:
    """Normalised text; character `i` of it came from `[starts[i], ends[i])` of the source."""

    text: str
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]

    def source_span(self, start: int, end: int) -> tuple[int, int]:
        """Return the source span of the non-empty stretch `[start, end)` of the normalised text."""
        return int(self.starts[start]), int(self.ends[end - 1])


def normalise(text: str) -> Normalised:
    """Normalise `text`. Linear time, never raises.

    >>> normalise("loss of $ ( 1,200 ) — 3 %").text, normalise(r"\\$1{,}200").text
    ('loss of $(1,200) - 3%', '$1,200')
    """
    text = _LATEX_SPACE.sub("  ", text)
    if text.isascii():
        folded = text
        starts = np.arange(len(text), dtype=np.int64)
        ends = starts + 1
    else:
        folded, starts, ends = _fold(text)
    folded, starts, ends = _collapse_spaces(folded, starts, ends)
    for dropped in (_LATEX, _SPACE_TO_DROP):
        folded, starts, ends = _drop(dropped, folded, starts, ends)
    return Normalised(folded, starts, ends)


def _drop(
    pattern: re.Pattern[str], text: str, starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[str, NDArray[np.int64], NDArray[np.int64]]:
    keep = np.ones(len(text), dtype=bool)
    for match in pattern.finditer(text):
        keep[match.start() : match.end()] = False
    if keep.all():
        return text, starts, ends
    return pattern.sub("", text), starts[keep], ends[keep]


def normalise_value(value: str) -> str:
    """Return the normalised form of a single value, without outer spaces."""
    return normalise(value).text.strip()


def _fold(text: str) -> tuple[str, NDArray[np.int64], NDArray[np.int64]]:
    pieces: list[str] = []
    starts: list[NDArray[np.int64]] = []
    ends: list[NDArray[np.int64]] = []
    position = 0
    for match in _CLUSTER.finditer(text):
        first, last = match.span()
        folded = _fold_cluster(match.group())
        pieces += [text[position:first], folded]
        starts += [np.arange(position, first), np.full(len(folded), first)]
        ends += [np.arange(position + 1, first + 1), np.full(len(folded), last)]
        position = last
    pieces.append(text[position:])
    starts.append(np.arange(position, len(text)))
    ends.append(np.arange(position + 1, len(text) + 1))
    return "".join(pieces), np.concatenate(starts), np.concatenate(ends)


@lru_cache(maxsize=4096)
def _fold_cluster(cluster: str) -> str:
    """Fold one character with its combining marks."""
    if len(cluster) == 1 and unicodedata.decomposition(cluster).startswith(("<super>", "<sub>")):
        return cluster
    folded = unicodedata.normalize("NFKC", cluster).translate(_LOOK_ALIKES)
    return _INVISIBLE.sub("", folded)


def _collapse_spaces(
    text: str, starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[str, NDArray[np.int64], NDArray[np.int64]]:
    if " ".join(text.split()) == text:
        return text, starts, ends
    keep = np.ones(len(text), dtype=bool)
    for match in _SPACES.finditer(text):
        keep[match.start() + 1 : match.end()] = False
    return _SPACES.sub(" ", text), starts[keep], ends[keep]


_NUMBER = re.compile(r"[(\-+$€£¥]{0,3}\d[\d.,'()%\-/]*")
# Dots and rules that lead from a label to its value. They only increase distances.
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
        """Return begin and end of the number that each character belongs to.

        A character outside a number begins and ends with itself.
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
        """Return the stretch of `chars` that came from `[start, end)` of the text."""
        first, last = np.searchsorted(self.places, (start, end))
        return int(first), int(last)


def condense(text: str) -> Condensed:
    """Condense a normalised text, or the first MOST_CHARACTERS of it.

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
