"""Reads spans from HTML with inline fact tags: gold of our own, and raw gold of others."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from portal.facts.canonical import Canonical
from portal.facts.errors import TagError
from portal.facts.labels import require_labels
from portal.facts.located_facts import TaggedPart, locate, tagged_part
from portal.facts.markup import Kind, Token, tokens
from portal.facts.reduction import is_xhtml
from portal.facts.spans import Span
from portal.facts.unknown_tags import unknown_tags, unknown_tags_reason

_ID = re.compile(r"""\sid\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+))""", re.IGNORECASE)


@dataclass(frozen=True)
class TaggedPage:
    """A page without its fact tags, and the spans that they marked, in document order."""

    canonical: Canonical
    spans: list[Span]


def read_tags(html: str, labels: Sequence[str], *, known: str = "") -> TaggedPage:
    """The canonical page without fact tags, and its facts as spans.

    Tags are matched to `labels` without regard to case. Tags with the same `id` are parts of one
    fact; between them only white space may stand. Raises TagError, with the place, for tags that
    are nested, unpaired, empty, self-closed, or that cannot be located, and for tags that are
    neither elements of HTML nor labels; RefusedHtml as `canonicalise` does; ValueError for unusable
    labels. `known` is canonical HTML: a page that is just that without its tags need not be cleaned
    to know so.

    >>> page = read_tags("<p>Net <number>(1,200)</number></p>", ["Number", "Date"])
    >>> page.canonical.html, page.spans
    ('<p>Net (1,200)</p>', [Span(start=4, end=11, label='Number')])
    """
    require_labels(labels)
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
            identity = _identity(html, opening)
            parts.append(tagged_part(html, names[token.name], identity, (opening, token), texts))
            opening = None
    if opening:
        raise TagError(f"<{opening.name}> is never closed", html, opening.start)
    return parts


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


def _identity(html: str, opening: Token) -> str:
    match = _ID.search(html, opening.start, opening.end)
    return next((value for value in match.groups() if value), "") if match else ""
