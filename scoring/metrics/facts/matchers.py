"""The matchers: a verdict for each gold fact.

The aligned matcher assigns each gold fact the occurrence of its value in the same place. First the
two texts are aligned (`alignment`), and their tables compared as grids (`table_judge`): a value in
the cell of the fact's row and column is in place. Then every other clean occurrence of a fact's
value is judged by its place: is it aligned with the fact or with something else, are the words
around it aligned with the words around the fact, and do the tables say that it is in another row or
column? Facts with equal values share their occurrences one-to-one so that the places fit best in
total. The remaining facts are explained: a form of the value in the fact's place gives its error
type, an unclaimed occurrence elsewhere is misplaced, and anything else in the fact's place is a
misreading: the words between its recognised neighbours (`neighbours`), or those aligned with it. A
fact is missing if nothing was read there. At last, correct numbers with other marks next to them
are `unit` errors (`marks`), and facts with a second, different reading are `hedged` (`readings`).

The substring matcher is the rule of the benchmark's published script, for comparison: a fact is
correct if its value occurs anywhere in the prediction's text, ignoring case and white space. It
considers neither places nor neighbours: `1,200` counts inside `(1,200)`, and one occurrence counts
for any number of facts.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from scoring.metrics.trees import one_to_one

from .alignment import align
from .errors import explain, is_found, misread
from .grids import GridCell
from .marks import Surroundings, differ
from .neighbours import Neighbours
from .occurrences import (
    FactKind,
    GoldFact,
    Occurrence,
    find_occurrences,
    gold_fact,
    is_whole_value,
    rows_of,
)
from .page import Page
from .places import FormFinder, PlaceJudge, Span
from .readings import Beside, Occurring, Place, in_other_copies, is_reading
from .table_judge import TableJudge
from .tables import Located

# Every fact that is not correct has one of these. The benchmark's card explains them.
ERROR_TYPES = tuple(
    "missing sign decimal separator unit digit date truncated merged misplaced hedged spacing "
    "other".split()
)


# Whether marks outside of its tag belong to a number.
UNITS = ("beside", "tag")


@dataclass(frozen=True)
class Verdict:
    """The verdict on one gold fact.

    `correct` implies `found`; `found` means that something was read in the fact's place, or its
    exact value elsewhere. `matched_text` is that text, at `[start, end)` of the prediction's
    visible text (None if nothing was found). `error` is one of ERROR_TYPES, or None for a correct
    fact.

    `confidence` is how certain it is that the matched place is the fact's place, in [0, 1]:
    strength times (1 + margin) / 2. The strength is half of the place's score (see PlaceJudge.fit,
    and 3 more or less if a table's headers decide), cut to [0, 1]; the margin is the lead of that
    score over the next best occurrence of the value, at most 1. None if nothing was found, and from
    a matcher that ignores places.
    """

    correct: bool
    found: bool
    matched_text: str | None
    start: int | None
    end: int | None
    error: str | None
    confidence: float | None


MISSING = Verdict(False, False, None, None, None, "missing", None)


def match_substring(gold: Page, prediction: Page) -> list[Verdict]:
    """Return the verdict on every fact of `gold`, in order: correct, or missing.

    If case folding makes the text longer, the matched place is unknown and left out.
    """
    text = " ".join(prediction.text.split())
    folded = text.casefold()
    return [_verdict(" ".join(fact.value.split()), text, folded) for fact in gold.facts]


def _verdict(value: str, text: str, folded: str) -> Verdict:
    start = folded.find(value.casefold())
    if start < 0:
        return MISSING
    if len(folded) != len(text):
        return Verdict(True, True, value, None, None, None, None)
    end = start + len(value.casefold())
    return Verdict(True, True, text[start:end], start, end, None, None)


# At most this many occurrences of one value are considered; a page has some dozens.
_MOST_OCCURRENCES = 1000
# Of more occurrences, only those nearest to the fact are considered for it.
_MOST_CANDIDATES = 40
# A shorter exact value (in letters and digits) in the wrong place is a coincidence.
_LEAST_MISPLACED = 4
# Weight of the table position compared with everything that the alignment says of a place.
_ADDRESS = 3.0

# In place of characters that are part of nothing.
_BLANK = "\0"

Group = tuple[str, FactKind]


def match_aligned(gold: Page, prediction: Page, unit: str = UNITS[0]) -> list[Verdict]:
    """Return the verdict on every fact of `gold`, in order.

    `unit` is one of UNITS: by the first, currency, scale and percent next to a number's tag belong
    to it (`marks`); by the second only what is inside of it.

    Deterministic and one-to-one: no stretch of the prediction counts for two correct facts. Never
    raises on any text.
    """
    matcher = _Matcher(gold, prediction)
    return matcher.run(with_marks=unit == UNITS[0])


@dataclass(frozen=True)
class _Claim:
    """An occurrence claimed for a fact, and how certain it is that it is in the fact's place."""

    fact: GoldFact
    occurrence: Occurrence
    confidence: float


class _Matcher:
    def __init__(self, gold: Page, prediction: Page) -> None:
        gold_text = gold.normalised
        self._facts = [gold_fact(fact, gold_text) for fact in gold.facts]
        self._values = {fact.value for fact in self._facts}
        self._source = prediction.text
        self._prediction = prediction.normalised
        self._text = self._prediction.text
        self._alignment = align(gold_text.text, self._text)
        self._rows = rows_of(gold, gold_text), rows_of(prediction, self._prediction)
        self._judge = PlaceJudge(
            self._alignment,
            self._rows[0][self._alignment.gold.places],
            self._rows[1][self._alignment.prediction.places],
        )
        self._tables = TableJudge(gold, prediction, self._alignment)
        self._pages = gold, prediction
        self._cells = {(cell.start, cell.end) for cell in prediction.cells}
        self._taken = np.zeros(len(self._text), dtype=bool)
        self._forms = FormFinder(self._text, self._alignment, self._taken, self._values)
        self._known = Occurring(gold_text.text, self._text)
        self._verdicts: dict[int, Verdict] = {}
        self._places: dict[int, Span] = {}

    def run(self, *, with_marks: bool = True) -> list[Verdict]:
        groups: defaultdict[Group, list[GoldFact]] = defaultdict(list)
        for fact in self._facts:
            groups[fact.value, fact.kind].append(fact)
        occurrences = {
            group: find_occurrences(self._text, group[0], limit=_MOST_OCCURRENCES)
            for group in groups
        }
        # Longer values first: "December 31" must not claim the beginning of "December 31, 2024".
        for group in sorted(groups, key=lambda group: (-len(group[0]), group)):
            for claim in self._assign(groups[group], occurrences[group]):
                self._accept(claim)
        elsewhere = {
            fact.n: occurrence
            for group, facts in groups.items()
            for fact, occurrence in self._elsewhere(facts, occurrences[group])
        }
        for fact in self._open():
            self._explain(fact, is_elsewhere=fact.n in elsewhere)
        self._find_alike([fact for fact in self._open() if fact.n not in elsewhere])
        for fact in self._open():
            occurrence = elsewhere.get(fact.n)
            if occurrence and self._is_free(occurrence):
                self._settle(fact, occurrence.start, occurrence.end, "misplaced")
        self._find_readings()
        if with_marks:
            self._compare_marks()
        self._find_second_readings()
        return [self._verdicts.get(fact.n, MISSING) for fact in self._facts]

    def _assign(self, facts: Sequence[GoldFact], occurrences: Sequence[Occurrence]) -> list[_Claim]:
        """Assign occurrences in their places to facts of one value, for the best total fit."""
        free = [occurrence for occurrence in occurrences if self._is_free(occurrence)]
        if not free:
            return []
        claims = self._in_their_cells(facts, free)
        done = {claim.fact.n for claim in claims}
        used = {claim.occurrence.start for claim in claims}
        facts = [fact for fact in facts if fact.n not in done]
        free = [occurrence for occurrence in free if occurrence.start not in used]
        if not facts or not free:
            return claims
        fit = self._fit(facts, free)
        in_place = np.where(fit >= PlaceJudge.LEAST, fit, 0.0)
        rows, columns = one_to_one(in_place, maximize=True)
        return claims + [
            _Claim(facts[row], free[column], _confidence(fit[row], int(column)))
            for row, column in zip(rows, columns, strict=True)
            if in_place[row, column] > 0
        ]

    def _in_their_cells(
        self, facts: Sequence[GoldFact], occurrences: Sequence[Occurrence]
    ) -> list[_Claim]:
        """Return claims of the occurrences in the cells that are the facts' own, if each fact has
        exactly one."""
        at = {self._prediction.source_span(o.start, o.end)[0]: o for o in occurrences}
        starts = sorted(at)
        claims = []
        for fact in facts:
            cells = self._tables.place_of(self._cell_of(fact))
            if len(cells) != 1:
                continue
            cell = cells[0][2]
            inside = starts[bisect_left(starts, cell.start) : bisect_left(starts, cell.end)]
            if len(inside) == 1:
                occurrence = at[inside[0]]
                if is_whole_value(fact.value, fact.kind, occurrence, fact.place):
                    claims.append(_Claim(fact, occurrence, 1.0))
        taken = Counter(claim.occurrence.start for claim in claims)
        return [claim for claim in claims if taken[claim.occurrence.start] == 1]

    def _cell_of(self, fact: GoldFact) -> Located | None:
        return self._tables.gold_at(fact.fact.start, fact.fact.end)

    def _fit(
        self, facts: Sequence[GoldFact], occurrences: Sequence[Occurrence]
    ) -> NDArray[np.float64]:
        """Return how well each occurrence fits each fact's place; -inf if it is not the value, or
        if many others are nearer."""
        cells = [self._cell_at(o.start, o.end) for o in occurrences]
        near = self._nearest(facts, occurrences)
        fit = np.full((len(facts), len(occurrences)), -np.inf)
        for row, fact in enumerate(facts):
            alone = [
                int(k)
                for k in near[row]
                if is_whole_value(fact.value, fact.kind, occurrences[k], fact.place)
            ]
            if alone:
                spans = [self._span(occurrences[k]) for k in alone]
                own = self._cell_of(fact)
                place = fact.fact.start, fact.fact.end
                told = [
                    self._tables.compare(own, cells[k])
                    or self._tables.is_in_same_label(place, cells[k])
                    for k in alone
                ]
                fit[row, alone] = self._judge.fit(self._gold_span(fact), spans)
                fit[row, alone] += _ADDRESS * np.array(told)
        return fit

    def _nearest(
        self, facts: Sequence[GoldFact], occurrences: Sequence[Occurrence]
    ) -> list[NDArray[np.int64]]:
        """Return the occurrences that are considered for each fact: all, or of many those aligned
        with the nearest gold text."""
        if len(occurrences) <= _MOST_CANDIDATES:
            return [np.arange(len(occurrences))] * len(facts)
        at = np.array([self._judge.faced_at(self._span(o)[0]) for o in occurrences])
        return [
            np.argsort(np.abs(at - self._gold_span(fact)[0]), kind="stable")[:_MOST_CANDIDATES]
            for fact in facts
        ]

    def _cell_at(self, start: int, end: int) -> Located | None:
        return self._tables.at(*self._prediction.source_span(start, end))

    def _open(self) -> list[GoldFact]:
        return [fact for fact in self._facts if fact.n not in self._verdicts]

    def _elsewhere(
        self, facts: Sequence[GoldFact], occurrences: Sequence[Occurrence]
    ) -> list[tuple[GoldFact, Occurrence]]:
        """Find the exact value in a wrong place, for facts without one in their place; in page
        order."""
        left = [fact for fact in facts if fact.n not in self._verdicts]
        if not left:
            return []
        is_short = sum(map(str.isalnum, facts[0].value)) < _LEAST_MISPLACED
        places = {self._gold_span(fact)[0] for fact in left}
        free = [o for o in occurrences if self._is_free(o) and self._is_stray(o, places, is_short)]
        pairs: list[tuple[GoldFact, Occurrence]] = []
        for fact in left:
            at = next(
                (o for o in free if is_whole_value(fact.value, fact.kind, o, fact.place)), None
            )
            if at is not None:
                free.remove(at)
                pairs.append((fact, at))
        return pairs

    def _is_stray(self, occurrence: Occurrence, places: set[int], is_short: bool) -> bool:
        """Whether an exact value may have been misplaced.

        It was not if it matches gold text that is not an open fact (those begin at `places`). A
        short value was only if something else should be there.
        """
        faces, same = self._judge.faces(self._span(occurrence))
        if same.all() and not (len(faces) and int(faces[0]) in places):
            return False
        if not is_short:
            return True
        faced = (self._alignment.gold.chars[face] for face in faces[faces >= 0])
        span = self._prediction.source_span(occurrence.start, occurrence.end)
        return any(map(str.isdigit, faced)) or span in self._cells

    def _find_alike(self, facts: Sequence[GoldFact]) -> None:
        """Find damaged forms among texts that are similar to the values and have the facts'
        surroundings."""
        candidates = self._forms.alike(facts) if facts else []
        scores = np.zeros((len(facts), len(candidates)))
        for row, fact in enumerate(facts):
            alike = [k for k, (_, of) in enumerate(candidates) if row in of]
            if alike:
                spans = [self._alignment.prediction.span(*candidates[k][0]) for k in alike]
                fit = self._judge.fit(self._gold_span(fact), spans)
                likeness = np.array([candidates[k][1][row] for k in alike])
                scores[row, alike] = np.where(fit >= PlaceJudge.LEAST, fit + likeness, 0.0)
        for row, column in zip(*one_to_one(scores, maximize=True), strict=True):
            (start, end), _ = candidates[column]
            if scores[row, column] > 0 and not self._taken[start:end].any():
                self._explain_as(facts[row], (start, end))

    def _find_readings(self) -> None:
        """Find what else was read in the places of the remaining facts."""
        if not self._open():
            return
        texts = self._pages[0].normalised.text, self._text
        neighbours = Neighbours(
            texts, self._alignment, self._judge.surely_same, self._facts, self._places
        )
        in_order = sorted(self._facts, key=lambda fact: fact.place.start)
        for before, fact in reversed(list(pairwise(in_order))):
            self._pass_on(neighbours, before, fact)
        for fact in self._open():
            reading = neighbours.between(fact)
            if reading and not self._taken[slice(*reading)].any():
                self._settle(fact, *self._forms.trimmed(*reading), misread(fact.kind))
        for fact in self._open():
            reading = self._forms.anything_in_place(fact)
            if reading and not neighbours.is_beyond(fact, reading):
                self._settle(fact, *reading, misread(fact.kind))

    def _compare_marks(self) -> None:
        """Mark the numbers whose currency, scale word or percent sign is another."""
        texts = self._pages[0].normalised, self._prediction
        gold, read = (
            Surroundings(text.text, rows) for text, rows in zip(texts, self._rows, strict=True)
        )
        # A mark with a tag of its own is another fact.
        untagged = Surroundings(_without(texts[0].text, self._facts), self._rows[0])
        for fact in self._facts:
            verdict = self._verdicts.get(fact.n, MISSING)
            if fact.kind != "number" or not verdict.correct:
                continue
            place = fact.place.start, fact.place.end
            cell = self._tables.gold_bounds_at(fact.fact.start, fact.fact.end)
            own = gold.marks(*place)
            lasting = gold.marks(*place, texts[0].span(*cell)) if cell else own
            ignored = own.lacking(untagged.marks(*place))
            around = self._tables.marks_around(self._cell_of(fact))
            at = self._places[fact.n]
            scraps = read.scraps(*at)
            if differ(own, read.marks(*at), lasting, around, scraps=scraps, ignored=ignored):
                self._verdicts[fact.n] = replace(verdict, correct=False, error="unit")

    def _find_second_readings(self) -> None:
        """Mark the facts that have another reading next to their value, in another cell of their
        place, or in another copy of the page."""
        rows = self._rows[1][self._alignment.prediction.places]
        beside = Beside(self._text, self._alignment, rows, self._taken)
        for fact in self._facts:
            verdict = self._verdicts.get(fact.n)
            if verdict is None:
                continue
            place = self._place(fact)
            if verdict.correct:
                is_hedged = (
                    beside.another(fact, place)
                    or self._differs_in_place(fact)
                    or self._differs_in_cells(fact)
                )
            else:
                is_hedged = fact.kind == "number" and beside.has_value(fact, place)
            if is_hedged:
                self._verdicts[fact.n] = _hedged(verdict)
        read = [fact for fact in self._facts if fact.n in self._verdicts]
        copies = in_other_copies(
            self._pages[0].normalised.text, self._text, self._alignment, read, self._rows
        )
        for reading in copies:
            verdict = self._verdicts[reading.n]
            if verdict.correct != reading.is_value:
                self._verdicts[reading.n] = _hedged(verdict)

    def _place(self, fact: GoldFact) -> Place:
        span, own = self._places[fact.n], self._gold_span(fact)
        if self._cell_of(fact) is None:
            # The first rows are the lines outside of tables.
            is_line = self._rows[0][fact.place.start] < len(self._pages[0].lines)
            return Place(span, own, None, in_sentence=bool(is_line))
        cell = self._tables.bounds_at(*self._prediction.source_span(*span))
        return Place(span, own, cell and self._prediction.span(*cell), in_sentence=False)

    def _differs_in_place(self, fact: GoldFact) -> bool:
        """Whether the words aligned with a fact that was found elsewhere are another reading."""
        form = self._forms.in_place(fact)
        return form is not None and is_reading(fact, self._text[slice(*form)])

    def _differs_in_cells(self, fact: GoldFact) -> bool:
        """Whether a cell in the row and column of the fact has another reading."""
        own = self._cell_of(fact)
        cells = (
            *self._tables.place_of(own),
            *self._tables.repeated(own),
            *self._tables.rivals(own),
        )
        # A cell may be there for other reasons, so that the reading must be new on the page.
        return any(
            self._is_other_reading(fact, at[2])
            and self._known.is_more(at[2].text.strip())
            and not self._tables.is_next_to(own, at)
            for at in cells
        )

    def _is_other_reading(self, fact: GoldFact, cell: GridCell) -> bool:
        start, end = self._prediction.span(cell.start, cell.end)
        return not self._taken[start:end].any() and is_reading(fact, self._text[start:end])

    def _pass_on(self, neighbours: Neighbours, before: GoldFact, fact: GoldFact) -> None:
        """Pass the damaged form of a value on to an equal value just behind it that has none, if
        the order of the words says so."""
        verdict = self._verdicts.get(before.n, MISSING)
        is_damaged = verdict.found and not verdict.correct and verdict.error != "misplaced"
        is_equal = (before.value, before.kind) == (fact.value, fact.kind)
        if not is_damaged or not is_equal or fact.n in self._verdicts:
            return
        if neighbours.pass_on(before, fact):
            del self._verdicts[before.n]
            self._settle(fact, *self._places.pop(before.n), verdict.error)

    def _explain(self, fact: GoldFact, *, is_elsewhere: bool) -> None:
        """Set the verdict on a fact whose value is not in its place, if a form of it is.

        Another fact's value is not a form of this one if this one is elsewhere.
        """
        form = self._forms.in_place(fact)
        if form is None:
            return
        text = self._text[form[0] : form[1]]
        if not is_elsewhere or text == fact.value or text not in self._values:
            self._explain_as(fact, form)

    def _explain_as(self, fact: GoldFact, form: Span) -> None:
        """Set the verdict on a fact with `form` in its place, if that is a form of the value."""
        start, end = form
        if fact.kind == "date" and (parts := self._forms.split_date(fact, form)):
            day, (year_start, year_end) = parts
            self._taken[year_start:year_end] = True
            self._settle(fact, *day, None)
            return
        if not is_found(fact.value, self._text[start:end], fact.kind):
            return
        text = self._forms.with_neighbours(start, end)
        error = explain(fact.value, text, fact.kind, fact.place.before, fact.place.behind)
        at = self._text.find(fact.value, start, end)
        if not error and at >= 0:
            start, end = at, at + len(fact.value)
        if not error and self._is_in_another_cell(fact, start, end):
            error = "misplaced"
        self._settle(fact, *self._forms.trimmed(start, end), error or None)

    def _is_in_another_cell(self, fact: GoldFact, start: int, end: int) -> bool:
        """Whether the value in the form `[start, end)` is in another cell than the fact."""
        at = max(self._text.find(fact.value, start, end), start)
        place = self._cell_at(at, min(at + len(fact.value), end))
        return self._tables.compare(self._cell_of(fact), place) < 0

    def _gold_span(self, fact: GoldFact) -> Span:
        return self._alignment.gold.span(fact.place.start, fact.place.end)

    def _span(self, occurrence: Occurrence) -> Span:
        return self._alignment.prediction.span(occurrence.start, occurrence.end)

    def _is_free(self, occurrence: Occurrence) -> bool:
        return not self._taken[occurrence.start : occurrence.end].any()

    def _accept(self, claim: _Claim) -> None:
        occurrence = claim.occurrence
        self._settle(claim.fact, occurrence.start, occurrence.end, None, claim.confidence)

    def _settle(
        self,
        fact: GoldFact,
        start: int,
        end: int,
        error: str | None,
        confidence: float | None = None,
    ) -> None:
        if confidence is None:
            span = self._alignment.prediction.span(start, end)
            confidence = _confidence(self._judge.fit(self._gold_span(fact), [span]), 0)
        self._taken[start:end] = True
        self._places[fact.n] = start, end
        first, last = self._prediction.source_span(start, end)
        text = self._source[first:last]
        self._verdicts[fact.n] = Verdict(error is None, True, text, first, last, error, confidence)


def _without(text: str, facts: Sequence[GoldFact]) -> str:
    """Return the text with the facts that are neither number nor date blanked out."""
    characters = list(text)
    for fact in facts:
        if fact.kind == "text":
            start, end = fact.place.start, fact.place.end
            characters[start:end] = _BLANK * (end - start)
    return "".join(characters)


def _hedged(verdict: Verdict) -> Verdict:
    return replace(verdict, correct=False, error="hedged")


def _confidence(fits: NDArray[np.float64], chosen: int) -> float:
    """Return how certain it is that the chosen occurrence is in the fact's place, in [0, 1]."""
    rest = np.delete(fits, chosen)
    best = float(rest.max()) if len(rest) else -np.inf
    own = float(fits[chosen])
    strength = min(max(own / 2, 0.0), 1.0)
    margin = min(max(own - best, 0.0), 1.0)
    return round(strength * (1 + margin) / 2, 4)
