"""Spans over a canonical text, and what can be wrong with them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

# White space, and characters that print nothing: a fact needs something to read.
_INVISIBLE = re.compile("[\\s\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]*")


@dataclass(frozen=True, order=True)
class Span:
    """`[start, end)` in Unicode code points of the canonical text, and its label.

    Ordered by place.
    """

    start: int
    end: int
    label: str


@dataclass(frozen=True, order=True)
class SpanFault:
    """What is wrong with the span at `index` of the list that was checked."""

    index: int
    code: Literal["range", "label", "blank", "overlap", "duplicate"]
    message: str


def is_blank(text: str) -> bool:
    """Whether there is nothing to read: white space and characters without a glyph only."""
    return _INVISIBLE.fullmatch(text) is not None


def check_spans(text: str, spans: Sequence[Span], labels: Sequence[str]) -> list[SpanFault]:
    """The faults of `spans` over `text`, by index; an empty list when they can be saved together.

    A span must lie inside the text, hold at least one visible character, carry one of `labels`
    (exact case) and share no character with another. Of two that clash the one later in the list
    has the fault.
    """
    faults: list[SpanFault] = []
    known = frozenset(labels)
    placed: list[int] = []
    for index, span in enumerate(spans):
        where = f"span {index} [{span.start}, {span.end})"
        if not 0 <= span.start < span.end <= len(text):
            message = f"{where} is not a stretch of the text's {len(text)} characters"
            faults.append(SpanFault(index, "range", message))
            continue
        placed.append(index)
        if span.label not in known:
            message = f"{where} has the label {span.label!r}, not one of {', '.join(labels)}"
            faults.append(SpanFault(index, "label", message))
        if is_blank(text[span.start : span.end]):
            faults.append(SpanFault(index, "blank", f"{where} holds nothing to read"))
    return sorted(faults + _clashes(spans, placed))


def _clashes(spans: Sequence[Span], placed: Sequence[int]) -> list[SpanFault]:
    """Overlaps and duplicates among the spans at the given indices; the later one is at fault."""
    faults: dict[int, SpanFault] = {}
    reaching = -1
    for index in sorted(placed, key=lambda i: (spans[i].start, spans[i].end, i)):
        span = spans[index]
        if reaching >= 0 and span.start < spans[reaching].end:
            first, later = sorted((index, reaching))
            if spans[index] == spans[reaching]:
                message = f"span {later} [{span.start}, {span.end}) repeats span {first}"
                faults[later] = SpanFault(later, "duplicate", message)
            else:
                message = f"span {later} overlaps span {first} at {span.start}"
                faults[later] = SpanFault(later, "overlap", message)
        if reaching < 0 or span.end > spans[reaching].end:
            reaching = index
    return list(faults.values())


def trim_span(text: str, span: Span) -> Span:
    """The span without white space at its edges; unchanged when blank or out of range."""
    quote = text[span.start : span.end]
    if not 0 <= span.start <= span.end <= len(text) or not quote.strip():
        return span
    start = span.start + len(quote) - len(quote.lstrip())
    return Span(start, start + len(quote.strip()), span.label)
