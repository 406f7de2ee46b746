"""The canonical form of a document: the HTML and text that all offsets refer to.

HTML that would exhaust a tree builder is rejected before a tree is built.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from html import unescape
from typing import NamedTuple

import lxml.html
import nh3

from .cleaning import drop_hidden, keep_attribute, reduce_markup
from .file_reading import open_envelope
from .markup import (
    FORMATTING_ELEMENTS,
    KEPT_ATTRIBUTES,
    KEPT_ELEMENTS,
    PHRASING_ELEMENTS,
    TABLE_PARTS,
    VOID_ELEMENTS,
    Kind,
    RefusedHtml,
    Token,
    tokens,
)
from .spans import is_blank
from .xhtml import is_xhtml

# Far above what MAX_DEPTH of a finished document allows: this count is an estimate.
MAX_OPEN = 1_000
# Limit of elements added by the parser; real filings have at most a few thousand.
MAX_REOPENED = 300_000

_INLINE = FORMATTING_ELEMENTS | PHRASING_ELEMENTS
CELLS = frozenset({"td", "th", "caption"})
SCOPES = CELLS | {"table"}

_FORMATTING_START = re.compile(rf"<(?:{'|'.join(sorted(FORMATTING_ELEMENTS))})", re.IGNORECASE)

# Elements that an opening tag closes first, if they are open above the nearest of the second set.
_TABLE = frozenset({"table"})
_CLOSES: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "li": (frozenset({"li"}), SCOPES | {"ul", "ol"}),
    "dt": (frozenset({"dt", "dd"}), SCOPES | {"dl"}),
    "dd": (frozenset({"dt", "dd"}), SCOPES | {"dl"}),
    "td": (CELLS, _TABLE),
    "th": (CELLS, _TABLE),
    "tr": (frozenset({"tr", "caption", "colgroup"}), _TABLE),
    **{
        name: (frozenset({"thead", "tbody", "tfoot", "caption", "colgroup"}), _TABLE)
        for name in ("thead", "tbody", "tfoot", "caption", "colgroup")
    },
}
_PARAGRAPH = (frozenset({"p"}), SCOPES)


@dataclass(slots=True, eq=False)
class _Element:
    name: str
    source: str
    open: bool = True


class _Nesting:
    """The parser's stack of open elements, and per table cell its active formatting elements."""

    def __init__(self) -> None:
        self.stack: list[_Element] = []
        self.formatting: list[list[_Element]] = [[]]
        self.counts: dict[str, int] = {}
        self.reopened = 0

    def text(self) -> None:
        """Reopen the formatting elements that were closed with a block."""
        active = self.formatting[-1]
        first = len(active)
        while first and not active[first - 1].open:
            first -= 1
        for element in active[first:]:
            element.open = True
            self._push(element)
        self.reopened += len(active) - first

    def start(self, name: str, source: str) -> None:
        if name in _INLINE:
            self.text()
        elif name in TABLE_PARTS:
            if not self.counts.get("table"):
                return
        else:
            self._close(*_PARAGRAPH)
        if name in _CLOSES:
            self._close(*_CLOSES[name])
        if name in VOID_ELEMENTS:
            return
        element = _Element(name, source)
        self._push(element)
        if name in FORMATTING_ELEMENTS:
            self._remember(element)
        elif name in CELLS:
            self.formatting.append([])

    def end(self, name: str) -> None:
        if name in FORMATTING_ELEMENTS:
            self._end_formatting(name)
        elif self.counts.get(name):
            self._close(frozenset({name}), _TABLE if name in TABLE_PARTS | _TABLE else SCOPES)

    def _remember(self, element: _Element) -> None:
        """Keep at most three equal entries, as the parser does."""
        active = self.formatting[-1]
        equal = [entry for entry in active if entry.source == element.source]
        if len(equal) == 3:
            active.remove(equal[0])
        active.append(element)

    def _end_formatting(self, name: str) -> None:
        active = self.formatting[-1]
        entry = next((entry for entry in reversed(active) if entry.name == name), None)
        if entry is None:
            return
        active.remove(entry)
        if entry.open:
            self.stack.remove(entry)
            self.counts[name] -= 1

    def _push(self, element: _Element) -> None:
        self.stack.append(element)
        self.counts[element.name] = self.counts.get(element.name, 0) + 1

    def _close(self, names: frozenset[str], stops: frozenset[str]) -> None:
        """Close the nearest open element of `names` and all above it, unless a stop is nearer."""
        if not any(self.counts.get(name) for name in names):
            return
        for index in range(len(self.stack) - 1, -1, -1):
            name = self.stack[index].name
            if name in names:
                break
            if name in stops:
                return
        for element in self.stack[index:]:
            element.open = False
            self.counts[element.name] -= 1
            if element.name in CELLS:
                self.formatting.pop()
        del self.stack[index:]


def is_surely_small(html: str) -> bool:
    """Whether there are too few tags to make a tree too deep or too large, in any order.

    No more elements can be open than were started, and each text or tag reopens each started
    formatting element at most once.
    """
    tags = html.count("<")
    if tags > MAX_OPEN:
        return False
    return (2 * tags + 1) * len(_FORMATTING_START.findall(html)) <= MAX_REOPENED


def check_nesting(html: str, page_tokens: Iterable[Token]) -> None:
    """Raises RefusedHtml if the tree of these tokens of `html` would be too deep or too large."""
    nesting = _Nesting()
    for token in page_tokens:
        if token.kind is Kind.TEXT:
            nesting.text()
        elif token.kind is Kind.START:
            nesting.start(token.name, html[token.start : token.end])
        elif token.kind is Kind.END:
            nesting.end(token.name)
        if len(nesting.stack) > MAX_OPEN:
            line = html.count("\n", 0, token.start) + 1
            raise RefusedHtml(
                f"elements are nested deeper than {MAX_OPEN} on line {line}", "too_deep"
            )
        if nesting.reopened > MAX_REOPENED:
            reason = f"unclosed formatting tags would add more than {MAX_REOPENED:,} elements"
            raise RefusedHtml(reason, "too_many")


# Browsers flatten elements nested deeper than 512; lxml by default cuts them off at 256.
MAX_DEPTH = 240
MAX_CHARS = 64_000_000
# Rounds of cleaning; usually two, of which the second changes nothing.
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
# A page with fewer than one element per this many lines of columns is plain text.
_LINES_FOR_ONE_ELEMENT = 20
_COLUMNS = re.compile(r"^ {4,}\S|\S {3,}\S", re.MULTILINE)


@dataclass(frozen=True)
class Canonical:
    """A canonical document; the hashes are of the UTF-8 bytes, in lower-case hexadecimal.

    `notes` has a sentence for each part of the file that was left out, such as the exhibits of a
    submission; it is ignored in comparisons.
    """

    html: str
    text: str
    text_sha256: str
    html_sha256: str
    notes: tuple[str, ...] = field(default=(), compare=False)


def canonicalise(html: str) -> Canonical:
    """Convert HTML, or a plain-text filing, to its canonical form.

    Keeps structure, tables and inline style of the body's content. Drops scripts, comments, event
    handlers, hidden elements, and the tags of links, forms and inline XBRL (their text is kept,
    except hidden headers). Idempotent. Raises RefusedHtml: see its codes.
    """
    envelope = open_envelope(html)
    settled = _settled(envelope.content)
    clean, page_tokens = settled.html, settled.page_tokens
    text = _text(clean, page_tokens)
    if is_blank(text):
        raise RefusedHtml("no text is left after cleaning", "empty")
    _check_depth(page_tokens)
    if text != _text_by_lxml(clean):
        raise RefusedHtml("two parsers read different text from the cleaned page", "unstable")
    notes = (*envelope.notes, *_hidden_note(settled))
    return Canonical(clean, text, _hash(text), _hash(clean), notes)


def as_canonical(html: str) -> Canonical:
    """Return the document of HTML that is already canonical, without cleaning it again."""
    text = canonical_text(html)
    return Canonical(html, text, _hash(text), _hash(html))


def clean_html(html: str) -> str:
    """Clean the HTML until nothing changes."""
    return _settled(html).html


class _Settled(NamedTuple):
    """The cleaned HTML with its tokens, and how many hidden elements and characters it lost."""

    html: str
    page_tokens: Sequence[Token]
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
        page_tokens = list(tokens(plain, xml=(xml := is_xhtml(plain))))
        shown = drop_hidden(plain, page_tokens)
        if shown.elements:
            elements, characters = elements + shown.elements, characters + shown.characters
            cleaned = _clean_once(reduce_markup(shown.html))
            continue
        again = _clean_once(reduce_markup(plain, page_tokens))
        if again == cleaned:
            page_tokens = page_tokens if plain == cleaned and not xml else list(tokens(cleaned))
            return _Settled(cleaned, page_tokens, elements, characters)
        cleaned = again
    raise RefusedHtml(f"the page could not be cleaned within {MAX_ROUNDS} rounds", "unstable")


def _hidden_note(settled: _Settled) -> Iterator[str]:
    if settled.elements:
        elements = "element" if settled.elements == 1 else "elements"
        characters = "character" if settled.characters == 1 else "characters"
        yield (
            f"removed {settled.elements:,} hidden {elements} with "
            f"{settled.characters:,} {characters} of text"
        )


def canonical_text(canonical_html: str) -> str:
    """All text nodes of canonical HTML in document order, as lxml and browsers read `html_page`."""
    return _text(canonical_html, tokens(canonical_html))


def html_page(canonical_html: str) -> str:
    """The page that shows a document: the body holds the canonical HTML and nothing else."""
    head = '<head><meta charset="utf-8"></head>'
    return f"<!DOCTYPE html><html>{head}<body>{canonical_html}</body></html>"


def _text(html: str, page_tokens: Iterable[Token]) -> str:
    return "".join(
        unescape(html[token.start : token.end]) for token in page_tokens if token.kind is Kind.TEXT
    )


def _plain_characters(html: str) -> str:
    return _NEVER_TEXT.sub("", _LINE_END.sub("\n", html.removeprefix("\ufeff")))


def _clean_once(reduced: str) -> str:
    cleaned = _AFTER_PRE.sub(r"\1", _CLEANER.clean(reduced)).rstrip(_SPACE)
    if _is_plain_text(cleaned):
        return f"<pre>{_BLANK_LINES.sub('', cleaned)}</pre>"
    return cleaned.lstrip(_SPACE)


def _is_plain_text(cleaned: str) -> bool:
    """Whether white space makes the lines and columns, so that a <pre> is needed."""
    elements = len(_START_TAG.findall(cleaned))
    if not elements:
        return "\n" in cleaned
    if "<pre" in cleaned:
        return False
    few = _LINES_FOR_ONE_ELEMENT * elements
    return few <= cleaned.count("\n") and few <= len(_COLUMNS.findall(cleaned))


def _check_depth(page_tokens: Iterable[Token]) -> None:
    depth = 0
    for token in page_tokens:
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
