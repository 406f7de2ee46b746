"""Figures in whole units: drawing by seed, adding up and writing as facts.

A figure with decimals is an int in its smallest unit (`places=2`: cents), so totals are exact.
"""

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from random import Random

from sample.generator.markup import number

SEED = "factboard-sample-1"
NIL = "—"

Figures = tuple[int, ...]


class Draw:
    """Figures drawn by the page's own seed, so that changing one page does not affect the others.

    Uses only `Random.random`, the method whose sequence Python guarantees.
    """

    def __init__(self, page_id: str) -> None:
        self._random = Random(f"{SEED}/{page_id}")  # noqa: S311 - sample figures, not secrets

    def between(self, low: int, high: int) -> int:
        return low + int(self._random.random() * (high - low + 1))

    def near(self, value: int, percent: int) -> int:
        """A figure at most `percent` away from `value`."""
        return value + divided(value * self.between(-100 * percent, 100 * percent), 10_000)

    def grown(self, low: int, high: int, least: int, most: int) -> Figures:
        """This period's figure and the one before, lower by `least` to `most` per mille."""
        now = self.between(low, high)
        return now, now - divided(now * self.between(least, most), 1000)

    def series(self, low: int, high: int, count: int, percent: int = 12) -> Figures:
        """One line of a statement: the latest period first, the others near it."""
        first = self.between(low, high)
        return (first, *(self.near(first, percent) for _ in range(count - 1)))


def divided(dividend: int, divisor: int) -> int:
    """Quotient rounded half away from zero, as statements round."""
    return int((Decimal(dividend) / Decimal(divisor)).quantize(Decimal(1), ROUND_HALF_UP))


def added(*lines: Figures) -> Figures:
    return tuple(sum(column) for column in zip(*lines, strict=True))


def less(line: Figures, *others: Figures) -> Figures:
    return added(line, *(tuple(-value for value in other) for other in others))


def ratio(part: int, whole: int, places: int = 1) -> int:
    """`part` in percent of `whole`, in units of the last decimal place."""
    return divided(part * 100 * 10**places, whole)


def shares_of(parts: Sequence[int], places: int = 1) -> Figures:
    """Percentages of the parts that add up to exactly 100 (largest remainder first)."""
    unit, whole = 100 * 10**places, sum(parts)
    floors = [part * unit // whole for part in parts]
    by_remainder = sorted(range(len(parts)), key=lambda i: -(parts[i] * unit % whole))
    for i in by_remainder[: unit - sum(floors)]:
        floors[i] += 1
    return tuple(floors)


def grouped(value: int, places: int = 0) -> str:
    """The digits of a figure without sign: `grouped(-123456, 2)` is `1,234.56`."""
    whole, rest = divmod(abs(value), 10**places)
    return f"{whole:,}.{rest:0{places}d}" if places else f"{whole:,}"


def amount(value: int, places: int = 0) -> str:
    """Accounting style: negative in parentheses, nil as a dash that is no fact."""
    if value == 0:
        return NIL
    return number(f"({grouped(value, places)})" if value < 0 else grouped(value, places))


def amounts(line: Figures, places: int = 0) -> tuple[str, ...]:
    return tuple(amount(value, places) for value in line)


def signed(value: int, places: int = 0) -> str:
    """With a leading minus, as forms and fund tables write it; zero stays a fact."""
    return number(f"{'-' if value < 0 else ''}{grouped(value, places)}")


def percent(value: int, places: int = 1) -> str:
    """Accounting style: a fall is `(4.2)%`."""
    digits = grouped(value, places)
    return number(f"({digits})%" if value < 0 else f"{digits}%")


def signed_percent(value: int, places: int = 2) -> str:
    return number(f"{'-' if value < 0 else ''}{grouped(value, places)}%")


def change(now: int, before: int, places: int = 1) -> str:
    """Change from one period to the next as a percentage fact."""
    return percent(ratio(now - before, before, places), places)
