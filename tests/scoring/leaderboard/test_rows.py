"""Ranks, best values and notes of rows."""

import math

import pytest

from scoring.figures import is_score
from scoring.leaderboard.rows import best_values, competition_ranks, row_notes


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


MEAN = "Overall: mean of the tracks."


@pytest.mark.parametrize(
    ("rows", "notes"),
    [
        ([], []),
        ([("A", "")], []),
        ([("A", "One. Two.")], ["One.", "Two."]),
        ([("A", MEAN), ("B", MEAN)], [MEAN]),
        ([("A", f"Version 1.5 of it. {MEAN}"), ("B", MEAN)], [MEAN, "A: Version 1.5 of it."]),
        ([("A", "Old."), ("B", "Old."), ("C", "")], ["A, B: Old."]),
        ([("A", "Old. Old."), ("B", "")], ["A: Old."]),
        ([("A", "Old. Slow."), ("B", "New.")], ["A: Old. Slow.", "B: New."]),
    ],
)
def test_a_common_note_is_shown_once_and_others_with_their_rows(
    rows: list[tuple[str, str]], notes: list[str]
) -> None:
    assert row_notes(rows) == notes
