"""How much the scores on hidden gold can have given away: an upper bound.

A score that is shown in n different ways says at most log2(n) bits, and a bit decides at most one
fact. So the bits of all scores that a person received bound the number of facts that the person can
have learnt, whatever the files were. They are stored with each attempt, and so outlive submission
and account.
"""

from collections.abc import Iterable
from math import log2
from typing import NamedTuple

from django.db.models import Sum

from portal.datasets.models.releases import JsonLength
from scoring.benchmarks import deciding_column
from scoring.leaderboard.disclosure import ALL, EXACT, PRIVATE, PUBLIC, rank_step, steps
from scoring.models import Grading, Phase

from .protection import TOTALS, is_gold_hidden

# A score that is not rounded has the digits of a 64-bit number.
_ALL_BITS = 52


class Learnt(NamedTuple):
    """The most that scores say, in bits, and the number of facts of the gold."""

    bits: float
    facts: int


def learnt_from(phase: Phase, grading: Grading) -> Learnt | None:
    """Return the most that the scores of a grading say about hidden gold; None for public gold.

    With public and private parts, the scores of both are shown, one after the other.
    """
    if not is_gold_hidden(grading.release, phase.split):
        return None
    facts = _facts(phase, grading)
    if phase.diagnostics != TOTALS:
        return Learnt(facts, facts)
    parts = (PUBLIC, PRIVATE) if phase.has_parts else (ALL,)
    bits = sum(bits_shown(phase, grading, part) for part in parts)
    return Learnt(min(bits, facts), facts)


def bits_shown(phase: Phase, grading: Grading, part: str) -> float:
    """The bits of one part: of the scores that are shown and, if the main score is withheld, of the
    step that ranks it."""
    shown = steps(phase, grading, part)
    return bits_of([*shown.values(), rank_step(phase, grading, part)])


def bits_of(shown: Iterable[float | None]) -> float:
    """Return the bits of scores from 0 to 1 that are shown in these steps; None is not shown.

    >>> bits_of([1.0, None]), bits_of([1 / 7, 1 / 3])
    (1.0, 5.0)
    """
    return sum(
        _ALL_BITS if step == EXACT else log2(round(1 / step) + 1)
        for step in shown
        if step is not None
    )


def _facts(phase: Phase, grading: Grading) -> int:
    """Return the number of facts of the gold or, for gold that is not pages, as many as the largest
    of them is a share of the main score."""
    items = phase.items_of(grading.release_id)
    if grading.release.has_pages:
        counted = items.aggregate(facts=Sum(JsonLength("facts")))["facts"]
        return max(counted or 0, 1)
    spec = phase.board.spec
    main = deciding_column(spec.columns_for(spec.check_options(grading.options))).key
    share = grading.shares.get(ALL, {}).get(main)
    return round(1 / share[1]) if share and share[1] else max(items.count(), 1)
