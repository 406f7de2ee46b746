"""Values and sign conventions, derived and checked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.facts import check_value, find_facts, read_value
from tests.facts.test_finding import TEXTS
from tests.many import together


@together(
    "quote value sign",
    [
        ("1,200", "1200", "plain"),
        ("(1,200)", "-1200", "parentheses"),
        ("(1,200\n )", "-1200", "parentheses"),
        ("($92)", "-92", "parentheses"),
        ("-2.30", "-2.30", "minus"),
        ("−$5", "-5", "minus"),
        ("1,200-", "-1200", "trailing_minus"),
        ("1,200 CR", "-1200", "trailing_cr"),
        ("(-5)", "-5", "parentheses"),
        ("+5%", "5", "plain"),
        ("25.63%", "25.63", "plain"),
        ("(5.3)%", "-5.3", "parentheses"),
        ("3.4\u00a0%", "3.4", "plain"),
        (" $1.70 ", "1.70", "plain"),
        (".05", "0.05", "plain"),
        ("007", "7", "plain"),
        ("(0.0)", "0.0", "parentheses"),
        ("1/3", "1/3", "plain"),
        ("5 1/4%", "21/4", "plain"),
        ("½", "1/2", "plain"),
        ("(12½)", "-25/2", "parentheses"),
        ("12,34,567.8", "1234567.8", "plain"),
        ("1.234.567,89", "1234567.89", "plain"),
        ("1'234'567", "1234567", "plain"),
        ("1\u202f234,5", "1234.5", "plain"),
        ("12 345 678", "12345678", "plain"),
        ("1\u00a0234,50", "1234.50", "plain"),
        ("△1,234", "-1234", "minus"),
        ("– $ 156", "-156", "minus"),
        ("（１，２３４．５）", "-1234.5", "parentheses"),
        ("1,\u200b236", "1236", "plain"),
        ("1.2e6", "1200000", "plain"),
        ("-1.25E-3", "-0.00125", "minus"),
        ("two", "2", "plain"),
        ("Twenty-five", "25", "plain"),
        # Unreadable: what is missing or extra would be guessed.
        ("", "", ""),
        ("—", "", ""),
        ("(1,200", "", ""),
        ("1,200)", "", ""),
        ("30(h)", "", ""),
        ("10-12", "", ""),
        ("1,2345", "", ""),
        ("1,234,56,789", "", ""),
        ("1/0", "", ""),
        ("5 1/0", "", ""),
        ("12 million", "", ""),
        ("12 34", "", ""),
        ("1e6", "", ""),
        ("1" * 5000, "1" * 5000, "plain"),
    ],
)
def test_read_value_of_a_number(quote: str, value: str, sign: str) -> None:
    assert read_value(quote, "Number") == (value, sign)


@together(
    "quote value",
    [
        ("March 24, 2025", "2025-03-24"),
        ("MARCH\u00a024,\n  2025", "2025-03-24"),
        ("24 March 2025", "2025-03-24"),
        ("Sept. 3, 2025", "2025-09-03"),
        ("26th day of May, 2025", "2025-05-26"),
        ("31-Dec-25", "2025-12-31"),
        ("31-Dec-99", "1999-12-31"),
        ("2025-03-24", "2025-03-24"),
        ("2025/3/4", "2025-03-04"),
        # Months first, as in the United States, unless that is no date or points part them.
        ("03/04/2025", "2025-03-04"),
        ("24/03/2025", "2025-03-24"),
        ("3-4-2025", "2025-03-04"),
        ("03.04.2025", "2025-04-03"),
        ("03.24.2025", "2025-03-24"),
        ("3/4/68", "2068-03-04"),
        ("3/4/69", "1969-03-04"),
        ("March 2025", "2025-03"),
        ("12/2025", "2025-12"),
        ("2025", "2025"),
        ("fiscal year 2025", "2025"),
        ("FY25", "2025"),
        ("June 30", "--06-30"),
        ("29 February", "--02-29"),
        ("Q2 2025", "2025-Q2"),
        ("2q25", "2025-Q2"),
        ("2025Q2", "2025-Q2"),
        ("H1 2025", "2025-H1"),
        ("first quarter of fiscal year 2025", "2025-Q1"),
        ("1 month", "P1M"),
        ("two years", "P2Y"),
        ("13-week", "P13W"),
        ("one hundred and eighty calendar days", "P180D"),
        ("three (3) months", "P3M"),
        ("two quarters", "P6M"),
        ("1.5 quarters", "P4.5M"),
        ("1 year and 6 months", "P1Y6M"),
        ("January 2, 2025 to January 8, 2025", "2025-01-02/2025-01-08"),
        ("March 1 - May 31, 2025", "2025-03-01/2025-05-31"),
        ("2024–2025", "2024/2025"),
        # No such date, or nothing one could mean.
        ("February 29, 2025", ""),
        ("13/13/2025", ""),
        ("March 0, 2025", ""),
        ("December 1 to March 1, 2025", ""),
        ("1 year and 2 years", ""),
        ("H3 2025", ""),
        ("Easter", ""),
        ("5", ""),
        ("", ""),
        ("March 24, 2025" + " " * 500, ""),
    ],
)
def test_read_value_of_a_date(quote: str, value: str) -> None:
    assert read_value(quote, "Date") == (value, "")
    assert read_value(quote, "Temporal") == (value, "")


def test_read_value_of_other_labels_is_empty() -> None:
    assert read_value("1,200", "FinancialConcept") == ("", "")
    assert read_value("1,200", "number") == ("1200", "plain")


@pytest.mark.parametrize(
    ("value", "sign", "label"),
    [
        ("", "", "Number"),
        ("-1200", "parentheses", "Number"),
        ("0", "trailing_minus", "Number"),
        ("-1/3", "minus", "Number"),
        ("2024-02-29", "", "Date"),
        ("2025-Q4/2026-H1", "", "Date"),
        ("P1Y2M3W4D", "", "Temporal"),
        ("PT24H", "", "Date"),
        ("", "", "FinancialConcept"),
    ],
)
def test_check_value_accepts(value: str, sign: str, label: str) -> None:
    assert check_value(value, sign, label) is None


@together(
    "value sign label problem",
    [
        ("1,200", "plain", "Number", "must be a decimal"),
        ("1200\n", "plain", "Number", "must be a decimal"),
        ("007", "plain", "Number", "must be a decimal"),
        ("1/0", "plain", "Number", "must be a decimal"),
        ("", "plain", "Number", "must be a decimal"),
        ("5", "", "Number", "sign must be one of plain, minus"),
        ("5", "brackets", "Number", "sign must be one of"),
        ("-5", "plain", "Number", "choose how the sign is shown"),
        ("5", "parentheses", "Number", "must begin with -"),
        ("-0.0", "minus", "Number", "zero cannot have a minus"),
        ("2025-02-29", "", "Date", "no such date as 2025-02-29"),
        ("--02-30", "", "Date", "no such date"),
        ("0000", "", "Date", "no such date"),
        ("2025/2026-13", "", "Date", "no such date as 2026-13"),
        ("24.03.2025", "", "Date", "must be a date"),
        ("2025/2026/2027", "", "Date", "must be a date"),
        ("P", "", "Date", "must be a date"),
        ("PT", "", "Date", "must be a date"),
        ("P1D2M", "", "Date", "must be a date"),
        ("2025", "plain", "Date", "no sign"),
        ("5", "", "FinancialConcept", "no value"),
    ],
)
def test_check_value_says_what_is_wrong(value: str, sign: str, label: str, problem: str) -> None:
    assert problem in (check_value(value, sign, label) or "")


@given(TEXTS, st.sampled_from(["Number", "Date", "Other"]))
def test_what_is_read_passes_the_check(quote: str, label: str) -> None:
    assert check_value(*read_value(quote, label), label) is None


@given(TEXTS)
def test_every_number_that_is_found_has_a_value(text: str) -> None:
    for fact in find_facts(text):
        quote = text[fact.start : fact.end]
        if fact.kind == "number" and "/0" not in quote:
            assert read_value(quote, "Number").value
