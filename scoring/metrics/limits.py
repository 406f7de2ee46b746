"""How much is read and compared. Grading must end, whatever a model wrote."""

from typing import Any

# Characters of all texts on one side times those on the other. An edit distance goes through 64
# of these pairs in one step, so that this many take about a second.
MOST_CHARACTER_PAIRS = 50_000_000_000


class TooLargeError(ValueError):
    """Two things are beyond what is compared; the message says by what."""


def check_characters(first: int, second: int) -> None:
    """Raises TooLargeError if texts of these lengths are not compared."""
    if first * second > MOST_CHARACTER_PAIRS:
        raise TooLargeError(f"texts of {first:,} and {second:,} characters are not compared")


def is_deeper(value: Any, levels: int) -> bool:
    """Whether lists and objects of a JSON value stand inside each other more than `levels` deep.

    Level by level, so that it needs no stack.

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
