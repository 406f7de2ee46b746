"""Automatic integrity validation: each fault, with constructed spans."""

import hashlib
from dataclasses import dataclass

import pytest

from annotation.adjudication.settling import omission, structural_faults, value_problem
from portal.facts import FactValue
from tests.factories import empty_dataset, make_document

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


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("numbers", "marked", "message"),
    [
        (0, 0, ""),
        (1, 0, "no one labelled anything, but the page has 1 number or date"),
        (40, 0, "no one labelled anything, but the page has 40 numbers and dates"),
        (40, 9, "no one labelled 31 of 40 numbers and dates"),
        (40, 10, ""),
        # A cover page: few facts among few numbers.
        (12, 3, ""),
        (13, 3, "no one labelled 10 of 13 numbers and dates"),
    ],
)
def test_pages_with_most_facts_unlabelled_are_named(
    numbers: int, marked: int, message: str
) -> None:
    cells = "".join(f"<td>{n},000</td>" for n in range(1, numbers + 1))
    document = make_document(empty_dataset(), "page", f"<p>Net</p><table><tr>{cells}</tr></table>")
    text = document.content.text
    places = [text.index(f"{n},000") for n in range(1, marked + 1)]
    marks = [Mark("k", "Number", at, at + 5, text[at : at + 5]) for at in places]
    assert omission(document, marks, ["Number", "Date"]) == message
    assert omission(document, marks, ["Concept"]) == ""
