"""The text nodes of a page: visible text, excerpts, XPaths, and fragments of spans.

The canonical text has nothing between table cells, so that offsets never drift; excerpts separate
cells and paragraphs. XPaths have Label Studio's form: `/div[1]/p[2]/text()[1]`.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from html import unescape
from itertools import pairwise
from typing import NamedTuple

from .markup import TABLE_STRUCTURE, VOID_ELEMENTS, Kind, Token, tokens
from .spans import KNOWN_LABELS, Span

# Elements dropped with their content; the content of the first three is not markup.
HIDDEN_RAW = frozenset({"script", "style", "iframe"})
HIDDEN_NESTING = frozenset({"noscript", "template"})


def visible_text(html: str, labels: Sequence[str] = KNOWN_LABELS) -> str:
    """Return the visible text of `html` on one line.

    Markup is dropped, together with the content of script, style, noscript, template and iframe.
    Fact tags named by one of `labels` (in any case) are unwrapped first, so that they split no
    text node. Each text node is trimmed, empty ones are dropped, the rest is joined by one space;
    entities are decoded and white space is collapsed. A string that does not hold both `<` and `>`
    is text already: only its white space is collapsed.

    Any string is accepted, nothing is raised, and the time is linear. Source: FinCriticalED, text
    metrics.

    >>> visible_text("<p>Net <b>loss</b>&nbsp;of<br>$ <Number>(1,2</Number>00)</p>")
    'Net loss of $ (1,200)'
    >>> visible_text("1 < 2 &amp; 3")
    '1 < 2 &amp; 3'
    """
    if "<" not in html or ">" not in html:
        return " ".join(html.split())
    names = frozenset(label.lower() for label in labels)
    return " ".join(word for node in _visible_nodes(html, names) for word in unescape(node).split())


def _visible_nodes(html: str, unwrapped: frozenset[str]) -> Iterator[str]:
    """The raw text nodes outside hidden elements; tags named in `unwrapped` do not split them."""
    pieces: list[str] = []
    hidden: list[str] = []
    for token in tokens(html):
        if token.kind is Kind.TEXT or is_shown_raw(token):
            if not hidden:
                pieces.append(html[token.start : token.end])
            continue
        if token.name in unwrapped:
            continue
        if pieces:
            yield "".join(pieces)
            pieces.clear()
        if token.name in HIDDEN_NESTING:
            track_hidden(hidden, token)
    yield "".join(pieces)


def track_hidden(hidden: list[str], token: Token) -> None:
    """Update the open elements of HIDDEN_NESTING by one of their tags."""
    if token.kind is Kind.START:
        hidden.append(token.name)
    elif token.name in hidden:
        # Unclosed elements inside end with their parent.
        while hidden.pop() != token.name:
            pass


def is_shown_raw(token: Token) -> bool:
    """Whether the token is the content of a title, textarea, xmp or similar, even if unclosed."""
    is_raw = token.kind is Kind.RAW or (token.kind is Kind.UNCLOSED and token.name != "")
    return is_raw and token.name not in HIDDEN_RAW


SEPARATOR = " · "
_SPACE = re.compile(r"\s+")
_BLOCKS = frozenset(
    "article aside blockquote br caption center dd div dl dt figure footer h1 h2 h3 h4 h5 h6 header"
    " hr li main nav ol p pre section table tbody td tfoot th thead tr ul".split()
) | {"address"}


class Context(NamedTuple):
    """A quote of the text, and the visible text before and after it."""

    before: str
    quote: str
    after: str


class Excerpts:
    """Extracts contexts of one page. `reach` is the number of characters on each side."""

    def __init__(self, html: str, text: str, *, reach: int = 90) -> None:
        self._text = text
        self._reach = reach
        self._breaks = _breaks(html)

    def around(self, start: int, end: int) -> Context:
        """The context of `[start, end)`, offsets in code points of the canonical text."""
        # Twice the length, because white space is collapsed.
        first, last = max(0, start - 2 * self._reach), min(len(self._text), end + 2 * self._reach)
        return Context(
            before=self._readable(first, start).removeprefix(SEPARATOR)[-self._reach :],
            quote=self._text[start:end],
            after=self._readable(end, last).removesuffix(SEPARATOR)[: self._reach],
        )

    def _readable(self, start: int, end: int) -> str:
        breaks = self._breaks[bisect_left(self._breaks, start) : bisect_right(self._breaks, end)]
        borders = [start, *breaks, end]
        first, *others = (_SPACE.sub(" ", self._text[a:b]) for a, b in pairwise(borders))
        if not others:
            return first
        # Blank pieces in between are empty cells; at the ends they mark the border of a cell.
        inner = [piece.strip() for piece in others[:-1] if piece.strip()]
        return SEPARATOR.join([first.rstrip(), *inner, others[-1].lstrip()])


def _breaks(html: str) -> list[int]:
    """Offsets of the canonical text at which a cell, a paragraph or a line begins or ends."""
    offset = 0
    breaks: list[int] = []
    for token in tokens(html):
        if token.kind is Kind.TEXT:
            offset += len(unescape(html[token.start : token.end]))
        elif token.name in _BLOCKS and (not breaks or breaks[-1] != offset):
            breaks.append(offset)
    return breaks


class TextNode(NamedTuple):
    """`[start, end)` of the canonical text; `breaks` line breaks (`<br>`) come before it."""

    path: str
    start: int
    end: int
    breaks: int


class TextPlace(NamedTuple):
    """An edge of a span: a text node and an offset inside it, in code points."""

    path: str
    offset: int


class TextPaths:
    """Converts between offsets of a canonical text and places in its text nodes.

    Label Studio also has "global" offsets over the whole page, in which every line break counts as
    one more character.
    """

    def __init__(self, canonical_html: str) -> None:
        self.nodes = _path_nodes(canonical_html)
        self._ends = [node.end for node in self.nodes]
        self._starts = [node.start for node in self.nodes]
        self._global_starts = [node.start + node.breaks for node in self.nodes]
        self._global_ends = [node.end + node.breaks for node in self.nodes]
        self._by_path = {node.path: node for node in self.nodes}

    def node(self, path: str) -> TextNode | None:
        return self._by_path.get(path)

    def first(self, offset: int) -> TextNode:
        """The node of the character at `offset`, for the start of a span."""
        return self.nodes[bisect_right(self._ends, offset)]

    def last(self, offset: int) -> TextNode:
        """The node of the character before `offset`, for the end of a span."""
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
        """The span of global offsets; None if they are outside this page."""
        if not self.nodes or not 0 <= start < end <= self._global_ends[-1]:
            return None
        first = self.nodes[bisect_right(self._global_ends, start)]
        last = self.nodes[max(bisect_left(self._global_starts, end) - 1, 0)]
        # An offset on a line break belongs to the adjacent text.
        begin, stop = max(start - first.breaks, first.start), min(end - last.breaks, last.end)
        return (begin, stop) if begin < stop else None


def _path_nodes(html: str) -> list[TextNode]:
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


_ENTITY = re.compile(r"&[^;&]*;")


class Fragment(NamedTuple):
    """The part of the span at index `span` that is in one text node.

    `[start, end)` is a range of the HTML, `text_start` and `text_end` that of the text.
    """

    start: int
    end: int
    span: int
    text_start: int
    text_end: int


class _SourceNode(NamedTuple):
    """A text node: its place in the HTML and in the text, and whether it may contain tags."""

    source_start: int
    source: str
    start: int
    end: int
    taggable: bool


def fragments(html: str, spans: Sequence[Span]) -> Iterator[Fragment]:
    """Return the fragments of sorted, disjoint spans over canonical HTML, in document order.

    White-space text nodes in the middle of a span, or between table cells, have none.
    """
    first = 0
    for node in _source_nodes(html):
        while first < len(spans) and spans[first].end <= node.start:
            first += 1
        if not node.taggable or first == len(spans) or spans[first].start >= node.end:
            continue
        starts = _character_starts(node)
        for index in range(first, len(spans)):
            span = spans[index]
            if span.start >= node.end:
                break
            start, end = max(span.start, node.start), min(span.end, node.end)
            source = slice(starts[start - node.start], starts[end - node.start])
            is_middle = span.start < start and end < span.end
            if is_middle and not unescape(node.source[source]).strip():
                continue
            yield Fragment(
                node.source_start + source.start,
                node.source_start + source.stop,
                index,
                start,
                end,
            )


def enclose(
    html: str, found: Sequence[Fragment], tags: Callable[[Fragment], tuple[str, str]]
) -> str:
    """Insert an opening and a closing tag around each fragment."""
    pieces: list[str] = []
    position = 0
    for fragment in found:
        opening, closing = tags(fragment)
        pieces += [html[position : fragment.start], opening]
        pieces += [html[fragment.start : fragment.end], closing]
        position = fragment.end
    return "".join([*pieces, html[position:]])


def _source_nodes(html: str) -> Iterator[_SourceNode]:
    position = 0
    parents: list[str] = []
    for token in tokens(html):
        if token.kind is Kind.START and token.name not in VOID_ELEMENTS:
            parents.append(token.name)
        elif token.kind is Kind.END and parents:
            parents.pop()
        elif token.kind is Kind.TEXT:
            source = html[token.start : token.end]
            end = position + len(unescape(source))
            taggable = not parents or parents[-1] not in TABLE_STRUCTURE
            yield _SourceNode(token.start, source, position, end, taggable)
            position = end


def _character_starts(node: _SourceNode) -> Sequence[int]:
    """Where each character of the node's text begins in its source, and where the last one ends."""
    if "&" not in node.source:
        return range(len(node.source) + 1)
    starts: list[int] = []
    position = 0
    for entity in _ENTITY.finditer(node.source):
        starts.extend(range(position, entity.start() + 1))
        position = entity.end()
    starts.extend(range(position, len(node.source) + 1))
    return starts
