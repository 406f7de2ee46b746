"""What inline XBRL keeps apart from the page: its contexts, its units, and what it says of the
whole filing.

Read from `ix:resources` and from `ix:nonNumeric` elements of the concepts `dei:…`, wherever they
stand. Source: Inline XBRL 1.1, XBRL 2.1.
"""

import re
from dataclasses import dataclass, field
from html import unescape
from typing import NamedTuple

from portal.facts.markup import Kind, Token, tokens
from portal.facts.reduction import is_xhtml

_NAME = re.compile(r"""\sname\s*=\s*["'](dei:\w+)["']""")
_ID = re.compile(r"""\sid\s*=\s*["']([^"']*)["']""")
_DIMENSION = re.compile(r"""\sdimension\s*=\s*["']([^"']*)["']""")
_FILED = re.compile(r":(?:header|nonnumeric|context|unit)\b", re.IGNORECASE)
# A longer text is no name, date or unit.
_LONGEST = 300
_DATES = frozenset({"startdate", "enddate", "instant"})


class Period(NamedTuple):
    """ISO 8601 dates: of a duration both, of an instant `end` alone; empty for neither."""

    start: str = ""
    end: str = ""


@dataclass(frozen=True)
class Context:
    """When, and of which part: members by dimension, both with their prefixes."""

    period: Period = field(default_factory=Period)
    members: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class XbrlResources:
    """Contexts and units by id, and the first value of each `dei:…` concept, without the prefix.

    A unit is spelled without its prefix: `USD`, `shares`, `pure`, `USD/shares`.
    """

    contexts: dict[str, Context] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    entity: dict[str, str] = field(default_factory=dict)


def read_resources(html: str) -> XbrlResources:
    """The resources of a whole filing, or of a part that holds its header. Linear; never raises.

    >>> unit = '<xbrli:unit id="u"><xbrli:measure>iso4217:USD</xbrli:measure></xbrli:unit>'
    >>> read_resources(unit).units
    {'u': 'USD'}
    """
    if not _FILED.search(html):
        return XbrlResources()
    reading = _Reading(html)
    for token in tokens(html, xml=is_xhtml(html)):
        reading.read(token)
    return reading.resources


class _Reading:
    """One pass: the context, unit or `dei:` element that is open, and its text so far."""

    def __init__(self, html: str) -> None:
        self._html = html
        self.resources = XbrlResources()
        self._context = self._unit = self._entity = self._dimension = ""
        self._dates: dict[str, str] = {}
        self._members: dict[str, str] = {}
        self._measures: list[str] = []
        self._depth = 0
        self._text: list[str] = []
        self._said: list[str] = []

    def read(self, token: Token) -> None:
        if token.kind is Kind.TEXT:
            self._text.append(self._html[token.start : token.end][:_LONGEST])
            if self._entity:
                self._said.append(self._text[-1])
            return
        local = token.name.rpartition(":")[2] if ":" in token.name else ""
        if token.kind is Kind.START:
            self._start(local, token)
        elif token.kind is Kind.END:
            self._end(local)
        self._text.clear()

    def _start(self, local: str, token: Token) -> None:
        if self._html.endswith("/>", token.start, token.end):
            return
        if local == "nonnumeric":
            self._open_entity(token)
        elif local == "context":
            self._context = self._attribute(_ID, token)
            self._dates, self._members = {}, {}
        elif local == "unit":
            self._unit, self._measures = self._attribute(_ID, token), []
        elif local == "unitdenominator" and self._unit:
            self._measures.append("/")
        elif local == "explicitmember":
            self._dimension = self._attribute(_DIMENSION, token)

    def _end(self, local: str) -> None:
        text = unescape("".join(self._text)).strip()[:_LONGEST]
        if local == "nonnumeric":
            self._close_entity()
        elif local == "context" and self._context:
            dates = self._dates
            end = dates.get("enddate") or dates.get("instant", "")
            period = Period(dates.get("startdate", ""), end)
            self.resources.contexts.setdefault(self._context, Context(period, self._members))
            self._context = ""
        elif local in _DATES and self._context:
            self._dates[local] = text
        elif local == "explicitmember" and self._context and self._dimension:
            self._members[self._dimension] = text
        elif local == "measure" and self._unit:
            self._measures.append(text.rpartition(":")[2])
        elif local == "unit" and self._unit:
            self.resources.units.setdefault(self._unit, _spelled(self._measures))
            self._unit = ""

    def _open_entity(self, token: Token) -> None:
        """Follows the outermost `dei:` element; of those inside it the text is part of its own."""
        if self._entity:
            self._depth += 1
            return
        self._entity = self._attribute(_NAME, token).removeprefix("dei:")
        self._depth = 1 if self._entity else 0
        self._said = []

    def _close_entity(self) -> None:
        if not self._entity:
            return
        self._depth -= 1
        if self._depth == 0:
            said = " ".join(unescape("".join(self._said)).split())[:_LONGEST]
            if said:
                self.resources.entity.setdefault(self._entity, said)
            self._entity = ""

    def _attribute(self, pattern: re.Pattern[str], token: Token) -> str:
        match = pattern.search(self._html, token.start, token.end)
        return match[1] if match else ""


def _spelled(measures: list[str]) -> str:
    """`USD/shares`; of a product `a*b`."""
    return "*".join(measures).replace("*/*", "/")
