"""Filters a page's tags, attributes and hidden text, before a tree is built.

`reduce_markup` works on tags. It removes wrappers such as inline XBRL, links, forms and EDGAR's own
tags, and keeps their text in place. A tree builder would move some of them out of tables, let a
self-closed one swallow the page, or (nh3) drop an unknown element named like a drawing element,
such as EDGAR's <TEXT>, with its content.

`drop_hidden` removes text that a page does not show, so that it does not join visible text:
`<span style="display:none">12</span>14` shows 14, not 1214.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from html import escape, unescape
from itertools import accumulate
from typing import NamedTuple

from .markup import (
    DROPPED_NESTING,
    DROPPED_RAW,
    ESCAPABLE_RAW_ELEMENTS,
    KEPT_ELEMENTS,
    VOID_ELEMENTS,
    Kind,
    RefusedHtml,
    Token,
    tokens,
)
from .spans import is_blank
from .xhtml import is_xhtml

# Images embedded in the HTML; other files are not stored with a document.
_INLINE_PICTURE = re.compile(r"data:image/(?:png|jpe?g|gif|webp);base64,[A-Za-z0-9+/=\s]+")

# Style syntax that can load resources, or hide that it does.
_FETCHES = re.compile(r"\\|@|url|image|src|expression|behavior|binding|/\*", re.IGNORECASE)
# Styles that move text: over other text, where it catches clicks, or out of view.
_DISPLACES = re.compile(
    r"\s*(?:position\s*:\s*(?:-webkit-)?(?:fixed|sticky)|(?:z-index|pointer-events|(?:-\w+-)?user-select)\s*:"
    r"|(?:margin|inset|top|left|right|bottom|text-indent|transform|translate)[\w-]*\s*:.*?-\s*\d{3})",
    re.IGNORECASE | re.DOTALL,
)
_PLAIN_DECLARATION = re.compile(r"""\s*[\w-]+\s*:[^"'()\\@{}<>/]+""")


def keep_attribute(element: str, attribute: str, value: str) -> str | None:
    """nh3's filter: the value to keep, or None to drop the attribute."""
    if attribute == "style":
        return safe_style(value)
    if element == "img" and attribute == "src":
        return value if _INLINE_PICTURE.fullmatch(value) else None
    if element == "input" and attribute == "type":
        return value if value.strip().lower() in ("checkbox", "radio") else "checkbox"
    return value


@lru_cache(maxsize=4096)
def safe_style(style: str) -> str | None:
    """Remove declarations that could load resources or cover other elements.

    These are fixed and sticky positions, layers, and moves by 100 units or more to the left or up.
    Returns None if nothing is left.

    >>> safe_style("color:red;background:url(https://example.org/x);position:fixed")
    'color:red'
    """
    parts = style.split(";")
    if _FETCHES.search(style):
        parts = [part for part in parts if _is_plain(part)]
    return ";".join(part for part in parts if not _DISPLACES.match(part)) or None


def _is_plain(declaration: str) -> bool:
    return bool(_PLAIN_DECLARATION.fullmatch(declaration)) and not _FETCHES.search(declaration)


_MAY_HIDE = re.compile(r"none|hidden|collapse|font-size\s*:\s*\+?[0.]", re.IGNORECASE)
_STYLE = re.compile(r"""\sstyle\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE)
_DECLARATION = re.compile(r"\s*([\w-]+)\s*:\s*(.*?)\s*(!\s*important)?\s*", re.DOTALL)
_ZERO = re.compile(r"\+?(?:0+\.?0*|\.0+)(?:[a-z]+|%)?")

_ATTRIBUTE = re.compile(r"""([^\s=>"'/]+)(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+))?""")


class Shown(NamedTuple):
    """Cleaned HTML without hidden text, and the amount of text removed."""

    html: str
    elements: int
    characters: int


class _Element(NamedTuple):
    """An element that hides its content: its tags' places in the list, and the property."""

    first: int
    last: int
    hides: str


def drop_hidden(html: str, page_tokens: Sequence[Token]) -> Shown:
    """Drop hidden elements that contain text. `page_tokens` are those of `html`, all closed.

    Hidden are elements with `display:none`, and those with `visibility:hidden` or a font size of
    zero unless an element inside sets the property again. Elements without text are kept.
    """
    if not _MAY_HIDE.search(html):
        return Shown(html, 0, 0)
    pieces: list[str] = []
    position = elements = characters = 0
    for element in _outermost(_hiding(html, page_tokens)):
        inside = page_tokens[element.first : element.last + 1]
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


def _hiding(html: str, page_tokens: Sequence[Token]) -> Iterator[_Element]:
    """The elements that hide their content, inner ones before outer ones."""
    open_elements: list[int] = []
    for index, token in enumerate(page_tokens):
        if token.kind is Kind.START and token.name not in VOID_ELEMENTS:
            open_elements.append(index)
        elif token.kind is Kind.END and open_elements:
            first = open_elements.pop()
            if hides := _hides(html[page_tokens[first].start : page_tokens[first].end]):
                yield _Element(first, index, hides)


def _outermost(elements: Iterator[_Element]) -> list[_Element]:
    """In document order, without elements inside another one."""
    outer: list[_Element] = []
    for element in sorted(elements):
        if not outer or element.first > outer[-1].last:
            outer.append(element)
    return outer


def _hides(tag: str) -> str:
    """The property that hides the element; empty if it is shown."""
    style = style_of(tag)
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
        and (token.name == "font" or not set_by.isdisjoint(style_of(html[token.start : token.end])))
        for token in inside
    )


def style_of(tag: str) -> dict[str, str]:
    """The declarations in a start tag's style."""
    style = _STYLE.search(tag)
    if style is None:
        return {}
    return declarations(unescape(style[1] if style[1] is not None else style[2]))


def declarations(style: str) -> dict[str, str]:
    """Properties and values in lower case; the last counts, unless an earlier one is important.

    >>> declarations("Display: NONE !important; display: block; color")
    {'display': 'none'}
    """
    declared: dict[str, str] = {}
    important: set[str] = set()
    for part in style.split(";"):
        if (match := _DECLARATION.fullmatch(part)) is None:
            continue
        name, value = match[1].lower(), match[2].lower()
        if match[3]:
            important.add(name)
        elif name in important:
            continue
        declared[name] = value
    return declared


# Old names of elements, and their current names.
_RENAMED = {"listing": "pre", "xmp": "pre", "plaintext": "pre"}

_XML_BEGINS = re.compile(r"\s*<\?xml[\s?]")
_PAGE_ELEMENTS = KEPT_ELEMENTS | {"html", "body"}
_IXBRL_PREFIX = re.compile(
    r"""xmlns:([\w.-]+)\s*=\s*["']http://www\.xbrl\.org/\d{4}/inlineXBRL["']"""
)
# Tags as written by the cleaner; any other `<` needs a closer look.
_TAG = re.compile(r"</[a-z][a-z0-9]*>|<[a-z][a-z0-9]*(?:>|(?=[ \n]))")
_REDUCED_KINDS = frozenset({Kind.TEXT, Kind.START, Kind.END})
_REDUCED_NAMES = (KEPT_ELEMENTS - {"input", *_RENAMED}) | {""}
_BODY = re.compile(r"\A(</?)body", re.IGNORECASE)
_STYLED = re.compile(r"\sstyle\s*=", re.IGNORECASE)
_HIDDEN = re.compile(r"""<[a-z][^<>]*[\s"'/]hidden[\s=>/]""", re.IGNORECASE)
_CHECKBOX = re.compile(r"""\stype\s*=\s*["']?(?:checkbox|radio)\b""", re.IGNORECASE)


def ixbrl_prefixes(html: str) -> frozenset[str]:
    """The prefixes of inline-XBRL elements in lower case: declared ones, and the default."""
    return frozenset({prefix.lower() for prefix in _IXBRL_PREFIX.findall(html)} | {"ix"})


def reduce_markup(html: str, page_tokens: Sequence[Token] | None = None) -> str:
    """Reduce `html` to text and tags of KEPT_ELEMENTS, with all attributes.

    `page_tokens` are its tokens, if known. Raises RefusedHtml if something unclosed swallows the
    rest of the page, or the input is XML without HTML.
    """
    xml = is_xhtml(html)
    if page_tokens is None:
        page_tokens = list(tokens(html, xml=xml))
    if _XML_BEGINS.match(html) and not any(token.name in _PAGE_ELEMENTS for token in page_tokens):
        raise RefusedHtml("this is an XML document without any HTML in it", "not_html")
    if not xml and _is_reduced(html, page_tokens):
        return html
    dropped = _dropped(html, page_tokens)
    rowless = _rowless_tables(page_tokens)
    pieces: list[str] = []
    text = Kind.TEXT
    body = _styled_body(html, page_tokens)
    for index, token in enumerate(page_tokens):
        if dropped[index]:
            continue
        if index in body:
            pieces.append(_BODY.sub(r"\1div", html[token.start : token.end], count=1))
        elif token.kind is text:
            pieces.append(html[token.start : token.end].replace("<", "&lt;"))
        elif (piece := _kept(html, token, xml=xml)) is not None and index not in rowless:
            pieces.append(piece)
    return "".join(pieces)


def _is_reduced(html: str, page_tokens: Sequence[Token]) -> bool:
    """Whether the page is already reduced and cleaned.

    Returns False if unsure: checkboxes, tables without rows, names in capitals.
    """
    if not {token.kind for token in page_tokens} <= _REDUCED_KINDS:
        return False
    names = {token.name for token in page_tokens}
    if not names <= _REDUCED_NAMES or _rowless_tables(page_tokens):
        return False
    return _HIDDEN.search(html) is None and "<" not in _TAG.sub("", html)


def _styled_body(html: str, page_tokens: Sequence[Token]) -> tuple[int, int]:
    """Indices of the tags of a body with a style, or -1.

    They become the tags of a div, because only the content of the body is kept.
    """
    bodies = [index for index, token in enumerate(page_tokens) if token.name == "body"]
    start = next((i for i in bodies if page_tokens[i].kind is Kind.START), -1)
    if start < 0 or not _STYLED.search(html, page_tokens[start].start, page_tokens[start].end):
        return -1, -1
    return start, next((i for i in reversed(bodies) if page_tokens[i].kind is Kind.END), -1)


def _kept(html: str, token: Token, *, xml: bool) -> str | None:
    """The replacement of a token that is not text; None if it is removed."""
    source = html[token.start : token.end]
    if token.kind is Kind.RAW:
        return _raw_as_text(source, token.name)
    if token.kind is Kind.UNCLOSED:
        return _unclosed(html, token)
    name = _RENAMED.get(token.name, token.name)
    if token.kind is Kind.COMMENT or name not in KEPT_ELEMENTS:
        return None
    if token.kind is Kind.END:
        return f"</{name}>"
    if name == "input" and not _CHECKBOX.search(source):
        return None
    attributes = source[1 + len(token.name) :]
    if _HIDDEN.search(source) and is_hidden_tag(source):
        # The first of two attributes with the same name counts, so this one comes first.
        attributes = f' style="display:none"{attributes}'
    if xml and source.endswith("/>") and name not in VOID_ELEMENTS:
        return f"<{name}{attributes[:-2]}></{name}>"
    return f"<{name}{attributes}"


def _raw_as_text(source: str, name: str) -> str:
    if name in ESCAPABLE_RAW_ELEMENTS:
        return source.replace("<", "&lt;")
    return escape(source, quote=False)


def _unclosed(html: str, token: Token) -> str:
    """Drops a tag cut off by the end of the file. Raises RefusedHtml if more text is swallowed."""
    source = html[token.start : token.end]
    if token.name and token.name not in DROPPED_RAW:
        return _raw_as_text(source, token.name)
    if token.name:
        what = f"a <{token.name}> element"
    elif source.startswith("<!--"):
        what = "a comment"
    elif "<" in source[1:]:
        what = "a tag or a quoted attribute"
    else:
        return ""
    line = html.count("\n", 0, token.start) + 1
    reason = f"{what} opened on line {line} is never closed and hides the rest"
    raise RefusedHtml(reason, "unclosed")


def _dropped(html: str, page_tokens: Sequence[Token]) -> list[bool]:
    """Whether each token is inside a dropped element, or is one of its tags."""
    headers = {f"{prefix}:header" for prefix in ixbrl_prefixes(html)}
    starts: dict[str, list[int]] = {name: [] for name in DROPPED_NESTING | headers}
    changes = [0] * (len(page_tokens) + 1)
    for index, token in enumerate(page_tokens):
        if token.name not in starts:
            continue
        if token.kind is Kind.START and not html.endswith("/>", token.start, token.end):
            starts[token.name].append(index)
        elif token.kind is Kind.END and starts[token.name]:
            changes[starts[token.name].pop()] += 1
            changes[index + 1] -= 1
    for name in headers:
        if starts[name]:
            line = html.count("\n", 0, page_tokens[starts[name][0]].start) + 1
            reason = f"the <{name}> element opened on line {line} is never closed"
            raise RefusedHtml(reason, "unclosed")
    return [
        depth > 0 or (token.kind is Kind.RAW and token.name in DROPPED_RAW)
        for depth, token in zip(accumulate(changes), page_tokens, strict=False)
    ]


def _rowless_tables(page_tokens: Sequence[Token]) -> frozenset[int]:
    """Indices of EDGAR's <TABLE>, <CAPTION>, <S> marks in text whose columns are made of spaces.

    A browser would move the text out of such a "table", which has no rows.
    """
    rowless: set[int] = set()
    pending: list[int] | None = None
    for index, token in enumerate(page_tokens):
        if token.name == "table" and token.kind is Kind.START:
            rowless.update(pending or ())
            pending = [index]
        elif pending is None:
            continue
        elif token.name == "table":
            rowless.update((*pending, index))
            pending = None
        elif token.name in ("tr", "td", "th"):
            pending = None
        elif token.name in ("caption", "s"):
            pending.append(index)
    rowless.update(pending or ())
    return frozenset(rowless)
