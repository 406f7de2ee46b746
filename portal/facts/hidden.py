"""Text that a page holds and does not show: it is left out, so that it joins no text beside it.

`<span style="display:none">12</span>14` shows 14. As one text it would read 1214, which nobody has
seen, and which an annotator could not mark.
"""

import re
from collections.abc import Iterator, Sequence
from html import unescape
from typing import NamedTuple

from portal.facts.elements import VOID_ELEMENTS
from portal.facts.markup import Kind, Token
from portal.facts.spans import is_blank

_MAY_HIDE = re.compile(r"none|hidden|collapse|font-size\s*:\s*\+?[0.]", re.IGNORECASE)
_STYLE = re.compile(r"""\sstyle\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE)
_DECLARATION = re.compile(r"\s*([\w-]+)\s*:\s*(.*?)\s*(!\s*important)?\s*", re.DOTALL)
_ZERO = re.compile(r"\+?(?:0+\.?0*|\.0+)(?:[a-z]+|%)?")

_ATTRIBUTE = re.compile(r"""([^\s=>"'/]+)(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+))?""")


class Shown(NamedTuple):
    """Cleaned HTML without its hidden text, and how much of it went."""

    html: str
    elements: int
    characters: int


class _Element(NamedTuple):
    """An element that hides its content: its tags' places in the list, and the property."""

    first: int
    last: int
    hides: str


def drop_hidden(html: str, found: Sequence[Token]) -> Shown:
    """Drops elements that are not shown and hold something to read. `found` are the tokens of
    `html`, in which every element is closed.

    Those with `display:none`, and those with `visibility:hidden` or a font size of zero inside
    which no element sets that property anew. What holds nothing to read stays: it joins nothing.
    """
    if not _MAY_HIDE.search(html):
        return Shown(html, 0, 0)
    pieces: list[str] = []
    position = elements = characters = 0
    for element in _outermost(_hiding(html, found)):
        inside = found[element.first : element.last + 1]
        text = "".join(unescape(html[t.start : t.end]) for t in inside if t.kind is Kind.TEXT)
        if is_blank(text) or _shows_again(html, inside[1:], element.hides):
            continue
        pieces.append(html[position : inside[0].start])
        position = inside[-1].end
        elements, characters = elements + 1, characters + len(text.strip())
    return Shown("".join([*pieces, html[position:]]), elements, characters)


def is_hidden_tag(tag: str) -> bool:
    """Whether a start tag has the attribute `hidden`.

    >>> is_hidden_tag('<p class="a" hidden>'), is_hidden_tag('<p title="a hidden p">')
    (True, False)
    """
    names = (match[1].lower() for match in _ATTRIBUTE.finditer(tag, 1))
    next(names, None)
    return "hidden" in names


def _hiding(html: str, found: Sequence[Token]) -> Iterator[_Element]:
    """The elements that hide their content, inner ones before outer ones."""
    open_elements: list[int] = []
    for index, token in enumerate(found):
        if token.kind is Kind.START and token.name not in VOID_ELEMENTS:
            open_elements.append(index)
        elif token.kind is Kind.END and open_elements:
            first = open_elements.pop()
            if hides := _hides(html[found[first].start : found[first].end]):
                yield _Element(first, index, hides)


def _outermost(elements: Iterator[_Element]) -> list[_Element]:
    """In the order of the page; what lies inside another is left to that one."""
    outer: list[_Element] = []
    for element in sorted(elements):
        if not outer or element.first > outer[-1].last:
            outer.append(element)
    return outer


def _hides(tag: str) -> str:
    """The property by which the element is not shown; empty when it is."""
    style = _declarations(tag)
    if style.get("display") == "none":
        return "display"
    if style.get("visibility") in {"hidden", "collapse"}:
        return "visibility"
    return "font-size" if _ZERO.fullmatch(style.get("font-size", "")) else ""


def _shows_again(html: str, inside: Sequence[Token], hides: str) -> bool:
    """Whether an element inside sets the property, so that its own text may be shown."""
    if hides == "display":
        return False
    set_by = {hides, "font"} if hides == "font-size" else {hides}
    return any(
        token.kind is Kind.START
        and (
            token.name == "font"
            or not set_by.isdisjoint(_declarations(html[token.start : token.end]))
        )
        for token in inside
    )


def _declarations(tag: str) -> dict[str, str]:
    """Property and value of each declaration in small letters; the last one counts, unless an
    earlier one is important.
    """
    style = _STYLE.search(tag)
    if style is None:
        return {}
    found: dict[str, str] = {}
    important: set[str] = set()
    for part in unescape(style[1] if style[1] is not None else style[2]).split(";"):
        if (match := _DECLARATION.fullmatch(part)) is None:
            continue
        name, value = match[1].lower(), match[2].lower()
        if match[3]:
            important.add(name)
        elif name in important:
            continue
        found[name] = value
    return found
