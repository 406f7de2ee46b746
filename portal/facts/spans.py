"""Spans over a canonical text: labels, checks, errors, and conversion of browser offsets.

A label is also the name of an inline tag. Offsets count code points; browsers count UTF-16 units.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .markup import ELEMENT_NAMES

LABEL_SETS: dict[str, tuple[str, ...]] = {
    "v1": ("Number", "Date"),
    "v2": ("Number", "Temporal", "MonetaryUnit", "ReportingEntity", "FinancialConcept"),
}

# Every label of every shipped set, each once, in the order of the sets.
KNOWN_LABELS: tuple[str, ...] = tuple(
    dict.fromkeys(label for labels in LABEL_SETS.values() for label in labels)
)

_KINDS: dict[str, Literal["number", "date"]] = {
    "number": "number",
    "date": "date",
    "temporal": "date",
}

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


def check_labels(labels: Sequence[str]) -> list[str]:
    """Return the problems of a label set, one sentence each.

    A label is 1 to 64 ASCII letters or digits, `-` or `_`, begins with A-Z or a-z, is not the name
    of an HTML element and differs from the others in more than case.

    >>> check_labels(["Number", "Table"])
    ["label 'Table' is the name of an HTML element"]
    """
    problems = [] if labels else ["a label set needs at least one label"]
    seen: set[str] = set()
    for label in labels:
        if not _NAME.fullmatch(label):
            rule = "1 to 64 ASCII letters or digits, '-' or '_', beginning with A-Z or a-z"
            problems.append(f"label {label!r} cannot be a tag name ({rule})")
        elif label.lower() in ELEMENT_NAMES:
            problems.append(f"label {label!r} is the name of an HTML element")
        elif label.lower() in seen:
            problems.append(f"label {label!r} occurs twice (case is ignored)")
        seen.add(label.lower())
    return problems


def require_labels(labels: Sequence[str]) -> None:
    """Raises ValueError if the labels cannot be used as tag names."""
    if problems := check_labels(labels):
        raise ValueError("; ".join(problems))


def label_kind(label: str) -> Literal["number", "date"] | None:
    """The kind of value of a label's facts; None if they have no value."""
    return _KINDS.get(label.lower())


# White space, and characters that print nothing.
_INVISIBLE = re.compile("[\\s\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]*")


@dataclass(frozen=True, order=True)
class Span:
    """`[start, end)` in Unicode code points of the canonical text, and its label.

    Ordered by place.
    """

    start: int
    end: int
    label: str


def characters(start: int, end: int) -> str:
    """The range `[start, end)` as messages name it: by its first and last character, from 0.

    >>> characters(1518, 1526), characters(7, 8), characters(9, 3)
    ('characters 1518–1525', 'character 7', 'start 9, end 3')
    """
    if start >= end:
        return f"start {start}, end {end}"
    return f"character {start}" if end - start == 1 else f"characters {start}–{end - 1}"


@dataclass(frozen=True, order=True)
class SpanFault:
    """An error of the span at `index` of the checked list."""

    index: int
    code: Literal["range", "label", "blank", "overlap", "duplicate"]
    message: str


def is_blank(text: str) -> bool:
    """Whether the text has only white space and characters without a glyph."""
    return _INVISIBLE.fullmatch(text) is not None


def check_spans(text: str, spans: Sequence[Span], labels: Sequence[str]) -> list[SpanFault]:
    """Return the errors of `spans` over `text`, by index.

    A span must be inside the text, contain a visible character, have one of `labels` (exact case)
    and not overlap another span. Of two overlapping spans, the later one in the list has the error.
    """
    faults: list[SpanFault] = []
    known = frozenset(labels)
    placed: list[int] = []
    for index, span in enumerate(spans):
        where = f"span {index} ({characters(span.start, span.end)})"
        if not 0 <= span.start < span.end <= len(text):
            message = f"{where} is not a valid range in a text of {len(text)} characters"
            faults.append(SpanFault(index, "range", message))
            continue
        placed.append(index)
        if span.label not in known:
            message = f"{where} has the label {span.label!r}, not one of {', '.join(labels)}"
            faults.append(SpanFault(index, "label", message))
        if is_blank(text[span.start : span.end]):
            faults.append(SpanFault(index, "blank", f"{where} contains no visible text"))
    return sorted(faults + _clashes(spans, placed))


def _clashes(spans: Sequence[Span], placed: Sequence[int]) -> list[SpanFault]:
    """Overlaps and duplicates of the spans at the given indices; the later one has the error."""
    faults: dict[int, SpanFault] = {}
    reaching = -1
    for index in sorted(placed, key=lambda i: (spans[i].start, spans[i].end, i)):
        span = spans[index]
        if reaching >= 0 and span.start < spans[reaching].end:
            first, later = sorted((index, reaching))
            if spans[index] == spans[reaching]:
                where = characters(span.start, span.end)
                message = f"span {later} ({where}) repeats span {first}"
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


@dataclass(frozen=True)
class FactSpan:
    """A labelled range of the canonical text, `[start, end)` in code points.

    `key` identifies the span in its document, `quote` is its text. `value` and `sign` are those of
    `read_value`, or corrections of the annotator.
    """

    key: str
    label: str
    start: int
    end: int
    quote: str
    value: str
    sign: str

    @property
    def span(self) -> Span:
        return Span(self.start, self.end, self.label)


@dataclass(frozen=True)
class Fact:
    """The n-th fact of a page: its type, its value, and `[start, end)` in code points of the text
    that the page shows."""

    n: int
    type: str
    value: str
    start: int
    end: int


_ASTRAL = re.compile("[\U00010000-\U0010ffff]")


def utf16_to_codepoint(text: str, offsets: Sequence[int]) -> list[int]:
    """Convert UTF-16 offsets of `text` to code points, in the given order.

    Time is linear in the text. Raises ValueError for an offset outside the text or inside a
    surrogate pair.
    """
    # The UTF-16 offsets of astral characters, each shifted by the number of earlier ones.
    astral = [match.start() + k for k, match in enumerate(_ASTRAL.finditer(text))]
    length = len(text) + len(astral)
    converted = []
    for offset in offsets:
        if not 0 <= offset <= length:
            raise ValueError(f"UTF-16 offset {offset} is outside 0 to {length}")
        before = bisect_left(astral, offset)
        if before and astral[before - 1] == offset - 1:
            raise ValueError(f"UTF-16 offset {offset} is inside a character")
        converted.append(offset - before)
    return converted


def codepoint_to_utf16(text: str, offsets: Sequence[int]) -> list[int]:
    """Convert code-point offsets of `text` to UTF-16, in the given order.

    Time is linear in the text. Raises ValueError for an offset outside the text.
    """
    astral = [match.start() for match in _ASTRAL.finditer(text)]
    converted = []
    for offset in offsets:
        if not 0 <= offset <= len(text):
            raise ValueError(f"offset {offset} is outside 0 to {len(text)}")
        converted.append(offset + bisect_left(astral, offset))
    return converted


class ReadingError(ValueError):
    """A file of spans that cannot be read.

    `field` is the path of the invalid field, such as `spans[3].quote`, and `reason` a sentence.
    """

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason
