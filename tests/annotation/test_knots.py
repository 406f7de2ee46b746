"""Where annotators agree and where they differ."""

import doctest
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation import knots as module
from annotation.knots import knots
from portal.facts import Span


@st.composite
def markings(draw: st.DrawFn) -> list[list[Span]]:
    """One to four annotators, each with spans that do not overlap."""
    return [
        [
            Span(borders[i], borders[i + 1], draw(st.sampled_from(["Number", "Date"])))
            for i in range(0, len(borders) - 1, 2)
        ]
        for borders in (
            sorted(draw(st.lists(st.integers(0, 40), unique=True, max_size=8)))
            for _ in range(draw(st.integers(1, 4)))
        )
    ]


@given(markings())
def test_every_span_is_in_one_knot(annotators: list[list[Span]]) -> None:
    found = knots(annotators)
    for who, spans in enumerate(annotators):
        assert [span for knot in found for span in knot.marks[who]] == spans
    assert all(a.end <= b.start for a, b in pairwise(found))
    for knot in found:
        inside = [span for marks in knot.marks for span in marks]
        assert knot.start == min(span.start for span in inside)
        assert knot.end == max(span.end for span in inside)


@given(markings())
def test_unanimous_knots_hold_one_span(annotators: list[list[Span]]) -> None:
    for knot in knots(annotators):
        if knot.is_unanimous:
            assert [len(marks) for marks in knot.marks] == [1] * len(annotators)


@given(markings())
def test_annotator_agrees_with_itself(annotators: list[list[Span]]) -> None:
    assert all(knot.is_unanimous for knot in knots([annotators[0], annotators[0]]))


NUMBER = Span(10, 15, "Number")


@pytest.mark.parametrize(
    ("ann", "ben", "kind"),
    [
        ([NUMBER], [Span(10, 15, "Date")], "label"),
        ([NUMBER], [Span(9, 15, "Number")], "boundary"),
        ([NUMBER], [Span(9, 15, "Date")], "boundary"),
        ([NUMBER], [], "missing"),
        ([Span(10, 20, "Date")], [Span(10, 13, "Date"), Span(15, 20, "Date")], "boundary"),
    ],
)
def test_kind_names_the_gravest_difference(ann: list[Span], ben: list[Span], kind: str) -> None:
    (knot,) = knots([ann, ben])
    assert not knot.is_unanimous
    assert knot.kind == kind


def test_spans_that_touch_are_not_one_knot() -> None:
    found = knots([[Span(0, 4, "Number")], [Span(4, 8, "Number")]])
    assert [(knot.start, knot.end) for knot in found] == [(0, 4), (4, 8)]


def test_chain_of_overlaps_is_one_knot() -> None:
    ann, ben = [Span(0, 4, "Number"), Span(6, 9, "Number")], [Span(3, 7, "Number")]
    (knot,) = knots([ann, ben])
    assert (knot.start, knot.end) == (0, 9)


def test_third_annotator_who_marked_nothing_makes_it_missing() -> None:
    (knot,) = knots([[NUMBER], [NUMBER], []])
    assert knot.kind == "missing"


def test_examples_hold() -> None:
    assert doctest.testmod(module).failed == 0
