"""Inline-XBRL facts with all that the filer said of them."""

import re
from typing import NamedTuple

from portal.facts.canonical import Canonical
from portal.facts.xbrl import XbrlFact, locate_elements
from portal.facts.xbrl_resources import Context, Period, XbrlResources

_ATTRIBUTE = re.compile(r"""\s([\w.:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_SCALE = re.compile(r"[+-]?[0-9]{1,2}")


class XbrlDetail(NamedTuple):
    """A fact and what stands beside its figures.

    The value is what is written, times 10 to the power of `scale`, negative if `sign` is `-`: the
    text shows a minus or a parenthesis outside of the element. `unit` is spelled as in
    XbrlResources, `members` are the parts of the company it speaks of, by dimension, and `format`
    says how the text is to be read, such as `ixt:num-dot-decimal`. What the filer did not say, or
    says of an unknown context or unit, is empty.
    """

    fact: XbrlFact
    sign: str = ""
    scale: int = 0
    unit: str = ""
    period: Period = Period()
    members: tuple[tuple[str, str], ...] = ()
    format: str = ""


def read_xbrl_details(
    html: str, canonical: Canonical, resources: XbrlResources
) -> list[XbrlDetail]:
    """The facts that `read_xbrl` gives, in the same order, with their details.

    `resources` are those of the whole filing, of which `html` may be a page. Raises TagError.

    >>> from portal.facts import canonicalise
    >>> page = '<p>Loss <ix:nonFraction name="a:Loss" sign="-" scale="6">12</ix:nonFraction></p>'
    >>> read_xbrl_details(page, canonicalise(page), XbrlResources())[0][:3]
    (XbrlFact(start=5, end=7, kind='number', concept='a:Loss'), '-', 6)
    """
    details = []
    for found in locate_elements(html, canonical):
        details.append(_detail(found.fact, _attributes(found.opening), resources))
    return details


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
    """The attributes of a start tag by their names in lower case; of doubled ones the first."""
    found: dict[str, str] = {}
    for match in _ATTRIBUTE.finditer(opening):
        found.setdefault(match[1].lower(), match[2] if match[2] is not None else match[3])
    return found
