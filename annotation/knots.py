"""Compares the marks of several annotators. No Django.

Spans that overlap each other, over all annotators, hang together in a knot. A knot is the smallest
stretch that can be decided by itself: nobody's span reaches out of it.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from portal.facts import Span

KnotKind = Literal["boundary", "label", "missing", "extra"]


@dataclass(frozen=True)
class Knot:
    """`[start, end)` in code points, and the spans inside, per annotator in the order given."""

    start: int
    end: int
    marks: tuple[tuple[Span, ...], ...]

    @property
    def is_unanimous(self) -> bool:
        """Whether everybody marked the same; then it is one span, since nobody's spans overlap."""
        return len(set(self.marks)) == 1

    @property
    def kind(self) -> KnotKind:
        """In what the annotators differ; the gravest difference names the knot.

        `missing`: at least half marked something, the rest nothing. `extra`: fewer than half did.
        `boundary`: the stretches differ. `label`: only the labels do.
        """
        marked = sum(bool(spans) for spans in self.marks)
        if marked < len(self.marks):
            return "missing" if 2 * marked >= len(self.marks) else "extra"
        stretches = {tuple((span.start, span.end) for span in spans) for spans in self.marks}
        return "boundary" if len(stretches) > 1 else "label"

    @property
    def score(self) -> float:
        """How far the annotators agree, 0 to 1.

        The largest share with the same marks; where boundaries differ the mean over all pairs of
        the F1 of the characters they marked, so that a stray bracket weighs little.
        """
        if self.kind == "boundary":
            pairs = list(combinations(self.marks, 2))
            return sum(_characters_f1(a, b) for a, b in pairs) / len(pairs)
        return Counter(self.marks).most_common(1)[0][1] / len(self.marks)

    @property
    def majority(self) -> tuple[Span, ...] | None:
        """The marks of more than half of at least three annotators; None when there are none.

        An empty tuple says that most marked nothing.
        """
        marks, count = Counter(self.marks).most_common(1)[0]
        return marks if len(self.marks) > 2 and 2 * count > len(self.marks) else None


def _characters_f1(first: Sequence[Span], second: Sequence[Span]) -> float:
    a, b = (
        {at for span in spans for at in range(span.start, span.end)} for spans in (first, second)
    )
    return 2 * len(a & b) / (len(a) + len(b))


def knots(annotators: Sequence[Sequence[Span]]) -> list[Knot]:
    """The knots of a document in text order. Spans of one annotator must not overlap each other.

    >>> ann = [Span(0, 4, "Number"), Span(10, 14, "Date")]
    >>> ben = [Span(0, 4, "Number"), Span(12, 20, "Date")]
    >>> [(knot.start, knot.end, knot.is_unanimous) for knot in knots([ann, ben])]
    [(0, 4, True), (10, 20, False)]
    """
    everything = sorted(
        ((span, who) for who, spans in enumerate(annotators) for span in spans),
        key=lambda item: (item[0].start, item[0].end, item[1]),
    )
    found: list[Knot] = []
    marks: list[list[Span]] = []
    start = end = 0
    for span, who in everything:
        if not marks or span.start >= end:
            if marks:
                found.append(_knot(start, end, marks))
            marks = [[] for _ in annotators]
            start, end = span.start, span.end
        marks[who].append(span)
        end = max(end, span.end)
    if marks:
        found.append(_knot(start, end, marks))
    return found


def _knot(start: int, end: int, marks: list[list[Span]]) -> Knot:
    return Knot(start, end, tuple(tuple(spans) for spans in marks))
