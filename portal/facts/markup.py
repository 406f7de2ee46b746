"""Splits HTML into text, tags and the rest, as the HTML5 tokenizer does, without building a tree.

A tree would move text (foster parenting) and limit the depth. Every character of the input belongs
to exactly one token, in order, so joining the tokens restores the input. elements.toml classifies
the elements and attributes of HTML. The errors of all readers of HTML are here too.
"""

import re
import tomllib
from collections.abc import Iterator
from enum import Enum
from importlib.resources import files
from typing import NamedTuple

_TABLES = tomllib.loads(files("portal.facts").joinpath("elements.toml").read_text("utf-8"))

KEPT_ELEMENTS = frozenset(_TABLES["kept"])
KEPT_ATTRIBUTES: dict[str, frozenset[str]] = {
    element: frozenset(names) for element, names in _TABLES["attributes"].items()
}
DROPPED_RAW = frozenset(_TABLES["dropped_raw"])
DROPPED_NESTING = frozenset(_TABLES["dropped_nesting"])
VOID_ELEMENTS = frozenset(_TABLES["void"])
RAW_ELEMENTS = frozenset(_TABLES["raw"])
ESCAPABLE_RAW_ELEMENTS = frozenset(_TABLES["escapable_raw"])
FORMATTING_ELEMENTS = frozenset(_TABLES["formatting"])
PHRASING_ELEMENTS = frozenset(_TABLES["phrasing"])
TABLE_PARTS = frozenset(_TABLES["table_parts"])
TABLE_STRUCTURE = frozenset(_TABLES["table_structure"])
ELEMENT_NAMES = frozenset(_TABLES["names"])
EDGAR_ELEMENTS = frozenset(_TABLES["edgar"])


class Kind(Enum):
    TEXT = "text"
    START = "start tag"
    END = "end tag"
    COMMENT = "comment, doctype or processing instruction"
    RAW = "content of an element that holds no markup"
    UNCLOSED = "a comment, tag or raw content that the input ends in"


class Token(NamedTuple):
    """The range `[start, end)` of the input; `name` is the tag's name in lower case, or empty.

    A RAW token, and an UNCLOSED one that is raw content, carries the name of the element it
    belongs to.
    """

    kind: Kind
    start: int
    end: int
    name: str = ""


# Attributes up to the closing angle bracket; one inside a quoted value does not close the tag.
_ATTRIBUTES = r"""(?>[^>=]++|=[ \t\r\n\f]*+(?>"[^"]*+"|'[^']*+'|(?!["'])[^ \t\r\n\f>]*+))*+>"""
_MARKUP = re.compile(
    rf"""<(?:
        !--(?:>|->|.*?(?:--!?>|(?P<open_comment>\Z)))
      | (?:[!?]|/(?![a-zA-Z]))[^>]*+(?:>|(?P<open_other>\Z))
      | (?P<slash>/?)(?P<name>[a-zA-Z][^ \t\r\n\f/>]*+)(?:{_ATTRIBUTES}|(?P<open_tag>.*+\Z))
    )""",
    re.DOTALL | re.VERBOSE,
)
_OPEN = ("open_comment", "open_other", "open_tag")

_RAW_ENDS = {
    name: re.compile(rf"</{name}(?=[ \t\r\n\f/>])", re.IGNORECASE)
    for name in RAW_ELEMENTS | ESCAPABLE_RAW_ELEMENTS
}


_HOLDS_RAW = _RAW_ENDS.keys() | {"plaintext"}


def tokens(html: str, *, xml: bool = False) -> Iterator[Token]:
    """Yield the tokens of `html` in order, without gaps. Linear time; never raises.

    With `xml`, a tag that ends in `/>` has no content: `<title/>` does not swallow the page.
    """
    # Optimised for hundreds of thousands of tokens: attributes are looked up once, and tokens are
    # created without calling the NamedTuple.
    new = tuple.__new__
    text, open_tag, end_tag = Kind.TEXT, Kind.START, Kind.END
    position, is_at_end = 0, False
    while not is_at_end:
        is_at_end = True
        for match in _MARKUP.finditer(html, position):
            start, end = match.span()
            if start > position:
                yield new(Token, (text, position, start, ""))
            position = end
            slash, name = match.group("slash", "name")
            if match.lastgroup in _OPEN:
                yield Token(Kind.UNCLOSED, start, end)
            elif name is None:
                yield Token(Kind.COMMENT, start, end)
            elif slash:
                yield new(Token, (end_tag, start, end, name.lower()))
            else:
                name = name.lower()
                yield new(Token, (open_tag, start, end, name))
                is_closed = xml and html[end - 2] == "/"
                if name in _HOLDS_RAW and not is_closed and (raw := _raw(html, end, name)):
                    yield raw
                    # Its content is not markup: continue the search after it.
                    position, is_at_end = raw.end, False
                    break
    if position < len(html):
        yield Token(Kind.TEXT, position, len(html))


def _raw(html: str, position: int, name: str) -> Token | None:
    """The unparsed content after the start tag `name`, if there is any."""
    if name == "plaintext":
        return Token(Kind.RAW, position, len(html), name) if position < len(html) else None
    if name not in _RAW_ENDS:
        return None
    closing = _RAW_ENDS[name].search(html, position)
    if closing is None:
        return Token(Kind.UNCLOSED, position, len(html), name)
    return Token(Kind.RAW, position, closing.start(), name) if closing.start() > position else None


class RefusedHtml(ValueError):
    """A file or page that cannot become a document.

    `reason` is a sentence for users; `code` a stable word for programs, one of
    `binary encoding not_html empty too_large too_deep too_many unclosed unstable`.
    """

    def __init__(self, reason: str, code: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.code = code


class TagError(ValueError):
    """A fact tag that cannot be read as a span.

    `line` and `column` of the input count from 1; `offset` is the same place in code points from 0.
    """

    def __init__(self, reason: str, html: str, offset: int) -> None:
        self.reason = reason
        self.offset = offset
        self.line = html.count("\n", 0, offset) + 1
        self.column = offset - html.rfind("\n", 0, offset)
        super().__init__(f"line {self.line}, column {self.column}: {reason}")
