"""Reads spans from HTML with inline fact tags: gold of our own, and raw gold of others."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from portal.facts.canonical import Canonical, canonical_text, canonicalise, clean_html
from portal.facts.edgar import open_envelope
from portal.facts.errors import RefusedHtml, TagError
from portal.facts.labels import require_labels
from portal.facts.markup import Kind, Token, tokens
from portal.facts.reduction import is_xhtml
from portal.facts.spans import Span, check_spans, is_blank

_ID = re.compile(r"""\sid\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+))""", re.IGNORECASE)
_VISIBLE = re.compile(r"\S(?:.*\S)?", re.DOTALL)
# Private-use characters of the last plane; a page is marked with one that it does not hold itself.
_MARKS = range(0x10FFFD, 0x10F000, -1)


@dataclass(frozen=True)
class TaggedPage:
    """A page without its fact tags, and the spans that they marked, in document order."""

    canonical: Canonical
    spans: list[Span]


class _Fact(NamedTuple):
    """A pair of tags, and two stretches of the HTML between them.

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


def read_tags(html: str, labels: Sequence[str]) -> TaggedPage:
    """The canonical page without fact tags, and its facts as spans.

    Tags are matched to `labels` without regard to case. Tags with the same `id` are parts of one
    fact; between them only white space may stand. Raises TagError, with the place, for tags that
    are nested, unpaired, empty, self-closed, or that cannot be located; RefusedHtml as
    `canonicalise` does; ValueError for unusable labels.

    >>> page = read_tags("<p>Net <number>(1,200)</number></p>", ["Number", "Date"])
    >>> page.canonical.html, page.spans
    ('<p>Net (1,200)</p>', [Span(start=4, end=11, label='Number')])
    """
    require_labels(labels)
    facts = _paired_tags(html, labels)
    canonical = canonicalise(_edited(html, _removals(facts)))
    if not facts:
        return TaggedPage(canonical, [])
    places = _places(html, facts, canonical, inward=False)
    if places is None:
        places = _places(html, facts, canonical, inward=True)
    if places is None:
        reason = "fact tags from here on change how the rest of the page is read"
        raise TagError(reason, html, facts[0].opening.start)
    spans = _joined(html, facts, places, canonical.text)
    if faults := check_spans(canonical.text, spans, labels):
        raise TagError(f"the facts collide: {faults[0].message}", html, facts[0].opening.start)
    return TaggedPage(canonical, sorted(spans))


def _paired_tags(html: str, labels: Sequence[str]) -> list[_Fact]:
    names = {label.lower(): label for label in labels}
    facts: list[_Fact] = []
    opening: Token | None = None
    texts: list[Token] = []
    for token in tokens(html, xml=is_xhtml(html)):
        if token.kind is Kind.TEXT and opening:
            texts.append(token)
        elif token.name not in names or token.kind not in (Kind.START, Kind.END):
            continue
        elif token.kind is Kind.START:
            _check_opening(html, token, opening)
            opening, texts = token, []
        else:
            opening = _matching(html, token, opening)
            facts.append(_fact(html, names[token.name], (opening, token), texts))
            opening = None
    if opening:
        raise TagError(f"<{opening.name}> is never closed", html, opening.start)
    return facts


def _check_opening(html: str, token: Token, opening: Token | None) -> None:
    if opening:
        raise TagError(f"<{token.name}> inside <{opening.name}>", html, token.start)
    if html.endswith("/>", token.start, token.end):
        raise TagError(f"<{token.name}/> is closed at once and holds nothing", html, token.start)


def _matching(html: str, closing: Token, opening: Token | None) -> Token:
    if opening is None:
        raise TagError(f"</{closing.name}> closes nothing", html, closing.start)
    if opening.name != closing.name:
        raise TagError(f"</{closing.name}> where </{opening.name}> is due", html, closing.start)
    return opening


def _fact(html: str, label: str, tags: tuple[Token, Token], texts: Sequence[Token]) -> _Fact:
    matches = (_VISIBLE.search(html, text.start, text.end) for text in texts)
    found = [(text, match) for text, match in zip(texts, matches, strict=True) if match]
    identity = _identity(html, tags[0])
    if found:
        nodes = found[0][0].start, found[-1][0].end
        visible = found[0][1].start(), found[-1][1].end()
        return _Fact(label, identity, *tags, nodes, visible)
    if not identity or not texts:
        raise _nothing_to_read(html, tags[0])
    return _Fact(label, identity, *tags, (texts[0].start, texts[-1].end), None)


def _nothing_to_read(html: str, opening: Token) -> TagError:
    return TagError(f"<{opening.name}> holds nothing to read", html, opening.start)


def _identity(html: str, opening: Token) -> str:
    match = _ID.search(html, opening.start, opening.end)
    return next((value for value in match.groups() if value), "") if match else ""


def _removals(facts: Sequence[_Fact]) -> Iterator[_Edit]:
    for fact in facts:
        yield _Edit(fact.opening.start, fact.opening.end, "")
        yield _Edit(fact.closing.start, fact.closing.end, "")


def _marks(facts: Sequence[_Fact], mark: str, *, inward: bool) -> Iterator[_Edit]:
    """Removes the tags and puts numbered marks at both ends of the text between them."""
    for number, fact in enumerate(facts):
        yield _Edit(fact.opening.start, fact.opening.end, "")
        if stretch := (fact.visible if inward else fact.nodes):
            for offset, place in enumerate(stretch):
                yield _Edit(place, place, f"{mark}{2 * number + offset}{mark}")
        yield _Edit(fact.closing.start, fact.closing.end, "")


def _edited(html: str, edits: Iterable[_Edit]) -> str:
    pieces: list[str] = []
    position = 0
    for edit in edits:
        pieces += [html[position : edit.start], edit.replacement]
        position = edit.end
    return "".join([*pieces, html[position:]])


def _places(
    html: str, facts: Sequence[_Fact], canonical: Canonical, *, inward: bool
) -> dict[int, int] | None:
    """Offsets in the canonical text by number of mark; None when marks would change the page.

    The page is cleaned once more with marks in it. A mark stands in a text node and beside its
    text, never at the tag, which a parser would move from between the cells of a table. Inward it
    stands beside a visible character: white space may be moved or dropped once it is marked.
    """
    mark = next((c for c in map(chr, _MARKS) if c not in html and c not in canonical.html), None)
    if mark is None:
        raise TagError("the page uses every private-use character", html, 0)
    edited = _edited(html, _marks(facts, mark, inward=inward))
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


def _joined(html: str, facts: Sequence[_Fact], places: dict[int, int], text: str) -> list[Span]:
    """One span for each fact; the fragments of one id become one span."""
    groups: dict[str, list[tuple[_Fact, Span | None]]] = {}
    for number, fact in enumerate(facts):
        start, end = places.get(2 * number), places.get(2 * number + 1)
        span = None
        if start is not None and end is not None:
            span = Span(start, end, fact.label)
        elif fact.visible:
            reason = f"<{fact.opening.name}> stands in content that a document does not keep"
            raise TagError(reason, html, fact.opening.start)
        groups.setdefault(fact.identity or f"\0{number}", []).append((fact, span))
    return [_span_of(html, parts, text) for parts in groups.values()]


def _span_of(html: str, parts: Sequence[tuple[_Fact, Span | None]], text: str) -> Span:
    """The span of one fact from those of its parts; a part without one is white space."""
    first = parts[0][0]
    whole: Span | None = None
    for fact, span in parts:
        if fact.label != first.label:
            reason = f"id {fact.identity!r} is used for two labels"
            raise TagError(reason, html, fact.opening.start)
        if span is None:
            continue
        if whole and (span.start < whole.end or text[whole.end : span.start].strip()):
            reason = f"the parts with id {fact.identity!r} do not adjoin"
            raise TagError(reason, html, fact.opening.start)
        whole = Span(whole.start if whole else span.start, span.end, span.label)
    if whole is None or is_blank(text[whole.start : whole.end]):
        raise _nothing_to_read(html, first.opening)
    return whole
