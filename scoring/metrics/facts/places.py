"""How well an occurrence fits a fact's place, and the form of a value that is not there.

The damaged form of a value is first searched for in the words aligned with the fact, with adjacent
fragments that make them more similar to the value ("65 , 629"). If those are not a form of the
value, anything in the prediction that is similar to the value and has the fact's surroundings is
considered.
"""

import re
from collections import defaultdict
from collections.abc import Container, Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from .alignment import Alignment
from .errors import similarity
from .normalise import CURRENCY, as_digits
from .occurrences import REACH, GoldFact

# Characters on either side whose alignment counts for an occurrence's place, and the decay of their
# weight.
_WINDOW = 50
_FADING = 16.0
# Beyond this distance in the gold text, an aligned character does not count for the place.
_NEAR = 130
# A single equal character may be aligned by chance, so it counts less than one in a run.
_RUN = 3
_CHANCE = 0.3
# The evidence counts fully if it comes from at least this share of the surrounding characters.
_QUORUM = 0.35
# The characters before an occurrence that determine which label it follows, unless this share of it
# is aligned with the fact.
_LABEL = 12
_SURE = 0.5

_DISTANCE = np.arange(_WINDOW)
_FADE = np.exp(-_DISTANCE / _FADING)


class PlaceJudge:
    """Scores places from an alignment of gold and prediction. All positions are of the condensed
    texts."""

    # From this score on, an occurrence is in the fact's place.
    LEAST = 0.5

    def __init__(
        self,
        alignment: Alignment,
        gold_rows: NDArray[np.int64],
        prediction_rows: NDArray[np.int64],
    ) -> None:
        """The rows are the table rows or lines of the characters of the two texts, -1 for none."""
        self._alignment = alignment
        self._rows = np.concatenate((gold_rows, [-1]))
        # Alignment with a mark between values counts for nothing; the last entry means unaligned.
        self._is_value = np.array([*map(str.isalnum, alignment.gold.chars), False])
        self._prediction_rows = prediction_rows
        self._faced_rows: dict[int, dict[int, float]] = {}
        blank = np.full(_WINDOW, -1, dtype=np.int64)
        self._faces = np.concatenate((blank, alignment.to_gold, blank))
        self.surely_same = _in_runs(alignment)
        evidence = np.where(alignment.same, np.where(self.surely_same, 1.0, _CHANCE), 0.0)
        padding = np.zeros(_WINDOW)
        self._evidence = np.concatenate((padding, evidence, padding))
        self._inside = np.concatenate((padding, np.ones(len(evidence)), padding))

    def faces(self, span: tuple[int, int]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the gold characters aligned with a stretch of the prediction (-1: none), and
        whether they are equal."""
        start, end = span
        return self._alignment.to_gold[start:end], self._alignment.same[start:end]

    def faced_at(self, at: int) -> int:
        """Return the gold character aligned with the nearest aligned one up to `at`."""
        return int(self._last_faced[min(at, len(self._last_faced) - 1)])

    @cached_property
    def _last_faced(self) -> NDArray[np.int64]:
        faces = self._alignment.to_gold
        known = np.maximum.accumulate(np.where(faces >= 0, np.arange(len(faces)), 0))
        return np.maximum(faces[known], 0)

    def fit(
        self, fact: tuple[int, int], occurrences: Sequence[tuple[int, int]]
    ) -> NDArray[np.float64]:
        """Return how well each occurrence `[start, end)` fits the place of the fact at `[start,
        end)`.

        own - away + around: the share of its characters aligned with the fact, minus the share
        aligned with other gold text, plus the evidence of the surrounding characters: those before
        it should be aligned with gold text shortly before the fact, those after it with text
        shortly after; the fact's row may be on either side (the lines of a row's label are often
        read around its values). Range -2 to 2; LEAST and more means *in place*.
        """
        starts = np.array([start for start, _ in occurrences]) + _WINDOW
        ends = np.array([end for _, end in occurrences]) + _WINDOW
        length = max(1, int((ends - starts).max()))
        own_faces = self._faces[starts[:, None] + np.arange(length)]
        faces_fact = (own_faces >= fact[0]) & (own_faces < fact[1])
        own = faces_fact.mean(axis=1)
        away = (~faces_fact & self._is_value[own_faces]).mean(axis=1)
        around = self._around(fact, starts, ends)
        row = int(self._rows[fact[0]])
        if row >= 0:
            for k in np.flatnonzero(own < _SURE):
                around[k] = self._by_row(row, int(starts[k]) - _WINDOW, float(around[k]))
        fits: NDArray[np.float64] = own - away + around
        return fits

    def _by_row(self, row: int, start: int, around: float) -> float:
        """Return the evidence of the row for an occurrence that is not aligned with the fact, which
        is in gold row `row`.

        The prediction's row counts as a whole if it has a label. For a value in its own row, the
        label just before or just after it counts; elsewhere the one before. If it is another row's
        label, the occurrence is not in place, whatever else is near.
        """
        if start >= len(self._prediction_rows):
            return -1.0  # beyond the aligned part
        prediction_row = int(self._prediction_rows[start])
        before = self._neighbours_row(row, start + _WINDOW - 1 - _DISTANCE)
        if prediction_row < 0:
            return around if before else -1.0
        shares = self._rows_faced_by(prediction_row)
        if shares:
            share = shares.get(row, 0.0)
            return max(around, share) if share >= _SURE else -1.0
        last = int(np.flatnonzero(self._prediction_rows == prediction_row)[-1])
        behind = self._neighbours_row(row, last + _WINDOW + 1 + _DISTANCE)
        return around if before or behind else -1.0

    def _neighbours_row(self, row: int, at: NDArray[np.int64]) -> bool:
        """Whether the nearest aligned characters at these positions are aligned with `row`, or none
        is aligned."""
        at = at[at < len(self._faces)]
        aligned = at[self._evidence[at] > _CHANCE][:_LABEL]
        same = self._rows[self._faces[aligned]] == row
        return bool(same.sum() * 2 >= len(same))

    def _rows_faced_by(self, prediction_row: int) -> dict[int, float]:
        """Return the gold rows aligned with the characters of a row of the prediction, by share;
        empty if too few are aligned."""
        if prediction_row not in self._faced_rows:
            at = np.flatnonzero(self._prediction_rows == prediction_row)
            is_aligned = self._evidence[at + _WINDOW] > _CHANCE
            rows, counts = np.unique(
                self._rows[self._alignment.to_gold[at[is_aligned]]], return_counts=True
            )
            enough = counts.sum() >= _LABEL // 2
            shares = zip(rows.tolist(), (counts / max(counts.sum(), 1)).tolist(), strict=True)
            self._faced_rows[prediction_row] = dict(shares) if enough else {}
        return self._faced_rows[prediction_row]

    def _around(
        self, fact: tuple[int, int], starts: NDArray[np.int64], ends: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the evidence of the surrounding characters, from -1 (all against the fact's place)
        to 1 (all for it)."""
        row = self._rows[fact[0]]
        # Both sides at once: by side, occurrence and distance.
        at = np.stack((starts[:, None] - 1 - _DISTANCE, ends[:, None] + _DISTANCE))
        low = np.array((fact[0] - _NEAR, fact[1]))[:, None, None]
        high = np.array((fact[0], fact[1] + _NEAR))[:, None, None]
        faces = self._faces[at]
        evidence = self._evidence[at] * _FADE
        agrees = (faces >= low) & (faces < high)
        if row >= 0:
            agrees |= self._rows[faces] == row
        agreeing = np.where(agrees, evidence, -evidence).sum(axis=2).sum(axis=0)
        weight = evidence.sum(axis=2).sum(axis=0)
        present = (self._inside[at] * _FADE).sum(axis=2).sum(axis=0)
        result: NDArray[np.float64] = agreeing / np.maximum(
            weight, np.maximum(_QUORUM * present, 1)
        )
        return result


def _in_runs(alignment: Alignment) -> NDArray[np.bool_]:
    """Return which characters are in a run of at least _RUN equal ones, without a break on either
    side."""
    at = np.flatnonzero(alignment.same)
    inside = np.zeros(len(alignment.same), dtype=bool)
    if not len(at):
        return inside
    faces = alignment.to_gold[at]
    breaks = np.flatnonzero((np.diff(at) != 1) | (np.diff(faces) != 1)) + 1
    for run in np.split(at, breaks):
        if len(run) >= _RUN:
            inside[run] = True
    return inside


# The share of a word's characters that must be aligned with the fact for the word to be part of its
# form.
_LEAST_SHARE = 0.3
# A damaged form of several words is at most this many times as long as the value.
_LONGEST_FORM = 3
# Fragments of a split value, on either side.
_MOST_FRAGMENTS = 4
_FRAGMENT = re.compile(r"[\d.,%(){}$&_lOoISsZBgq']{1,8}")
_WORD = re.compile(r"[^ ]+")
_DIGIT = re.compile(r"\d")
# Longer words have run together; their numbers count separately.
_LONGEST_WORD = 20
_NUMBER = re.compile(r"[($\-]{0,3}\d[\dOoQDlIiSsZzBGbgq.,'%)/\-]*")
# The most words that are searched for forms elsewhere.
_MOST_WORDS = 4000
# The least similarity of forms elsewhere to the value.
_LEAST_LIKE = 0.6
_DATE_WORDS = 3
# The largest distance between day and year of a date that was broken into lines.
_APART = 80
_WORDS_APART = 5
_YEAR_LAST = re.compile(r"(\D+ \d{1,2},?) (\d{4})")
# A year that follows its day without a space is not apart from it.
_YEAR = re.compile(r"(?:19|20)\d\d")
_ALNUM = re.compile(r"[^\W_]")
_EDGE = " .,;:|\"'*=~!_[]"

Span = tuple[int, int]


class FormFinder:
    """Finds forms in a normalised prediction. `taken` marks the characters that are used up."""

    def __init__(
        self, text: str, alignment: Alignment, taken: NDArray[np.bool_], values: Container[str]
    ) -> None:
        """`values` are those of all gold facts: none of them is a fragment of another."""
        self._text = text
        self._values = values
        self._alignment = alignment
        self._taken = taken

    @cached_property
    def _bounds(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        starts, ends = np.array(list(_pieces(self._text)), dtype=np.int64).reshape(-1, 2).T
        return starts, ends

    def in_place(self, fact: GoldFact) -> Span | None:
        """Return the words aligned with the fact, `[start, end)`; None if there are none."""
        start, end = self._alignment.gold.span(fact.place.start, fact.place.end)
        faced = self._alignment.to_prediction[start:end]
        faced = self._alignment.prediction.places[faced[faced >= 0]]
        faced = faced[~self._taken[faced]]
        if not len(faced):
            return None
        if not fact.value.strip(CURRENCY):
            # A sign of its own, whose word is mostly the amount next to it.
            return _sign_at(self._text, int(faced[0]))
        words, counts = np.unique(
            np.searchsorted(self._bounds[0], faced, side="right") - 1, return_counts=True
        )
        own = np.array([self._faces_mostly(word, start, end) for word in words])
        if not own.any():
            return None
        words, counts = words[own], counts[own]
        first, last = int(words[0]), int(words[-1])
        if self._bounds[1][last] - self._bounds[0][first] > _LONGEST_FORM * len(fact.value):
            first = last = int(words[counts.argmax()])
        first, last = self._with_fragments(fact, first, last)
        return int(self._bounds[0][first]), int(self._bounds[1][last])

    def anything_in_place(self, fact: GoldFact) -> Span | None:
        """Return the words aligned with the fact that no other fact has taken; None if they have no
        letter or digit, or are the gold's own words next to the fact."""
        place = self.in_place(fact)
        if place is None or self._taken[place[0] : place[1]].any():
            return None
        start, end = self.trimmed(*place)
        around = f"{fact.place.before[::-1]} {fact.place.behind}".lower().split()
        is_own = self._text[start:end].lower() in {word.strip(_EDGE) for word in around}
        return None if is_own or not _ALNUM.search(self._text, start, end) else (start, end)

    def with_neighbours(self, start: int, end: int) -> str:
        """Return the text `[start, end)` with adjacent text."""
        before = self._text[max(0, start - REACH) : start]
        behind = self._text[end : end + REACH].partition(" ")[0]
        return before[before.rfind(" ") + 1 :] + self._text[start:end] + behind

    def trimmed(self, start: int, end: int) -> Span:
        """Return the stretch without the punctuation around it."""
        text = self._text[start:end]
        bare = text.strip(_EDGE)
        start += len(text) - len(text.lstrip(_EDGE)) if bare else 0
        return (start, start + len(bare)) if bare else (start, end)

    def alike(self, facts: Sequence[GoldFact]) -> list[tuple[Span, dict[int, float]]]:
        """Return texts similar to the values, wherever they are: the place, and the similarity to
        each fact by the fact's index."""
        found: defaultdict[Span, dict[int, float]] = defaultdict(dict)
        for kind, most in (("number", 1), ("date", _DATE_WORDS)):
            own = [k for k, fact in enumerate(facts) if fact.kind == kind]
            spans = sorted(set(self._windows(most))) if own else []
            if not spans:
                continue
            values = [facts[k].value.replace(" ", "") for k in own]
            texts = [as_digits(self._text[a:b].strip(_EDGE)).replace(" ", "") for a, b in spans]
            likeness = cdist(values, texts, scorer=Levenshtein.normalized_similarity)
            for row, column in np.argwhere(likeness >= _LEAST_LIKE):
                found[spans[column]][own[row]] = float(likeness[row, column])
        return sorted(found.items())

    def _windows(self, most: int) -> Iterator[Span]:
        """Yield runs of up to `most` free words, at least one with a digit."""
        starts, ends = (bounds[:_MOST_WORDS].tolist() for bounds in self._bounds)
        free = [not self._taken[start:end].any() for start, end in zip(starts, ends, strict=True)]
        for at in range(len(starts)):
            if not free[at] or not _DIGIT.search(self._text, starts[at], ends[at]):
                continue
            for first in range(max(0, at - most + 1), at + 1):
                for last in range(at, min(first + most, len(starts))):
                    if all(free[first : last + 1]):
                        yield starts[first], ends[last]

    def split_date(self, fact: GoldFact, form: Span) -> tuple[Span, Span] | None:
        """Return the two parts of a date whose year is apart from its day, as in a table's header
        that is broken into lines. `form` is aligned with the fact."""
        match = _YEAR_LAST.fullmatch(fact.value)
        if match is None or not self._text.startswith(match[1], form[0]):
            return None
        end = form[0] + len(match[1])
        if _YEAR.match(self._text, end):
            return None
        between = self._text[end : end + _APART]
        for year in re.finditer(rf"(?<![\w.,]){match[2]}(?![\w.]|,\d)", between):
            words = len(between[: year.start()].split())
            if words > _WORDS_APART:
                break
            if not words:
                continue
            start, stop = end + year.start(), end + year.end()
            if not self._taken[start:stop].any():
                return (form[0], end), (start, stop)
        return None

    def _faces_mostly(self, word: int, start: int, end: int) -> bool:
        """Whether a word of the prediction belongs to the fact's place and not its neighbours'."""
        first, last = self._alignment.prediction.span(self._bounds[0][word], self._bounds[1][word])
        faces = self._alignment.to_gold[first:last]
        faces = faces[faces >= 0]
        inside = (faces >= start) & (faces < end)
        return bool(inside.mean() >= _LEAST_SHARE)

    def _with_fragments(self, fact: GoldFact, first: int, last: int) -> tuple[int, int]:
        """Extend the words by adjacent fragments that make them more similar to the value."""
        best = (self._likeness(fact, first, last), first, last)
        low, high = first, last
        for _ in range(_MOST_FRAGMENTS):
            low -= 1
            if low < 0 or not self._is_fragment(low):
                break
            best = max(best, (self._likeness(fact, low, last), low, last))
        first = best[1]
        for _ in range(_MOST_FRAGMENTS):
            high += 1
            if high >= len(self._bounds[0]) or not self._is_fragment(high):
                break
            best = max(best, (self._likeness(fact, first, high), first, high))
        return best[1], best[2]

    def _is_fragment(self, word: int) -> bool:
        start, end = self._bounds[0][word], self._bounds[1][word]
        if self._text[start:end] in self._values:
            return False
        if self._taken[start:end].any() or not _FRAGMENT.fullmatch(self._text, start, end):
            return False
        first, last = self._alignment.prediction.span(start, end)
        return not self._alignment.same[first:last].all()

    def _likeness(self, fact: GoldFact, first: int, last: int) -> float:
        text = self._text[self._bounds[0][first] : self._bounds[1][last]]
        return similarity(fact.value, as_digits(text) if fact.kind == "number" else text)


def _sign_at(text: str, at: int) -> Span | None:
    return (at, at + 1) if text[at] in CURRENCY else None


def _pieces(text: str) -> Iterator[Span]:
    for match in _WORD.finditer(text):
        if match.end() - match.start() <= _LONGEST_WORD:
            yield match.span()
            continue
        position = match.start()
        for number in _NUMBER.finditer(text, *match.span()):
            if number.start() > position:
                yield position, number.start()
            yield number.span()
            position = number.end()
        if position < match.end():
            yield position, match.end()
