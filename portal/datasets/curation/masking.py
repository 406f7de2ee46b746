"""Covers stretches of a document so that every offset into its text stays what it was."""

import re
from collections.abc import Iterable, Sequence
from html import unescape

from portal.facts.markup import Kind, tokens

# One code point, and one unit of UTF-16, for each that is covered.
COVER = "█"
_READABLE = re.compile(r"\S")
_CHARACTER = re.compile(r"&[^;&\s]*;|.", re.DOTALL)


def mask(text: str, stretches: Iterable[tuple[int, int]]) -> str:
    """The text with every readable character of `[start, end)` covered; white space stays.

    The result is as long as the text. Stretches may overlap, and masking twice changes nothing.
    Raises ValueError for one that is not a stretch of the text.

    >>> mask("Call 555 0100 now", [(5, 13)])
    'Call ███ ████ now'
    """
    covered = _covered(stretches)
    _check(covered, len(text))
    return _masked(list(text), 0, covered)


def mask_html(canonical_html: str, stretches: Iterable[tuple[int, int]]) -> str:
    """Canonical HTML with stretches of its text covered, its markup untouched.

    `canonical_text(mask_html(html, s))` is `mask(canonical_text(html), s)`, and the result is
    canonical again. Texts in attributes (alternative texts of pictures) stay. Raises ValueError as
    `mask` does.
    """
    covered = _covered(stretches)
    pieces: list[str] = []
    position = first = 0
    for token in tokens(canonical_html):
        source = canonical_html[token.start : token.end]
        if token.kind is Kind.TEXT:
            end = position + len(unescape(source))
            while first < len(covered) and covered[first][1] <= position:
                first += 1
            if first < len(covered) and covered[first][0] < end:
                source = _masked(_CHARACTER.findall(source), position, covered[first:])
            position = end
        pieces.append(source)
    _check(covered, position)
    return "".join(pieces)


def _covered(stretches: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The stretches in order, joined where they meet."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted((stretch[0], stretch[1]) for stretch in stretches):
        if start >= end or start < 0:
            raise ValueError(f"[{start}, {end}) is not a stretch of a text")
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _check(covered: Sequence[tuple[int, int]], length: int) -> None:
    if covered and covered[-1][1] > length:
        start, end = covered[-1]
        raise ValueError(f"[{start}, {end}) is not within the text's {length} characters")


def _masked(characters: list[str], position: int, covered: Sequence[tuple[int, int]]) -> str:
    """Joins the characters, the first of which is at `position`, with the covered ones covered."""
    for start, end in covered:
        if start >= position + len(characters):
            break
        inside = range(max(start - position, 0), min(end - position, len(characters)))
        for index in inside:
            if _READABLE.fullmatch(unescape(characters[index])):
                characters[index] = COVER
    return "".join(characters)
