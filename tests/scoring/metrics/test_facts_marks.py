"""Marks next to a number: its currency, its scale and its percent sign."""

import numpy as np

from scoring.metrics.facts.marks import Marks, Surroundings, differ, marks_beside, marks_in
from tests.many import together

from .pages import number, verdicts

DOLLAR, EURO = (marks_beside(sign, "").currency for sign in "$€")
THOUSAND, MILLION, BILLION = (
    marks_beside("", f" {word}").scale for word in ("thousand", "million", "billion")
)
PERCENT = marks_beside("", "%").percent


def test_marks_of_one_kind_differ() -> None:
    assert None not in (DOLLAR, EURO, MILLION, BILLION, THOUSAND, PERCENT)
    assert DOLLAR != EURO
    assert len({THOUSAND, MILLION, BILLION}) == 3


@together(
    "before behind expected",
    [
        ("sales of $", " in 2023", Marks(DOLLAR)),
        ("sales of US$", " million", Marks(DOLLAR, MILLION)),
        ("($", ")", Marks(DOLLAR)),
        ("USD ", "m", Marks(DOLLAR, MILLION)),
        ("", " million dollars", Marks(DOLLAR, MILLION)),
        ("", " billion of US dollars", Marks(DOLLAR, BILLION)),
        ("€ ", " bn", Marks(EURO, BILLION)),
        ("about ", "% of sales", Marks(None, None, PERCENT)),
        ("", " percent", Marks(None, None, PERCENT)),
        # A word of scale that was misread is still one.
        ("", " milliom", Marks(None, MILLION)),
        # These are not marks of this number.
        ("$5 and ", " people", Marks()),
        ("", " and $", Marks()),
        ("", " $900", Marks()),
        ("", " m", Marks()),
        ("in ", " millions of years", Marks(None, MILLION)),
        # A formula of LaTeX.
        ("is $", "$ million", Marks(None, MILLION)),
    ],
)
def test_marks_beside_a_number(before: str, behind: str, expected: Marks) -> None:
    assert marks_beside(before, behind) == expected


def test_marks_within_a_value() -> None:
    assert marks_beside("", "", "$1.2 million") == Marks(DOLLAR, MILLION)
    assert marks_beside("", "", "12%") == Marks(None, None, PERCENT)


def test_lacking_marks_are_those_that_differ() -> None:
    own = Marks(DOLLAR, MILLION)
    assert own.lacking(own) == frozenset()
    assert own.lacking(Marks(EURO, MILLION)) == {"currency"}
    assert own.lacking(Marks()) == {"currency", "scale"}
    assert Marks().lacking(own) == frozenset()


def test_marks_of_a_header() -> None:
    assert marks_in("(in millions, $)") == {("currency", DOLLAR), ("scale", MILLION)}
    assert marks_in("Change in %") == {("percent", PERCENT)}
    assert marks_in("2023") == frozenset()


@together(
    "own read lasting around expected",
    [
        (Marks(DOLLAR), Marks(DOLLAR), Marks(DOLLAR), frozenset(), False),
        (Marks(DOLLAR), Marks(EURO), Marks(DOLLAR), frozenset(), True),
        (Marks(DOLLAR), Marks(), Marks(DOLLAR), frozenset(), True),
        # A mark that need not last may be lost.
        (Marks(DOLLAR), Marks(), Marks(), frozenset(), False),
        # An added mark is another amount, except one of the column.
        (Marks(), Marks(None, BILLION), Marks(), frozenset(), True),
        (Marks(), Marks(None, MILLION), Marks(), frozenset({("scale", MILLION)}), False),
        (Marks(), Marks(None, BILLION), Marks(), frozenset({("scale", MILLION)}), True),
    ],
)
def test_other_marks_are_another_amount(
    own: Marks, read: Marks, lasting: Marks, around: frozenset[tuple[str, int]], expected: bool
) -> None:
    assert differ(own, read, lasting, around) == expected


def test_marks_of_another_line_are_not_beside() -> None:
    text = "$ 1,200 million"
    one, two = np.zeros(len(text), dtype=np.int64), np.zeros(len(text), dtype=np.int64)
    two[2:] = 1
    assert Surroundings(text, one).marks(2, 7) == Marks(DOLLAR, MILLION)
    assert Surroundings(text, two).marks(2, 7) == Marks(None, MILLION)
    assert Surroundings(text, one).marks(2, 7, (2, 7)) == Marks()


@together(
    "text error",
    [
        ("Sales were $1,200 million.", None),
        ("Sales were $ 1,200 million.", None),
        ("Sales were USD 1,200 mn.", None),
        ("Sales were €1,200 million.", "unit"),
        ("Sales were $1,200 billion.", "unit"),
        ("Sales were 1,200 million.", "unit"),
        ("Sales were $1,200.", "unit"),
        ("Sales were $1,200% million.", "unit"),
    ],
)
def test_a_fact_with_other_marks_has_another_unit(text: str, error: str | None) -> None:
    gold = f"<p>Sales were ${number('1,200')} million.</p>"
    assert verdicts(gold, text)[0].error == error
