"""How much is compared. Grading must end, whatever a model wrote."""

# Characters of all texts on one side times those on the other. An edit distance goes through 64
# of these pairs in one step, so that this many take about a second.
MOST_CHARACTER_PAIRS = 50_000_000_000


class TooLargeError(ValueError):
    """Two things are beyond what is compared; the message says by what."""


def check_characters(first: int, second: int) -> None:
    """Raises TooLargeError if texts of these lengths are not compared."""
    if first * second > MOST_CHARACTER_PAIRS:
        raise TooLargeError(f"texts of {first:,} and {second:,} characters are not compared")
