"""Values of spans: derived, given, and settled between annotators."""

import pytest

from annotation.spans import (
    Meaning,
    derived,
    meaning_of,
    meaning_problem,
    recorded_span,
    settled_value,
)
from portal.facts import FactValue, read_value

SPAN = {"key": "a", "label": "Number", "start": 0, "end": 7, "quote": "(1,200)"}


def test_derived_is_what_the_rules_read() -> None:
    assert derived("(1,200)", "Number") == FactValue("-1200", "parentheses")
    long = "1" * 5_000
    assert derived(long, "Number") == read_value(long, "Number")


def test_one_half_given_has_the_other_derived() -> None:
    assert meaning_of(SPAN | {"value": "-1200000"}) == Meaning("-1200000", "parentheses", True)
    assert meaning_of(SPAN | {"sign": "minus"}) == Meaning("-1200", "minus", True)


@pytest.mark.parametrize(
    ("value", "sign"),
    [("1" * 201, "plain"), ("12\n", "plain"), ("\ud800", "plain"), ("a", "plain"), ("12", "odd")],
)
def test_unfit_values_are_reported(value: str, sign: str) -> None:
    assert meaning_problem(Meaning(value, sign, True), "Number")


def test_what_is_derived_needs_no_check() -> None:
    assert meaning_problem(Meaning("1" * 500, "plain", False), "Number") is None


def test_recorded_span_is_as_it_was() -> None:
    was = {"value": "7", "sign": "plain", "edited": False}
    assert recorded_span(SPAN | was)[5:] == ("7", "plain", False)


def test_span_of_the_first_version_gets_its_value() -> None:
    assert recorded_span(SPAN)[5:] == ("-1200", "parentheses", False)


@pytest.mark.parametrize(
    ("readings", "value"),
    [
        ([FactValue("12", "plain")] * 2, "12"),
        ([FactValue("12", "plain"), FactValue("13", "plain")], "-1200"),
        ([FactValue("12", "plain"), FactValue("12", "minus")], "-1200"),
        ([], "-1200"),
    ],
)
def test_settled_value_is_what_all_read_or_the_derived(
    readings: list[FactValue], value: str
) -> None:
    assert settled_value(readings, "(1,200)", "Number").value == value
