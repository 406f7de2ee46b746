"""Writes spans into canonical HTML as inline fact tags: the gold form of a document."""

import re
from collections.abc import Iterator, Sequence
from html import unescape
from typing import NamedTuple

from portal.facts.canonical import canonical_text
from portal.facts.elements import TABLE_STRUCTURE, VOID_ELEMENTS
from portal.facts.labels import require_labels
from portal.facts.markup import Kind, tokens
from portal.facts.spans import Span, check_spans

_ENTITY = re.compile(r"&[^;&]*;")


class _TextNode(NamedTuple):
    """A text node: where it is in the HTML and in the text, and whether a tag may stand in it."""

    source_start: int
    source: str
    start: int
    end: int
    taggable: bool


class _Fragment(NamedTuple):
    """The part of a span that lies in one text node, as a stretch of the HTML."""

    start: int
    end: int
    span: int


def write_tags(canonical_html: str, spans: Sequence[Span]) -> str:
    """Canonical HTML with every span inside a tag named by its label: `<Number>1,200</Number>`.

    A span over several text nodes becomes one tag in each, all with the same `id`; nodes of mere
    white space in its middle, or between the cells of a table, get none. Without the tags the
    result is `canonical_html`, character for character. `read_tags` gives the spans back; only an
    edge in white space between table cells moves in to the nearest text. Raises ValueError when
    the spans fail `check_spans` or a label cannot be a tag.
    """
    ordered = sorted(spans)
    labels = sorted({span.label for span in ordered})
    if not ordered:
        return canonical_html
    require_labels(labels)
    if faults := check_spans(canonical_text(canonical_html), ordered, labels):
        raise ValueError("; ".join(fault.message for fault in faults))
    fragments = list(_fragments(canonical_html, ordered))
    counts = [0] * len(ordered)
    for fragment in fragments:
        counts[fragment.span] += 1
    pieces: list[str] = []
    position = 0
    for fragment in fragments:
        label = ordered[fragment.span].label
        identity = f' id="f{fragment.span}"' if counts[fragment.span] > 1 else ""
        pieces.append(canonical_html[position : fragment.start])
        tagged = canonical_html[fragment.start : fragment.end]
        pieces.append(f"<{label}{identity}>{tagged}</{label}>")
        position = fragment.end
    pieces.append(canonical_html[position:])
    return "".join(pieces)


def _fragments(html: str, spans: Sequence[Span]) -> Iterator[_Fragment]:
    """The fragments of sorted, disjoint spans in document order."""
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
            yield _Fragment(
                node.source_start + source.start, node.source_start + source.stop, index
            )


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
