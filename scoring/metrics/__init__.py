"""Metrics: pure functions over plain values. No Django, no input or output, no rounding."""

from typing import Any, NamedTuple

# The code for unmarked text. No label may have this name.
OUTSIDE = "O"


# Characters of all texts on one side times those on the other. An edit distance handles 64 of these
# pairs in one step, so that this many take about a second.
MOST_CHARACTER_PAIRS = 50_000_000_000


class Strict(NamedTuple):
    """The numerator and the denominator of F1 with every gold value that is not answered counted
    like a wrong one."""

    right: float
    counted: float


class TooLargeError(ValueError):
    """A comparison exceeds a limit; the message names it."""


def check_characters(first: int, second: int) -> None:
    """Raise TooLargeError if texts of these lengths are too long to compare."""
    if first * second > MOST_CHARACTER_PAIRS:
        raise TooLargeError(f"texts of {first:,} and {second:,} characters are not compared")


def is_deeper(value: Any, levels: int) -> bool:
    """Whether lists and objects of a JSON value are nested more than `levels` deep.

    Works level by level, without a stack.

    >>> is_deeper([{"a": [1]}], 3), is_deeper([{"a": [1]}], 2), is_deeper("text", 0)
    (False, True, False)
    """
    level = [value]
    for _ in range(levels + 1):
        level = [node for node in level if isinstance(node, dict | list)]
        if not level:
            return False
        level = [
            child for node in level for child in (node.values() if isinstance(node, dict) else node)
        ]
    return True
