"""Splits an EDGAR filing into pages.

A page ends at a CSS break (`page-break-before`, `page-break-after` and their newer names), at a
`<PAGE>` mark or form feed of a text filing, at a comment `PAGE BREAK`, and at a `<hr>` under a
page number. A page longer than LONGEST is cut at the last border of a block, else of a row, else
of a line. The tags are read in one pass, without a tree.

`OpenElements` tracks the open elements, so that the next page can open them again. It simplifies
an HTML parser's rules for omitted and crossing tags: an error can cost a page its style, never
its text.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from portal.facts.cleaning import ixbrl_prefixes
from portal.facts.markup import (
    DROPPED_RAW,
    FORMATTING_ELEMENTS,
    KEPT_ELEMENTS,
    PHRASING_ELEMENTS,
    TABLE_PARTS,
    VOID_ELEMENTS,
    Kind,
    Token,
    tokens,
)
from portal.facts.xhtml import is_xhtml

# Deeper elements are not tracked; documents must not be nested so deep anyway.
_DEEPEST = 250
# Their end tags are often omitted, and the next page does not need them.
_UNTRACKED = frozenset({"li", "dt", "dd", "col", "colgroup"})
_TRACKED = KEPT_ELEMENTS - VOID_ELEMENTS - _UNTRACKED
_INLINE = FORMATTING_ELEMENTS | PHRASING_ELEMENTS
_CELLS = frozenset({"td", "th", "caption"})
_SCOPES = _CELLS | {"table"}
_RANKS = {"caption": 3, "thead": 1, "tbody": 1, "tfoot": 1, "tr": 2, "td": 3, "th": 3}


@dataclass(frozen=True, slots=True)
class OpenElement:
    """An element with its start tag `[start, end)` and its parent."""

    name: str
    start: int
    end: int
    breaks_after: bool
    parent: "OpenElement | None"


class OpenElements:
    """The open elements as an immutable chain from the innermost, so a place is cheap to keep."""

    def __init__(self) -> None:
        self.innermost: OpenElement | None = None
        self._counts: Counter[str] = Counter()
        self._depth = 0

    @property
    def in_table(self) -> bool:
        return self._counts["table"] > 0

    def open(self, token: Token, *, breaks_after: bool) -> bool:
        """Handles a start tag; returns False if the element is not tracked."""
        if token.name not in _TRACKED or self._depth >= _DEEPEST:
            return False
        self._push(token.name, token.start, token.end, breaks_after)
        return True

    def close(self, name: str) -> list[OpenElement]:
        """The elements that an end tag closes. A crossing formatting tag closes only itself."""
        if not self._counts[name]:
            return []
        if name in FORMATTING_ELEMENTS:
            return self._close_crossing(name)
        return self._close_to(name, frozenset({"table"}) if name in TABLE_PARTS else _SCOPES)

    def close_implied(self, name: str) -> list[OpenElement]:
        """The elements that a start tag closes first: a paragraph, a cell or a row."""
        if name in _RANKS:
            return self._close_cells(_RANKS[name])
        if name in KEPT_ELEMENTS and name not in _INLINE and self._counts["p"]:
            return self._close_to("p", _SCOPES)
        return []

    def _close_to(self, name: str, stops: frozenset[str]) -> list[OpenElement]:
        """Closes the nearest `name` and everything inside it, unless one of `stops` is nearer."""
        element = self.innermost
        while element is not None and element.name != name:
            if element.name in stops:
                return []
            element = element.parent
        closed = []
        while element is not None:
            last = self._pop()
            closed.append(last)
            if last is element:
                break
        return closed

    def _close_crossing(self, name: str) -> list[OpenElement]:
        crossed = []
        while self.innermost is not None and self.innermost.name not in _SCOPES:
            last = self._pop()
            if last.name == name:
                break
            crossed.append(last)
        else:
            last = None
        for element in reversed(crossed):
            self._push(element.name, element.start, element.end, element.breaks_after)
        return [last] if last else []

    def _close_cells(self, rank: int) -> list[OpenElement]:
        """Closes elements of the current table up to a part that can contain this rank."""
        if not self._counts["table"]:
            return []
        closed = []
        while self.innermost is not None and self.innermost.name != "table":
            if 0 < _RANKS.get(self.innermost.name, 0) < rank:
                break
            closed.append(self._pop())
        return closed

    def _push(self, name: str, start: int, end: int, breaks_after: bool) -> None:
        self.innermost = OpenElement(name, start, end, breaks_after, self.innermost)
        self._counts[name] += 1
        self._depth += 1

    def _pop(self) -> OpenElement:
        element = self.innermost
        assert element is not None
        self.innermost = element.parent
        self._counts[element.name] -= 1
        self._depth -= 1
        return element


# Characters without white space. A printed page has 3,000; with small print 8,000.
LONGEST = 10_000
# The preferred minimum before a cut for length.
_SHORTEST = LONGEST // 4
# Shorter texts are never cut; long lines are handled in pieces of this many characters.
_WHOLE = 500
_PIECE = 5_000
# Longer start tags are not repeated on the next page.
_LONGEST_TAG = 2_000
_LONGEST_ROOT = 20_000

_BREAK = re.compile(
    r"(?:page-)?break-(?P<side>before|after)\s*:\s*(?:always|page|left|right|recto|verso)\b",
    re.IGNORECASE,
)
_BREAK_COMMENT = re.compile(r"<!--[\s*=-]*page\s?-?break", re.IGNORECASE)
_PAGE_NUMBER = re.compile(
    r"(?:page\s)?[-–—\s]*(?:[a-z]{1,2}-)?(?:\d{1,3}|[ivxl]{1,7})(?:\sof\s\d{1,4})?[-–—\s]*",
    re.IGNORECASE,
)
_LINE = re.compile(r"\n[ \t\r\xa0]*\n|\n|\f")
# Places where a page can be cut for length, best first.
_BLOCK, _ROW, _BLANK_LINE, _ANYWHERE = range(4)


@dataclass(frozen=True)
class FilingPage:
    """A page: `html` includes the elements open around it; `is_cut` if it ends for its length."""

    number: int
    html: str
    is_cut: bool


class _Cut(NamedTuple):
    """The start of a page, the element open there, and whether the page before was cut."""

    offset: int
    inside: OpenElement | None
    is_cut: bool


class _Border(NamedTuple):
    """A place where a page can be cut, and the number of its characters before."""

    offset: int
    inside: OpenElement | None
    characters: int


def split_pages(html: str) -> Iterator[FilingPage]:
    """The pages of a filing's content in order, at least one.

    The slices of the source join to the source, so no text is lost or doubled. Takes linear time;
    never raises.
    """
    cuts = _Splitter(html).cuts()
    root = _root(html)
    ends = [cut.offset for cut in cuts[1:]] + [len(html)]
    for number, (cut, end) in enumerate(zip(cuts, ends, strict=True), start=1):
        head = root + _reopened(html, cut.inside) if number > 1 else ""
        is_cut = number < len(cuts) and cuts[number].is_cut
        yield FilingPage(number, head + html[cut.offset : end], is_cut)


def _root(html: str) -> str:
    """The head of all later pages: the XHTML mark, the namespace prefixes and the body's style."""
    pieces = ['<?xml version="1.0"?>'] if is_xhtml(html) else []
    for token in tokens(html):
        if token.kind is Kind.START and token.name in ("html", "body"):
            if token.end - token.start <= _LONGEST_ROOT:
                pieces.append(html[token.start : token.end])
            if token.name == "body":
                break
        elif token.kind is Kind.TEXT and html[token.start : token.end].strip():
            break
    return "".join(pieces)


def _reopened(html: str, inside: OpenElement | None) -> str:
    tags = []
    while inside is not None:
        if inside.end - inside.start <= _LONGEST_TAG:
            tags.append(html[inside.start : inside.end])
        inside = inside.parent
    return "".join(reversed(tags))


class _Splitter:
    """Finds the starts of pages in one pass over the tokens."""

    def __init__(self, html: str) -> None:
        self._html = html
        self._is_xml = is_xhtml(html)
        self._headers = {f"{prefix}:header" for prefix in ixbrl_prefixes(html)}
        self._hidden = 0
        self._open = OpenElements()
        self._cuts = [_Cut(0, None, False)]
        self._characters = 0
        self._borders: dict[int, _Border] = {}
        self._last_text = ""

    def cuts(self) -> Sequence[_Cut]:
        for token in tokens(self._html, xml=self._is_xml):
            if token.name in self._headers:
                self._hidden = max(0, self._hidden + (1 if token.kind is Kind.START else -1))
            elif not self._hidden:
                self._read(token)
        # A last page without words is merged into the page before.
        if len(self._cuts) > 1 and not self._characters:
            self._cuts.pop()
        return self._cuts

    def _read(self, token: Token) -> None:
        if token.kind is Kind.TEXT:
            self._text(token)
        elif token.kind is Kind.START:
            self._start(token)
        elif token.kind is Kind.END:
            if any(element.breaks_after for element in self._open.close(token.name)):
                self._break(token.end)
        elif token.kind is Kind.COMMENT:
            if _BREAK_COMMENT.match(self._html, token.start, token.end):
                self._break(token.end)
        elif token.name not in DROPPED_RAW:
            self._count(token.start, token.end)

    def _start(self, token: Token) -> None:
        name = token.name
        if any(element.breaks_after for element in self._open.close_implied(name)):
            self._break(token.start)
        found = _BREAK.search(self._html, token.start, token.end)
        side = found["side"].lower() if found else ""
        if name == "page" or side == "before":
            self._break(token.end if name == "page" else token.start)
        elif name == "tr":
            self._border(_ROW, token.start)
        elif name not in _INLINE and not self._open.in_table:
            self._border(_BLOCK, token.start)
        is_void = self._is_xml and self._html.endswith("/>", token.start, token.end)
        if is_void or not self._open.open(token, breaks_after=side == "after"):
            under_number = name == "hr" and _PAGE_NUMBER.fullmatch(self._last_text)
            if side == "after" or (under_number and not self._open.in_table):
                self._break(token.end)

    def _text(self, token: Token) -> None:
        if token.end - token.start <= _WHOLE and "\f" not in self._html[token.start : token.end]:
            self._count(token.start, token.end)
            self._border(_ANYWHERE, token.end)
            return
        start = token.start
        for end, rank in _pieces(self._html, token.start, token.end):
            self._count(start, end)
            if self._html[end - 1] == "\f":
                self._break(end)
            else:
                self._border(rank, end)
            start = end

    def _count(self, start: int, end: int) -> None:
        text = self._html[start:end].replace("&nbsp;", " ").replace("&#160;", " ")
        words = text.split()
        if words:
            self._characters += sum(map(len, words))
            self._last_text = " ".join(words) if len(words) < 6 else ""
            if self._characters > LONGEST:
                self._cut()

    def _border(self, rank: int, offset: int) -> None:
        if self._characters:
            self._borders[rank] = _Border(offset, self._open.innermost, self._characters)

    def _break(self, offset: int) -> None:
        """Begins a page; of several breaks without words between them, the last one counts."""
        cut = _Cut(offset, self._open.innermost, False)
        if self._characters:
            self._cuts.append(cut)
        elif len(self._cuts) > 1:
            self._cuts[-1] = cut._replace(is_cut=self._cuts[-1].is_cut)
        self._characters = 0
        self._borders.clear()
        self._last_text = ""

    def _cut(self) -> None:
        """Begins a page at the best border since the last start, if there is one."""
        ranked = [self._borders[rank] for rank in sorted(self._borders)]
        long_enough = [border for border in ranked if border.characters >= _SHORTEST]
        border = next(iter(long_enough or ranked), None)
        if border is None:
            return
        self._cuts.append(_Cut(border.offset, border.inside, True))
        self._characters -= border.characters
        self._borders = {
            rank: other._replace(characters=other.characters - border.characters)
            for rank, other in self._borders.items()
            if other.characters > border.characters
        }


def _pieces(html: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The ends of lines, and of parts of very long lines, each with its rank."""
    for line in _LINE.finditer(html, start, end):
        yield from _parts(html, start, line.end())
        yield line.end(), _BLANK_LINE if len(line[0]) > 1 else _ANYWHERE
        start = line.end()
    if start < end:
        yield from _parts(html, start, end)
        yield end, _ANYWHERE


def _parts(html: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cuts a line longer than _PIECE after spaces; a line without spaces stays whole."""
    while end - start > _PIECE:
        space = html.find(" ", start + _PIECE, end - 1)
        if space < 0:
            return
        start = space + 1
        yield start, _ANYWHERE
