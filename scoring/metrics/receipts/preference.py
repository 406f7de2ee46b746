"""How well the matching of lists agrees with people, under different weights.

Source: ReceiptBench, appendix D.3: three people say of each pair of lists whether they mean the
same; weights are judged by the share of pairs on which the matching agrees with most of them.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from .values import Embedding, Weights, compare_items, line_items


class Preference(NamedTuple):
    """Two `detail` lists, and for each person whether they mean the same."""

    gold: Any
    prediction: Any
    votes: tuple[bool, ...]


def majority(votes: Sequence[bool]) -> bool | None:
    """The vote of more than half of the people; None for a tie and without votes.

    >>> majority([True, True, False]), majority([True, False])
    (True, None)
    """
    yes = sum(votes)
    return None if 2 * yes == len(votes) else 2 * yes > len(votes)


def accepted(pair: Preference, weights: Weights, embed: Embedding | None = None) -> bool:
    """Whether the matching takes the lists as equal: every item of each list has a partner.

    >>> fare = [{"content": "Trip Fare", "amount": "45.00"}]
    >>> same = Preference(fare, [{"content": "trip fares", "amount": "45"}], ())
    >>> accepted(same, Weights(1, 0, 0, 0)), accepted(same, Weights(0, 1, 0, 0))
    (True, True)
    """
    gold, prediction = line_items(pair.gold), line_items(pair.prediction)
    if len(gold) != len(prediction):
        return False
    return not gold or len(compare_items(gold, prediction, embed).matches(weights)) == len(gold)


def agreement_with_people(
    pairs: Sequence[Preference], weights: Weights, embed: Embedding | None = None
) -> float | None:
    """The share of pairs on which the matching agrees with most people, in [0, 1], higher better.

    Pairs without a majority are left out; None if there are no others.
    """
    decided = [(pair, said) for pair in pairs if (said := majority(pair.votes)) is not None]
    if not decided:
        return None
    return sum(accepted(pair, weights, embed) == said for pair, said in decided) / len(decided)


def weight_grid(steps: int, *, has_embedding: bool) -> list[Weights]:
    """All weights in parts of 1 / `steps`; those of the embedding are 0 without one.

    >>> len(weight_grid(10, has_embedding=True)), len(weight_grid(2, has_embedding=False))
    (286, 6)
    """
    return [
        Weights(a / steps, b / steps, c / steps, (steps - a - b - c) / steps)
        for a in range(steps + 1)
        for b in range(steps + 1 - a)
        for c in range(steps + 1 - a - b)
        if has_embedding or a + b + c == steps
    ]
