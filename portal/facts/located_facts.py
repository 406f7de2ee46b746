"""Locates tagged facts of an HTML page in its canonical text, whatever their tags look like."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from portal.facts.canonical import Canonical, as_canonical, canonical_text, canonicalise, clean_html
from portal.facts.edgar import open_envelope
from portal.facts.errors import RefusedHtml, TagError
from portal.facts.markup import Token
from portal.facts.spans import Span, check_spans, is_blank

_VISIBLE = re.compile(r"\S(?:.*\S)?", re.DOTALL)
# Private-use characters of the last plane; a page is marked with one that it does not hold itself.
_MARKS = range(0x10FFFD, 0x10F000, -1)


class TaggedPart(NamedTuple):
    """One pair of tags of a fact, and two stretches of the HTML between them.

    `nodes` reaches from the first text node with something to read to the end of the last,
    `visible` from the first visible character to the last. A fact without any is a part of one,
    white space between two elements, and its `nodes` are of white space.
    """

    label: str
    identity: str
    opening: Token
    closing: Token
    nodes: tuple[int, int]
    visible: tuple[int, int] | None


class _Edit(NamedTuple):
    """A stretch of the HTML and what takes its place."""

    start: int
    end: int
    replacement: str


class LocatedFact(NamedTuple):
    """The span of a fact, and what its parts have in common."""

    span: Span
    identity: str


def tagged_part(
    html: str, label: str, identity: str, tags: tuple[Token, Token], texts: Sequence[Token]
) -> TaggedPart:
    """The part between two tags with the text nodes `texts`.

    Only a fact with an `identity` may have a part with nothing to read; otherwise raises TagError.
    """
    matches = (_VISIBLE.search(html, text.start, text.end) for text in texts)
    found = [(text, match) for text, match in zip(texts, matches, strict=True) if match]
    if found:
        nodes = found[0][0].start, found[-1][0].end
        visible = found[0][1].start(), found[-1][1].end()
        return TaggedPart(label, identity, *tags, nodes, visible)
    if not identity or not texts:
        raise _nothing_to_read(html, tags[0])
    return TaggedPart(label, identity, *tags, (texts[0].start, texts[-1].end), None)


def locate(
    html: str, parts: Sequence[TaggedPart], *, known: str = ""
) -> tuple[Canonical, list[LocatedFact]]:
    """The canonical page without the tags of `parts`, and their facts in document order.

    Parts with the same identity are one fact; between them only white space may stand. Raises
    TagError, with the place, for facts that cannot be located or that overlap, and RefusedHtml as
    `canonicalise` does. `known` is HTML that is canonical already.
    """
    bare = _edited(html, _removals(parts))
    canonical = as_canonical(bare) if known and bare == known else canonicalise(bare)
    if not parts:
        return canonical, []
    places = _places(html, parts, canonical, inward=False)
    if places is None:
        places = _places(html, parts, canonical, inward=True)
    if places is None:
        reason = "fact tags from here on change how the rest of the page is read"
        raise TagError(reason, html, parts[0].opening.start)
    facts = _joined(html, parts, places, canonical.text)
    labels = sorted({part.label for part in parts})
    if faults := check_spans(canonical.text, [fact.span for fact in facts], labels):
        raise TagError(f"the facts collide: {faults[0].message}", html, parts[0].opening.start)
    return canonical, sorted(facts)


def _nothing_to_read(html: str, opening: Token) -> TagError:
    return TagError(f"<{opening.name}> holds nothing to read", html, opening.start)


def _removals(parts: Sequence[TaggedPart]) -> Iterator[_Edit]:
    for part in parts:
        yield _Edit(part.opening.start, part.opening.end, "")
        yield _Edit(part.closing.start, part.closing.end, "")


def _marks(parts: Sequence[TaggedPart], mark: str, *, inward: bool) -> Iterator[_Edit]:
    """Removes the tags and puts numbered marks at both ends of the text between them."""
    for number, part in enumerate(parts):
        yield _Edit(part.opening.start, part.opening.end, "")
        if stretch := (part.visible if inward else part.nodes):
            for offset, place in enumerate(stretch):
                yield _Edit(place, place, f"{mark}{2 * number + offset}{mark}")
        yield _Edit(part.closing.start, part.closing.end, "")


def _edited(html: str, edits: Iterable[_Edit]) -> str:
    pieces: list[str] = []
    position = 0
    for edit in edits:
        pieces += [html[position : edit.start], edit.replacement]
        position = edit.end
    return "".join([*pieces, html[position:]])


def _places(
    html: str, parts: Sequence[TaggedPart], canonical: Canonical, *, inward: bool
) -> dict[int, int] | None:
    """Offsets in the canonical text by number of mark; None when marks would change the page.

    The page is cleaned once more with marks in it. A mark stands in a text node and beside its
    text, never at the tag, which a parser would move from between the cells of a table. Inward it
    stands beside a visible character: white space may be moved or dropped once it is marked.
    """
    mark = next((c for c in map(chr, _MARKS) if c not in html and c not in canonical.html), None)
    if mark is None:
        raise TagError("the page uses every private-use character", html, 0)
    edited = _edited(html, _marks(parts, mark, inward=inward))
    try:
        marked = clean_html(open_envelope(edited).content)
    except RefusedHtml:
        return None
    numbered = re.compile(f"{mark}([0-9]+){mark}")
    if numbered.sub("", marked) != canonical.html:
        return None
    places: dict[int, int] = {}
    width = 0
    for match in numbered.finditer(canonical_text(marked)):
        places[int(match[1])] = match.start() - width
        width += len(match[0])
    return places


def _joined(
    html: str, parts: Sequence[TaggedPart], places: dict[int, int], text: str
) -> list[LocatedFact]:
    """One fact for each identity, and for each part without one."""
    groups: dict[str, list[tuple[TaggedPart, Span | None]]] = {}
    for number, part in enumerate(parts):
        start, end = places.get(2 * number), places.get(2 * number + 1)
        span = None
        if start is not None and end is not None:
            span = Span(start, end, part.label)
        elif part.visible:
            reason = f"<{part.opening.name}> stands in content that a document does not keep"
            raise TagError(reason, html, part.opening.start)
        groups.setdefault(part.identity or f"\0{number}", []).append((part, span))
    return [
        LocatedFact(_span_of(html, group, text), group[0][0].identity) for group in groups.values()
    ]


def _span_of(html: str, parts: Sequence[tuple[TaggedPart, Span | None]], text: str) -> Span:
    """The span of one fact from those of its parts; a part without one is white space."""
    first = parts[0][0]
    whole: Span | None = None
    for part, span in parts:
        if part.label != first.label:
            reason = f"id {part.identity!r} is used for two labels"
            raise TagError(reason, html, part.opening.start)
        if span is None:
            continue
        if whole and (span.start < whole.end or text[whole.end : span.start].strip()):
            reason = f"the parts with id {part.identity!r} do not adjoin"
            raise TagError(reason, html, part.opening.start)
        whole = Span(whole.start if whole else span.start, span.end, span.label)
    if whole is None or is_blank(text[whole.start : whole.end]):
        raise _nothing_to_read(html, first.opening)
    return whole
