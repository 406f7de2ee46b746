"""Cuts spans into fragments, each within one text node, where a tag can stand around it."""

import re
from collections.abc import Callable, Iterator, Sequence
from html import unescape
from typing import NamedTuple

from portal.facts.elements import TABLE_STRUCTURE, VOID_ELEMENTS
from portal.facts.markup import Kind, tokens
from portal.facts.spans import Span

_ENTITY = re.compile(r"&[^;&]*;")


class Fragment(NamedTuple):
    """The part of the span at index `span` that lies in one text node.

    `[start, end)` is a stretch of the HTML; `text_start` and `text_end` are its place in the text.
    """

    start: int
    end: int
    span: int
    text_start: int
    text_end: int


class _TextNode(NamedTuple):
    """A text node: where it is in the HTML and in the text, and whether a tag may stand in it."""

    source_start: int
    source: str
    start: int
    end: int
    taggable: bool


def fragments(html: str, spans: Sequence[Span]) -> Iterator[Fragment]:
    """The fragments of sorted, disjoint spans over canonical HTML, in document order.

    A text node of mere white space in the middle of a span, or between the cells of a table, has
    none.
    """
    first = 0
    for node in _text_nodes(html):
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
    """The HTML with an opening and a closing tag about each fragment."""
    pieces: list[str] = []
    position = 0
    for fragment in found:
        opening, closing = tags(fragment)
        pieces += [html[position : fragment.start], opening]
        pieces += [html[fragment.start : fragment.end], closing]
        position = fragment.end
    return "".join([*pieces, html[position:]])


def _text_nodes(html: str) -> Iterator[_TextNode]:
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
            yield _TextNode(token.start, source, position, end, taggable)
            position = end


def _character_starts(node: _TextNode) -> Sequence[int]:
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
