"""The lot behind every sample: whoever has the keys and the seed can draw again.

`portal.facts.sampling` says how the keys get their numbers.
"""

from collections.abc import Iterable

from portal.facts.sampling import shuffled

__all__ = ["draw", "shuffled"]


def draw(keys: Iterable[str], size: int, seed: int) -> list[str]:
    """`size` of the keys, or all if there are fewer, sorted.

    Raises ValueError for a size below 1, and as `shuffled` does.

    >>> draw(["c", "a", "b"], 2, 1)
    ['a', 'c']
    """
    if size < 1:
        raise ValueError(f"the size of a sample must be at least 1, not {size}")
    return sorted(shuffled(keys, seed)[:size])
