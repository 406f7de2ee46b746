"""Reliability of a judge of facts: its agreement with human experts, and sampling of pages.

The unit is one decision: whether one gold fact is right in one prediction. Source: METRICS of
FinCriticalED's judge; Cohen's kappa as in `agreement`.
"""

import hashlib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from scoring.metrics.agreement import Kappa

Group = TypeVar("Group", bound=Hashable)


@dataclass(frozen=True)
class Confusion:
    """Counts of two judges' decisions, right or wrong, on the same facts."""

    both_right: int
    only_first_right: int
    only_second_right: int
    both_wrong: int

    @property
    def n(self) -> int:
        return self.both_right + self.only_first_right + self.only_second_right + self.both_wrong

    @property
    def agreement(self) -> float | None:
        """Share of the facts with the same decision, 0 to 1; None without facts."""
        return (self.both_right + self.both_wrong) / self.n if self.n else None

    @property
    def kappa(self) -> "Kappa":
        """Cohen's kappa; its value is None without facts, and if both always decide the same.

        >>> judged = Confusion(both_right=6, only_first_right=1, only_second_right=1, both_wrong=2)
        >>> round(judged.kappa.value, 4)  # (0.8 - 0.58) / (1 - 0.58)
        0.5238
        """
        # Imports numerical libraries, which the site starts without.
        from scoring.metrics.agreement import cohen_kappa

        first = [1] * (self.both_right + self.only_first_right)
        first += [0] * (self.only_second_right + self.both_wrong)
        second = [1] * self.both_right + [0] * self.only_first_right
        second += [1] * self.only_second_right + [0] * self.both_wrong
        return cohen_kappa(first, second)


def confusion(decisions: Iterable[tuple[bool, bool]]) -> Confusion:
    """Counts pairs of the first and the second judge's decision on one fact.

    >>> confusion([(True, True), (True, False), (False, False)])
    Confusion(both_right=1, only_first_right=1, only_second_right=0, both_wrong=1)
    """
    counts = {(first, second): 0 for first in (True, False) for second in (True, False)}
    for first, second in decisions:
        counts[first, second] += 1
    return Confusion(
        counts[True, True], counts[True, False], counts[False, True], counts[False, False]
    )


def confusions(
    decisions: Iterable[tuple[Group, bool, bool]],
) -> Mapping[Group, Confusion]:
    """One confusion per group, such as a fact type, in order of first appearance."""
    groups: dict[Group, list[tuple[bool, bool]]] = {}
    for group, first, second in decisions:
        groups.setdefault(group, []).append((first, second))
    return {group: confusion(pairs) for group, pairs in groups.items()}


def mean_absolute_difference(counts: Sequence[tuple[int, int]]) -> float | None:
    """The mean absolute difference of two counts of wrong facts per page; None without pages.

    >>> mean_absolute_difference([(3, 1), (0, 0), (2, 3)])
    1.0
    """
    return sum(abs(a - b) for a, b in counts) / len(counts) if counts else None


def sample_size(pages: int, share: float, at_least: int) -> int:
    """The number of pages in a `share` (0 to 1) of them, rounded up, but at least `at_least`.

    >>> sample_size(1_000, 0.02, 10), sample_size(60, 0.02, 10), sample_size(4, 0.02, 10)
    (20, 10, 4)
    """
    return min(pages, max(at_least, ceil(pages * share)))


def draw(keys: Iterable[str], size: int, seed: str) -> list[str]:
    """The `size` keys with the smallest SHA-256 of seed and key, in that order.

    The draw can be repeated in any language. Adding a page changes at most one page of the sample.
    """
    return sorted(keys, key=lambda key: hashlib.sha256(f"{seed}|{key}".encode()).digest())[:size]
