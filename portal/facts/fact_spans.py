"""A span with all that an annotator says about it."""

from dataclasses import dataclass

from portal.facts.spans import Span


@dataclass(frozen=True)
class FactSpan:
    """A labelled stretch of the canonical text, `[start, end)` in code points.

    `key` names the span within its document, `quote` is the text at its place; `value` and `sign`
    are as `read_value` gives them or as the annotator corrected them.
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
