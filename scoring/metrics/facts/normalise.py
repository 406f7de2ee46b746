"""Typographic normalisation of text, with a mapping to the original offsets.

Only differences that a typesetter may introduce are removed: Unicode compatibility forms, dash,
minus and quote look-alikes, invisible characters, repeated spaces, the spaces inside parentheses,
after currency signs and before a percent sign, and marks of LaTeX (`1{,}200`). Digits, separators
and the alphabet never change. Superscript digits stay as they are: after a number they are footnote
marks, and folding them would append a digit to it.

This module also has the look-alikes of digits, the text as the alignment reads it (in lower case,
without spaces and leaders), and the numbers and dates that only the prediction has.
"""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

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
INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff\ufe00-\ufe0f]")
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

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the stretch of the normalised text that came from `[start, end)` of the source."""
        return int(self.ends.searchsorted(start, "right")), int(self.starts.searchsorted(end))


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
    if "\\" in folded or "{" in folded:
        folded, starts, ends = _drop(_LATEX, folded, starts, ends)
    return Normalised(*_drop(_SPACE_TO_DROP, folded, starts, ends))


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
    return INVISIBLE.sub("", folded)


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
        return int(self.places.searchsorted(start)), int(self.places.searchsorted(end))


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


# Numbers and dates of a prediction that its gold page does not have. Facts are judged one by one
# from the gold's side, so they cannot reveal what a model adds.

# Number of tokens that an item result lists; all are counted.
MOST_SHOWN = 50
# Characters of a listed token; no number or date of a document is longer.
LONGEST_SHOWN = 60

_MONTHS = (
    "january february march april may june july august september october november december".split()
)
# Every name and short form of a month, with the form used for comparison.
_MONTH_OF = {name[:length]: name[:3] for name in _MONTHS for length in (3, 4, len(name))}
# A date of three numbers, or a number. A comma before a year lost its space. Both begin with one
# digit, since such a pattern is searched faster than one that begins with a repeated set.
_TOKEN = re.compile(
    r"[0-9][0-9]*(?:(?:[/-][0-9]+){2}|(?:(?:[.']|,(?!(?:19|20)[0-9]{2}(?![0-9])))[0-9]+)*)"
)
_LONGEST_DAY = 2
# A word that may be a month, with the text allowed between it and its day.
_WORD_BEFORE = re.compile(r"(?<![a-z])([a-z]{3,9})\.? ?\Z", re.IGNORECASE)
_WORD_BEHIND = re.compile(r"\.? ?([a-z]{3,9})(?![a-z])", re.IGNORECASE)
_REACH = 11  # characters: the longest such word with the longest gap


@dataclass(frozen=True)
class Hallucinated:
    """Of `tokens` number-like and date-like tokens of the prediction, `count` match nothing in the
    gold; `shown` are the first MOST_SHOWN of those, in order of first occurrence."""

    tokens: int
    count: int
    shown: tuple[str, ...]


NOTHING_READ = Hallucinated(0, 0, ())


def number_and_date_tokens(text: str) -> list[str]:
    """Return the number-like and date-like tokens of a normalised text (`normalise`), in order.
    Linear time, never raises.

    - Date-like: the name of a month, in full or short, with a day before or after it (always
      written "dec 31"), and three numbers joined by `/` or `-`. The year after a day is a
      separate number, since in the heads of tables it is often in another line.
    - Number-like: any other digits with single points, commas or apostrophes between them.
      Adjacent signs, currency marks, percent signs and words are not part of it.

    >>> number_and_date_tokens("On May 27, 2021 a loss of $(1,200.5) or 3%; due 2021-06-30.")
    ['may 27', '2021', '1,200.5', '3', '2021-06-30']
    """
    tokens: list[str] = []
    done = 0  # end of the last day's month, which belongs to no other day
    for match in _TOKEN.finditer(text):
        token = match.group()
        if _is_day(token):
            start, end = match.span()
            month = _month(_WORD_BEFORE.search(text, max(done, start - _REACH), start))
            behind = None if month else _WORD_BEHIND.match(text, end)
            if behind and (month := _month(behind)):
                done = behind.end()
            token = f"{month} {int(token)}" if month else token
        tokens.append(token)
    return tokens


def _month(word: re.Match[str] | None) -> str:
    return _MONTH_OF.get(word[1].lower(), "") if word else ""


def _is_day(piece: str) -> bool:
    return len(piece) <= _LONGEST_DAY and piece.isdecimal()


def hallucinated(gold: str, prediction: str) -> Hallucinated:
    """Return the tokens that the prediction has more often than the gold, both as normalised
    visible text. Equal tokens are counted: the third copy of a value that occurs twice in the gold
    counts as one.

    The rate `count / tokens` is in [0, 1], lower is better; undefined without tokens. All tokens of
    the gold count, not only those in facts. Linear time.

    >>> hallucinated("12 of 12 and 7", "12 12 12 and 8")
    Hallucinated(tokens=4, count=2, shown=('12', '8'))
    """
    found = number_and_date_tokens(prediction)
    extra = Counter(found) - Counter(number_and_date_tokens(gold))
    shown = tuple(token[:LONGEST_SHOWN] for token in islice(extra.elements(), MOST_SHOWN))
    return Hallucinated(len(found), extra.total(), shown)
