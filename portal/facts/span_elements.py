"""Facts as `<span>` elements that carry type, value and sign: FinCriticalED's form of a document.

    <span data-fact="k1" data-type="Number" data-value="-12" data-sign="parentheses">(12)</span>

A canonical document keeps no `data-` attributes, so these elements are never its own. The fragments
of one fact share `data-fact`, its key, and repeat the other attributes. White space at the edges of
a fact is counted in `data-before` and `data-after`: between table cells no element can hold it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape, unescape
from typing import NamedTuple

from portal.facts.canonical import Canonical, canonical_text
from portal.facts.errors import TagError
from portal.facts.fact_spans import FactSpan
from portal.facts.fragments import Fragment, enclose, fragments
from portal.facts.labels import check_labels, require_labels
from portal.facts.located_facts import TaggedPart, locate, tagged_part
from portal.facts.markup import Kind, Token, tokens
from portal.facts.reduction import is_xhtml
from portal.facts.spans import Span, check_spans, trim_span
from portal.facts.values import check_value, read_value

_ATTRIBUTE = re.compile(
    r"""([^ \t\r\n\f"'>/=]++)[ \t\r\n\f]*+"""
    r"""(?:=[ \t\r\n\f]*+(?:"([^"]*)"|'([^']*)'|([^ \t\r\n\f>"']++)))?"""
)
_WHITE = str.maketrans({"\t": "&#9;", "\n": "&#10;", "\r": "&#13;", "\f": "&#12;"})
_COUNT = re.compile("[0-9]{1,6}")


@dataclass(frozen=True)
class FactPage:
    """A page without its fact elements, and the facts that they marked, in document order."""

    canonical: Canonical
    spans: list[FactSpan]


class _Said(NamedTuple):
    """The attributes of a fact without their `data-`; None where one is missing."""

    fact: str = ""
    type: str = ""
    value: str | None = None
    sign: str | None = None
    before: str | None = None
    after: str | None = None


class _Opening(NamedTuple):
    """The start tag of a fact element, and what it says."""

    said: _Said
    token: Token


def write_span_elements(canonical_html: str, spans: Sequence[FactSpan]) -> str:
    """Canonical HTML with every fact inside an element as above, one in each text node it covers.

    Without the elements the result is `canonical_html`, character for character, and
    `read_span_elements` gives the same spans back. Raises ValueError when the spans fail
    `check_spans`, a label cannot be used, a quote is not at its place, or a key is empty or used
    twice.
    """
    ordered = sorted(spans, key=lambda span: span.start)
    if not ordered:
        return canonical_html
    labels = sorted({span.label for span in ordered})
    require_labels(labels)
    text = canonical_text(canonical_html)
    places = [span.span for span in ordered]
    if faults := check_spans(text, places, labels):
        raise ValueError("; ".join(fault.message for fault in faults))
    if moved := next((span for span in ordered if text[span.start : span.end] != span.quote), None):
        raise ValueError(f"the quote of span {moved.key!r} is not at [{moved.start}, {moved.end})")
    if len({span.key for span in ordered if span.key}) < len(ordered):
        raise ValueError("every span needs a key of its own")

    def tags(fragment: Fragment) -> tuple[str, str]:
        return f"<span{_attributes(ordered[fragment.span])}>", "</span>"

    return enclose(canonical_html, list(fragments(canonical_html, places)), tags)


def read_span_elements(html: str) -> FactPage:
    """The canonical page without fact elements, and the facts they mark.

    A fact with neither value nor sign gets those that its quote means. Raises TagError, with the
    place, for elements that are nested, unpaired, empty, without a type, that contradict each other
    or have a value that cannot be one; RefusedHtml as `canonicalise` does.
    """
    openings: dict[str, _Opening] = {}
    canonical, facts = locate(html, list(_parts(html, openings)))
    text = canonical.text
    spans = [_fact_span(html, text, fact.span, openings[fact.identity]) for fact in facts]
    places = [span.span for span in spans]
    if faults := check_spans(text, places, sorted({span.label for span in spans})):
        at = openings[spans[faults[0].index].key].token.start
        raise TagError(f"the facts collide: {faults[0].message}", html, at)
    return FactPage(canonical, spans)


def _attributes(span: FactSpan) -> str:
    quote = span.quote
    edges = len(quote) - len(quote.lstrip()), len(quote) - len(quote.rstrip())
    before, after = (str(width) if width else None for width in edges)
    said = _Said(span.key, span.label, span.value, span.sign, before, after)
    return "".join(
        f' data-{name}="{escape(value).translate(_WHITE)}"'
        for name, value in said._asdict().items()
        if value is not None
    )


def _parts(html: str, openings: dict[str, _Opening]) -> Iterator[TaggedPart]:
    """The fact elements; `openings` gets the first one of each key."""
    xml = is_xhtml(html)
    # Of a span of the page's own it only counts that it is open.
    stack: list[_Opening | None] = []
    texts: list[Token] = []
    for token in tokens(html, xml=xml):
        if token.kind is Kind.TEXT:
            texts.append(token)
        elif token.name == "span" and token.kind is Kind.START:
            is_closed = xml and html.endswith("/>", token.start, token.end)
            if opening := _opening(html, token):
                _check_opening(html, opening, is_closed=is_closed, is_nested=any(stack))
                _check_agreement(html, opening, openings)
                texts = []
            if not is_closed:
                stack.append(opening)
        elif token.name == "span" and token.kind is Kind.END and stack and (fact := stack.pop()):
            tags = fact.token, token
            yield tagged_part(html, fact.said.type, fact.said.fact, tags, texts)
    if fact := next(filter(None, stack), None):
        raise TagError("a fact's <span> is never closed", html, fact.token.start)


def _opening(html: str, token: Token) -> _Opening | None:
    """The start tag of a fact element; None for a span of the page's own."""
    said: dict[str, str] = {}
    for match in _ATTRIBUTE.finditer(html, token.start + len("<span"), token.end):
        name = match[1].lower().removeprefix("data-")
        if name in _Said._fields and name != match[1].lower():
            # Of an attribute given twice the first counts, as in browsers.
            said.setdefault(name, unescape(match[2] or match[3] or match[4] or ""))
    return _Opening(_Said(**said), token) if "fact" in said else None


def _check_opening(html: str, opening: _Opening, *, is_closed: bool, is_nested: bool) -> None:
    said = opening.said
    problem = None
    if is_nested:
        problem = "a fact's <span> inside another"
    elif is_closed:
        problem = "a fact's <span/> is closed at once and holds nothing"
    elif not said.fact:
        problem = "data-fact is empty: it holds the key of the fact"
    elif not said.type:
        problem = "a fact's <span> needs its label in data-type"
    elif problems := check_labels([said.type]):
        problem = problems[0]
    if problem:
        raise TagError(problem, html, opening.token.start)


def _check_agreement(html: str, opening: _Opening, openings: dict[str, _Opening]) -> None:
    first = openings.setdefault(opening.said.fact, opening)
    if first.said != opening.said:
        line = html.count("\n", 0, first.token.start) + 1
        reason = f"the parts of fact {opening.said.fact!r} differ: see its first on line {line}"
        raise TagError(reason, html, opening.token.start)


def _fact_span(html: str, text: str, span: Span, opening: _Opening) -> FactSpan:
    said, place = opening.said, opening.token.start
    start, end = _with_edges(html, text, span, opening)
    quote = text[start:end]
    value, sign = said.value, said.sign
    if value is None and sign is None:
        value, sign = read_value(quote, span.label)
    value, sign = value or "", sign or ""
    if problem := check_value(value, sign, span.label):
        raise TagError(f"fact {said.fact!r}: {problem}", html, place)
    return FactSpan(said.fact, span.label, start, end, quote, value, sign)


def _with_edges(html: str, text: str, span: Span, opening: _Opening) -> tuple[int, int]:
    """From the first to the last visible character, and the white space that is counted."""
    counts = opening.said.before or "0", opening.said.after or "0"
    if not all(_COUNT.fullmatch(count) for count in counts):
        reason = "data-before and data-after must be counts of characters"
        raise TagError(reason, html, opening.token.start)
    before, after = map(int, counts)
    visible = trim_span(text, span)
    start, end = visible.start - before, visible.end + after
    edges = text[max(start, 0) : visible.start] + text[visible.end : end]
    if len(edges) != before + after or edges.strip():
        reason = "data-before and data-after count white space that is not there"
        raise TagError(reason, html, opening.token.start)
    return start, end
