"""Automatic integrity validation: each fault, with constructed spans."""

import hashlib
from dataclasses import dataclass

import pytest

from annotation.adjudication.settling import structural_faults, value_problem
from portal.facts import FactValue

TEXT = "Loss (310) in 2025 \U0001f4b6 12"
LABELS = ["Number", "Date", "Note"]


@dataclass(frozen=True)
class Mark:
    key: str
    label: str
    start: int
    end: int
    quote: str


def mark(start: int, end: int, *, label: str = "Number", key: str = "k", quote: str = "") -> Mark:
    return Mark(key, label, start, end, quote or TEXT[start:end])


def codes(*marks: Mark, text: str = TEXT) -> list[tuple[str, str]]:
    digest = hashlib.sha256(TEXT.encode()).hexdigest()
    return [(fault.key, fault.code) for fault in structural_faults(text, digest, marks, LABELS)]


def test_sound_work_has_no_fault() -> None:
    assert codes(mark(5, 10, key="a"), mark(14, 18, label="Date", key="b"), mark(21, 23)) == []


@pytest.mark.parametrize(
    ("marks", "found"),
    [
        ([mark(5, 10, key="a"), mark(8, 12, key="b")], [("b", "overlap")]),
        ([mark(5, 10, key="a"), mark(6, 9, key="nested")], [("nested", "overlap")]),
        ([mark(5, 10, key="a"), mark(5, 10, key="b")], [("b", "duplicate")]),
        ([mark(20, 99, key="a", quote="12")], [("a", "range"), ("a", "quote")]),
        ([mark(5, 10, key="a", label="Sum")], [("a", "label")]),
        ([mark(4, 5, key="a")], [("a", "blank")]),
        ([mark(5, 10, key="a", quote="(311)")], [("a", "quote")]),
        ([mark(5, 10, key="")], [("", "key")]),
    ],
)
def test_each_fault_is_named(marks: list[Mark], found: list[tuple[str, str]]) -> None:
    assert codes(*marks) == found


def test_changed_text_is_one_fault_of_the_page() -> None:
    assert codes(mark(5, 10), text=TEXT + " ") == [("", "text_hash")]


@pytest.mark.parametrize(
    ("values", "label", "problem"),
    [
        ([("-310", "parentheses")], "Number", None),
        ([("-310", "parentheses"), ("-310", "parentheses")], "Number", None),
        ([("-310", "parentheses"), ("310", "plain")], "Number", "the annotators' values differ"),
        ([("", "")], "Number", "the number has no value"),
        ([("", "")], "Temporal", "the date has no value"),
        ([("", "")], "Note", None),
    ],
)
def test_value_of_an_agreed_fact(
    values: list[tuple[str, str]], label: str, problem: str | None
) -> None:
    assert value_problem([FactValue(*value) for value in values], label) == problem


def test_wrong_form_of_a_value_is_told() -> None:
    assert value_problem([FactValue("12th of May", "")], "Date")
