"""Stratified samples of documents: by type, company, fiscal year or any fields, with a seed.

All documents of all strata are put in one order by lot (see `draws`), and each stratum gives its
first ones. How many each gives is either the same for all, or its share of a total.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

from .draws import shuffled

# The values of the fields that a stratum is made by; a value that is not known is "".
Stratum: TypeAlias = tuple[str, ...]


class Unit(NamedTuple):
    """What can be drawn: the name of a document, and the stratum it is in."""

    key: str
    stratum: Stratum


@dataclass(frozen=True)
class StratumSample:
    """How many documents a stratum has, and the names of those that are drawn, sorted."""

    stratum: Stratum
    available: int
    drawn: tuple[str, ...]


@dataclass(frozen=True)
class StratifiedSample:
    """What was drawn, by stratum in order; a stratum that gave none is there too."""

    strata: tuple[StratumSample, ...]

    @property
    def keys(self) -> list[str]:
        return sorted(key for stratum in self.strata for key in stratum.drawn)


def units(rows: Iterable[Mapping[str, Any]], key: str, fields: Sequence[str]) -> list[Unit]:
    """The rows as units: `key` names them, the values of `fields` make their strata.

    A value of None is the same as an empty one. Raises ValueError without fields, for a field
    named twice, and KeyError for one that a row does not have.

    >>> units([{"name": "p1", "type": "tax_form", "year": None}], "name", ["type", "year"])
    [Unit(key='p1', stratum=('tax_form', ''))]
    """
    if not fields:
        raise ValueError("strata need at least one field")
    if len(set(fields)) < len(fields):
        raise ValueError("a field makes strata once only")
    return [Unit(row[key], tuple(_text(row[field]) for field in fields)) for row in rows]


def allocate(available: Mapping[Stratum, int], size: int) -> dict[Stratum, int]:
    """How many of `size` each stratum gives: its share, by the method of largest remainders.

    Each gives the whole part of size * available / total; what is then missing comes one each from
    the strata with the largest remainders, of equal ones from the larger stratum, of equally large
    ones from the first in order. No stratum gives more than it has. A size above the total is the
    total. Raises ValueError for a size below 1. Also known as the Hare-Niemeyer method.

    >>> allocate({("a",): 5, ("b",): 3, ("c",): 2}, 4)
    {('a',): 2, ('b',): 1, ('c',): 1}
    """
    _check_size(size, "size")
    total = sum(available.values())
    size = min(size, total)
    shares = {
        stratum: Fraction(size * count, total) if total else Fraction(0)
        for stratum, count in sorted(available.items())
    }
    given = {stratum: int(share) for stratum, share in shares.items()}
    by_remainder = sorted(
        shares, key=lambda name: (given[name] - shares[name], -available[name], name)
    )
    for stratum in by_remainder[: size - sum(given.values())]:
        given[stratum] += 1
    return given


def draw_stratified(
    population: Iterable[Unit],
    *,
    seed: int,
    per_stratum: int | None = None,
    size: int | None = None,
) -> StratifiedSample:
    """Draws `per_stratum` of each stratum, or `size` in all in proportion to the strata.

    A stratum with fewer than `per_stratum` gives all it has. The same units, seed and numbers give
    the same sample, whatever the order of the units. Raises ValueError unless exactly one of
    `per_stratum` and `size` is given and at least 1, and for a key that comes twice.
    """
    if (per_stratum is None) == (size is None):
        raise ValueError("give either a number per stratum or a size of the whole sample")
    by_key: dict[str, Stratum] = {}
    keys: list[str] = []
    for unit in population:
        by_key[unit.key] = unit.stratum
        keys.append(unit.key)
    order = shuffled(keys, seed)
    available = Counter(by_key.values())
    if per_stratum is not None:
        _check_size(per_stratum, "number per stratum")
        wanted = {name: min(per_stratum, count) for name, count in available.items()}
    else:
        wanted = allocate(available, size or 0)
    drawn: dict[Stratum, list[str]] = {name: [] for name in sorted(available)}
    for key in order:
        stratum = by_key[key]
        if len(drawn[stratum]) < wanted[stratum]:
            drawn[stratum].append(key)
    return StratifiedSample(
        tuple(
            StratumSample(name, available[name], tuple(sorted(keys)))
            for name, keys in drawn.items()
        )
    )


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _check_size(size: int, name: str) -> None:
    if size < 1:
        raise ValueError(f"the {name} must be at least 1, not {size}")
