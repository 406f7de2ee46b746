"""One annotator's marks beside the gold of the same document. No Django.

A mark is right when offsets and label are those of a gold fact, white space at its ends aside.
Whatever else overlaps hangs together in a knot (see `annotation.knots`) and is one error. Source of
the rates: precision, recall and F1 of exact spans, as in the shared tasks on named entities
(E. Tjong Kim Sang and F. De Meulder, CoNLL 2003).
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from annotation.knots import Knot, knots
from portal.facts import Span, trim_span

Outcome = Literal["right", "label", "boundary", "missed", "extra"]


@dataclass(frozen=True)
class Compared:
    """A stretch `[start, end)` with what gold and the annotator have in it.

    `right`: the same span. `label`: the same stretch under another label. `boundary`: overlapping
    stretches. `missed`: gold alone. `extra`: the annotator alone.
    """

    start: int
    end: int
    outcome: Outcome
    gold: tuple[Span, ...]
    marked: tuple[Span, ...]


@dataclass(frozen=True)
class Tally:
    """Facts counted against gold.

    `matched`, `label`, `boundary` and `missed` count gold facts and sum up to `expected`; `extra`
    counts marks that touch no gold fact, `marked` all marks. Rates are in [0, 1], higher is better,
    None where there is nothing to divide by.
    """

    matched: int = 0
    label: int = 0
    boundary: int = 0
    missed: int = 0
    extra: int = 0
    marked: int = 0
    expected: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            *(getattr(self, each.name) + getattr(other, each.name) for each in fields(self))
        )

    @property
    def precision(self) -> float | None:
        """Matched / marked."""
        return self.matched / self.marked if self.marked else None

    @property
    def recall(self) -> float | None:
        """Matched / expected."""
        return self.matched / self.expected if self.expected else None

    @property
    def f1(self) -> float | None:
        """See `span_f1`."""
        return span_f1(self.matched, self.marked, self.expected)

    @property
    def errors(self) -> int:
        return self.label + self.boundary + self.missed + self.extra


def span_f1(matched: int, marked: int, expected: int) -> float | None:
    """2 * matched / (marked + expected), 0 to 1; None when there was nothing on either side.

    >>> span_f1(3, 4, 5)
    0.6666666666666666
    """
    return 2 * matched / (marked + expected) if marked + expected else None


def compare_with_gold(text: str, gold: Iterable[Span], marked: Iterable[Span]) -> list[Compared]:
    """All facts and marks of a document in text order; neither side overlaps itself.

    >>> gold = [Span(0, 2, "Number"), Span(4, 8, "Date")]
    >>> [found.outcome for found in compare_with_gold("12, 2024", gold, [Span(0, 2, "Date")])]
    ['label', 'missed']
    """
    sides = [{trim_span(text, span) for span in spans} for spans in (gold, marked)]
    # What both have overlaps nothing else, so that only the rest, mostly little, has to be tied.
    both = sides[0] & sides[1]
    found = [Compared(span.start, span.end, "right", (span,), (span,)) for span in both]
    found += [
        Compared(knot.start, knot.end, _outcome(knot), knot.marks[0], knot.marks[1])
        for knot in knots([sorted(side - both) for side in sides])
    ]
    return sorted(found, key=lambda each: each.start)


def _outcome(knot: Knot) -> Outcome:
    gold, marked = knot.marks
    if not marked:
        return "missed"
    if not gold:
        return "extra"
    stretches = ([(span.start, span.end) for span in side] for side in (gold, marked))
    return "label" if next(stretches) == next(stretches) else "boundary"


def tally(found: Iterable[Compared]) -> Tally:
    """All of it counted."""
    return sum(tally_by_label(found).values(), Tally())


def tally_by_label(found: Iterable[Compared]) -> dict[str, Tally]:
    """Counted by label: a fact and its error under the gold's label, a mark under its own."""
    tallies: defaultdict[str, Tally] = defaultdict(Tally)
    for each in found:
        for span in each.gold:
            tallies[span.label] += _of_gold(each.outcome)
        for span in each.marked:
            tallies[span.label] += Tally(marked=1, extra=int(each.outcome == "extra"))
    return dict(tallies)


def _of_gold(outcome: Outcome) -> Tally:
    counted = {"right": "matched"}.get(outcome, outcome)
    return Tally(**{counted: 1, "expected": 1})


def spans_of(rows: Iterable[Sequence[Any]]) -> list[Span]:
    """Spans stored as `[start, end, label, …]`; what follows the label is left out."""
    return [Span(*row[:3]) for row in rows]
