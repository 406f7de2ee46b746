"""Advice on spans that look wrong."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portal.facts import find_facts, span_warnings
from tests.facts.test_finding import bordered_texts
from tests.many import together


def _codes(marked: str, label: str = "Number", borders: tuple[int, ...] = ()) -> list[str]:
    """The codes for the span between two bars; the same whether the facts are given or not."""
    before, quote, after = marked.split("|")
    text = before + quote + after
    start, end = len(before), len(before) + len(quote)
    found = span_warnings(text, borders, start, end, label)
    assert found == span_warnings(text, borders, start, end, label, find_facts(text, borders))
    return [warning.code for warning in found]


@together(
    "marked label codes",
    [
        ("Net loss of $|(1,200)| in", "Number", []),
        ("rate |25.63%|", "Number", []),
        ("under |Section 30(h)| of", "Number", ["no_value"]),
        ("|five| million", "Number", []),
        ("due |March 24, 2025|.", "Date", []),
        ("after |two years|", "Date", []),
        ("the |(net) loss| of", "FinancialConcept", []),
        ("Net| 1,200 |in", "Number", ["leading_space", "trailing_space"]),
        ("the| loss|", "FinancialConcept", ["leading_space"]),
        ("Net |(1,200|) in", "Number", ["unbalanced_parenthesis", "cut_fact", "no_value"]),
        ("Net |)1,200(| in", "Number", ["unbalanced_parenthesis", "no_value"]),
        ("Net |1,200|", "Date", ["wrong_type"]),
        ("Net |loss|", "Date", ["not_a_date"]),
        ("on |March 31, 2025| we", "Number", ["wrong_type"]),
        ("after |two years|", "Number", ["wrong_type"]),
        # A year is a number as well, and four figures may be a year.
        ("in |2024|", "Number", []),
        ("about |2024|", "Date", []),
        ("within |30| days", "Number", []),
        ("a loss of –|4,2|00", "Number", ["cut_fact", "no_value"]),
        ("|December 31, 2024 and 2023|", "Date", ["several_facts", "not_a_date"]),
        ("the |3.4 x 5|", "Number", ["several_facts", "no_value"]),
        ("Net |loss| in", "Number", ["not_a_number"]),
        ("Net |$1,200| in", "Number", ["currency_mark"]),
        ("Net |1,2|00 in", "Number", ["cut_fact", "no_value"]),
        ("Net RMB7,|800| in", "Number", ["cut_fact"]),
        ("Net |1,2|00MW in", "Number", ["cut_fact", "no_value"]),
        ("Net 5,1,|800| in", "Number", ["cut_fact"]),
        ("Net |1|.5.2 in", "Number", ["cut_fact"]),
        ("Net -|1,200| in", "Number", ["cut_fact"]),
        ("rate |3.4|\u00a0% in", "Number", ["cut_fact"]),
        ("on |March 24|, 2025", "Date", ["cut_fact"]),
        ("from |2,000 to 3,000|", "Number", ["several_facts", "no_value"]),
        ("|May 1, 2025 THRU May 8, 2025|", "Date", ["several_facts"]),
        ("call |(555) 010-4477|", "Number", ["no_value", "phone_number"]),
        ("call 555-0|10|-4477", "Number", ["cut_fact", "phone_number"]),
        ("Ames, IA |50010|", "Number", ["postal_code"]),
        ("see Note |12|", "Number", ["item_number"]),
        ("on Form |10-K|", "Number", ["no_value", "item_number"]),
        ("see page |12|", "Number", ["page_number"]),
        ("at |400| West Main Street", "Number", ["address_number"]),
        ("in Suite |400|", "Number", ["address_number"]),
    ],
)
def test_span_warnings_tell_what_looks_wrong(marked: str, label: str, codes: list[str]) -> None:
    assert _codes(marked, label) == codes


@pytest.mark.parametrize(
    ("marked", "borders", "codes"),
    [
        ("1,586|1,702|3", (5, 10), []),
        ("1,586|1,702|3", (), ["cut_fact"]),
        ("|(1,200)|", (6,), []),
        ("(|1,200|)", (1, 6), ["cut_fact"]),
        ("|(1,200)|", (1, 6), []),
        ("|(1,200|)", (6,), ["unbalanced_parenthesis", "cut_fact", "no_value"]),
        ("Total|- 44 -|", (5,), ["page_number"]),
        ("Note|12|", (4,), []),
    ],
)
def test_span_warnings_keep_to_the_borders(
    marked: str, borders: tuple[int, ...], codes: list[str]
) -> None:
    assert _codes(marked, borders=borders) == codes


def test_span_with_a_value_of_its_own_is_not_told_that_it_has_none() -> None:
    text = "the first quarter"
    assert [one.code for one in span_warnings(text, (), 4, 17, "Date")] == ["not_a_date"]
    assert span_warnings(text, (), 4, 17, "Date", value="2025-Q1") == []
    date = span_warnings("March 31, 2025", (), 0, 14, "Number", value="31")
    assert [one.code for one in date] == ["wrong_type"]


def test_span_warnings_name_the_facts_on_one_line() -> None:
    messages = [warning.message for warning in span_warnings("May\n 1, 2025", (), 0, 3, "Date")]
    assert messages == [
        "The span contains only part of May 1, 2025.",
        "The span is not a valid date or duration.",
    ]


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (2, 2), (0, 9)])
def test_span_warnings_of_no_stretch_of_the_text_are_none(start: int, end: int) -> None:
    assert span_warnings("1,20", (), start, end, "Number") == []


@given(bordered_texts(), st.sampled_from(["Number", "Date", "Other"]))
@settings(max_examples=150, deadline=None)
def test_span_warnings_never_fault_the_edges_of_a_found_fact(
    bordered: tuple[str, tuple[int, ...]], label: str
) -> None:
    text, borders = bordered
    facts = find_facts(text, borders)
    for fact in facts:
        found = span_warnings(text, borders, fact.start, fact.end, label, facts)
        assert not {"leading_space", "trailing_space"} & {warning.code for warning in found}
        if label == fact.kind.title():
            assert not {"cut_fact", "several_facts"} & {warning.code for warning in found}
