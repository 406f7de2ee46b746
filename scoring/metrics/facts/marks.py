"""Marks next to a number: its currency, its scale word and its percent sign.

Gold often tags `1,200` and leaves `$` and `million` outside the tag. They belong to the value all
the same: `€1,200` or `$1,200 billion` is another amount.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from .normalise import CURRENCY

# Characters on either side of a number that may hold its marks.
_REACH = 32

# Signs and words of one meaning, by the kind of mark. A single letter only
# counts right behind digits.
_MEANINGS = {
    "currency": """
        $ us$ usd dollar dollars
        € eur euro euros
        £ gbp pound pounds sterling
        ¥ jpy yen 円 圓 日元
        ₹ inr rs rupee rupees
        ₩ krw won 원
        cny rmb renminbi yuan 元 人民币 人民幣
        hkd hk$
        cad c$
        aud a$
        chf franc francs
        ¢ cent cents
        brl r$ real reais
        mxn peso pesos
    """,
    "scale": """
        hundred hundreds 百
        thousand thousands k 千
        million millions mm mn m mil mio 百万 百萬
        billion billions bn b 十亿 十億
        trillion trillions tn t 兆
        万 萬 만
        亿 億 억
        千万 千萬
    """,
    "percent": """
        % percent pct 百分之
        bps bp
        ‰
    """,
}
_MEANING = {
    mark: (kind, number)
    for kind, lines in _MEANINGS.items()
    for number, line in enumerate(lines.strip().split("\n"))
    for mark in line.split()
}
_LETTERS = frozenset("kmbt")
_CJK = "|".join(
    sorted((m for m in _MEANING if "\u3000" <= m[0] <= "\ud7ff"), key=len, reverse=True)
)
_MARK = re.compile(
    rf"(?:(?<![^\W_])(?:us|hk|c|a|r))?\$|[{CURRENCY}%‰]|{_CJK}|[a-z]+", re.IGNORECASE
)
_SCALES = ("thousand", "million", "billion", "trillion")
# A word this similar to one of scale is a misreading of it, and the mark is there.
_LEAST_ALIKE, _MISREAD = 0.7, 0.4
_SHORTEST = 5
_FIRST_WORD = re.compile(r"[ ,.]{0,2}([^ ]+)")
# Words between a mark and the next: "1,200 million of US dollars".
_PASSED_OVER = frozenset({"of", "us", "u", "s"})
_AMOUNT_FOLLOWS = re.compile(r"[ (\-+]*\d")


Mark = tuple[str, int]
"""The kind of a mark, and the number of its meaning."""


class Marks(NamedTuple):
    """The marks of a number, each by its meaning; None if there is none of that kind."""

    currency: int | None = None
    scale: int | None = None
    percent: int | None = None

    def lacking(self, other: "Marks") -> frozenset[str]:
        """Return the kinds of marks that are here and not in `other`."""
        pairs = zip(self._fields, self, other, strict=True)
        return frozenset(kind for kind, own, its in pairs if own is not None and own != its)


def marks_beside(before: str, behind: str, value: str = "") -> Marks:
    """Return the marks in a value and next to it. Both texts are lines of their own: `before` ends
    at the value and `behind` begins there.

    >>> marks_beside("sales of $", " million in 2024") == marks_beside("US$", "mn of them")
    True
    >>> marks_beside("5", "% of $9"), marks_beside("", " $900")
    (Marks(currency=None, scale=None, percent=0), Marks(currency=None, scale=None, percent=None))
    """
    if before.endswith("$") and behind.startswith("$"):
        before, behind = before[:-1], behind[1:]  # a formula of LaTeX
    found: dict[str, int] = {}
    for kind, number in (*_ahead(before), *_within(value), *_after(behind)):
        found.setdefault(kind, number)
    return Marks(**found)


class Surroundings:
    """The lines of a normalised text: `rows` are those of its characters."""

    def __init__(self, text: str, rows: NDArray[np.int64]) -> None:
        self._text = text
        self._rows = rows

    def marks(self, start: int, end: int, bounds: tuple[int, int] | None = None) -> Marks:
        """Return the marks of the number `[start, end)`: those before it in its line, or within
        `bounds` of it, and those behind it, where a line may end before them."""
        low, high = bounds or (0, len(self._text))
        low, high = max(low, start - _REACH), min(high, end + _REACH)
        rows = self._rows[low : start + 1].tolist()
        low += next(k for k, row in enumerate(rows) if row == rows[-1])
        return marks_beside(self._text[low:start], self._text[end:high], self._text[start:end])

    def scraps(self, start: int, end: int) -> frozenset[str]:
        """Return the kinds of marks that may have been misread next to the number `[start, end)`:
        a currency as any character that is no digit, a word as a similar one."""
        found = set()
        before = self._text[max(0, start - _REACH) : start].rstrip("(-+")
        word = before.rstrip()[before.rstrip().rfind(" ") + 1 :]
        is_near = word and not word[-1].isdigit() and (before[-1] != " " or len(word) == 1)
        if is_near or self._text[start].isalpha():
            found.add("currency")
        behind = _FIRST_WORD.match(self._text, end)
        if behind and _similarity(behind.group(1), _SCALES) >= _MISREAD:
            found.add("scale")
        if behind and _similarity(behind.group(1), ("percent",)) >= _MISREAD:
            found.add("percent")
        return frozenset(found)


def _similarity(word: str, known: Iterable[str]) -> float:
    return max(Levenshtein.normalized_similarity(word.lower(), each) for each in known)


def _ahead(text: str) -> Iterable[Mark]:
    """Yield the currency that ends a text."""
    text = text.rstrip(" (-+").lower()
    if text.endswith("¢"):
        return
    match = re.search(
        rf"(?:(?:(?<![^\W_])(?:us|hk|c|a|r))?\$|[{CURRENCY}]|(?<![^\W\d_])[a-z]{{3}}|百分之)$", text
    )
    if match and _MEANING.get(match.group(), ("", 0))[0] in {"currency", "percent"}:
        yield _MEANING[match.group()]


def _within(value: str) -> Iterable[Mark]:
    for match in _MARK.finditer(value.lower()):
        if match.group() in _MEANING:
            yield _MEANING[match.group()]


def _after(text: str) -> Iterable[Mark]:
    """Yield the marks that begin a text, as far as they follow each other."""
    at = 0
    text = text.lower()
    while True:
        start = len(text) - len(text[at:].lstrip(" )-,"))
        match = _MARK.match(text, start)
        if match is None:
            return
        word = _as_scale(match.group())
        is_letter = word in _LETTERS
        if word not in _MEANING and word not in _PASSED_OVER:
            return
        if is_letter and start > at:
            return
        if word in _MEANING:
            kind, _ = _MEANING[word]
            # A currency before another amount is that amount's.
            if kind == "currency" and _AMOUNT_FOLLOWS.match(text, match.end()):
                return
            yield _MEANING[word]
        at = match.end()


def _as_scale(word: str) -> str:
    """Return the word of scale that a word is, however it is spelt or what is joined to it."""
    if word in _MEANING or len(word) < _SHORTEST:
        return word
    best = max(_SCALES, key=lambda scale: _similarity(word, [scale]))
    joined = next((scale for scale in _SCALES if word.startswith(scale)), word)
    return best if _similarity(word, [best]) >= _LEAST_ALIKE else joined


def marks_in(text: str) -> frozenset[Mark]:
    """Return all marks in a text, such as the header of a column."""
    found = _MEANING.keys() & set(_MARK.findall(text.lower())) - _LETTERS
    return frozenset(map(_MEANING.__getitem__, found))


def differ(
    own: Marks,
    read: Marks,
    lasting: Marks,
    around: frozenset[Mark],
    *,
    scraps: frozenset[str] = frozenset(),
    ignored: frozenset[str] = frozenset(),
) -> bool:
    """Whether the marks of a reading make it another amount.

    `own` are the marks of the gold value, `lasting` those of them that must not be lost, and
    `around` those of its column and table, which a reading may repeat. Those of which `scraps` are
    left were not lost, and those `ignored` are compared elsewhere.
    """
    for kind, mine, theirs, kept in zip(Marks._fields, own, read, lasting, strict=True):
        if kind in ignored:
            continue
        if theirs is None and kept is not None and kind not in scraps:
            return True
        if (
            theirs is not None
            and theirs != mine
            and (mine is not None or (kind, theirs) not in around)
        ):
            return True
    return False
