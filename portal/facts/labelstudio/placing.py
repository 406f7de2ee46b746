"""Places regions of Label Studio in a document, even if their offsets no longer match.

If the region's text is at its given offsets, that is the span. Otherwise the text is searched in
the document. Moved and unplaced regions are reported.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import unescape
from typing import NamedTuple

from portal.facts.borders import text_borders
from portal.facts.canonical import canonical_text
from portal.facts.markup import Kind, tokens
from portal.facts.page_text import TextNode, TextPaths
from portal.facts.spans import (
    FactSpan,
    ReadingError,
    Span,
    characters,
    check_spans,
    utf16_to_codepoint,
)
from portal.facts.values import check_value, read_value

from .tasks import Region

# Label Studio writes line ends in its texts as a backslash and an n.
_UNSEEN = re.compile("(?:\\\\n|[\\s\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff])+")
# The context on either side that distinguishes occurrences.
CONTEXT = 40
# Of more frequent texts, only the nearest places are considered.
MAX_PLACES = 500


def seen(text: str) -> str:
    """Remove white space and invisible characters.

    >>> seen("May 27,\\n 2021")
    'May27,2021'
    """
    return _UNSEEN.sub("", text)


class Context(NamedTuple):
    """The visible text before and after the labelled text; empty if unknown."""

    before: str = ""
    after: str = ""


class Alike(NamedTuple):
    """Possible places of a text; `reason` explains why there are none."""

    places: list[tuple[int, int]]
    reason: str = ""

    def nearest(self, expected: int | None) -> "Alike":
        """The place nearest to the `expected` offset; none if two are equally near."""
        if len(self.places) <= 1:
            return self
        if expected is None:
            count = len(self.places)
            return Alike([], f"its text occurs {count} times, and its place is ambiguous")
        distance = min(abs(start - expected) for start, _ in self.places)
        close = [place for place in self.places if abs(place[0] - expected) == distance]
        if len(close) > 1:
            return Alike([], "its text occurs twice, just as far before as after its offsets")
        return Alike(close)


class SeenText:
    """A text without invisible characters, with its original offsets."""

    def __init__(self, text: str, borders: Sequence[int] = ()) -> None:
        self._text = text
        self._borders = frozenset(borders)
        self._known: dict[str, list[tuple[int, int]]] = {}

    @cached_property
    def _places(self) -> list[int]:
        """The original offset of each visible character; computed only if needed."""
        return _seen_places(self._text)

    @cached_property
    def _seen(self) -> str:
        return "".join([self._text[place] for place in self._places])

    def reads(self, start: int, end: int, wanted: str) -> bool:
        """Whether the visible text at `[start, end)` is `wanted`."""
        return 0 <= start < end <= len(self._text) and seen(self._text[start:end]) == seen(wanted)

    def alike(self, wanted: str, expected: int | None, context: Context, taken: "Places") -> Alike:
        """Return the places of `wanted`; of several, those that share most of the context.

        Ignores `taken` places, and considers only the MAX_PLACES nearest to the `expected` offset.
        """
        if not (sought := seen(wanted)):
            return Alike([], "its text is white space")
        found = self._occurrences(sought)
        middle = bisect_left(found, (expected or 0, 0))
        near = found[max(middle - MAX_PLACES // 2, 0) :][:MAX_PLACES]
        free = [place for place in near if not taken.meets(*place)]
        if not free:
            reason = "is there, but marked already" if found else "is not in the document"
            return Alike([], f"its text {reason}")
        return Alike(self._whole(self._in_context(free, context)))

    def _occurrences(self, sought: str) -> list[tuple[int, int]]:
        if sought not in self._known:
            places = []
            at = self._seen.find(sought)
            while at >= 0:
                places.append((self._places[at], self._places[at + len(sought) - 1] + 1))
                at = self._seen.find(sought, at + 1)
            self._known[sought] = places
        return self._known[sought]

    def _whole(self, places: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Places where the text is not part of a longer word or number; all if there are none."""
        whole = [place for place in places if not self._cuts(*place)]
        return whole or places

    def is_whole(self, start: int, end: int) -> bool:
        """Whether the place begins and ends with a visible character and cuts no word or number."""
        text = self._text[start:end]
        return bool(seen(text[:1]) and seen(text[-1:])) and not self._cuts(start, end)

    def _cuts(self, start: int, end: int) -> bool:
        return self._hangs(start) or self._hangs(end)

    def _hangs(self, offset: int) -> bool:
        """Whether a word or number continues across the offset."""
        if not 0 < offset < len(self._text) or offset in self._borders:
            return False
        before, after = self._text[offset - 1], self._text[offset]
        if before.isalnum() and after.isalnum():
            return True
        figures = self._text[max(offset - 2, 0) : offset + 2]
        return re.fullmatch("[0-9](?:[.,][0-9].?|.?[.,][0-9])", figures) is not None

    def _in_context(self, places: list[tuple[int, int]], context: Context) -> list[tuple[int, int]]:
        """The places that share most of the context; all if there is no context."""
        if len(places) == 1 or not any(context):
            return places
        scores = [self._shared(place, context) for place in places]
        best = max(scores)
        return [place for place, score in zip(places, scores, strict=True) if score == best]

    def _shared(self, place: tuple[int, int], context: Context) -> int:
        first = bisect_left(self._places, place[0])
        last = bisect_left(self._places, place[1])
        before = self._seen[max(first - CONTEXT, 0) : first]
        after = self._seen[last : last + CONTEXT]
        return _common(before[::-1], context.before[::-1]) + _common(after, context.after)


class Places:
    """Taken ranges, kept in order."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []

    def take(self, start: int, end: int) -> None:
        at = bisect_left(self._starts, start)
        self._starts.insert(at, start)
        self._ends.insert(at, end)

    def meets(self, start: int, end: int) -> bool:
        """Whether a taken range overlaps `[start, end)`."""
        before = bisect_left(self._starts, end)
        return before > bisect_right(self._ends, start)


def context_of(text: str, start: int, end: int) -> Context:
    """The visible text around `[start, end)` of the labelled text."""
    # More than the length, because white space is removed.
    before = seen(text[max(start - 4 * CONTEXT, 0) : start])[-CONTEXT:]
    return Context(before, seen(text[end : end + 4 * CONTEXT])[:CONTEXT])


def _seen_places(text: str) -> list[int]:
    places: list[int] = []
    position = 0
    for match in _UNSEEN.finditer(text):
        places += range(position, match.start())
        position = match.end()
    places += range(position, len(text))
    return places


def _common(one: str, other: str) -> int:
    shorter = min(len(one), len(other))
    return next((at for at in range(shorter) if one[at] != other[at]), shorter)


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
    unplaced: list[Note | ReadingError] = field(default_factory=list)
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
        text = self._text[place[0] : place[1]]
        return context_of(self._text, *place) if seen(text) == seen(region.text) else Context()


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
        if place := self._given_place(region):
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

    def _given_place(self, region: Region) -> tuple[int, int] | None:
        """The given place if its text matches; without a text, if nothing contradicts it."""
        given = list(dict.fromkeys(self._given_places(region)))
        if region.start and self._source and not self._page.paths.node(region.start):
            # The tree differs, so the same text at the same offset may be a coincidence.
            return None
        if region.text:
            return next((p for p in given if self._page.seen.reads(*p, region.text)), None)
        return self._only_place(region, given)

    def _only_place(
        self, region: Region, given: Sequence[tuple[int, int]]
    ) -> tuple[int, int] | None:
        """The place of a region without text; of several, the only one that cuts no word."""
        if len(given) <= 1:
            return next(iter(given), None)
        whole = [place for place in given if self._page.seen.is_whole(*place)]
        if len(whole) != 1:
            return None
        said = f"placed at {characters(*whole[0])}, because its other places would cut a word"
        self._done.remarks.append(Note(region.id, region.text, said))
        return whole[0]

    def _given_places(self, region: Region) -> Iterator[tuple[int, int]]:
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
            several = any(True for _ in self._given_places(region))
            where = "can be read in several ways" if several else "are not in this document"
            self._refuse(region, f"its offsets {where}, and it has no text to search for")
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
        given = next(iter(self._given_places(region)), None)
        if given:
            return given[0]
        if region.global_offsets:
            return min(max(region.global_offsets[0], 0), len(self._page.text))
        return None if region.start else region.start_offset

    def _take(self, region: Region, place: tuple[int, int]) -> bool:
        start, end = place
        label = region.labels[0]
        faults = check_spans(self._page.text, [Span(start, end, label)], self._labels)
        if faults or self._taken.meets(start, end):
            reason = "there is nothing to read" if faults else "it overlaps another result"
            self._refuse(region, f"{characters(start, end)}: {reason}")
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
