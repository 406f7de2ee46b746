"""A release in two parts by lot: development items, whose gold is open, and test items."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from .stratified import Unit, draw_stratified

DEV, TEST = "dev", "test"


@dataclass(frozen=True)
class SplitDraw:
    """How to draw: `share` of the items, above 0 and below 1, becomes the test part."""

    share: float
    seed: int


def draw_splits(
    population: Iterable[Unit], draw: SplitDraw, kept: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The split of each item by name; the test part has the same share of every stratum.

    Items in `kept` stay in the split they have there, for gold that was open once is no test any
    more, and only the others are drawn from. There is at least one item of each part as long as
    there are two to draw from. The same population, share, seed and `kept` give the same splits.
    Raises ValueError for a share out of range, and as `draw_stratified` does.

    >>> draw_splits([Unit(name, ()) for name in "abcde"], SplitDraw(0.4, 1))
    {'a': 'test', 'b': 'dev', 'c': 'dev', 'd': 'test', 'e': 'dev'}
    """
    if not 0 < draw.share < 1:
        raise ValueError(f"the share of the test part must be above 0 and below 1: {draw.share}")
    units = list(population)
    kept = kept or {}
    fresh = [unit for unit in units if unit.key not in kept]
    test = set(_drawn(fresh, draw)) if fresh else set()
    return {
        unit.key: kept.get(unit.key) or (TEST if unit.key in test else DEV)
        for unit in sorted(units)
    }


def _drawn(units: list[Unit], draw: SplitDraw) -> list[str]:
    # As people write it: 0.1 of 30 items is 3, whatever a float makes of it.
    wanted = round(Fraction(str(draw.share)) * len(units))
    size = max(1, min(wanted, len(units) - 1))
    return draw_stratified(units, seed=draw.seed, size=size).keys
