"""Ranks and best values."""

import math

import pytest

from scoring.leaderboard.figures import is_score
from scoring.leaderboard.rows import best_values, competition_ranks


@pytest.mark.parametrize(
    ("values", "higher", "ranks"),
    [
        ([], True, []),
        ([0.5], True, [1]),
        ([0.2, 0.9, 0.4], True, [3, 1, 2]),
        ([0.2, 0.9, 0.4], False, [1, 3, 2]),
        ([0.9, 0.9, 0.1, 0.9], True, [1, 1, 4, 1]),
        ([None, 0.1, None], True, [None, 1, None]),
    ],
)
def test_ranks_count_the_strictly_better(
    values: list[float | None], higher: bool, ranks: list[int | None]
) -> None:
    assert competition_ranks(values, higher_is_better=higher) == ranks


def test_unrounded_values_decide() -> None:
    assert competition_ranks([0.95310001, 0.95310002]) == [2, 1]


@pytest.mark.parametrize(
    ("value", "is_number"),
    [(0, True), (0.5, True), (None, False), ("0.5", False), (True, False), (math.nan, False)],
)
def test_only_finite_numbers_are_scores(value: object, is_number: bool) -> None:
    assert is_score(value) is is_number


def test_best_values_follows_the_direction() -> None:
    values = [0.7, 0.3, None, 0.5, 0.7, 0.3]
    assert best_values(values) == (0.7, 0.5)
    assert best_values(values, higher_is_better=False) == (0.3, 0.5)
    assert best_values([0.4, 0.4]) == (0.4, None)
    assert best_values([None]) == (None, None)
