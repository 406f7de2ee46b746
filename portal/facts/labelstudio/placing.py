"""Places regions of Label Studio in a document, even if their offsets no longer match.

If the region's text is at its given offsets, that is the span. Otherwise the text is searched in
the document. Moved and unplaced regions are reported.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import unescape
from typing import NamedTuple

from portal.facts.canonical import canonical_text
from portal.facts.grammar import text_borders
from portal.facts.markup import Kind, tokens
from portal.facts.page_text import TextNode, TextPaths
from portal.facts.spans import FactSpan, Span, check_spans, utf16_to_codepoint
from portal.facts.values import check_value, read_value

from .drift import Alike, Context, Places, SeenText, context_of, seen
from .tasks import Region

LONGEST_QUOTE = 60
# As the workbench makes them.
_KEY = re.compile("[A-Za-z0-9_-]{1,36}")
_NOWHERE = TextNode("", 0, 0, 0)


class Note(NamedTuple):
    """A note about a region for the user: its id, its text, and a sentence."""

    region: str
    text: str
    reason: str

    def __str__(self) -> str:
        text = self.text if len(self.text) <= LONGEST_QUOTE else f"{self.text[:LONGEST_QUOTE]}…"
        return f"result {self.region} {text!r}: {self.reason}"


@dataclass
class Placement:
    """The spans in text order, and notes on regions that moved, failed, or lost their value."""

    spans: list[FactSpan] = field(default_factory=list)
    moved: list[Note] = field(default_factory=list)
    unplaced: list[Note] = field(default_factory=list)
    remarks: list[Note] = field(default_factory=list)


class Page:
    """A document that regions are placed in."""

    def __init__(self, canonical_html: str) -> None:
        self.text = canonical_text(canonical_html)
        self.paths = TextPaths(canonical_html)
        self.seen = SeenText(self.text, text_borders(canonical_html))


class SourcePage:
    """The labelled page, used to find the context of regions by global offsets."""

    def __init__(self, html: str) -> None:
        self._html = html

    @cached_property
    def _text(self) -> str:
        pieces: list[str] = []
        for token in tokens(self._html):
            if token.kind is Kind.TEXT:
                pieces.append(unescape(self._html[token.start : token.end]))
            elif token.kind is Kind.START and token.name == "br":
                pieces.append("\n")
        return "".join(pieces)

    def context(self, region: Region) -> Context:
        place = region.global_offsets
        if place is None or not 0 <= place[0] < place[1] <= len(self._text):
            return Context()
        told = self._text[place[0] : place[1]]
        return context_of(self._text, *place) if seen(told) == seen(region.text) else Context()


def place_regions(
    page: Page, regions: Sequence[Region], labels: Sequence[str], source: SourcePage | None = None
) -> Placement:
    """Place the regions of one annotation in the document.

    Regions at their given offsets are placed first, so that moved regions cannot take their place.
    """
    return _Placing(page, labels, source).place(regions)


class _Placing:
    def __init__(self, page: Page, labels: Sequence[str], source: SourcePage | None) -> None:
        self._page = page
        self._labels = labels
        self._source = source
        self._taken = Places()
        self._keys: set[str] = set()
        # The expected offsets of placed regions, and their shifts.
        self._shifts: list[tuple[int, int]] = []
        self._done = Placement()

    def place(self, regions: Sequence[Region]) -> Placement:
        """Regions at their offsets first, then those with one possible place, then the rest."""
        adrift = [region for region in regions if not self._settled(region)]
        doubtful = [region for region in adrift if not self._found(region)]
        for region in doubtful:
            self._find_near(region)
        self._done.spans.sort(key=lambda span: span.start)
        return self._done

    def _settled(self, region: Region) -> bool:
        """Whether the region is done: placed, or impossible to place."""
        if problem := self._problem(region):
            self._refuse(region, problem)
            return True
        if place := self._told_place(region):
            if self._take(region, place):
                self._shifts.append((place[0], 0))
            return True
        return False

    def _problem(self, region: Region) -> str:
        if len(region.labels) != 1:
            return f"it has {len(region.labels)} labels; a span has one"
        if region.labels[0] not in self._labels:
            return f"the label {region.labels[0]!r} is not one of {', '.join(self._labels)}"
        return ""

    def _told_place(self, region: Region) -> tuple[int, int] | None:
        """The given place if its text matches; without a text, if nothing contradicts it."""
        told = list(dict.fromkeys(self._told_places(region)))
        if region.start and self._source and not self._page.paths.node(region.start):
            # The tree differs, so the same text at the same offset may be a coincidence.
            return None
        if region.text:
            return next((p for p in told if self._page.seen.reads(*p, region.text)), None)
        return told[0] if len(told) == 1 else None

    def _told_places(self, region: Region) -> Iterator[tuple[int, int]]:
        """Offsets are code points; older versions of Label Studio used UTF-16 code units."""
        start, end = region.start_offset, region.end_offset
        first = last = TextNode("", 0, len(self._page.text), 0)
        if region.start:
            nodes = self._page.paths.node(region.start), self._page.paths.node(region.end)
            first, last = nodes[0] or _NOWHERE, nodes[1] or _NOWHERE
        if start is not None and end is not None and _NOWHERE not in (first, last):
            pairs = zip(
                _inside(first, start, self._page), _inside(last, end, self._page), strict=True
            )
            yield from ((a, b) for a, b in pairs if a is not None and b is not None and a < b)
        if region.global_offsets:
            place = self._page.paths.from_global(*region.global_offsets)
            if place:
                yield place

    def _found(self, region: Region) -> bool:
        """Whether the region is done, because it has at most one possible place."""
        if not region.text:
            reason = "its offsets are not in this document, and it has no text to search for"
            self._refuse(region, reason)
            return True
        alike = self._alike(region)
        if len(alike.places) > 1:
            return False
        self._move(region, alike)
        return True

    def _find_near(self, region: Region) -> None:
        """Of several similar places, the one that moved as far as its neighbours."""
        expected = self._expected(region)
        if expected is not None and self._shifts:
            expected += min(self._shifts, key=lambda shift: abs(shift[0] - expected))[1]
        self._move(region, self._alike(region).nearest(expected))

    def _alike(self, region: Region) -> Alike:
        context = self._source.context(region) if self._source else Context()
        expected = self._expected(region)
        return self._page.seen.alike(region.text, expected, context, self._taken)

    def _move(self, region: Region, alike: Alike) -> None:
        if not alike.places:
            self._refuse(region, alike.reason)
            return
        (place,) = alike.places
        if self._take(region, place):
            how_far = "found by its text"
            expected = self._expected(region)
            if expected is not None:
                shift = place[0] - expected
                how_far = f"moved by {shift}"
                self._shifts.append((expected, shift))
                if shift == 0:
                    return
            self._done.moved.append(Note(region.id, region.text, how_far))

    def _expected(self, region: Region) -> int | None:
        """The expected start of the region, from its offsets."""
        told = next(iter(self._told_places(region)), None)
        if told:
            return told[0]
        if region.global_offsets:
            return min(max(region.global_offsets[0], 0), len(self._page.text))
        return None if region.start else region.start_offset

    def _take(self, region: Region, place: tuple[int, int]) -> bool:
        start, end = place
        label = region.labels[0]
        faults = check_spans(self._page.text, [Span(start, end, label)], self._labels)
        if faults or self._taken.meets(start, end):
            reason = "there is nothing to read" if faults else "it overlaps another result"
            self._refuse(region, f"at [{start}, {end}) {reason}")
            return False
        self._taken.take(start, end)
        quote = self._page.text[start:end]
        value, sign = self._meaning(region, quote)
        key = self._key(region, start)
        self._done.spans.append(FactSpan(key, label, start, end, quote, value, sign))
        return True

    def _meaning(self, region: Region, quote: str) -> tuple[str, str]:
        label, derived = region.labels[0], read_value(quote, region.labels[0])
        value = region.details.get("value", derived.value)
        sign = region.details.get("sign", derived.sign)
        if problem := check_value(value, sign, label):
            said = f"its value was invalid and derived again: {problem}"
            self._done.remarks.append(Note(region.id, region.text, said))
            return derived
        return value, sign

    def _key(self, region: Region, start: int) -> str:
        key = region.id
        if not _KEY.fullmatch(key) or key in self._keys:
            key = f"ls-{start}"
        while key in self._keys:
            key += "x"
        self._keys.add(key)
        return key

    def _refuse(self, region: Region, reason: str) -> None:
        self._done.unplaced.append(Note(region.id, region.text, reason))


def _inside(node: TextNode, offset: int, page: Page) -> tuple[int | None, int | None]:
    """Text offsets of an offset in a node, as code points and as UTF-16 units."""
    points = node.start + offset if 0 <= offset <= node.end - node.start else None
    try:
        (inside,) = utf16_to_codepoint(page.text[node.start : node.end], [offset])
    except ValueError:
        return points, None
    return points, node.start + inside
