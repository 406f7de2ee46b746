"""Ranks and best values of a leaderboard's columns. Pure functions over plain numbers."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any


def is_score(value: Any) -> bool:
    """Whether a stored value is a finite number. A missing score is null or absent, never 0."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def competition_ranks(
    values: Sequence[float | None], *, higher_is_better: bool = True
) -> list[int | None]:
    """1 + the number of strictly better values; equal values share a rank, None has none.

    >>> competition_ranks([0.5, 0.9, None, 0.5, 0.1])
    [2, 1, None, 2, 4]
    >>> competition_ranks([0.5, 0.9], higher_is_better=False)
    [1, 2]
    """
    sign = -1 if higher_is_better else 1
    ordered = sorted(sign * value for value in values if value is not None)
    return [None if value is None else bisect_left(ordered, sign * value) + 1 for value in values]


def best_value(values: Sequence[float | None], *, higher_is_better: bool = True) -> float | None:
    """The best of the values there are; None if there is none.

    >>> best_value([0.2, None, 0.4], higher_is_better=False)
    0.2
    """
    present = [value for value in values if value is not None]
    if not present:
        return None
    return max(present) if higher_is_better else min(present)
