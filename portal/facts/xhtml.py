"""Writes what only XML has as HTML, so that every reader of pages sees the same text.

In XHTML, a CDATA section is text, a document can declare entities of its own, and elements can have
a prefix. In HTML, these are a comment, a word with an ampersand and an unknown element.
"""

import re
from collections.abc import Mapping
from html import escape

from .markup import RefusedHtml

_NAMESPACE = r"""\s*=\s*["']http://www\.w3\.org/1999/xhtml["']"""
_XHTML = re.compile(rf"<\?xml[\s?]|xmlns(?::[\w.-]+)?{_NAMESPACE}")
_PREFIX = re.compile(rf"xmlns:([\w.-]+){_NAMESPACE}")
_ONLY_XML = re.compile(rf"<!\[CDATA\[|<\?(?!xml[\s?])|xmlns:[\w.-]+{_NAMESPACE}")
_QUOTED = r""""[^"]*+"|'[^']*+'"""
# Unclosed pieces end with the page, so that it is read once.
_COMMENT, _INSTRUCTION = r"<!--.*?(?:-->|\Z)", r"<\?(?!xml[\s?]).*?(?:\?>|\Z)"
_DOCTYPE_BEGINS = "<!DOCTYPE"
_DOCTYPE = re.compile(
    rf"""({_DOCTYPE_BEGINS}(?>[^\[\]>"']++|{_QUOTED})*+)
        \[((?>{_COMMENT}|{_INSTRUCTION}|{_QUOTED}|[^\]"'])*+)\]\s*+>""",
    re.DOTALL | re.VERBOSE,
)
_PIECE = re.compile(
    rf"""{_COMMENT}
      | <!\[CDATA\[(?P<cdata>.*?)(?:\]\]>|(?P<unclosed>\Z))
      | (?P<instruction>{_INSTRUCTION})
      | (?P<tag></?)(?P<prefix>[A-Za-z_][\w.-]*+):(?=[A-Za-z])
      | &(?P<entity>[A-Za-z_:][\w:.-]*+);
    """,
    re.DOTALL | re.VERBOSE,
)
_DECLARED = re.compile(
    rf"{_COMMENT}|<!ENTITY\s++([A-Za-z_:][\w:.-]*+)\s++({_QUOTED})\s*+>", re.DOTALL
)
_REFERENCE = re.compile(
    r"&(?:#(?P<decimal>[0-9]{1,7})|#x(?P<hex>[0-9a-fA-F]{1,6})|(?P<name>[\w:.-]++));"
)
_PREDEFINED = frozenset({"lt", "gt", "amp", "quot", "apos"})
_DEEPEST = 20
# Characters of one entity, and of all references together; a declaration can multiply them.
LONGEST_ENTITY = 20_000
LONGEST_ENTITIES = 5_000_000


def is_xhtml(html: str) -> bool:
    """Whether the page declares XHTML, where `<td/>` is a complete element."""
    return _XHTML.search(html) is not None


def as_html(page: str) -> str:
    """Return an XHTML page with the same text and elements in HTML; other pages are unchanged.

    CDATA sections become text, references to declared entities their value, and prefixes bound to
    XHTML and processing instructions are removed. Nothing is loaded from elsewhere. Idempotent.
    Raises RefusedHtml for entities that expand without bounds.

    >>> as_html('<?xml version="1.0"?><p>Sales <![CDATA[1,234 & <more>]]></p>')
    '<?xml version="1.0"?><p>Sales 1,234 &amp; &lt;more&gt;</p>'
    """
    if not is_xhtml(page):
        return page
    at = page.find(_DOCTYPE_BEGINS)
    declarations = _DOCTYPE.match(page, at) if at >= 0 else None
    if declarations:
        start, end = declarations.span()
        page = f"{page[:start]}{declarations[1].rstrip()}>{page[end:]}"
    elif not _ONLY_XML.search(page):
        return page
    entities = _declared(declarations[2]) if declarations else {}
    return _Writing(frozenset(_PREFIX.findall(page)), _Entities(entities)).written(page)


class _Entities:
    """Declared entities, expanded once."""

    def __init__(self, declared: Mapping[str, str]) -> None:
        self._declared = declared
        self._values: dict[str, str] = {}

    def value(self, name: str, depth: int = 0) -> str | None:
        """The value with the entities in it; None if it is not declared.

        Raises RefusedHtml if it is too long or has no end.
        """
        if name not in self._declared:
            return None
        if name not in self._values:
            if depth > _DEEPEST:
                raise RefusedHtml(
                    f"the entity {name!r} is nested too deeply, or refers to itself", "too_deep"
                )
            self._values[name] = self._expanded(name, depth)
        return self._values[name]

    def _expanded(self, name: str, depth: int) -> str:
        pieces: list[str] = []
        position = length = 0
        literal = self._declared[name]
        for match in _REFERENCE.finditer(literal):
            value = self.value(match["name"], depth + 1) if match["name"] else None
            pieces += [literal[position : match.start()], match[0] if value is None else value]
            position = match.end()
            length += len(pieces[-1])
            if length > LONGEST_ENTITY:
                reason = f"the entity {name!r} expands to more than {LONGEST_ENTITY:,} characters"
                raise RefusedHtml(reason, "too_large")
        return "".join([*pieces, literal[position:]])


class _Writing:
    """One pass over a page."""

    def __init__(self, prefixes: frozenset[str], entities: _Entities) -> None:
        self._prefixes = prefixes
        self._entities = entities
        self._expanded = 0

    def written(self, page: str) -> str:
        return _PIECE.sub(self._piece, page)

    def _piece(self, match: re.Match[str]) -> str:
        if match["unclosed"] is not None:
            line = match.string.count("\n", 0, match.start()) + 1
            reason = f"a CDATA section opened on line {line} is never closed"
            raise RefusedHtml(reason, "unclosed")
        if match["cdata"] is not None:
            return escape(match["cdata"], quote=False)
        if match["instruction"] is not None:
            return ""
        if match["prefix"] in self._prefixes:
            return match["tag"]
        value = self._entities.value(match["entity"]) if match["entity"] else None
        if value is None:
            return match[0]
        self._expanded += len(value)
        if self._expanded > LONGEST_ENTITIES:
            reason = f"the page's entities expand to more than {LONGEST_ENTITIES:,} characters"
            raise RefusedHtml(reason, "too_large")
        return value


def _declared(subset: str) -> dict[str, str]:
    """The literal values of the entities of an internal DTD subset; of duplicates the first."""
    entities: dict[str, str] = {}
    for match in _DECLARED.finditer(subset):
        if match[1] and match[1] not in _PREDEFINED:
            entities.setdefault(match[1], _REFERENCE.sub(_character, match[2][1:-1]))
    return entities


def _character(match: re.Match[str]) -> str:
    """The character of a numeric reference, which counts when the entity is declared."""
    if match["name"]:
        return match[0]
    code = int(match["decimal"]) if match["decimal"] else int(match["hex"], 16)
    return chr(code) if code <= 0x10FFFF else match[0]
