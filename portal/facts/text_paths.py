"""The text nodes of a page by the paths under which other tools know them.

A path is an XPath from the body down, as Label Studio writes it: `/div[1]/p[2]/text()[1]`. Offsets
inside a node count code points.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from html import unescape
from typing import NamedTuple

from portal.facts.elements import VOID_ELEMENTS
from portal.facts.markup import Kind, tokens


class TextNode(NamedTuple):
    """`[start, end)` of the canonical text; `breaks` line breaks (`<br>`) come before it."""

    path: str
    start: int
    end: int
    breaks: int


class TextPlace(NamedTuple):
    """A border of a span: a text node and an offset inside it, in code points."""

    path: str
    offset: int


class TextPaths:
    """Both ways between offsets of a canonical text and places in its text nodes.

    Label Studio has offsets over the whole page besides ("global"), in which every line break
    counts as one character more.
    """

    def __init__(self, canonical_html: str) -> None:
        self.nodes = _text_nodes(canonical_html)
        self._ends = [node.end for node in self.nodes]
        self._starts = [node.start for node in self.nodes]
        self._global_starts = [node.start + node.breaks for node in self.nodes]
        self._global_ends = [node.end + node.breaks for node in self.nodes]
        self._by_path = {node.path: node for node in self.nodes}

    def node(self, path: str) -> TextNode | None:
        return self._by_path.get(path)

    def first(self, offset: int) -> TextNode:
        """The node of the character at `offset`, where a span that starts there begins."""
        return self.nodes[bisect_right(self._ends, offset)]

    def last(self, offset: int) -> TextNode:
        """The node of the character before `offset`, where a span that ends there ends."""
        return self.nodes[bisect_left(self._starts, offset) - 1]

    def places(self, start: int, end: int) -> tuple[TextPlace, TextPlace]:
        """Where a span `[start, end)` begins and ends.

        >>> TextPaths("<p>Net <b>1,200</b></p>").places(4, 9)[0]
        TextPlace(path='/p[1]/b[1]/text()[1]', offset=0)
        """
        first, last = self.first(start), self.last(end)
        return TextPlace(first.path, start - first.start), TextPlace(last.path, end - last.start)

    def global_offsets(self, start: int, end: int) -> tuple[int, int]:
        return start + self.first(start).breaks, end + self.last(end).breaks

    def from_global(self, start: int, end: int) -> tuple[int, int] | None:
        """The span of global offsets; None where they are not of this page."""
        if not self.nodes or not 0 <= start < end <= self._global_ends[-1]:
            return None
        first = self.nodes[bisect_right(self._global_ends, start)]
        last = self.nodes[max(bisect_left(self._global_starts, end) - 1, 0)]
        # An offset on a line break itself belongs to the text beside it.
        begin, stop = max(start - first.breaks, first.start), min(end - last.breaks, last.end)
        return (begin, stop) if begin < stop else None


def _text_nodes(html: str) -> list[TextNode]:
    nodes: list[TextNode] = []
    position = breaks = 0
    path = [""]
    counts: list[Counter[str]] = [Counter()]
    for token in tokens(html):
        if token.kind is Kind.TEXT:
            end = position + len(unescape(html[token.start : token.end]))
            nodes.append(
                TextNode("/".join([*path, _step("text()", counts)]), position, end, breaks)
            )
            position = end
        elif token.kind is Kind.START:
            step = _step(token.name, counts)
            breaks += token.name == "br"
            if token.name not in VOID_ELEMENTS:
                path.append(step)
                counts.append(Counter())
        elif token.kind is Kind.END and len(path) > 1:
            path.pop()
            counts.pop()
    return nodes


def _step(name: str, counts: list[Counter[str]]) -> str:
    counts[-1][name] += 1
    return f"{name}[{counts[-1][name]}]"
