"""Tags of gold that mean nothing: no element of HTML, and none of the labels. Cleaning would drop
them without a word, and the facts that a mistyped tag marks with them.
"""

import re
from collections.abc import Collection
from typing import NamedTuple

from portal.facts.elements import EDGAR_ELEMENTS, ELEMENT_NAMES
from portal.facts.markup import Kind, tokens
from portal.facts.reduction import is_xhtml

# Only what could be a label: inline XBRL and other vocabularies have a colon in their names.
_NAMES = re.compile(r"<([A-Za-z][A-Za-z0-9_-]*)(?=[\s/>])")
# Drawings and formulas have elements of their own.
_FOREIGN = frozenset({"svg", "math"})
_MOST_NAMED = 5


class UnknownTag(NamedTuple):
    """A tag as it is spelled where it first stands, how often it opens, and that place."""

    name: str
    times: int
    start: int


def unknown_tags(html: str, known: Collection[str]) -> list[UnknownTag]:
    """The tags that are neither elements nor any of the labels `known`, in any case.

    >>> unknown_tags("<p><Number>1</Number> <Currency>$</Currency></p>", ["Number"])
    [UnknownTag(name='Currency', times=1, start=22)]
    """
    labels = {label.lower() for label in known}
    names = {name.lower() for name in set(_NAMES.findall(html))}
    suspects = names - labels - ELEMENT_NAMES - EDGAR_ELEMENTS
    if not suspects:
        return []
    found: dict[str, UnknownTag] = {}
    inside = 0
    for token in tokens(html, xml=is_xhtml(html)):
        if token.name in _FOREIGN and token.kind in (Kind.START, Kind.END):
            inside = max(0, inside + (1 if token.kind is Kind.START else -1))
        elif token.kind is Kind.START and token.name in suspects and not inside:
            spelled = html[token.start + 1 : token.start + 1 + len(token.name)]
            first = found.get(token.name, UnknownTag(spelled, 0, token.start))
            found[token.name] = first._replace(times=first.times + 1)
    return list(found.values())


def unknown_tags_reason(unknown: Collection[UnknownTag], labels: Collection[str]) -> str:
    """What is wrong, in a sentence."""
    named = [
        f"<{tag.name}> {'once' if tag.times == 1 else f'{tag.times:,} times'}"
        for tag in list(unknown)[:_MOST_NAMED]
    ]
    more = len(unknown) - _MOST_NAMED
    listed = ", ".join([*named, *([f"and {more:,} more"] if more > 0 else [])])
    return (
        f"{listed}: neither an element of HTML nor one of the labels {', '.join(labels)}; correct"
        " or remove the tags"
    )
