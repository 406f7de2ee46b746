"""The order of the words between neighbours decides what was read in a place."""

import pytest

from .pages import number, verdicts

BEFORE = "Repairs of roofs and the north wall"
BEHIND = "Rent of the two storage rooms"
TWO = f"<p>{BEFORE} {number('(37)')} {number('(21)')} {BEHIND}</p>"
EQUAL = f"<p>{BEFORE} {number('0.82')} {number('0.82')} {BEHIND}</p>"


@pytest.mark.parametrize(
    ("gold", "between", "expected"),
    [
        # As many words as values: one for each.
        (TWO, "im ay", [("digit", "im"), ("digit", "ay")]),
        # One word alone may be that of either value.
        (TWO, "", [("missing", None), ("missing", None)]),
        # Dashes and rules are nothing.
        (TWO, "- |", [("missing", None), ("missing", None)]),
        # A damaged form belongs to the equal value that the order gives it.
        (EQUAL, "oaz O82", [("digit", "oaz"), ("decimal", "O82")]),
        (EQUAL, "O82 oaz", [("decimal", "O82"), ("digit", "oaz")]),
    ],
)
def test_readings_between_neighbours(
    gold: str, between: str, expected: list[tuple[str, str | None]]
) -> None:
    found = verdicts(gold, f"<p>{BEFORE} {between} {BEHIND}</p>")
    assert [(verdict.error, verdict.matched_text) for verdict in found] == expected


def test_nothing_was_read_if_the_line_is_lost() -> None:
    gold = f"<p>{BEFORE} {number('(37)')} days after the receipt of the request {BEHIND}</p>"
    found = verdicts(gold, f"<p>{BEFORE} reqst {BEHIND}</p>")
    assert [verdict.error for verdict in found] == ["missing"]


def test_a_long_unreadable_stretch_does_not_say_where() -> None:
    words = [f"word{chr(97 + k % 26)}" for k in range(80)]
    gold = f"<p>{BEFORE} {' '.join(words)} {number('(37)')} {BEHIND}</p>"
    found = verdicts(gold, f"<p>{BEFORE} {'ooo ' * 90}{BEHIND}</p>")
    assert [verdict.error for verdict in found] == ["missing"]
