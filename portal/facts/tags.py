"""Reads and writes facts marked by inline tags in HTML, such as `<Number>`.

A tag that is neither an HTML element nor a label is rejected: cleaning would silently drop it, and
with it the facts marked by a mistyped tag.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .canonical import Canonical, as_canonical, canonical_text, canonicalise, clean_html
from .file_reading import open_envelope
from .markup import EDGAR_ELEMENTS, ELEMENT_NAMES, Kind, RefusedHtml, TagError, Token, tokens
from .page_text import Fragment, enclose, fragments
from .spans import Span, check_spans, is_blank, require_labels
from .xhtml import as_html, is_xhtml

_VISIBLE = re.compile(r"\S(?:.*\S)?", re.DOTALL)
# Private-use characters of the last plane; pages are marked with one that they do not contain.
_MARKS = range(0x10FFFD, 0x10F000, -1)


class TaggedPart(NamedTuple):
    """One pair of tags of a fact, and the ranges of its text nodes with visible text.

    `visible` are the same ranges without the white space at their edges, so it is empty for a part
    without visible text, whose `nodes` are all of white space.
    """

    label: str
    identity: str
    opening: Token
    closing: Token
    nodes: tuple[tuple[int, int], ...]
    visible: tuple[tuple[int, int], ...]


class _Edit(NamedTuple):
    """A range of the HTML and its replacement."""

    start: int
    end: int
    replacement: str


class LocatedFact(NamedTuple):
    """The span of a fact, and the identity shared by its parts."""

    span: Span
    identity: str


def tagged_part(
    html: str, label: str, identity: str, tags: tuple[Token, Token], texts: Sequence[Token]
) -> TaggedPart:
    """The part between two tags with the text nodes `texts`.

    Raises TagError if a part has no visible text, unless the fact has an `identity`.
    """
    matches = (_VISIBLE.search(html, text.start, text.end) for text in texts)
    visible_texts = [(text, match) for text, match in zip(texts, matches, strict=True) if match]
    if not visible_texts and (not identity or not texts):
        raise _nothing_to_read(html, tags[0])
    marked = [text for text, _ in visible_texts] or texts
    nodes = tuple((text.start, text.end) for text in marked)
    return TaggedPart(label, identity, *tags, nodes, tuple(m.span() for _, m in visible_texts))


def locate(
    html: str, parts: Sequence[TaggedPart], *, known: str = "", only_shown: bool = False
) -> tuple[Canonical, list[LocatedFact]]:
    """Return the canonical page without the tags of `parts`, and their facts in document order.

    Parts with the same identity are one fact, and may be separated only by white space. Raises
    TagError, with the place, for facts that overlap or cannot be located, and RefusedHtml as
    `canonicalise` does. `known` is HTML known to be canonical. With `only_shown`, facts in text
    that a document does not keep are left out; otherwise they are errors.
    """
    bare = _edited(html, _removals(parts))
    canonical = as_canonical(bare) if known and bare == known else canonicalise(bare)
    if not parts:
        return canonical, []
    places = _places(html, parts, canonical, inward=False)
    if places is None:
        places = _places(html, parts, canonical, inward=True)
    if places is None:
        reason = "from here on, the fact tags would change how the rest of the page is read"
        raise TagError(reason, html, parts[0].opening.start)
    facts = _joined(html, parts, places, canonical.text, only_shown=only_shown)
    labels = sorted({part.label for part in parts})
    if faults := check_spans(canonical.text, [fact.span for fact in facts], labels):
        raise TagError(f"the facts conflict: {faults[0].message}", html, parts[0].opening.start)
    return canonical, sorted(facts)


def _nothing_to_read(html: str, opening: Token) -> TagError:
    return TagError(f"<{opening.name}> contains no visible text", html, opening.start)


def _removals(parts: Sequence[TaggedPart]) -> Iterator[_Edit]:
    for part in parts:
        yield _Edit(part.opening.start, part.opening.end, "")
        yield _Edit(part.closing.start, part.closing.end, "")


def _marks(parts: Sequence[TaggedPart], mark: str, *, inward: bool) -> Iterator[_Edit]:
    """Replace the tags by numbered marks at both ends of each text node between them."""
    for number, part in enumerate(parts):
        yield _Edit(part.opening.start, part.opening.end, "")
        for node in part.visible if inward else part.nodes:
            for place in node:
                yield _Edit(place, place, f"{mark}{number}{mark}")
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
) -> dict[int, tuple[int, int]] | None:
    """Return ranges of the canonical text by part; None if marks would change the page.

    A range includes all text nodes that the page keeps; a part without any has no range.

    The page is cleaned again with the marks. Marks are placed in text nodes, next to visible
    characters, because parsers may move text and white space between table cells.
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
    places: dict[int, tuple[int, int]] = {}
    width = 0
    for match in numbered.finditer(canonical_text(marked)):
        part, place = int(match[1]), match.start() - width
        places[part] = places.get(part, (place, place))[0], place
        width += len(match[0])
    return places


def _joined(
    html: str,
    parts: Sequence[TaggedPart],
    places: dict[int, tuple[int, int]],
    text: str,
    *,
    only_shown: bool,
) -> list[LocatedFact]:
    """One fact for each identity, and for each part without one."""
    groups: dict[str, list[tuple[TaggedPart, Span | None]]] = {}
    for number, part in enumerate(parts):
        span = Span(*places[number], part.label) if number in places else None
        if span is None and only_shown:
            continue
        if span is None and part.visible:
            reason = f"<{part.opening.name}> is in content that a document does not keep"
            raise TagError(reason, html, part.opening.start)
        groups.setdefault(part.identity or f"\0{number}", []).append((part, span))
    return [
        LocatedFact(_span_of(html, group, text), group[0][0].identity) for group in groups.values()
    ]


def _span_of(html: str, parts: Sequence[tuple[TaggedPart, Span | None]], text: str) -> Span:
    """Combine the spans of a fact's parts; parts without a span are white space."""
    first = parts[0][0]
    whole: Span | None = None
    for part, span in parts:
        if part.label != first.label:
            reason = f"id {part.identity!r} is used for two labels"
            raise TagError(reason, html, part.opening.start)
        if span is None:
            continue
        if whole and (span.start < whole.end or text[whole.end : span.start].strip()):
            reason = f"the parts with id {part.identity!r} are not adjacent"
            raise TagError(reason, html, part.opening.start)
        whole = Span(whole.start if whole else span.start, span.end, span.label)
    if whole is None or is_blank(text[whole.start : whole.end]):
        raise _nothing_to_read(html, first.opening)
    return whole


# Only what could be a label: inline XBRL and other vocabularies have a colon in their names.
_NAMES = re.compile(r"<([A-Za-z][A-Za-z0-9_-]*)(?=[\s/>])")
# Drawings and formulas have elements of their own.
_FOREIGN = frozenset({"svg", "math"})
_MOST_NAMED = 5


class UnknownTag(NamedTuple):
    """The first spelling of a tag, the number of its start tags, and its first place."""

    name: str
    times: int
    start: int


def unknown_tags(html: str, known: Collection[str]) -> list[UnknownTag]:
    """Return the tags that are neither elements nor labels in `known`, ignoring case.

    >>> unknown_tags("<p><Number>1</Number> <Currency>$</Currency></p>", ["Number"])
    [UnknownTag(name='Currency', times=1, start=22)]
    """
    labels = {label.lower() for label in known}
    names = {name.lower() for name in set(_NAMES.findall(html))}
    suspects = names - labels - ELEMENT_NAMES - EDGAR_ELEMENTS
    if not suspects:
        return []
    by_name: dict[str, UnknownTag] = {}
    inside = 0
    for token in tokens(html, xml=is_xhtml(html)):
        if token.name in _FOREIGN and token.kind in (Kind.START, Kind.END):
            inside = max(0, inside + (1 if token.kind is Kind.START else -1))
        elif token.kind is Kind.START and token.name in suspects and not inside:
            spelled = html[token.start + 1 : token.start + 1 + len(token.name)]
            first = by_name.get(token.name, UnknownTag(spelled, 0, token.start))
            by_name[token.name] = first._replace(times=first.times + 1)
    return list(by_name.values())


def unknown_tags_reason(unknown: Collection[UnknownTag], labels: Collection[str]) -> str:
    """The error as a sentence."""
    named = [
        f"<{tag.name}> {'once' if tag.times == 1 else f'{tag.times:,} times'}"
        for tag in list(unknown)[:_MOST_NAMED]
    ]
    more = len(unknown) - _MOST_NAMED
    listed = ", ".join([*named, *([f"and {more:,} more"] if more > 0 else [])])
    return (
        f"{listed}: neither an HTML element nor one of the labels {', '.join(labels)}; correct"
        " or remove the tags"
    )


_ID = re.compile(r"""\sid\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+))""", re.IGNORECASE)


@dataclass(frozen=True)
class TaggedPage:
    """A page without fact tags, and their spans in document order."""

    canonical: Canonical
    spans: list[Span]


def read_tags(html: str, labels: Sequence[str], *, known: str = "") -> TaggedPage:
    """Return the canonical page without fact tags, and its facts as spans.

    Tags match `labels` in any case. Tags with the same `id` are parts of one fact, and may be
    separated only by white space. Raises TagError, with the place, for tags that are nested,
    unpaired, empty, self-closed, or cannot be located, and for tags that are neither HTML elements
    nor labels; RefusedHtml as `canonicalise` does; ValueError for unusable labels. If the page
    without tags equals `known`, which is canonical HTML, it is not cleaned.

    >>> page = read_tags("<p>Net <number>(1,200)</number></p>", ["Number", "Date"])
    >>> page.canonical.html, page.spans
    ('<p>Net (1,200)</p>', [Span(start=4, end=11, label='Number')])
    """
    require_labels(labels)
    html = as_html(html)
    if unknown := unknown_tags(html, labels):
        raise TagError(unknown_tags_reason(unknown, labels), html, unknown[0].start)
    canonical, facts = locate(html, _paired_tags(html, labels), known=known)
    return TaggedPage(canonical, [fact.span for fact in facts])


def _paired_tags(html: str, labels: Sequence[str]) -> list[TaggedPart]:
    names = {label.lower(): label for label in labels}
    parts: list[TaggedPart] = []
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
            identity = identity_of(html, opening)
            parts.append(tagged_part(html, names[token.name], identity, (opening, token), texts))
            opening = None
    if opening:
        raise TagError(f"<{opening.name}> is never closed", html, opening.start)
    return parts


def _check_opening(html: str, token: Token, opening: Token | None) -> None:
    if opening:
        raise TagError(f"<{token.name}> inside <{opening.name}>", html, token.start)
    if html.endswith("/>", token.start, token.end):
        raise TagError(f"<{token.name}/> is self-closing and contains no text", html, token.start)


def _matching(html: str, closing: Token, opening: Token | None) -> Token:
    if opening is None:
        raise TagError(f"</{closing.name}> has no opening tag", html, closing.start)
    if opening.name != closing.name:
        reason = f"</{closing.name}> where </{opening.name}> is expected"
        raise TagError(reason, html, closing.start)
    return opening


def identity_of(html: str, opening: Token) -> str:
    """Return the `id` of a fact tag, or an empty string."""
    match = _ID.search(html, opening.start, opening.end)
    return next((value for value in match.groups() if value), "") if match else ""


def write_tags(canonical_html: str, spans: Sequence[Span]) -> str:
    """Wrap every span of canonical HTML in a tag named by its label: `<Number>1,200</Number>`.

    A span over several text nodes gets one tag in each, all with the same `id`, except white-space
    nodes in its middle or between table cells. Removing the tags restores `canonical_html` exactly.
    `read_tags` returns the same spans, except that edges in white space between table cells move
    to the nearest text. Raises ValueError if the spans fail `check_spans` or a label is unusable.
    """
    ordered = sorted(spans)
    labels = sorted({span.label for span in ordered})
    if not ordered:
        return canonical_html
    require_labels(labels)
    if faults := check_spans(canonical_text(canonical_html), ordered, labels):
        raise ValueError("; ".join(fault.message for fault in faults))
    pieces = list(fragments(canonical_html, ordered))
    counts = Counter(fragment.span for fragment in pieces)

    def tags(fragment: Fragment) -> tuple[str, str]:
        label = ordered[fragment.span].label
        identity = f' id="f{fragment.span}"' if counts[fragment.span] > 1 else ""
        return f"<{label}{identity}>", f"</{label}>"

    return enclose(canonical_html, pieces, tags)
