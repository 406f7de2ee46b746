"""Where blocks, table cells and footnote marks begin in the text of a page.

The text of a document joins all text nodes, so that the numbers of two table cells may be adjacent:
`1,586` and `1,702` become `1,5861,702`. Borders separate them.
"""

import re
from collections.abc import Iterator, Sequence
from html import unescape
from itertools import pairwise
from typing import NamedTuple

from .cleaning import style_of
from .grammar import CELL, MONTH, with_borders
from .markup import (
    FORMATTING_ELEMENTS,
    KEPT_ELEMENTS,
    PHRASING_ELEMENTS,
    TABLE_PARTS,
    VOID_ELEMENTS,
    Kind,
    tokens,
)

# The mark of a line or block inside a cell. It does not occur in canonical text.
LINE = "\x01"

_CELLS = frozenset({"table", *TABLE_PARTS})
# Images, boxes and line breaks are inline, but separate the text around them.
_PARTING = frozenset({"br", "img", "input"})
_LINES = (KEPT_ELEMENTS - FORMATTING_ELEMENTS - PHRASING_ELEMENTS - _CELLS) | _PARTING

# A raised "th" belongs to its number; a raised number before a slash is part of a fraction.
_ORDINAL = re.compile(r"\s*(?:st|nd|rd|th)\s*", re.IGNORECASE)
_SLASH = ("/", "\N{FRACTION SLASH}")
# A number, character or sign of a footnote, or several: (1), 2,3, a, *.
_MARK = r"(?:[0-9]{1,2}(?![0-9])|[a-z](?![a-z])|[*†‡§]+)"
_FOOTNOTE = re.compile(rf"\s*[(\[]?{_MARK}(?:[)\],\s]*+{_MARK})*[)\]]?\s*")

# Narrow column headings break dates: "June 30,", and "2025" in the next line.
_BROKEN_DATE = re.compile(
    rf"(?<![A-Za-z])(?:{MONTH})[\s{LINE}]+[0-9]{{1,2}},[\s{LINE}]*(?:19|20)[0-9]{{2}}(?![0-9])"
)


class Borders(tuple[int, ...]):
    """Ascending offsets of a text; `raised` are the ranges of footnote marks."""

    raised: tuple[tuple[int, int], ...] = ()


def text_borders(canonical_html: str) -> Borders:
    """Return the ascending offsets of the canonical text at which a block or table cell begins.

    Line breaks, images, the ends of blocks, raised footnote marks after numbers, and elements that
    styles put elsewhere also make borders; line breaks in a date inside a cell do not. Two figures
    in adjacent elements are apart if they are no figure together. Time is linear in the HTML.

    >>> text_borders("<table><tr><td>1,586</td><td>1,702<sup>3</sup></td></tr></table>")
    (5, 10)
    """
    page = _Page()
    for token in tokens(canonical_html):
        if token.kind is Kind.TEXT:
            page.add(unescape(canonical_html[token.start : token.end]))
        elif token.kind is Kind.START:
            page.open(token.name, canonical_html[token.start : token.end])
        elif token.kind is Kind.END:
            page.close(token.name)
    text = "".join(page.pieces)
    for offset in (*_around_raised(text, page.raised), *_between_figures(text, page.seams)):
        page.marks.setdefault(offset, CELL)
    borders = Borders(_parting(text, page.marks))
    borders.raised = tuple(
        (start, end) for start, end in page.raised if _is_footnote(text, start, end)
    )
    return borders


class _Open(NamedTuple):
    """An open element: where it begins, and whether its style raises it or puts it elsewhere."""

    name: str
    start: int
    is_raised: bool
    is_apart: bool


class _Page:
    """The text read so far, the marks in it, raised ranges, and seams between inline elements."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.marks: dict[int, str] = {}
        self.raised: list[tuple[int, int]] = []
        self.seams: list[int] = []
        self._position = 0
        self._inside: list[_Open] = []

    def add(self, text: str) -> None:
        self.pieces.append(text)
        self._position += len(text)

    def open(self, name: str, tag: str) -> None:
        style = style_of(tag) if "style" in tag else {}
        is_inline = name not in _CELLS and name not in _LINES
        is_raised = is_inline and (name == "sup" or _raises(style))
        is_apart = is_inline and _is_put_elsewhere(style)
        self._mark(name, is_apart=is_apart)
        if name not in VOID_ELEMENTS:
            self._inside.append(_Open(name, self._position, is_raised, is_apart))

    def close(self, name: str) -> None:
        element = self._inside.pop() if self._inside else _Open(name, 0, False, False)
        self._mark(name, is_apart=element.is_apart)
        if element.is_raised:
            self.raised.append((element.start, self._position))

    def _mark(self, name: str, *, is_apart: bool) -> None:
        if name in _CELLS:
            self.marks[self._position] = CELL
        elif name in _LINES or is_apart:
            self.marks.setdefault(self._position, LINE)
        else:
            self.seams.append(self._position)


_ABOVE = re.compile(r"super|(?:text-)?top|\+?[0-9.]*[1-9][0-9.]*(?:[a-z]+|%)")
_UP = re.compile(r"-[0-9.]*[1-9].*")
_SMALLER = re.compile(
    r"[0-7]?[0-9](?:\.[0-9]+)?%|0?\.[0-9]+r?em|[1-7](?:\.[0-9]+)?(?:pt|px)|x*-?small(?:er)?"
)


def _raises(style: dict[str, str]) -> bool:
    """Whether the style sets text above the line. `top` alone may only align lines."""
    if style.get("vertical-align") == "super":
        return True
    if style.get("position") == "relative":
        return bool(_UP.fullmatch(style.get("top", "")))
    is_small = bool(_SMALLER.fullmatch(style.get("font-size", "")))
    return is_small and bool(_ABOVE.fullmatch(style.get("vertical-align", "")))


_GAPS = (
    "width",
    "min-width",
    "margin",
    "margin-left",
    "margin-right",
    "padding",
    "padding-left",
    "padding-right",
)


def _is_put_elsewhere(style: dict[str, str]) -> bool:
    """Whether the style parts an inline element from the text around it. A box on the line does
    so only with a width or edges of its own: `20` and a green `20` are one year."""
    display = style.get("display", "inline")
    if display == "inline-block":
        return any(re.search("[1-9]", style.get(gap, "")) for gap in _GAPS)
    return (
        display not in ("inline", "contents", "none")
        or style.get("position") == "absolute"
        or style.get("float", "none") != "none"
    )


def _around_raised(text: str, raised: Sequence[tuple[int, int]]) -> Iterator[int]:
    """Borders between raised text and adjacent numbers.

    Marks after words need none, because digits that follow a word are not a number.
    """
    for start, end in raised:
        if _ORDINAL.fullmatch(text, start, end):
            continue
        if start and not text[start - 1].isalpha():
            yield start
        if not text.startswith(_SLASH, end):
            yield end


def _is_footnote(text: str, start: int, end: int) -> bool:
    """Whether raised text is the mark of a footnote, and not part of a fraction."""
    return _FOOTNOTE.fullmatch(text, start, end) is not None and not text.startswith(_SLASH, end)


_FIGURE = re.compile(r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?")
_OF_FIGURES = re.compile(r"[0-9][0-9.,]*")


def _between_figures(text: str, seams: Sequence[int]) -> Iterator[int]:
    """The seams between two figures that together are none: 1,234 and 5,678."""
    position = 0
    for match in _OF_FIGURES.finditer(text):
        cuts = []
        while position < len(seams) and seams[position] <= match.start():
            position += 1
        while position < len(seams) and seams[position] < match.end():
            cuts.append(seams[position])
            position += 1
        if not cuts or _FIGURE.fullmatch(text, match.start(), match.end()):
            continue
        ends = sorted({match.start(), *cuts, match.end()})
        if all(_FIGURE.fullmatch(text, *ends) for ends in pairwise(ends)):
            yield from cuts


def _parting(text: str, marks: dict[int, str]) -> Iterator[int]:
    """The offsets of marks, except at the ends of the text and inside dates."""
    placed = sorted((offset, mark) for offset, mark in marks.items() if 0 < offset < len(text))
    marked = with_borders(text, placed)
    broken = [match.span() for match in _BROKEN_DATE.finditer(marked)]
    index = 0
    for count, (offset, mark) in enumerate(placed):
        place = offset + count
        while index < len(broken) and broken[index][1] <= place:
            index += 1
        is_inside = index < len(broken) and broken[index][0] <= place
        if mark == CELL or not is_inside:
            yield offset
