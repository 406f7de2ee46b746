"""Checks of spans."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portal.facts import Span, check_spans, trim_span
from portal.facts.spans import characters
from tests.counting import LINEAR, ScannedText, growth

LABELS = ("Number", "Date")
TEXT = "Net 1,200 \u00a0\u200b end"


def _faults(*spans: Span) -> list[tuple[int, str]]:
    return [(fault.index, fault.code) for fault in check_spans(TEXT, spans, LABELS)]


def test_messages_name_the_first_and_the_last_character() -> None:
    assert characters(1518, 1526) == "characters 1518–1525"
    assert characters(7, 8) == "character 7"
    assert (characters(5, 5), characters(9, 3)) == ("start 5, end 5", "start 9, end 3")


def test_spans_that_touch_are_fine() -> None:
    assert _faults(Span(4, 9, "Number"), Span(0, 4, "Date"), Span(9, 15, "Date")) == []


@pytest.mark.parametrize(
    ("span", "code"),
    [
        (Span(-1, 3, "Number"), "range"),
        (Span(4, 4, "Number"), "range"),
        (Span(9, 4, "Number"), "range"),
        (Span(4, 99, "Number"), "range"),
        (Span(4, 9, "number"), "label"),
        (Span(4, 9, ""), "label"),
        (Span(9, 12, "Number"), "blank"),
    ],
)
def test_check_spans_finds_the_fault_of_one_span(span: Span, code: str) -> None:
    assert _faults(Span(0, 3, "Date"), span) == [(1, code)]


def test_check_spans_finds_clashes_and_blames_the_later() -> None:
    number = Span(4, 9, "Number")
    assert _faults(number, number) == [(1, "duplicate")]
    assert _faults(number, Span(4, 9, "Date")) == [(1, "overlap")]
    assert _faults(Span(8, 14, "Date"), number) == [(1, "overlap")]
    assert _faults(Span(0, 14, "Date"), number, Span(13, 15, "Date")) == [
        (1, "overlap"),
        (2, "overlap"),
    ]


def test_check_spans_reports_every_fault_of_a_span() -> None:
    assert _faults(Span(9, 12, "Text")) == [(0, "blank"), (0, "label")]


def test_messages_name_the_span_and_the_limit() -> None:
    (fault,) = check_spans(TEXT, [Span(4, 99, "Number")], LABELS)
    where = "span 0 (characters 4–98)"
    assert fault.message == f"{where} is not a valid range in a text of {len(TEXT)} characters"


SPANS = st.lists(
    st.builds(Span, st.integers(-1, 12), st.integers(-1, 12), st.sampled_from(LABELS)), max_size=6
)


@given(SPANS)
@settings(max_examples=200, deadline=None)
def test_check_spans_passes_exactly_the_disjoint_spans(spans: list[Span]) -> None:
    text = "abcdefghijk"
    covered = [offset for span in spans for offset in range(span.start, span.end)]
    valid = all(0 <= span.start < span.end <= len(text) for span in spans)
    disjoint = len(covered) == len(set(covered))
    assert (check_spans(text, spans, LABELS) == []) == (valid and disjoint)


def test_check_spans_takes_linear_time() -> None:
    def check(size: int) -> None:
        text = ScannedText("x" * 10 * size)
        spans = [Span(10 * n, 10 * n + 5, "Number") for n in range(size)]
        assert check_spans(text, spans, LABELS) == []
        assert text.scanned == 5 * size

    assert growth(check, 1_000) <= LINEAR


def test_trim_span_takes_white_space_off_the_edges() -> None:
    assert trim_span(TEXT, Span(3, 10, "Number")) == Span(4, 9, "Number")
    assert trim_span(TEXT, Span(9, 11, "Number")) == Span(9, 11, "Number")
    assert trim_span(TEXT, Span(4, 99, "Number")) == Span(4, 99, "Number")
