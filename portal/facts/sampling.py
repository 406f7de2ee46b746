"""Reproducible random samples, and intervals for their shares. No Django.

A draw depends only on the keys, the share and the seed. It uses only the numbers of Python's
`random.Random(seed).random()`, which Python guarantees to be the same in all versions. Anyone can
repeat it:

1. sort the keys: facts by document name and start, documents by name;
2. give each key in turn the next number of `random.Random(seed).random()`;
3. take the keys with the smallest numbers: the share of all keys, rounded up.
"""

import math
from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import NamedTuple, TypeVar

# The 0.975 quantile of the standard normal distribution.
Z_95 = 1.959963984540054


class Key(NamedTuple):
    """Identifies a gold fact: the published name of its document, and its start in the text."""

    document: str
    start: int


SortableKey = TypeVar("SortableKey", str, Key)


def sample_size(population: int, share: float) -> int:
    """The size of a sample: the share of the population, rounded up.

    The share is used as a decimal: 0.07 of 100 is 7, although the floating-point product is
    greater. Raises ValueError unless the share is above 0 and at most 1.

    >>> sample_size(100, 0.07), sample_size(41, 0.05), sample_size(0, 0.05)
    (7, 3, 0)
    """
    if not 0 < share <= 1:
        raise ValueError(f"the share must be above 0 and at most 1, not {share}")
    return math.ceil(population * Fraction(repr(share)))


def shuffled(keys: Iterable[SortableKey], seed: int) -> list[SortableKey]:
    """Return the keys in random order. The order of the input does not matter.

    Every order is equally likely. Raises ValueError for duplicate keys.

    >>> shuffled(["c", "a", "b"], 1)
    ['a', 'c', 'b']
    """
    ordered = sorted(keys)
    if twice := next((key for key, after in pairwise(ordered) if key == after), None):
        raise ValueError(f"{twice} occurs twice")
    numbers = Random(seed)  # noqa: S311 - reproducible, and not a secret
    return [key for _, key in sorted((numbers.random(), key) for key in ordered)]


def draw(keys: Iterable[Key], share: float, seed: int) -> list[Key]:
    """Return a random sample of the facts, sorted by document name and start.

    The order of the input does not matter. Every subset of the size is equally likely. Raises
    ValueError for duplicate keys, and as `sample_size` does.

    >>> draw([Key("b", 0), Key("a", 9), Key("a", 2), Key("b", 7)], 0.5, 1)
    [Key(document='a', start=2), Key(document='b', start=7)]
    """
    order = shuffled(keys, seed)
    return sorted(order[: sample_size(len(order), share)])


class Range(NamedTuple):
    """An interval of a share; both ends are from 0 to 1."""

    low: float
    high: float


def wilson(successes: int, trials: int) -> Range | None:
    """The 95% Wilson interval of the share of successes; None without trials.

    Formula: (p + z²/2n ± z √(p(1 - p)/n + z²/4n²)) / (1 + z²/n). Source: E. B. Wilson, Probable
    Inference, the Law of Succession, and Statistical Inference, 1927.

    >>> [round(end, 3) for end in wilson(19, 20)]
    [0.764, 0.991]
    """
    if not trials:
        return None
    share = successes / trials
    middle = share + Z_95**2 / (2 * trials)
    half = Z_95 * math.sqrt(share * (1 - share) / trials + Z_95**2 / (4 * trials**2))
    scale = 1 + Z_95**2 / trials
    return Range(max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale))
