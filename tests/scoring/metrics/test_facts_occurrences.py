"""Whether an occurrence of a value is a whole value or part of another."""

import pytest

from scoring.metrics.facts.errors import worst
from scoring.metrics.facts.occurrences import (
    FactKind,
    errors_around,
    find_occurrences,
    kind_of,
    occurrence_at,
)


def errors(value: str, text: str, kind: FactKind, gold: str = "") -> list[str]:
    """The error of every occurrence, "" for clean; `gold` is the gold text around the value."""
    gold = gold or value
    at = gold.index(value)
    place = occurrence_at(gold, at, at + len(value))
    found = find_occurrences(text, value, limit=10)
    return [worst(errors_around(value, kind, occurrence, place)) for occurrence in found]


@pytest.mark.parametrize(
    "text",
    [
        "1,200",
        "is 1,200.",
        "1,200, and",
        '"1,200"',
        "[1,200]",
        "|1,200|",
        "*1,200~",
        "_1,200_",
        "1,200(2)",
        "{1,200}",
        "$1,200",
        "1,200$",
    ],
)
def test_a_number_is_a_whole_value(text: str) -> None:
    assert errors("1,200", text, "number") == [""]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("(1,200)", "sign"),
        ("-1,200", "sign"),
        ("1,200)", "sign"),
        ("(1,200", "sign"),
        ("11,200", "digit"),
        ("1,200,000", "digit"),
        ("1,200l", "digit"),
        ("1,200.5", "decimal"),
        (".1,200", "decimal"),
        ("1,200%", "unit"),
        ("7.7-1,200", "merged"),
        ("1,200-12", "merged"),
        ("1,200/5", "merged"),
        ("1,200shares", "merged"),
        ("of1,200", "merged"),
    ],
)
def test_a_number_is_part_of_something_else(text: str, error: str) -> None:
    assert errors("1,200", text, "number") == [error]


@pytest.mark.parametrize(
    ("value", "gold", "text"),
    [
        ("1,200", "$1,200", "$1,200"),
        ("1,200", "$ 1,200", "$1,200"),
        ("1,200", "$1,200", "S1,200"),
        ("1,200", "1,200 $ 300", "1,200S"),
        ("1,200", "(1,200 shares)", "(1,200 shares)"),
        ("1,200", "(of 1,200)", "(of 1,200)"),
        ("1,200", "1,200%", "1,200%"),
        ("1,200", "1,200 %", "1,200%"),
        ("10", "Rule 10b5-1", "rule 10b5-1"),
        ("5", "(5)", "(5)"),
        ("10", "10 - 20", "10-20"),
    ],
)
def test_text_that_the_gold_has_next_to_the_value_is_no_fault(
    value: str, gold: str, text: str
) -> None:
    assert errors(value, text, "number", gold) == [""]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("on May 27, 2021.", ""),
        ("(May 27, 2021)", ""),
        ("endedMay 27, 2021", "merged"),
        ("May 27, 2021and", "merged"),
        ("May 27, 20215", "date"),
        ("May 27, 2021,2020", "merged"),
        ("XMay 27, 2021", "merged"),
    ],
)
def test_dates(text: str, error: str) -> None:
    assert errors("May 27, 2021", text, "date") == [error]


def test_a_date_that_the_gold_glues_as_well_is_correct() -> None:
    assert errors("May 27, 2021", "endedMay 27, 2021", "date", "endedMay 27, 2021") == [""]


def test_a_date_without_year_is_not_the_date_with_one() -> None:
    assert errors("May 27", "May 27, 2021", "date") == ["date"]
    assert errors("May 27", "May 27, 2021", "date", "May 27, 2021") == [""]


def test_kinds_by_label() -> None:
    labels = ["Number", "number", "Date", "Temporal", "FinancialConcept", "Ratio"]
    assert [kind_of(label) for label in labels] == [
        "number",
        "number",
        "date",
        "date",
        "text",
        "text",
    ]
