"""Reads inline-XBRL facts, located in the canonical text, with their details.

Canonical documents keep the text of inline-XBRL elements but not the elements, so this reads the
original page. Numbers are `ix:nonFraction`; dates are `ix:nonNumeric` whose format is a date or
duration. They are facts if their text is a number or date to a reader: a dash or `no` for zero is
not. Elements in `ix:header` and in text that the page hides are ignored. Contexts, units and
details of the whole filing come from `ix:resources` and from `ix:nonNumeric` elements of `dei:…`
concepts anywhere. Source: Inline XBRL 1.1, XBRL 2.1.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import unescape
from typing import Literal, NamedTuple

from .canonical import Canonical
from .cleaning import ixbrl_prefixes
from .file_reading import open_envelope
from .grammar import CURRENCY, NEGATIVE
from .markup import Kind, TagError, Token, tokens
from .spans import trim_span
from .tags import TaggedPart, locate, tagged_part
from .values import read_value
from .xhtml import is_xhtml

_CONCEPT = re.compile(r"""\sname\s*=\s*["']([^"']*)["']""", re.IGNORECASE)
_TEMPORAL = re.compile(r"""\sformat\s*=\s*["'](?:[\w.-]+:)?(?:date|dur)""", re.IGNORECASE)
_ELEMENT = re.compile(r"<[\w.-]+:non(?:fraction|numeric)\b", re.IGNORECASE)
_DIGIT = re.compile(r"[0-9]")


class XbrlFact(NamedTuple):
    """`[start, end)` in code points of the canonical text, and the filer's concept.

    The range is as tagged: parentheses or percent signs may be outside.
    """

    start: int
    end: int
    kind: Literal["number", "date"]
    concept: str


class LocatedElement(NamedTuple):
    """A fact and the whole start tag of its element."""

    fact: XbrlFact
    opening: str


class LocatedElements(NamedTuple):
    """The elements in the text of a page, and the number of those in text that it hides."""

    shown: list[LocatedElement]
    hidden: int


class _Tagged(NamedTuple):
    part: TaggedPart
    concept: str


def read_xbrl(html: str, canonical: Canonical) -> list[XbrlFact]:
    """Return the inline-XBRL facts of a page in order, without overlaps: of nested facts the outer.

    `canonical` is the canonical page. Facts in hidden text are left out. Raises TagError if facts
    cannot be located.

    >>> from portal.facts import canonicalise
    >>> page = '<p>Net <ix:nonFraction name="us-gaap:Revenues">1,200</ix:nonFraction></p>'
    >>> read_xbrl(page, canonicalise(page))
    [XbrlFact(start=4, end=9, kind='number', concept='us-gaap:Revenues')]
    """
    return [element.fact for element in locate_elements(html, canonical).shown]


def locate_elements(html: str, canonical: Canonical) -> LocatedElements:
    """The elements of the facts of `read_xbrl`, in the same order and with the same errors."""
    if not _ELEMENT.search(html):
        return LocatedElements([], 0)
    content = open_envelope(html).content
    tagged = list(_tagged(content))
    if not tagged:
        return LocatedElements([], 0)
    located_in, facts = locate(content, [tag.part for tag in tagged], only_shown=True)
    if located_in.html != canonical.html:
        raise TagError("inline XBRL from here on would change how the page is read", content, 0)
    elements = []
    for located in facts:
        part, concept = tagged[int(located.identity)]
        span = trim_span(canonical.text, located.span)
        kind: Literal["number", "date"] = "number" if span.label == "number" else "date"
        if _is_readable(kind, canonical.text[span.start : span.end]):
            opening = content[part.opening.start : part.opening.end]
            elements.append(LocatedElement(XbrlFact(span.start, span.end, kind, concept), opening))
    return LocatedElements(elements, len(tagged) - len(elements))


def _tagged(html: str) -> Iterator[_Tagged]:
    """The outermost elements of numbers and dates that can be read, with their concepts."""
    prefixes = ixbrl_prefixes(html)
    names = {f"{prefix}:{name}" for prefix in prefixes for name in ("nonfraction", "nonnumeric")}
    headers = {f"{prefix}:header" for prefix in prefixes}
    hidden = count = 0
    inside: list[Token] = []
    texts: list[Token] = []
    for token in tokens(html, xml=is_xhtml(html)):
        is_tag = token.kind in (Kind.START, Kind.END)
        if is_tag and token.name in headers:
            hidden = max(0, hidden + (1 if token.kind is Kind.START else -1))
        elif token.kind is Kind.TEXT and inside:
            texts.append(token)
        elif not is_tag or hidden or token.name not in names:
            continue
        elif token.kind is Kind.START:
            if not inside and _kind(html, token) and not _is_closed(html, token):
                inside, texts = [token], []
            elif inside and token.name == inside[0].name and not _is_closed(html, token):
                inside.append(token)
        elif inside and token.name == inside[0].name:
            opening = inside.pop()
            if not inside and (kind := _read_kind(html, opening, texts)):
                part = tagged_part(html, kind, str(count), (opening, token), texts)
                yield _Tagged(part, _concept(html, opening))
                count += 1


def _read_kind(html: str, opening: Token, texts: Sequence[Token]) -> str:
    """The kind of an element with a number or date in its text; empty without one."""
    kind = _kind(html, opening)
    text = "".join(unescape(html[token.start : token.end]) for token in texts)
    return kind if _is_readable(kind, text) else ""


def _is_readable(kind: str, text: str) -> bool:
    return bool(_DIGIT.search(text) or read_value(text, kind).value)


def _kind(html: str, opening: Token) -> str:
    """`number` or `date`, or empty for an element that is neither."""
    if opening.name.endswith(":nonfraction"):
        return "number"
    return "date" if _TEMPORAL.search(html, opening.start, opening.end) else ""


def _is_closed(html: str, opening: Token) -> bool:
    return html.endswith("/>", opening.start, opening.end)


def _concept(html: str, opening: Token) -> str:
    match = _CONCEPT.search(html, opening.start, opening.end)
    return match[1] if match else ""


_NAME = re.compile(r"""\sname\s*=\s*["'](dei:\w+)["']""")
_ID = re.compile(r"""\sid\s*=\s*["']([^"']*)["']""")
_DIMENSION = re.compile(r"""\sdimension\s*=\s*["']([^"']*)["']""")
_FILED = re.compile(r":(?:header|nonnumeric|context|unit)\b", re.IGNORECASE)
# A longer text is not a name, date or unit.
_LONGEST = 300
_DATES = frozenset({"startdate", "enddate", "instant"})


class Period(NamedTuple):
    """ISO 8601 dates: both for a duration, only `end` for an instant."""

    start: str = ""
    end: str = ""


@dataclass(frozen=True)
class Context:
    """The period, and members by dimension, both with their prefixes."""

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
    """Read the resources of a filing, or of the part with its header. Linear; never raises.

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
    """The state of one pass: the open context, unit or `dei:` element, and its text so far."""

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
        """Tracks the outermost `dei:` element, whose text includes that of elements inside it."""
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
    """Such as `USD/shares`, or `a*b` for a product."""
    return "*".join(measures).replace("*/*", "/")


_ATTRIBUTE = re.compile(r"""\s([\w.:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_SCALE = re.compile(r"[+-]?[0-9]{1,2}")


class XbrlDetail(NamedTuple):
    """A fact with its details.

    The value is the text times 10 to the power of `scale`, negative if `sign` is `-`: a minus or
    parenthesis in the text is outside the element. `unit` is spelled as in XbrlResources, `members`
    are by dimension, and `format` is the number format, such as `ixt:num-dot-decimal`. Missing
    details, and those of an unknown context or unit, are empty.
    """

    fact: XbrlFact
    sign: str = ""
    scale: int = 0
    unit: str = ""
    period: Period = Period()
    members: tuple[tuple[str, str], ...] = ()
    format: str = ""


class XbrlPage(NamedTuple):
    """The facts of a page, and the number of facts in text that it hides."""

    details: list[XbrlDetail]
    hidden: int


def read_xbrl_details(html: str, canonical: Canonical, resources: XbrlResources) -> XbrlPage:
    """Return the facts of `read_xbrl` in the same order, with their details.

    A fact that is negative to the filer includes a sign in front of its element, even one behind a
    space: only the filer can say that a dash between a word and a figure is a minus. `resources`
    are those of the whole filing; `html` may be one page of it. Raises TagError.

    >>> from portal.facts import canonicalise
    >>> page = '<p>Loss <ix:nonFraction name="a:Loss" sign="-" scale="6">12</ix:nonFraction></p>'
    >>> read_xbrl_details(page, canonicalise(page), XbrlResources()).details[0][:3]
    (XbrlFact(start=5, end=7, kind='number', concept='a:Loss'), '-', 6)
    """
    elements = locate_elements(html, canonical)
    details = [_detail(one.fact, _attributes(one.opening), resources) for one in elements.shown]
    return XbrlPage([_with_sign(detail, canonical.text) for detail in details], elements.hidden)


_SIGN_BEFORE = re.compile(rf"(?<![0-9])[{NEGATIVE}][ \xa0]?[{CURRENCY}]?[ \xa0]?\Z")


def _with_sign(detail: XbrlDetail, text: str) -> XbrlDetail:
    start = detail.fact.start
    sign = _SIGN_BEFORE.search(text, max(start - 4, 0), start)
    if detail.sign != "-" or sign is None:
        return detail
    return detail._replace(fact=detail.fact._replace(start=sign.start()))


def _detail(fact: XbrlFact, given: dict[str, str], resources: XbrlResources) -> XbrlDetail:
    context = resources.contexts.get(given.get("contextref", ""), Context())
    scale = given.get("scale", "")
    return XbrlDetail(
        fact,
        sign="-" if given.get("sign") == "-" else "",
        scale=int(scale) if _SCALE.fullmatch(scale) else 0,
        unit=resources.units.get(given.get("unitref", ""), ""),
        period=context.period,
        members=tuple(context.members.items()),
        format=given.get("format", ""),
    )


def _attributes(opening: str) -> dict[str, str]:
    """The attributes of a start tag by lower-case name; of duplicates the first."""
    attributes: dict[str, str] = {}
    for match in _ATTRIBUTE.finditer(opening):
        attributes.setdefault(match[1].lower(), match[2] if match[2] is not None else match[3])
    return attributes
