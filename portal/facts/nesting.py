"""Refuses HTML that would blow up in a tree builder, before there is a tree.

An HTML5 parser takes quadratic time on deep nesting and reopens unclosed formatting elements
(`<font>`, `<b>`) in every block that follows, so that a small file can become millions of
elements. This follows the parser's rules for open elements closely enough to foresee both, in one
pass over the tags.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from portal.facts.elements import (
    FORMATTING_ELEMENTS,
    PHRASING_ELEMENTS,
    TABLE_PARTS,
    VOID_ELEMENTS,
)
from portal.facts.errors import RefusedHtml
from portal.facts.markup import Kind, Token

# Far above what MAX_DEPTH of a finished document allows: this count is an estimate.
MAX_OPEN = 1_000
# Elements that the parser may add on its own account; real filings stay below a few thousand.
MAX_REOPENED = 300_000

_INLINE = FORMATTING_ELEMENTS | PHRASING_ELEMENTS
CELLS = frozenset({"td", "th", "caption"})
SCOPES = CELLS | {"table"}

_FORMATTING_START = re.compile(rf"<(?:{'|'.join(sorted(FORMATTING_ELEMENTS))})", re.IGNORECASE)

# What an opening tag closes first, when it is open above the nearest of the second set.
_TABLE = frozenset({"table"})
_CLOSES: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "li": (frozenset({"li"}), SCOPES | {"ul", "ol"}),
    "dt": (frozenset({"dt", "dd"}), SCOPES | {"dl"}),
    "dd": (frozenset({"dt", "dd"}), SCOPES | {"dl"}),
    "td": (CELLS, _TABLE),
    "th": (CELLS, _TABLE),
    "tr": (frozenset({"tr", "caption", "colgroup"}), _TABLE),
    **{
        name: (frozenset({"thead", "tbody", "tfoot", "caption", "colgroup"}), _TABLE)
        for name in ("thead", "tbody", "tfoot", "caption", "colgroup")
    },
}
_PARAGRAPH = (frozenset({"p"}), SCOPES)


@dataclass(slots=True, eq=False)
class _Element:
    name: str
    source: str
    open: bool = True


class _Nesting:
    """The parser's stack of open elements, and per table cell its active formatting elements."""

    def __init__(self) -> None:
        self.stack: list[_Element] = []
        self.formatting: list[list[_Element]] = [[]]
        self.counts: dict[str, int] = {}
        self.reopened = 0

    def text(self) -> None:
        """Reopens the formatting elements that a closed block took down with it."""
        active = self.formatting[-1]
        first = len(active)
        while first and not active[first - 1].open:
            first -= 1
        for element in active[first:]:
            element.open = True
            self._push(element)
        self.reopened += len(active) - first

    def start(self, name: str, source: str) -> None:
        if name in _INLINE:
            self.text()
        elif name in TABLE_PARTS:
            if not self.counts.get("table"):
                return
        else:
            self._close(*_PARAGRAPH)
        if name in _CLOSES:
            self._close(*_CLOSES[name])
        if name in VOID_ELEMENTS:
            return
        element = _Element(name, source)
        self._push(element)
        if name in FORMATTING_ELEMENTS:
            self._remember(element)
        elif name in CELLS:
            self.formatting.append([])

    def end(self, name: str) -> None:
        if name in FORMATTING_ELEMENTS:
            self._end_formatting(name)
        elif self.counts.get(name):
            self._close(frozenset({name}), _TABLE if name in TABLE_PARTS | _TABLE else SCOPES)

    def _remember(self, element: _Element) -> None:
        """Keeps at most three equal entries, as the parser does."""
        active = self.formatting[-1]
        equal = [entry for entry in active if entry.source == element.source]
        if len(equal) == 3:
            active.remove(equal[0])
        active.append(element)

    def _end_formatting(self, name: str) -> None:
        active = self.formatting[-1]
        entry = next((entry for entry in reversed(active) if entry.name == name), None)
        if entry is None:
            return
        active.remove(entry)
        if entry.open:
            self.stack.remove(entry)
            self.counts[name] -= 1

    def _push(self, element: _Element) -> None:
        self.stack.append(element)
        self.counts[element.name] = self.counts.get(element.name, 0) + 1

    def _close(self, names: frozenset[str], stops: frozenset[str]) -> None:
        """Closes the nearest open element of `names` and all above it, unless a stop is nearer."""
        if not any(self.counts.get(name) for name in names):
            return
        for index in range(len(self.stack) - 1, -1, -1):
            name = self.stack[index].name
            if name in names:
                break
            if name in stops:
                return
        for element in self.stack[index:]:
            element.open = False
            self.counts[element.name] -= 1
            if element.name in CELLS:
                self.formatting.pop()
        del self.stack[index:]


def is_surely_small(html: str) -> bool:
    """Whether so few tags cannot make a tree too deep or too large, however they stand.

    An element is open once at a time, so that no more are open than were started; and every text
    or tag reopens at most each formatting element that was started.
    """
    tags = html.count("<")
    if tags > MAX_OPEN:
        return False
    return (2 * tags + 1) * len(_FORMATTING_START.findall(html)) <= MAX_REOPENED


def check_nesting(html: str, found: Iterable[Token]) -> None:
    """Raises RefusedHtml when the tree of these tokens of `html` would be too deep or too large."""
    nesting = _Nesting()
    for token in found:
        if token.kind is Kind.TEXT:
            nesting.text()
        elif token.kind is Kind.START:
            nesting.start(token.name, html[token.start : token.end])
        elif token.kind is Kind.END:
            nesting.end(token.name)
        if len(nesting.stack) > MAX_OPEN:
            line = html.count("\n", 0, token.start) + 1
            raise RefusedHtml(
                f"elements are nested deeper than {MAX_OPEN} on line {line}", "too_deep"
            )
        if nesting.reopened > MAX_REOPENED:
            reason = f"unclosed formatting tags would add more than {MAX_REOPENED:,} elements"
            raise RefusedHtml(reason, "too_many")
