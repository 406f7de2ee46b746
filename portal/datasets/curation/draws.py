"""Drawing documents by lot: stratified samples, and the two parts of a release.

Anyone with the keys and the seed can draw again. `portal.facts.sampling` says how the keys get
their numbers.

A stratified sample is by type, company, fiscal year or any fields. All documents of all strata
are put in one order by lot, and each stratum gives its first ones. How many each gives is either
the same for all, or its share of a total.

A release in two parts has development items, whose gold is open, and test items. Items of one
group, such as the pages of one filing or all documents of one company, come into the same part:
anyone who has seen the gold of a page knows much of the next one. No Django.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

from portal.facts.sampling import shuffled


def draw(keys: Iterable[str], size: int, seed: int) -> list[str]:
    """`size` of the keys, or all if there are fewer, sorted.

    Raises ValueError for a size below 1, and as `shuffled` does.

    >>> draw(["c", "a", "b"], 2, 1)
    ['a', 'c']
    """
    if size < 1:
        raise ValueError(f"the size of a sample must be at least 1, not {size}")
    return sorted(shuffled(keys, seed)[:size])


# The values of the fields that a stratum is made by; a value that is not known is "".
Stratum: TypeAlias = tuple[str, ...]


class Unit(NamedTuple):
    """What can be drawn: the name of a document, and the stratum it is in."""

    key: str
    stratum: Stratum


@dataclass(frozen=True)
class StratumSample:
    """How many documents a stratum has, and the names of those that are drawn, sorted."""

    stratum: Stratum
    available: int
    drawn: tuple[str, ...]


@dataclass(frozen=True)
class StratifiedSample:
    """What was drawn, by stratum in order; a stratum that gave none is there too."""

    strata: tuple[StratumSample, ...]

    @property
    def keys(self) -> list[str]:
        return sorted(key for stratum in self.strata for key in stratum.drawn)


def units(rows: Iterable[Mapping[str, Any]], key: str, fields: Sequence[str]) -> list[Unit]:
    """The rows as units: `key` names them, the values of `fields` make their strata.

    A value of None is the same as an empty one. Raises ValueError without fields, for a field
    named twice, and KeyError for one that a row does not have.

    >>> units([{"name": "p1", "type": "tax_form", "year": None}], "name", ["type", "year"])
    [Unit(key='p1', stratum=('tax_form', ''))]
    """
    if not fields:
        raise ValueError("strata need at least one field")
    if len(set(fields)) < len(fields):
        raise ValueError("a field makes strata once only")
    return [Unit(row[key], tuple(_text(row[field]) for field in fields)) for row in rows]


def allocate(available: Mapping[Stratum, int], size: int) -> dict[Stratum, int]:
    """How many of `size` each stratum gives: its share, by the method of largest remainders.

    Each gives the whole part of size * available / total; what is then missing comes one each from
    the strata with the largest remainders, of equal ones from the larger stratum, of equally large
    ones from the first in order. No stratum gives more than it has. A size above the total is the
    total. Raises ValueError for a size below 1. Also known as the Hare-Niemeyer method.

    >>> allocate({("a",): 5, ("b",): 3, ("c",): 2}, 4)
    {('a',): 2, ('b',): 1, ('c',): 1}
    """
    _check_size(size, "size")
    total = sum(available.values())
    size = min(size, total)
    shares = {
        stratum: Fraction(size * count, total) if total else Fraction(0)
        for stratum, count in sorted(available.items())
    }
    given = {stratum: int(share) for stratum, share in shares.items()}
    by_remainder = sorted(
        shares, key=lambda name: (given[name] - shares[name], -available[name], name)
    )
    for stratum in by_remainder[: size - sum(given.values())]:
        given[stratum] += 1
    return given


def draw_stratified(
    population: Iterable[Unit],
    *,
    seed: int,
    per_stratum: int | None = None,
    size: int | None = None,
) -> StratifiedSample:
    """Draws `per_stratum` of each stratum, or `size` in all in proportion to the strata.

    A stratum with fewer than `per_stratum` gives all it has. The same units, seed and numbers give
    the same sample, whatever the order of the units. Raises ValueError unless exactly one of
    `per_stratum` and `size` is given and at least 1, and for a key that comes twice.
    """
    if (per_stratum is None) == (size is None):
        raise ValueError("give either a number per stratum or a size of the whole sample")
    by_key: dict[str, Stratum] = {}
    keys: list[str] = []
    for unit in population:
        by_key[unit.key] = unit.stratum
        keys.append(unit.key)
    order = shuffled(keys, seed)
    available = Counter(by_key.values())
    if per_stratum is not None:
        _check_size(per_stratum, "number per stratum")
        wanted = {name: min(per_stratum, count) for name, count in available.items()}
    else:
        wanted = allocate(available, size or 0)
    drawn: dict[Stratum, list[str]] = {name: [] for name in sorted(available)}
    for key in order:
        stratum = by_key[key]
        if len(drawn[stratum]) < wanted[stratum]:
            drawn[stratum].append(key)
    return StratifiedSample(
        tuple(
            StratumSample(name, available[name], tuple(sorted(keys)))
            for name, keys in drawn.items()
        )
    )


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _check_size(size: int, name: str) -> None:
    if size < 1:
        raise ValueError(f"the {name} must be at least 1, not {size}")


FILING, COMPANY, NOTHING = "filing", "company", "none"
GROUPINGS = (FILING, COMPANY, NOTHING)
# Fields of the metadata that name the source document of a page; the first that is there counts.
FILING_FIELDS = ("filing", "source_filing", "accession_number", "source_document")
# `acme-10k_p012`, `acme 10-k, page 3`: a page of what stands before it.
_PAGE = re.compile(r"(.+?)[ _.,-]+(?:p|pg|page)[ _.-]?\d+", re.IGNORECASE)


def filing_of(name: str, metadata: Mapping[str, Any], source_url: str = "") -> str:
    """What names the filing that a document is a page of; a document alone is its own.

    What the metadata say comes first, then the name without its page, then the address.

    >>> filing_of("acme_10k_p012", {}), filing_of("acme_10k_p013", {"filing": "acme.htm"})
    ('name acme_10k', 'filing acme.htm')
    >>> filing_of("letter", {}), filing_of("exhibit", {}, "https://sec.gov/a.htm")
    ('document letter', 'address https://sec.gov/a.htm')
    """
    for field in FILING_FIELDS:
        value = metadata.get(field)
        if isinstance(value, str | int) and str(value).strip():
            return f"filing {str(value).strip()}"
    if match := _PAGE.fullmatch(name):
        return f"name {match[1]}"
    return f"address {source_url}" if source_url else f"document {name}"


def group_of(
    grouping: str,
    name: str,
    *,
    metadata: Mapping[str, Any],
    company: str = "",
    source_url: str = "",
) -> str:
    """What names the group of a document. Without a company it is grouped by its filing.

    >>> group_of("company", "a_p1", metadata={}, company="Acme Inc.")
    'company acme inc.'
    >>> group_of("none", "a_p1", metadata={})
    'document a_p1'
    """
    if grouping == NOTHING:
        return f"document {name}"
    if grouping == COMPANY and (plain := " ".join(company.casefold().split())):
        return f"company {plain}"
    return filing_of(name, metadata, source_url)


DEV, TEST = "dev", "test"

# The names of items that stay together, and how many of them each stratum has.
_Group: TypeAlias = list[Unit]


@dataclass(frozen=True)
class SplitDraw:
    """How to draw: `share` of the items, above 0 and below 1, becomes the test part.

    `group_by` says which items stay together, one of GROUPINGS.
    """

    share: float
    seed: int
    group_by: str = FILING

    def as_json(self) -> dict[str, Any]:
        return {"share": self.share, "seed": self.seed, "group_by": self.group_by}


def draw_splits(
    population: Iterable[Unit],
    draw: SplitDraw,
    kept: Mapping[str, str] | None = None,
    groups: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The split of each item by name; the test part has about the same share of every stratum.

    Items with the same value in `groups` come into the same part; an item that is not in it is a
    group of its own. Items in `kept` stay in the split they have there, for gold that was open once
    is no test any more, and the rest of their group joins them, in the development part where a
    group was divided. Only the other groups are drawn, in an order by lot: one goes into the test
    part if that brings the strata nearer to their shares. There is at least one group in each part
    as long as there are two to draw from. The same population, draw, `kept` and `groups` give the
    same splits. Raises ValueError for a share out of range, for a grouping that is none, for a name
    that comes twice, and where all items are one group.

    >>> draw_splits([Unit(name, ()) for name in "abcde"], SplitDraw(0.4, 1))
    {'a': 'test', 'b': 'dev', 'c': 'dev', 'd': 'test', 'e': 'dev'}
    """
    if not 0 < draw.share < 1:
        raise ValueError(f"the share of the test part must be above 0 and below 1: {draw.share}")
    if draw.group_by not in GROUPINGS:
        raise ValueError(f"group_by is one of {', '.join(GROUPINGS)}, not {draw.group_by!r}")
    units = sorted(population)
    grouped = _grouped(units, groups or {})
    parts = {key: _kept_split(group, kept or {}) for key, group in grouped.items()}
    fresh = {key: group for key, group in grouped.items() if not parts[key]}
    if len(grouped) == 1 and len(units) > 1 and fresh:
        raise ValueError(
            f"all items are of one {draw.group_by}, which is not divided: group by something else"
        )
    test = _drawn(fresh, draw) if fresh else set()
    return {
        unit.key: (kept or {}).get(unit.key) or parts[key] or (TEST if key in test else DEV)
        for key, group in grouped.items()
        for unit in group
    }


def _grouped(units: list[Unit], groups: Mapping[str, str]) -> dict[str, _Group]:
    """The groups by their first item, whose name orders them in the lot."""
    found: defaultdict[tuple[bool, str], _Group] = defaultdict(list)
    for unit in units:
        found[unit.key in groups, groups.get(unit.key, unit.key)].append(unit)
    return {group[0].key: group for group in found.values()}


def _kept_split(group: _Group, kept: Mapping[str, str]) -> str:
    found = {kept[unit.key] for unit in group if unit.key in kept}
    return "" if not found else DEV if DEV in found else TEST


def _drawn(groups: Mapping[str, _Group], draw: SplitDraw) -> set[str]:
    """The groups of the test part, by their first items."""
    sizes = {key: Counter(unit.stratum for unit in group) for key, group in groups.items()}
    available = sum(sizes.values(), Counter[Stratum]())
    total = available.total()
    # As people write it: 0.1 of 30 items is 3, whatever a float makes of it.
    wanted = round(Fraction(str(draw.share)) * total)
    left = Counter(allocate(available, max(1, min(wanted, total - 1))))
    order = shuffled(groups, draw.seed)
    test = []
    for key in order:
        size = sizes[key]
        if sum(abs(left[s] - n) - abs(left[s]) for s, n in size.items()) < 0:
            left.subtract(size)
            test.append(key)
    if not test and len(order) > 1:
        test = [min(order, key=lambda key: sizes[key].total())]
    elif len(test) == len(order) > 1:
        test.remove(min(reversed(order), key=lambda key: sizes[key].total()))
    return set(test)
