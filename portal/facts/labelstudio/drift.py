"""Finds labelled text in a page whose offsets have changed.

White space and invisible characters are ignored, because tools copy text as shown.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

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
            told = "is there, but marked already" if found else "is not in the document"
            return Alike([], f"its text {told}")
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
        whole = [place for place in places if self._is_whole(*place)]
        return whole or places

    def _is_whole(self, start: int, end: int) -> bool:
        return not (self._hangs(start) or self._hangs(end))

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
