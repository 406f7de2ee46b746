"""Facts that a filer tagged by inline XBRL, located in the canonical text.

A document keeps the text of inline-XBRL elements and not the elements, so this reads the page as
it came. Numbers are `ix:nonFraction`; of `ix:nonNumeric` only what its format calls a date or a
duration. Elements in `ix:header` are hidden and left out. Source: Inline XBRL 1.1.
"""

import re
from collections.abc import Iterator
from html import unescape
from typing import Literal, NamedTuple

from portal.facts.canonical import Canonical
from portal.facts.edgar import open_envelope
from portal.facts.errors import TagError
from portal.facts.located_facts import TaggedPart, locate, tagged_part
from portal.facts.markup import Kind, Token, tokens
from portal.facts.reduction import is_xhtml, ixbrl_prefixes

_CONCEPT = re.compile(r"""\sname\s*=\s*["']([^"']*)["']""", re.IGNORECASE)
_TEMPORAL = re.compile(r"""\sformat\s*=\s*["'](?:[\w.-]+:)?(?:date|dur)""", re.IGNORECASE)
_ELEMENT = re.compile(r"<[\w.-]+:non(?:fraction|numeric)\b", re.IGNORECASE)
_DIGIT = re.compile(r"[0-9]")


class XbrlFact(NamedTuple):
    """`[start, end)` in code points of the canonical text, and what the filer called it.

    As it was tagged: a parenthesis or percent sign around it may stand outside.
    """

    start: int
    end: int
    kind: Literal["number", "date"]
    concept: str


class LocatedElement(NamedTuple):
    """A fact and the whole start tag of its element."""

    fact: XbrlFact
    opening: str


class _Tagged(NamedTuple):
    part: TaggedPart
    concept: str


def read_xbrl(html: str, canonical: Canonical) -> list[XbrlFact]:
    """The inline-XBRL facts of a page, in order; none overlaps another, of nested ones the outer
    stays. `canonical` is the page made canonical. Raises TagError when they cannot be located.

    >>> from portal.facts import canonicalise
    >>> page = '<p>Net <ix:nonFraction name="us-gaap:Revenues">1,200</ix:nonFraction></p>'
    >>> read_xbrl(page, canonicalise(page))
    [XbrlFact(start=4, end=9, kind='number', concept='us-gaap:Revenues')]
    """
    return [found.fact for found in locate_elements(html, canonical)]


def locate_elements(html: str, canonical: Canonical) -> list[LocatedElement]:
    """The elements of the facts that `read_xbrl` gives, in the same order, which raises the same
    errors.
    """
    if not _ELEMENT.search(html):
        return []
    content = open_envelope(html).content
    tagged = list(_tagged(content))
    if not tagged:
        return []
    located_in, facts = locate(content, [one.part for one in tagged])
    if located_in.html != canonical.html:
        raise TagError("inline XBRL from here on changes how the page is read", content, 0)
    found = []
    for fact in facts:
        part, concept = tagged[int(fact.identity)]
        kind: Literal["number", "date"] = "number" if fact.span.label == "number" else "date"
        opening = content[part.opening.start : part.opening.end]
        found.append(
            LocatedElement(XbrlFact(fact.span.start, fact.span.end, kind, concept), opening)
        )
    return found


def _tagged(html: str) -> Iterator[_Tagged]:
    """The outermost elements of numbers and dates that hold a digit, with their concepts."""
    prefixes = ixbrl_prefixes(html)
    names = {f"{prefix}:{name}" for prefix in prefixes for name in ("nonfraction", "nonnumeric")}
    headers = {f"{prefix}:header" for prefix in prefixes}
    hidden = count = 0
    inside: list[Token] = []
    texts: list[Token] = []
    for token in tokens(html, xml=is_xhtml(html)):
        is_tag = token.kind in (Kind.START, Kind.END)
        if is_tag and token.name in headers:
            hidden = max(0, hidden + (1 if token.kind is Kind.START else -1))
        elif token.kind is Kind.TEXT and inside:
            texts.append(token)
        elif not is_tag or hidden or token.name not in names:
            continue
        elif token.kind is Kind.START:
            if not inside and _kind(html, token) and not _is_closed(html, token):
                inside, texts = [token], []
            elif inside and token.name == inside[0].name and not _is_closed(html, token):
                inside.append(token)
        elif inside and token.name == inside[0].name:
            opening = inside.pop()
            if not inside and _DIGIT.search(
                "".join(unescape(html[t.start : t.end]) for t in texts)
            ):
                tags = opening, token
                yield _Tagged(
                    tagged_part(html, _kind(html, opening), str(count), tags, texts),
                    _concept(html, opening),
                )
                count += 1


def _kind(html: str, opening: Token) -> str:
    """`number` or `date`, or empty for an element that is neither."""
    if opening.name.endswith(":nonfraction"):
        return "number"
    return "date" if _TEMPORAL.search(html, opening.start, opening.end) else ""


def _is_closed(html: str, opening: Token) -> bool:
    return html.endswith("/>", opening.start, opening.end)


def _concept(html: str, opening: Token) -> str:
    match = _CONCEPT.search(html, opening.start, opening.end)
    return match[1] if match else ""
