"""Equal notes of rows are shown once."""

import pytest

from scoring.leaderboard.rows import row_notes

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
