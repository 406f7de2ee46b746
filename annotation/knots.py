"""Compares the marks of several annotators. No Django.

Spans that overlap each other, over all annotators, hang together in a knot. A knot is the smallest
stretch that can be decided by itself: nobody's span reaches out of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from portal.facts import Span

KnotKind = Literal["boundary", "label", "missing"]


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

        `missing`: somebody marked nothing. `boundary`: the stretches differ. `label`: only the
        labels do.
        """
        if not all(self.marks):
            return "missing"
        stretches = {tuple((span.start, span.end) for span in spans) for spans in self.marks}
        return "boundary" if len(stretches) > 1 else "label"


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
