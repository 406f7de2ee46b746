"""Random draws that a seed repeats: stratified samples, and the dev and test splits of a release.

`portal.facts.sampling` shuffles the keys with the seed. No Django.

A stratified sample takes the first documents of each stratum in one shuffled order of all
documents: the same number from each stratum, or its share of a total.

A release can have dev items with public gold, and test items. Items of one group, such as the pages
of a filing or the documents of a company, are in the same split, because the gold of one page
reveals much about the next.
"""

import re
import secrets
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

from portal.facts.sampling import shuffled


def new_seed() -> int:
    """Return a random seed that is short enough to type."""
    return secrets.randbelow(1_000_000)


def draw(keys: Iterable[str], size: int, seed: int) -> list[str]:
    """Draw `size` of the keys, or all if there are fewer, and sort them.

    Raises ValueError for a size below 1, and as `shuffled` does.

    >>> draw(["c", "a", "b"], 2, 1)
    ['a', 'c']
    """
    if size < 1:
        raise ValueError(f"the size of a sample must be at least 1, not {size}")
    return sorted(shuffled(keys, seed)[:size])


# The values of a stratum's fields; an unknown value is "".
Stratum: TypeAlias = tuple[str, ...]


class Unit(NamedTuple):
    """A document that can be drawn: its name and its stratum."""

    key: str
    stratum: Stratum


@dataclass(frozen=True)
class StratumSample:
    """The number of documents in a stratum, and the sorted names of those that are drawn."""

    stratum: Stratum
    available: int
    drawn: tuple[str, ...]


@dataclass(frozen=True)
class StratifiedSample:
    """The drawn documents by stratum, including strata without any."""

    strata: tuple[StratumSample, ...]

    @property
    def keys(self) -> list[str]:
        return sorted(key for stratum in self.strata for key in stratum.drawn)

    @property
    def available(self) -> int:
        return sum(stratum.available for stratum in self.strata)


def units(rows: Iterable[Mapping[str, Any]], key: str, fields: Sequence[str]) -> list[Unit]:
    """Convert rows to units: `key` names them, the values of `fields` are their strata.

    None counts as an empty value. Raises ValueError for no fields or a repeated one, and KeyError
    for a field that a row does not have.

    >>> units([{"name": "p1", "type": "tax_form", "year": None}], "name", ["type", "year"])
    [Unit(key='p1', stratum=('tax_form', ''))]
    """
    if not fields:
        raise ValueError("strata need at least one field")
    if len(set(fields)) < len(fields):
        raise ValueError("strata need each field only once")
    return [Unit(row[key], tuple(_text(row[field]) for field in fields)) for row in rows]


def allocate(available: Mapping[Stratum, int], size: int) -> dict[Stratum, int]:
    """Share `size` among the strata by the largest remainder method (Hare-Niemeyer).

    Each stratum gets the whole part of size * available / total. The strata with the largest
    remainders get one more each; ties go to the larger stratum, then to the first in order. A size
    above the total counts as the total. Raises ValueError for a size below 1.

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


def allocate_evenly(available: Mapping[Stratum, int], size: int) -> dict[Stratum, int]:
    """Share `size` among the strata as evenly as they allow: every stratum gives the same number,
    and all it has if that is less.

    What is left over after equal shares goes one each to the larger strata; ties go to the first in
    order. A size above the total counts as the total. Raises ValueError for a size below 1.

    >>> allocate_evenly({("a",): 9, ("b",): 2, ("c",): 5}, 9)
    {('a',): 4, ('b',): 2, ('c',): 3}
    """
    _check_size(size, "size")
    level, left = 0, min(size, sum(available.values()))
    larger = {name: count for name, count in available.items() if count}
    # Raise the level to that of the smallest stratum that has more, until the size is used up.
    while larger and left >= len(larger):
        step = min(min(larger.values()) - level, left // len(larger))
        level, left = level + step, left - step * len(larger)
        larger = {name: count for name, count in larger.items() if count > level}
    given = {name: min(available[name], level) for name in sorted(available)}
    for stratum in sorted(larger, key=lambda name: (-available[name], name))[:left]:
        given[stratum] += 1
    return given


def draw_stratified(
    population: Iterable[Unit],
    *,
    seed: int,
    per_stratum: int | None = None,
    size: int | None = None,
    evenly: bool = False,
) -> StratifiedSample:
    """Draw `per_stratum` units of each stratum, or `size` in total: in proportion to the strata, or
    `evenly` from all of them.

    All units of a stratum with fewer than `per_stratum` are drawn. The result does not depend on
    the order of the units. Raises ValueError unless exactly one of `per_stratum` and `size` is
    given and at least 1, and for a repeated key.
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
        wanted = (allocate_evenly if evenly else allocate)(available, size or 0)
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
# Metadata fields that name the source document of a page; the first existing one is used.
FILING_FIELDS = ("filing", "source_filing", "accession_number", "source_document")
# A page of a document, as in `acme-10k_p012` and `acme 10-k, page 3`.
_PAGE = re.compile(r"(.+?)[ _.,-]+(?:p|pg|page)[ _.-]?\d+", re.IGNORECASE)


def filing_of(name: str, metadata: Mapping[str, Any], source_url: str = "") -> str:
    """Return the name of a document's filing, or of the document if it has none.

    The metadata are used first, then the name without its page number, then the source URL.

    >>> filing_of("acme_10k_p012", {}), filing_of("acme_10k_p013", {"filing": "acme.htm"})
    ('name acme_10k', 'filing acme.htm')
    >>> filing_of("annex", {}), filing_of("exhibit", {}, "https://sec.gov/a.htm")
    ('document annex', 'url https://sec.gov/a.htm')
    """
    for field in FILING_FIELDS:
        value = metadata.get(field)
        if isinstance(value, str | int) and str(value).strip():
            return f"filing {str(value).strip()}"
    if match := _PAGE.fullmatch(name):
        return f"name {match[1]}"
    return f"url {source_url}" if source_url else f"document {name}"


def group_of(
    grouping: str,
    name: str,
    *,
    metadata: Mapping[str, Any],
    company: str = "",
    source_url: str = "",
) -> str:
    """Return the name of a document's group. Without a company, it is grouped by filing.

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

# Items that stay together.
_Group: TypeAlias = list[Unit]


@dataclass(frozen=True)
class SplitDraw:
    """How to draw: `share` of the items, between 0 and 1, go into the test split.

    `group_by`, one of GROUPINGS, says which items stay together.
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
    """Return the split of each item by name. The test split has a similar share of every stratum.

    Items with the same value in `groups` get the same split; an item without one is its own group.
    Items in `kept` keep their split, because gold that was once public cannot be test gold again.
    The rest of their group joins them, or goes into dev if the group was divided. The other groups
    are drawn in a shuffled order: a group becomes test if that brings the strata closer to their
    shares. Each split has at least one group if there are two to draw from. The result is
    deterministic. Raises ValueError for a share out of range, an unknown grouping, a repeated
    name, and if all items are one group.

    >>> draw_splits([Unit(name, ()) for name in "abcde"], SplitDraw(0.4, 1))
    {'a': 'test', 'b': 'dev', 'c': 'dev', 'd': 'test', 'e': 'dev'}
    """
    if not 0 < draw.share < 1:
        raise ValueError(f"the test share must be between 0 and 1, not {draw.share}")
    if draw.group_by not in GROUPINGS:
        raise ValueError(f"group_by must be one of {', '.join(GROUPINGS)}, not {draw.group_by!r}")
    units = sorted(population)
    grouped = _grouped(units, groups or {})
    parts = {key: _kept_split(group, kept or {}) for key, group in grouped.items()}
    fresh = {key: group for key, group in grouped.items() if not parts[key]}
    if len(grouped) == 1 and len(units) > 1 and fresh:
        raise ValueError(
            f"all items are in one {draw.group_by}, which cannot be divided; group them differently"
        )
    test = _drawn(fresh, draw) if fresh else set()
    return {
        unit.key: (kept or {}).get(unit.key) or parts[key] or (TEST if key in test else DEV)
        for key, group in grouped.items()
        for unit in group
    }


def _grouped(units: list[Unit], groups: Mapping[str, str]) -> dict[str, _Group]:
    """Group the units by the name of their first item, which determines the shuffled order."""
    by_name: defaultdict[tuple[bool, str], _Group] = defaultdict(list)
    for unit in units:
        by_name[unit.key in groups, groups.get(unit.key, unit.key)].append(unit)
    return {group[0].key: group for group in by_name.values()}


def _kept_split(group: _Group, kept: Mapping[str, str]) -> str:
    splits = {kept[unit.key] for unit in group if unit.key in kept}
    return "" if not splits else DEV if DEV in splits else TEST


def _drawn(groups: Mapping[str, _Group], draw: SplitDraw) -> set[str]:
    """Draw the groups of the test split and return the names of their first items."""
    sizes = {key: Counter(unit.stratum for unit in group) for key, group in groups.items()}
    available = sum(sizes.values(), Counter[Stratum]())
    total = available.total()
    # An exact decimal share: 0.1 of 30 items is 3.
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
