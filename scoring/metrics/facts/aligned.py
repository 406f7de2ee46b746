"""The aligned matcher: each gold fact to the occurrence of its value that stands in its place.

First the two texts are aligned (`alignment`). Every clean occurrence of a fact's value is then
judged by its place: does the alignment set it against the fact, or against something else; do the
words around it face the words around the fact? Facts with equal values share out their
occurrences one-to-one so that the places fit best in total. What remains is explained: an
unclaimed occurrence elsewhere is misplaced, a similar text in the fact's place is a damaged form
with its error type, and where there is neither the fact is missing.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from .alignment import align
from .errors import error_type, is_recognisable, similarity, trim_form
from .normalise import Normalised, normalise
from .occurrences import (
    NOTHING,
    FactKind,
    Occurrence,
    find_occurrences,
    issue_of,
    kind_of,
    occurrence_at,
    stands_alone,
)
from .page import Fact, Page
from .place import PlaceJudge
from .tables import TableJudge
from .verdicts import MISSING, Verdict

# Of one value, only so many occurrences are looked at; a page has some dozens.
_MOST_OCCURRENCES = 1000
# An exact value with fewer letters and digits than this, found in the wrong place, is there by
# chance.
_LEAST_MISPLACED = 3
# From this similarity on, what stands in the fact's place is the fact, even if the exact value
# stands elsewhere.
_CLEARLY_DAMAGED = 0.6
# The share of a word's characters that must face the fact for the word to be part of its form.
_LEAST_SHARE = 0.3
# A damaged form of several words is at most so many times as long as the value.
_LONGEST_FORM = 3
# Letters and digits in a table row or line; what has more lays out the page or is a paragraph.
_LONGEST_ROW = 300
# What the address in a table weighs against all that the alignment says of a place.
_ADDRESS = 3.0

Group = tuple[str, FactKind]


@dataclass(frozen=True)
class _Gold:
    """A gold fact in normalised text: its value, how to read it, where and beside what."""

    fact: Fact
    value: str
    kind: FactKind
    place: Occurrence

    @property
    def n(self) -> int:
        return self.fact.n


def match_aligned(gold: Page, prediction: Page) -> list[Verdict]:
    """The verdict on every fact of `gold`, in order.

    Deterministic, one-to-one: no stretch of the prediction counts for two correct facts. Never
    raises on any text.
    """
    return _Matcher(gold, prediction).run()


class _Matcher:
    def __init__(self, gold: Page, prediction: Page) -> None:
        gold_text = normalise(gold.text)
        self._facts = [_gold_fact(fact, gold_text) for fact in gold.facts]
        self._values = {fact.value for fact in self._facts}
        self._source = prediction.text
        self._prediction = normalise(prediction.text)
        self._text = self._prediction.text
        self._alignment = align(gold_text.text, self._text)
        self._judge = PlaceJudge(
            self._alignment,
            _rows(gold, gold_text)[self._alignment.gold.places],
            _rows(prediction, self._prediction)[self._alignment.prediction.places],
        )
        self._tables = TableJudge(gold, prediction)
        self._word_starts, self._word_ends = _word_bounds(self._text)
        self._taken = np.zeros(len(self._text), dtype=bool)
        self._verdicts: dict[int, Verdict] = {}

    def run(self) -> list[Verdict]:
        groups: defaultdict[Group, list[_Gold]] = defaultdict(list)
        for fact in self._facts:
            groups[fact.value, fact.kind].append(fact)
        occurrences = {
            group: find_occurrences(self._text, *group, limit=_MOST_OCCURRENCES) for group in groups
        }
        # Longer values first: "December 31" must not claim the beginning of "December 31, 2024".
        for group in sorted(groups, key=lambda group: (-len(group[0]), group)):
            for fact, occurrence in self._assign(groups[group], occurrences[group]):
                self._accept(fact, occurrence, None)
        self._explain_all(groups, occurrences)
        return [self._verdicts[fact.n] for fact in self._facts]

    def _explain_all(
        self, groups: dict[Group, list[_Gold]], occurrences: dict[Group, list[Occurrence]]
    ) -> None:
        """The verdicts on what is not in its place: misplaced values, then damaged forms."""
        elsewhere = {
            fact.n: occurrence
            for group, facts in groups.items()
            for fact, occurrence in self._elsewhere(facts, occurrences[group])
        }
        rest = [fact for fact in self._facts if fact.n not in self._verdicts]
        for fact in rest:
            occurrence = elsewhere.get(fact.n)
            if occurrence and self._is_free(occurrence) and not self._is_clearly_damaged(fact):
                self._accept(fact, occurrence, "misplaced")
        for fact in rest:
            if fact.n not in self._verdicts:
                self._explain(fact, occurrences[fact.value, fact.kind])

    def _assign(
        self, facts: Sequence[_Gold], found: Sequence[Occurrence]
    ) -> list[tuple[_Gold, Occurrence]]:
        """Facts of one value with occurrences in their places, shared out to fit best in total."""
        free = [occurrence for occurrence in found if self._is_free(occurrence)]
        if not free:
            return []
        fit = self._fit(facts, free)
        in_place = np.where(fit >= PlaceJudge.LEAST, fit, 0.0)
        rows, columns = linear_sum_assignment(in_place, maximize=True)
        return [
            (facts[row], free[column])
            for row, column in zip(rows, columns, strict=True)
            if in_place[row, column] > 0
        ]

    def _fit(self, facts: Sequence[_Gold], found: Sequence[Occurrence]) -> NDArray[np.float64]:
        """How well each occurrence stands in each fact's place; -inf if it is not the value."""
        spans = [self._span(occurrence) for occurrence in found]
        fit = np.full((len(facts), len(found)), -np.inf)
        for row, fact in enumerate(facts):
            alone = [stands_alone(occurrence, fact.place) for occurrence in found]
            scores = self._judge.fit(self._gold_span(fact), spans)
            fit[row] = np.where(alone, scores + _ADDRESS * self._addresses(fact, found), -np.inf)
        return fit

    def _addresses(self, fact: _Gold, found: Sequence[Occurrence]) -> NDArray[np.float64]:
        """What the tables say of each occurrence: the fact's address 1, another -1, nothing 0."""
        place = (fact.fact.start, fact.fact.end)
        spans = (self._prediction.source_span(o.start, o.end) for o in found)
        return np.array([self._tables.compare(place, span) for span in spans], dtype=np.float64)

    def _elsewhere(
        self, facts: Sequence[_Gold], found: Sequence[Occurrence]
    ) -> list[tuple[_Gold, Occurrence]]:
        """The exact value in a wrong place, for facts that found none in theirs; in page order."""
        left = [fact for fact in facts if fact.n not in self._verdicts]
        is_short = sum(map(str.isalnum, facts[0].value)) < _LEAST_MISPLACED
        places = {self._gold_span(fact)[0] for fact in left}
        free = [o for o in found if self._is_free(o) and self._is_stray(o, places, is_short)]
        pairs: list[tuple[_Gold, Occurrence]] = []
        for fact in left:
            occurrence = next((o for o in free if stands_alone(o, fact.place)), None)
            if occurrence is not None:
                free.remove(occurrence)
                pairs.append((fact, occurrence))
        return pairs

    def _is_stray(self, occurrence: Occurrence, places: set[int], is_short: bool) -> bool:
        """Whether an exact value may stand where it stands by mistake.

        It does not when gold text accounts for it that is no open fact (those begin at `places`);
        a short value does only where something else should be.
        """
        faces, same = self._judge.faces(self._span(occurrence))
        if same.all() and not (len(faces) and int(faces[0]) in places):
            return False
        return not is_short or bool((faces >= 0).any())

    def _is_clearly_damaged(self, fact: _Gold) -> bool:
        """Whether the fact's place holds a damaged form, whatever else holds the exact value."""
        form = self._form_in_place(fact)
        text = self._text[form[0] : form[1]] if form else ""
        return text not in self._values and similarity(fact.value, text) >= _CLEARLY_DAMAGED

    def _explain(self, fact: _Gold, found: Sequence[Occurrence]) -> None:
        """The verdict on a fact whose value is nowhere: a damaged form in its place, or none."""
        form = self._form_in_place(fact)
        if form and is_recognisable(fact.value, self._text[form[0] : form[1]], fact.kind):
            self._verdicts[fact.n] = self._damaged(fact, form, found)
        else:
            self._verdicts[fact.n] = MISSING

    def _damaged(self, fact: _Gold, form: tuple[int, int], found: Sequence[Occurrence]) -> Verdict:
        start, end = form
        text = self._text[start:end]
        inside = next((o for o in found if start < o.end and o.start < end), None)
        if inside is not None and not stands_alone(inside, fact.place):
            error = issue_of(inside, fact.place)
        elif inside is not None:
            error = "misplaced"
        else:
            error = error_type(fact.value, text, fact.kind)
        return self._verdict(start, end, error)

    def _form_in_place(self, fact: _Gold) -> tuple[int, int] | None:
        """The prediction's words that face the fact, `[start, end)` without outer punctuation."""
        start, end = self._gold_span(fact)
        faced = self._alignment.to_prediction[start:end]
        faced = self._alignment.prediction.places[faced[faced >= 0]]
        faced = faced[~self._taken[faced]]
        if not len(faced):
            return None
        words, counts = np.unique(
            np.searchsorted(self._word_starts, faced, side="right") - 1, return_counts=True
        )
        own = np.array([self._faces_mostly(word, fact) for word in words])
        if not own.any():
            return None
        words, counts = words[own], counts[own]
        first, last = int(words[0]), int(words[-1])
        if self._word_ends[last] - self._word_starts[first] > _LONGEST_FORM * len(fact.value):
            first = last = int(words[counts.argmax()])
        begin = int(self._word_starts[first])
        text = self._text[begin : int(self._word_ends[last])]
        lead, end = trim_form(text, fact.value, fact.place, fact.kind)
        return (begin + lead, begin + end) if end > lead else None

    def _faces_mostly(self, word: int, fact: _Gold) -> bool:
        """Whether a word of the prediction belongs to the fact's place, not its neighbours'."""
        start, end = self._gold_span(fact)
        first, last = self._alignment.prediction.span(
            self._word_starts[word], self._word_ends[word]
        )
        faces = self._alignment.to_gold[first:last]
        faces = faces[faces >= 0]
        inside = (faces >= start) & (faces < end)
        return bool(inside.mean() >= _LEAST_SHARE)

    def _gold_span(self, fact: _Gold) -> tuple[int, int]:
        return self._alignment.gold.span(fact.place.start, fact.place.end)

    def _span(self, occurrence: Occurrence) -> tuple[int, int]:
        return self._alignment.prediction.span(occurrence.start, occurrence.end)

    def _is_free(self, occurrence: Occurrence) -> bool:
        return not self._taken[occurrence.start : occurrence.end].any()

    def _accept(self, fact: _Gold, occurrence: Occurrence, error: str | None) -> None:
        self._taken[occurrence.start : occurrence.end] = True
        self._verdicts[fact.n] = self._verdict(occurrence.start, occurrence.end, error)

    def _verdict(self, start: int, end: int, error: str | None) -> Verdict:
        first, last = self._prediction.source_span(start, end)
        return Verdict(error is None, True, self._source[first:last], first, last, error)


def _gold_fact(fact: Fact, text: Normalised) -> _Gold:
    """The fact's place in the normalised gold text: all of it that came from `[start, end)`."""
    start = int(np.searchsorted(text.ends, fact.start, side="right"))
    end = int(np.searchsorted(text.starts, fact.end, side="left"))
    kind = kind_of(fact.type)
    value = text.text[start:end]
    lead = len(value) - len(value.lstrip())
    start, end = start + lead, start + lead + len(value.strip())
    if start == end:
        # Nothing is left of a value of invisible characters; it can be found nowhere.
        return _Gold(fact, "", kind, Occurrence(start, end, NOTHING, NOTHING))
    return _Gold(fact, text.text[start:end], kind, occurrence_at(text.text, start, end, kind))


def _rows(page: Page, text: Normalised) -> NDArray[np.int64]:
    """The row of every character of the normalised text: a table row, or a line outside of them.

    The row of the innermost table counts. What has more than _LONGEST_ROW letters and digits lays
    out the page, or is a paragraph, and no row: -1.
    """
    spans: dict[tuple[int, int], tuple[int, int]] = {}
    for cell in page.cells:
        start, end = spans.get((cell.table, cell.row), (cell.start, cell.end))
        spans[cell.table, cell.row] = (min(start, cell.start), max(end, cell.end))
    rows = np.full(len(page.text) + 1, -1, dtype=np.int64)
    longest_first = sorted(spans.values(), key=lambda span: span[0] - span[1])
    for number, (start, end) in enumerate([*page.lines, *longest_first]):
        letters = sum(map(str.isalnum, page.text[start:end]))
        rows[start:end] = number if letters <= _LONGEST_ROW else -1
    return rows[text.starts]


def _word_bounds(text: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    bounds = [match.span() for match in re.finditer(r"[^ ]+", text)]
    starts, ends = np.array(bounds, dtype=np.int64).reshape(-1, 2).T
    return starts, ends
