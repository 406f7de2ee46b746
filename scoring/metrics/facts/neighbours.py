"""Finds readings of facts of which the prediction has no form, by the order of the words.

Its place is what the prediction has between the nearest neighbours that are recognised there: words
aligned with equal words, and the readings of other facts. If there are about as many words as in
the gold text, something was read for the fact, and the order says which words. If there are clearly
fewer, words were lost, and nothing shows that the fact is not one of them.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from .alignment import Alignment
from .occurrences import GoldFact

# A word is recognised if at least this share of its characters is aligned with equal ones.
_RECOGNISED = 0.5
# Something was read for each word if there are at least this many for one.
_LEAST_READ = 0.75
# In a longer stretch without a recognised word, the order does not say what was read where.
_MOST_WORDS = 60
_WORD = re.compile(r"[^ ]+")
_ALNUM = re.compile(r"[^\W_]")

Span = tuple[int, int]


class Neighbours:
    """The words of gold and prediction in order, and which are recognised in the other."""

    def __init__(
        self,
        texts: tuple[str, str],
        alignment: Alignment,
        surely_same: NDArray[np.bool_],
        facts: Sequence[GoldFact],
        read: Mapping[int, Span],
    ) -> None:
        """`texts` are gold and prediction, normalised. `surely_same` marks the characters of the
        prediction that are aligned with equal ones, not by chance. `read` has the places of what
        was read for facts, by their numbers."""
        gold, prediction = texts
        self._gold = _Words(gold, [(fact.place.start, fact.place.end) for fact in facts])
        self._read = _Words(prediction, [])
        at = np.flatnonzero(surely_same)
        own = self._gold.index[alignment.gold.places[alignment.to_gold[at]]]
        other = self._read.index[alignment.prediction.places[at]]
        both = (own >= 0) & (other >= 0)
        own, other = own[both], other[both]
        free = self._read.shares(other) < _RECOGNISED
        # The first and the last word of the prediction that shows each gold word, -1 for none.
        self._first, self._last = np.full((2, len(self._gold.spans)), -1)
        sure = self._gold.shares(own)[own] >= _RECOGNISED
        self._first[own[sure][::-1]] = other[sure][::-1]
        self._last[own[sure]] = other[sure]
        for fact in facts:
            word = self._word_of(fact)
            if word is None:
                continue
            words = self._read.within(read.get(fact.n, (0, 0)))
            self._first[word], self._last[word] = words[[0, -1]] if len(words) else (-1, -1)
            free[words] = False
        self._free: list[int] = np.flatnonzero(free).tolist()
        self._known: list[int] = np.flatnonzero(self._first >= 0).tolist()

    def between(self, fact: GoldFact) -> Span | None:
        """Return the place of what was read for the fact; None if nothing was, or if it is not
        known where."""
        word = self._word_of(fact)
        if word is None:
            return None
        before, behind = self._neighbours(word)
        words = self._free_between(*self._stretch(before, behind))
        wanted, found = behind - before - 1, len(words)
        if not found or found < _LEAST_READ * wanted or max(wanted, found) > _MOST_WORDS:
            return None
        place = word - before - 1
        first, last = place * found // wanted, -((place + 1) * found // -wanted) - 1
        return self._read.spans[words[first]][0], self._read.spans[words[last]][1]

    def is_beyond(self, fact: GoldFact, reading: Span) -> bool:
        """Whether a reading is outside of the fact's recognised neighbours."""
        word = self._word_of(fact)
        if word is None:
            return False
        first, last = self._stretch(*self._neighbours(word))
        words = self._read.within(reading)
        return first <= last and not ((words >= first) & (words < last)).any()

    def pass_on(self, before: GoldFact, fact: GoldFact) -> bool:
        """Pass the reading of `before` on to the next fact, which has none; whether that was done.

        It is if something else was read for `before`, and nothing for `fact`.
        """
        word, other = self._word_of(fact), self._word_of(before)
        if word is None or other is None or word != other + 1 or self._first[other] < 0:
            return False
        at = bisect_left(self._known, other)
        ahead = self._neighbours(other)[0]
        if self._free_between(*self._stretch(*self._neighbours(word))):
            return False
        if not self._free_between(*self._stretch(ahead, other)):
            return False
        self._first[word], self._last[word] = self._first[other], self._last[other]
        self._first[other] = self._last[other] = -1
        self._known[at] = word
        return True

    def _word_of(self, fact: GoldFact) -> int | None:
        """Return the gold word that is the fact; None for an empty fact or one inside another."""
        span = fact.place.start, fact.place.end
        word = int(self._gold.index[span[0]])
        return word if word >= 0 and self._gold.spans[word] == span else None

    def _neighbours(self, word: int) -> tuple[int, int]:
        """Return the nearest recognised gold words, or the ends of the text."""
        at, until = bisect_left(self._known, word), bisect_right(self._known, word)
        before = self._known[at - 1] if at else -1
        return before, self._known[until] if until < len(self._known) else len(self._first)

    def _stretch(self, before: int, behind: int) -> Span:
        """Return the words of the prediction between two recognised gold words."""
        first = int(self._last[before]) + 1 if before >= 0 else 0
        is_last = behind == len(self._first)
        return first, len(self._read.spans) if is_last else int(self._first[behind])

    def _free_between(self, first: int, last: int) -> Sequence[int]:
        """Return the words that are neither recognised nor read for a fact."""
        start = bisect_left(self._free, first)
        end = bisect_left(self._free, last, lo=start) if last > first else start
        # One more than are considered suffices to see that there are too many.
        return self._free[start : min(end, start + _MOST_WORDS + 1)]


class _Words:
    """The words with letters or digits of a text, in order. Each of `whole` is one word, unless it
    overlaps another."""

    def __init__(self, text: str, whole: Iterable[Span]) -> None:
        self.spans: list[Span] = []
        position = 0
        for start, end in [*sorted(whole), (len(text), len(text))]:
            if start < position:
                continue
            words = (match.span() for match in _WORD.finditer(text, position, start))
            self.spans += [word for word in words if _ALNUM.search(text, *word)]
            if start < end:
                self.spans.append((start, end))
            position = end
        # The word of each character, -1 for none.
        self.index = np.full(len(text) + 1, -1, dtype=np.int64)
        for number, (start, end) in enumerate(self.spans):
            self.index[start:end] = number

    def shares(self, characters: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the share of each word's characters that is in `characters`, which are given by
        their words."""
        lengths = np.array([end - start for start, end in self.spans], dtype=np.float64)
        shares: NDArray[np.float64] = np.bincount(characters, minlength=len(lengths)) / lengths
        return shares

    def within(self, span: Span) -> NDArray[np.int64]:
        """Return the words of a stretch of the text."""
        words = self.index[slice(*span)]
        return np.unique(words[words >= 0])
