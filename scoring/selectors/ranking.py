"""Ranks and best values of a leaderboard's columns. Pure functions over plain numbers."""

import hashlib
import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Any, Protocol


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


def field_key(gradings: Iterable[int | None]) -> str:
    """Tells one field of competitors from another: the same gradings, in any order, give the same.

    >>> field_key([3, 1]) == field_key([1, 3]) != field_key([1])
    True
    """
    listed = ",".join(str(pk) for pk in sorted(pk or 0 for pk in gradings))
    return hashlib.sha256(listed.encode()).hexdigest()[:32]


class Compared(Protocol):
    """What an entry knows of its ranks; see `scoring.models.Entry`."""

    grading_id: int | None
    ranks: dict[str, int]
    ranked_among: str


def compared_ranks(
    entries: Sequence[Compared], taking_part: Sequence[bool], figure: str
) -> list[int | None] | None:
    """The stored ranks by a figure; None unless all that take part were compared with each other,
    and with nobody else.
    """
    field = [entry for entry, is_in in zip(entries, taking_part, strict=True) if is_in]
    among = field_key(entry.grading_id for entry in field)
    if not field or any(
        entry.ranked_among != among or figure not in entry.ranks for entry in field
    ):
        return None
    return [
        entry.ranks[figure] if is_in else None
        for entry, is_in in zip(entries, taking_part, strict=True)
    ]


def best_values(
    values: Sequence[float | None], *, higher_is_better: bool = True
) -> tuple[float | None, float | None]:
    """The best of the values there are, and the best of all others; None where there is none.
    Rows that tie for the best are all best, so that the second is never equal to it.

    >>> best_values([0.2, None, 0.4, 0.2], higher_is_better=False)
    (0.2, 0.4)
    """
    ordered = sorted({value for value in values if value is not None}, reverse=higher_is_better)
    best, second = [*ordered[:2], None, None][:2]
    return best, second
