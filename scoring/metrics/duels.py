"""Two systems item by item: how often each is ahead."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

# Scores that are nearer than this are equal: the rest is noise of the summation.
_NOISE = 1e-9


class Duel(NamedTuple):
    """Of the items that both have a score for, how often the first is ahead, level, behind."""

    wins: int
    ties: int
    losses: int


def duel(first: Mapping[int, float], second: Mapping[int, float]) -> Duel:
    """Counts by item; higher is better. An item that only one of them has a score for is not
    counted.

    >>> duel({1: 0.5, 2: 1.0, 3: 0.0, 4: 1.0}, {1: 0.25, 2: 1.0, 3: 0.5})
    Duel(wins=1, ties=1, losses=1)
    """
    differences = [value - second[item] for item, value in first.items() if item in second]
    wins = sum(difference > _NOISE for difference in differences)
    losses = sum(difference < -_NOISE for difference in differences)
    return Duel(wins, len(differences) - wins - losses, losses)


def most_disputed(systems: Sequence[Mapping[int, float]], most: int) -> list[int]:
    """The items on which the systems are furthest apart, furthest first, at most `most`; those on
    which they agree are left out, and those that not all have a score for.

    >>> most_disputed([{1: 0.5, 2: 1.0, 3: 0.0}, {1: 0.25, 2: 1.0, 3: 0.5}], 5)
    [3, 1]
    """
    shared = set.intersection(*(set(system) for system in systems))
    spreads = {item: _spread([system[item] for system in systems]) for item in shared}
    apart = [item for item, spread in spreads.items() if spread > _NOISE]
    return sorted(apart, key=lambda item: (-spreads[item], item))[:most]


def _spread(values: list[float]) -> float:
    return max(values) - min(values)
