"""Which elements are open at a place of a page, near enough to open them again on the next one.

An HTML parser's rules for tags that are left out or cross each other, simplified: what is wrong
here costs a page its style, never its text.
"""

from collections import Counter
from dataclasses import dataclass

from portal.facts.markup import (
    FORMATTING_ELEMENTS,
    KEPT_ELEMENTS,
    PHRASING_ELEMENTS,
    TABLE_PARTS,
    VOID_ELEMENTS,
    Token,
)

# Deeper ones are not followed; no document may be nested as deep.
_DEEPEST = 250
# Their end tags are often left out, and nothing is lost when they are not opened again.
_UNTRACKED = frozenset({"li", "dt", "dd", "col", "colgroup"})
_TRACKED = KEPT_ELEMENTS - VOID_ELEMENTS - _UNTRACKED
_INLINE = FORMATTING_ELEMENTS | PHRASING_ELEMENTS
_CELLS = frozenset({"td", "th", "caption"})
_SCOPES = _CELLS | {"table"}
_RANKS = {"caption": 3, "thead": 1, "tbody": 1, "tfoot": 1, "tr": 2, "td": 3, "th": 3}


@dataclass(frozen=True, slots=True)
class OpenElement:
    """An element whose start tag is `[start, end)` of the page, and the one around it."""

    name: str
    start: int
    end: int
    breaks_after: bool
    parent: "OpenElement | None"


class OpenElements:
    """The open elements as a chain from the innermost, which is never changed: keeping a place
    costs nothing.
    """

    def __init__(self) -> None:
        self.innermost: OpenElement | None = None
        self._counts: Counter[str] = Counter()
        self._depth = 0

    @property
    def in_table(self) -> bool:
        return self._counts["table"] > 0

    def open(self, token: Token, *, breaks_after: bool) -> bool:
        """Follows a start tag; False when it opens nothing that is followed."""
        if token.name not in _TRACKED or self._depth >= _DEEPEST:
            return False
        self._push(token.name, token.start, token.end, breaks_after)
        return True

    def close(self, name: str) -> list[OpenElement]:
        """What an end tag closes. A crossing formatting tag closes itself alone."""
        if not self._counts[name]:
            return []
        if name in FORMATTING_ELEMENTS:
            return self._close_crossing(name)
        return self._close_to(name, frozenset({"table"}) if name in TABLE_PARTS else _SCOPES)

    def close_implied(self, name: str) -> list[OpenElement]:
        """What a start tag closes before it opens: a paragraph, a cell or a row."""
        if name in _RANKS:
            return self._close_cells(_RANKS[name])
        if name in KEPT_ELEMENTS and name not in _INLINE and self._counts["p"]:
            return self._close_to("p", _SCOPES)
        return []

    def _close_to(self, name: str, stops: frozenset[str]) -> list[OpenElement]:
        """Closes the nearest `name` and all inside it, unless one of `stops` is nearer."""
        element = self.innermost
        while element is not None and element.name != name:
            if element.name in stops:
                return []
            element = element.parent
        closed = []
        while element is not None:
            last = self._pop()
            closed.append(last)
            if last is element:
                break
        return closed

    def _close_crossing(self, name: str) -> list[OpenElement]:
        crossed = []
        while self.innermost is not None and self.innermost.name not in _SCOPES:
            last = self._pop()
            if last.name == name:
                break
            crossed.append(last)
        else:
            last = None
        for element in reversed(crossed):
            self._push(element.name, element.start, element.end, element.breaks_after)
        return [last] if last else []

    def _close_cells(self, rank: int) -> list[OpenElement]:
        """Closes what stands in the present table up to a part that may hold one of this rank."""
        if not self._counts["table"]:
            return []
        closed = []
        while self.innermost is not None and self.innermost.name != "table":
            if 0 < _RANKS.get(self.innermost.name, 0) < rank:
                break
            closed.append(self._pop())
        return closed

    def _push(self, name: str, start: int, end: int, breaks_after: bool) -> None:
        self.innermost = OpenElement(name, start, end, breaks_after, self.innermost)
        self._counts[name] += 1
        self._depth += 1

    def _pop(self) -> OpenElement:
        element = self.innermost
        assert element is not None
        self.innermost = element.parent
        self._counts[element.name] -= 1
        self._depth -= 1
        return element
