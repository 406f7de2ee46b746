"""The combinations of a case's proposals."""

from typing import Any

import pytest

from annotation.adjudication.settling import Answer, both, letter_of, letters, majority

Mark = tuple[str, int, int]
A, B = ("Number", 0, 4), ("Number", 6, 9)
WIDE, DATE = ("Number", 0, 9), ("Date", 0, 4)


def proposal(*marks: Mark, values: str | None = "1", gold: bool = False) -> dict[str, Any]:
    spans = [
        {"label": label, "start": start, "end": end, "quote": "x" * (end - start)}
        | ({} if values is None else {"value": values, "sign": "plain"})
        for label, start, end in marks
    ]
    return {"assignment": None if gold else 7, "spans": spans}


def answers(*marks: Mark, value: str | None = "1") -> tuple[Answer, ...]:
    sign = None if value is None else "plain"
    return tuple(Answer(*mark, value, sign) for mark in marks)


def test_letters_go_on_after_z_and_gold_has_none() -> None:
    assert [letter_of(place) for place in (0, 25, 26, 701, 702)] == ["A", "Z", "AA", "ZZ", "AAA"]
    assert letters([proposal(), proposal(gold=True), proposal()]) == ["A", "gold", "B"]


@pytest.mark.parametrize(
    ("marks", "most"),
    [
        ([[A], [A], [B]], answers(A)),
        ([[A], [], []], ()),
        ([[A], [A]], None),
        ([[A], [B], [WIDE]], None),
        ([[A], [A], [B], [B]], None),
        ([[A], [A], [A], [B]], answers(A)),
        ([[A], [DATE], [A]], answers(A)),
    ],
)
def test_majority_is_more_than_half_of_at_least_three(
    marks: list[list[Mark]], most: tuple[Answer, ...] | None
) -> None:
    assert majority([proposal(*one) for one in marks], by_value=False) == most


def test_majority_of_marks_with_several_values_leaves_the_value_open() -> None:
    given = [proposal(A, values="1"), proposal(A, values="2"), proposal(B)]
    assert majority(given, by_value=False) == answers(A, value=None)
    assert majority(given, by_value=True) is None
    alike = [proposal(A, values="1"), proposal(A, values="2"), proposal(A, values="2")]
    assert majority(alike, by_value=True) == answers(A, value="2")


def test_gold_as_it_was_has_no_vote() -> None:
    given = [proposal(A), proposal(B), proposal(A, gold=True)]
    assert majority(given, by_value=False) is None


@pytest.mark.parametrize(
    ("marks", "together"),
    [
        ([[A], [B], [WIDE]], (0, 1)),
        ([[A], [WIDE]], None),
        ([[A], []], None),
        ([[A], [A]], None),
        ([[A, B], [B]], None),
        ([[A], [B], [B]], (0, 1)),
        # Either label fits the other proposal, so the combination is ambiguous.
        ([[A], [B], [DATE]], None),
    ],
)
def test_both_is_the_one_pair_that_fits_beside_each_other(
    marks: list[list[Mark]], together: tuple[int, int] | None
) -> None:
    found = both([proposal(*one) for one in marks])
    assert (found and found.places) == together
    if found:
        assert found.answers == answers(A, B)
