"""Excerpts of a page's text that can be read: cells and paragraphs set apart. No Django.

The canonical text has nothing between two table cells, so that offsets never drift; for a reader
`share456` must become `share · 456` again.
"""

import re
from bisect import bisect_left, bisect_right
from html import unescape
from itertools import pairwise
from typing import NamedTuple

from .markup import Kind, tokens

SEPARATOR = " · "
_SPACE = re.compile(r"\s+")
_BLOCKS = frozenset(
    "address article aside blockquote br caption center dd div dl dt figure footer h1 h2 h3 h4 h5"
    " h6 header hr li main nav ol p pre section table tbody td tfoot th thead tr ul".split()
)


class Context(NamedTuple):
    """A stretch of the text as it is, and what a reader sees on both sides of it."""

    before: str
    quote: str
    after: str


class Excerpts:
    """Reads contexts out of one page. `reach` is how many characters are shown on each side."""

    def __init__(self, html: str, text: str, *, reach: int = 90) -> None:
        self._text = text
        self._reach = reach
        self._breaks = _breaks(html)

    def around(self, start: int, end: int) -> Context:
        """The context of `[start, end)`, offsets in code points of the canonical text."""
        # Twice as much is looked at, since white space shrinks.
        first, last = max(0, start - 2 * self._reach), min(len(self._text), end + 2 * self._reach)
        return Context(
            before=self._readable(first, start).removeprefix(SEPARATOR)[-self._reach :],
            quote=self._text[start:end],
            after=self._readable(end, last).removesuffix(SEPARATOR)[: self._reach],
        )

    def _readable(self, start: int, end: int) -> str:
        breaks = self._breaks[bisect_left(self._breaks, start) : bisect_right(self._breaks, end)]
        borders = [start, *breaks, end]
        first, *others = (_SPACE.sub(" ", self._text[a:b]) for a, b in pairwise(borders))
        if not others:
            return first
        # Blank pieces in between are empty cells; at the ends they say that a cell begins there.
        inner = [piece.strip() for piece in others[:-1] if piece.strip()]
        return SEPARATOR.join([first.rstrip(), *inner, others[-1].lstrip()])


def _breaks(html: str) -> list[int]:
    """Offsets of the canonical text at which a cell, a paragraph or a line begins or ends."""
    offset = 0
    breaks: list[int] = []
    for token in tokens(html):
        if token.kind is Kind.TEXT:
            offset += len(unescape(html[token.start : token.end]))
        elif token.name in _BLOCKS and (not breaks or breaks[-1] != offset):
            breaks.append(offset)
    return breaks
