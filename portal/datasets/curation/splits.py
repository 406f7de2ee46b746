"""A release in two parts by lot: development items, whose gold is open, and test items.

Items of one group, such as the pages of one filing, come into the same part: who has seen the gold
of a page knows much of the next one.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from .draws import shuffled
from .filings import FILING, GROUPINGS
from .stratified import Stratum, Unit, allocate

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
