"""The canonical form of a document: the one HTML and text that every offset refers to."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from html import unescape
from typing import NamedTuple

import lxml.html
import nh3

from portal.facts.attributes import keep_attribute
from portal.facts.edgar import open_envelope
from portal.facts.elements import KEPT_ATTRIBUTES, KEPT_ELEMENTS, VOID_ELEMENTS
from portal.facts.errors import RefusedHtml
from portal.facts.hidden import drop_hidden
from portal.facts.markup import Kind, Token, tokens
from portal.facts.nesting import check_nesting, is_surely_small
from portal.facts.reduction import is_xhtml, reduce_markup
from portal.facts.spans import is_blank

# Browsers flatten what is nested deeper than 512, lxml by default cuts it off at 256.
MAX_DEPTH = 240
MAX_CHARS = 64_000_000
# Rounds of cleaning; two are the rule, the second to see that nothing changes any more.
MAX_ROUNDS = 10

_CLEANER = nh3.Cleaner(
    tags=set(KEPT_ELEMENTS),
    clean_content_tags=set(),
    attributes={name: set(kept) for name, kept in KEPT_ATTRIBUTES.items()},
    attribute_filter=keep_attribute,
    link_rel=None,
    url_schemes={"data"},
)

_LINE_END = re.compile(r"\r\n?|\f")
# Never text: controls, noncharacters, and halves of a surrogate pair.
_NEVER_TEXT = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff]")
_AFTER_PRE = re.compile(r"(<pre(?: [^>]*)?>)\n+")
_SPACE = " \t\n"
_BLANK_LINES = re.compile(r"\A(?:[ \t]*\n)+")
_START_TAG = re.compile(r"<[a-z]")
# A page with fewer elements than one in so many lines of columns was written as plain text.
_LINES_FOR_ONE_ELEMENT = 20
_COLUMNS = re.compile(r"^ {4,}\S|\S {3,}\S", re.MULTILINE)


@dataclass(frozen=True)
class Canonical:
    """A document made canonical; the hashes are of the UTF-8 bytes, in lower-case hexadecimal.

    `notes` has a sentence for each part of the file that is not in the document, such as the
    exhibits of a submission; documents that differ in nothing else are equal.
    """

    html: str
    text: str
    text_sha256: str
    html_sha256: str
    notes: tuple[str, ...] = field(default=(), compare=False)


def canonicalise(html: str) -> Canonical:
    """Makes HTML, or a plain-text filing, canonical.

    Keeps structure, tables and inline style of the body's content; drops scripts, comments, event
    handlers, links, forms and inline-XBRL wrappers (their text stays, hidden headers go), and
    elements whose text the page hides. The result does not change when it is made canonical again.
    Raises RefusedHtml: see its codes.
    """
    envelope = open_envelope(html)
    settled = _settled(envelope.content)
    clean, found = settled.html, settled.found
    text = _text(clean, found)
    if is_blank(text):
        raise RefusedHtml("no text is left after cleaning", "empty")
    _check_depth(found)
    if text != _text_by_lxml(clean):
        raise RefusedHtml("two parsers read different text from the cleaned page", "unstable")
    notes = (*envelope.notes, *_hidden_note(settled))
    return Canonical(clean, text, _hash(text), _hash(clean), notes)


def as_canonical(html: str) -> Canonical:
    """The document of HTML that is canonical already, without cleaning it once more."""
    text = canonical_text(html)
    return Canonical(html, text, _hash(text), _hash(html))


def clean_html(html: str) -> str:
    """The cleaning alone, run until nothing changes."""
    return _settled(html).html


class _Settled(NamedTuple):
    """The cleaned HTML with its tokens, and how many hidden elements and characters it lost."""

    html: str
    found: Sequence[Token]
    elements: int
    characters: int


def _settled(html: str) -> _Settled:
    if len(html) > MAX_CHARS:
        raise RefusedHtml(f"{len(html):,} characters are more than {MAX_CHARS:,}", "too_large")
    reduced = reduce_markup(_plain_characters(html))
    if not is_surely_small(reduced):
        check_nesting(reduced, tokens(reduced))
    cleaned = _clean_once(reduced)
    elements = characters = 0
    for _ in range(MAX_ROUNDS):
        plain = _plain_characters(cleaned)
        found = list(tokens(plain, xml=(xml := is_xhtml(plain))))
        shown = drop_hidden(plain, found)
        if shown.elements:
            elements, characters = elements + shown.elements, characters + shown.characters
            cleaned = _clean_once(reduce_markup(shown.html))
            continue
        again = _clean_once(reduce_markup(plain, found))
        if again == cleaned:
            found = found if plain == cleaned and not xml else list(tokens(cleaned))
            return _Settled(cleaned, found, elements, characters)
        cleaned = again
    raise RefusedHtml(f"cleaning does not settle within {MAX_ROUNDS} rounds", "unstable")


def _hidden_note(settled: _Settled) -> Iterator[str]:
    if settled.elements:
        elements = "element" if settled.elements == 1 else "elements"
        characters = "character" if settled.characters == 1 else "characters"
        yield (
            f"left out {settled.elements:,} {elements} that the page hides, with "
            f"{settled.characters:,} {characters} of text"
        )


def canonical_text(canonical_html: str) -> str:
    """All text nodes of canonical HTML in document order, as lxml and browsers read `html_page`."""
    return _text(canonical_html, tokens(canonical_html))


def html_page(canonical_html: str) -> str:
    """The page that shows a document: the body holds the canonical HTML and nothing else."""
    head = '<head><meta charset="utf-8"></head>'
    return f"<!DOCTYPE html><html>{head}<body>{canonical_html}</body></html>"


def _text(html: str, found: Iterable[Token]) -> str:
    return "".join(
        unescape(html[token.start : token.end]) for token in found if token.kind is Kind.TEXT
    )


def _plain_characters(html: str) -> str:
    return _NEVER_TEXT.sub("", _LINE_END.sub("\n", html.removeprefix("\ufeff")))


def _clean_once(reduced: str) -> str:
    cleaned = _AFTER_PRE.sub(r"\1", _CLEANER.clean(reduced)).rstrip(_SPACE)
    if _is_plain_text(cleaned):
        return f"<pre>{_BLANK_LINES.sub('', cleaned)}</pre>"
    return cleaned.lstrip(_SPACE)


def _is_plain_text(cleaned: str) -> bool:
    """Whether lines and columns are made by white space, so that they need a <pre> to survive."""
    elements = len(_START_TAG.findall(cleaned))
    if not elements:
        return "\n" in cleaned
    if "<pre" in cleaned:
        return False
    few = _LINES_FOR_ONE_ELEMENT * elements
    return few <= cleaned.count("\n") and few <= len(_COLUMNS.findall(cleaned))


def _check_depth(found: Iterable[Token]) -> None:
    depth = 0
    for token in found:
        if token.kind is Kind.START and token.name not in VOID_ELEMENTS:
            depth += 1
            if depth > MAX_DEPTH:
                raise RefusedHtml(f"elements are nested deeper than {MAX_DEPTH}", "too_deep")
        elif token.kind is Kind.END:
            depth -= 1


def _text_by_lxml(html: str) -> str:
    parser = lxml.html.HTMLParser(encoding="utf-8", huge_tree=True)
    root = lxml.html.document_fromstring(html_page(html).encode(), parser=parser)
    return str(root.xpath("string(body)"))


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()
