"""Where a canonical text has borders that a reader sees but the text does not show.

The text of a document joins all its text nodes, so the numbers of two table cells may stand side
by side without a space: `1,586` and `1,702` are `1,5861,702`. The borders tell them apart.
"""

import re
from collections.abc import Iterator, Sequence
from html import unescape
from itertools import pairwise

from portal.facts.elements import (
    FORMATTING_ELEMENTS,
    KEPT_ELEMENTS,
    PHRASING_ELEMENTS,
    TABLE_PARTS,
)
from portal.facts.markup import Kind, Token, tokens
from portal.facts.words import MONTH

# Marks in a text: the border of a cell, and that of a line or block inside one. Neither is ever
# a character of a canonical text.
CELL = "\x00"
LINE = "\x01"

_CELLS = frozenset({"table", *TABLE_PARTS})
# A picture, a box and a line break stand within a line and still part what is beside them.
_PARTING = frozenset({"br", "img", "input"})
_LINES = (KEPT_ELEMENTS - FORMATTING_ELEMENTS - PHRASING_ELEMENTS - _CELLS) | _PARTING

# A raised "th" belongs to its number, a raised number before a slash is half of a fraction.
_ORDINAL = re.compile(r"\s*(?:st|nd|rd|th)\s*", re.IGNORECASE)
_SLASH = ("/", "\N{FRACTION SLASH}")

# The heads of narrow columns break their dates: "June 30,", and "2025" in the next line.
_BROKEN_DATE = re.compile(
    rf"(?<![A-Za-z])(?:{MONTH})[\s{LINE}]+[0-9]{{1,2}},[\s{LINE}]*(?:19|20)[0-9]{{2}}(?![0-9])"
)


def text_borders(canonical_html: str) -> tuple[int, ...]:
    """The offsets into the canonical text, ascending, at which a new block or table cell begins.

    A block is also what follows a line break, a picture or the end of a block, and a raised
    footnote mark behind a number. Lines that break a date inside a cell part nothing. Time is
    linear in the HTML.

    >>> text_borders("<table><tr><td>1,586</td><td>1,702<sup>3</sup></td></tr></table>")
    (5, 10)
    """
    pieces: list[str] = []
    marks: dict[int, str] = {}
    raised: list[tuple[int, int]] = []
    open_sups: list[int] = []
    position = 0
    for token in tokens(canonical_html):
        if token.kind is Kind.TEXT:
            pieces.append(unescape(canonical_html[token.start : token.end]))
            position += len(pieces[-1])
        elif token.name in _CELLS:
            marks[position] = CELL
        elif token.name in _LINES:
            marks.setdefault(position, LINE)
        elif token.name == "sup":
            _note_raised(token, position, open_sups, raised)
    text = "".join(pieces)
    for offset in _beside_raised(text, raised):
        marks.setdefault(offset, CELL)
    return tuple(_parting(text, marks))


def with_borders(text: str, marks: Sequence[tuple[int, str]]) -> str:
    """The text with a mark put in at each of the ascending offsets."""
    cuts = [0, *(offset for offset, _ in marks), len(text)]
    stretches = [text[start:end] for start, end in pairwise(cuts)]
    after = [*(mark for _, mark in marks), ""]
    return "".join(map("".join, zip(stretches, after, strict=True)))


def _note_raised(
    token: Token, position: int, open_sups: list[int], raised: list[tuple[int, int]]
) -> None:
    if token.kind is Kind.START:
        open_sups.append(position)
    elif open_sups:
        raised.append((open_sups.pop(), position))


def _beside_raised(text: str, raised: Sequence[tuple[int, int]]) -> Iterator[int]:
    """Borders between raised text and the numbers beside it.

    A mark behind a word needs none: digits that follow letters are no number anyway.
    """
    for start, end in raised:
        if _ORDINAL.fullmatch(text, start, end):
            continue
        if start and not text[start - 1].isalpha():
            yield start
        if not text.startswith(_SLASH, end):
            yield end


def _parting(text: str, marks: dict[int, str]) -> Iterator[int]:
    """The offsets of marks, without those at the ends of the text and those that break a date."""
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
