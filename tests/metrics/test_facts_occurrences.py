"""Where a value stands for itself, and where it is part of something else."""

import pytest

from scoring.metrics.facts.occurrences import (
    FactKind,
    find_occurrences,
    issue_of,
    kind_of,
    occurrence_at,
    stands_alone,
)


def issues(value: str, text: str, kind: FactKind, gold: str = "") -> list[str]:
    """The issue of every occurrence, "" for clean; `gold` is the gold text around the value."""
    gold = gold or value
    at = gold.index(value)
    place = occurrence_at(gold, at, at + len(value), kind)
    found = find_occurrences(text, value, kind, limit=10)
    return ["" if stands_alone(o, place) else issue_of(o, place) for o in found]


@pytest.mark.parametrize(
    "text",
    [
        "1,200",
        "is 1,200.",
        "1,200, and",
        "“1,200”",
        "x (1,200 shares) y",
        "1,200shares",
        "of1,200",
        "(in 1,200)",
    ],
)
def test_a_number_stands_alone(text: str) -> None:
    assert issues("1,200", text, "number") == [""]


@pytest.mark.parametrize(
    ("text", "issue"),
    [
        ("(1,200)", "sign"),
        ("-1,200", "sign"),
        ("1,200)", "sign"),
        ("11,200", "digit"),
        ("1,200,000", "digit"),
        ("1,200l", "digit"),
        ("1,200.5", "decimal"),
        (".1,200", "decimal"),
        ("1,200%", "unit"),
        ("$1,200", "unit"),
        ("7.7-1,200", "merged"),
        ("1,200-12", "merged"),
        ("1,200/5", "merged"),
    ],
)
def test_a_number_is_part_of_something_else(text: str, issue: str) -> None:
    assert issues("1,200", text, "number") == [issue]


@pytest.mark.parametrize(
    ("value", "gold", "text"),
    [
        ("1,200", "$1,200", "$1,200"),
        ("1,200", "$ 1,200", "$1,200"),
        ("1,200", "$1,200", "S1,200"),
        ("10", "Rule 10b5-1", "rule 10b5-1"),
        ("5", "(5)", "(5)"),
        ("10", "10 - 20", "10-20"),
    ],
)
def test_what_the_gold_has_beside_the_value_is_no_fault(value: str, gold: str, text: str) -> None:
    assert issues(value, text, "number", gold) == [""]


@pytest.mark.parametrize(
    ("text", "issue"),
    [
        ("on May 27, 2021.", ""),
        ("(May 27, 2021)", ""),
        ("endedMay 27, 2021", ""),
        ("May 27, 20215", "date"),
        ("May 27, 2021,2020", "merged"),
        ("XMay 27, 2021", "merged"),
    ],
)
def test_dates(text: str, issue: str) -> None:
    assert issues("May 27, 2021", text, "date") == [issue]


def test_a_date_without_year_is_not_the_date_with_one() -> None:
    assert issues("May 27", "May 27, 2021", "date") == ["date"]
    assert issues("May 27", "May 27, 2021", "date", "May 27, 2021") == [""]


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
