"""Error types of damaged forms, on damage seen in real OCR output."""

import pytest

from scoring.metrics.facts.errors import error_type, is_recognisable
from scoring.metrics.facts.occurrences import FactKind


@pytest.mark.parametrize(
    ("value", "text", "expected"),
    [
        ("-2,175", "2,175", "sign"),
        ("(3,627)", "3,627)", "sign"),
        ("(3,627)", "(3,627}", "sign"),
        ("3,627", "(3,627)", "sign"),
        ("2.71", "271", "decimal"),
        ("271", "2.71", "decimal"),
        ("23,222.9", "23,2229", "decimal"),
        ("5,831.5", "5.8315", "decimal"),
        ("1,200", "1,200.5", "decimal"),
        ("36,659", "36.659", "separator"),
        ("4,568", "4568", "separator"),
        ("1,234.56", "1.234.56", "separator"),
        ("1,234", "1, 234", "separator"),
        ("7,619,137", "7.619,137", "separator"),
        ("3%", "396", "unit"),
        ("3%", "3", "unit"),
        ("450", "450%", "unit"),
        ("$5", "S5", "unit"),
        ("23.3%", "23.39%", "digit"),
        ("(107,458)", "(207,458)", "digit"),
        ("(919)", "(616)", "digit"),
        ("1,000", "1,ooo", "digit"),
        ("4,276,992", "14,276,992", "digit"),
        ("1,200", "1,20", "digit"),
        ("107,458", "107,", "truncated"),
        ("13,057.7", "13,057.7-12,134.4", "merged"),
        ("(2.71)", "271", "decimal"),
        ("(8,304)", "8.304)", "sign"),
    ],
)
def test_error_type_of_numbers(value: str, text: str, expected: str) -> None:
    assert error_type(value, text, "number") == expected


@pytest.mark.parametrize(
    ("value", "text", "expected"),
    [
        ("May 27, 2021", "May 27, 202l", "date"),
        ("Q2 2023", "Q3 2023", "date"),
        ("December 31, 2024", "Decernber 31, 2024", "date"),
        ("December 31", "December 315", "date"),
        ("December 31, 2024", "December 31", "truncated"),
        ("December 31, 2024", "31, 2024", "truncated"),
        ("November 22, 2024", "November22,2024", "other"),
        ("July 25, 2022", "July 25. 2022", "other"),
        ("May 27, 2021", "of May 27, 2021", "merged"),
    ],
)
def test_error_type_of_dates(value: str, text: str, expected: str) -> None:
    assert error_type(value, text, "date") == expected


@pytest.mark.parametrize(
    ("value", "text", "expected"),
    [
        ("Adobe Inc.", "Adobe", "truncated"),
        ("Adobe", "Adobe Inc.", "merged"),
        ("Adobe", "Adohe", "other"),
    ],
)
def test_error_type_of_text(value: str, text: str, expected: str) -> None:
    assert error_type(value, text, "text") == expected


@pytest.mark.parametrize(
    ("value", "text", "kind", "expected"),
    [
        ("(53.3)", "G33", "number", True),
        ("7.6", "78", "number", True),
        ("(6.9)", ")", "number", False),
        ("26.3", "total", "number", False),
        ("26.3", "8", "number", False),
        ("May 27, 2021", "ay 27, 202l", "date", True),
        ("May 27, 2021", "Revenue", "date", False),
    ],
)
def test_what_counts_as_a_damaged_form(
    value: str, text: str, kind: FactKind, expected: bool
) -> None:
    assert is_recognisable(value, text, kind) is expected
