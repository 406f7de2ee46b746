"""Where annotators agree and where they differ."""

import doctest
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation import spans as module
from annotation.spans import knots
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


def test_one_of_three_that_marked_is_extra() -> None:
    (knot,) = knots([[NUMBER], [], []])
    assert (knot.kind, knot.majority) == ("extra", ())
    assert knot.score == pytest.approx(2 / 3)


def test_majority_needs_more_than_half_of_three() -> None:
    other = Span(10, 15, "Date")
    assert knots([[NUMBER], [other]])[0].majority is None
    assert knots([[NUMBER], [NUMBER], [other]])[0].majority == (NUMBER,)
    assert knots([[NUMBER], [NUMBER], [other], [other]])[0].majority is None


def test_score_of_a_label_is_the_largest_share() -> None:
    assert knots([[NUMBER], [Span(10, 15, "Date")]])[0].score == 0.5


def test_score_of_a_boundary_is_the_mean_f1_of_characters() -> None:
    """Of 5 and 6 characters 5 are shared: 10 / 11. A third agrees with one of them wholly."""
    wider = Span(10, 16, "Number")
    assert knots([[NUMBER], [wider]])[0].score == pytest.approx(10 / 11)
    three = knots([[NUMBER], [wider], [wider]])[0]
    assert three.score == pytest.approx((10 / 11 + 10 / 11 + 1) / 3)


@given(markings())
def test_score_and_majority_do_not_depend_on_the_order(annotators: list[list[Span]]) -> None:
    turned = knots(annotators[::-1])
    for knot, other in zip(knots(annotators), turned, strict=True):
        assert knot.score == pytest.approx(other.score)
        assert 0 <= knot.score <= 1
        assert (knot.majority, knot.kind) == (other.majority, other.kind)


def test_examples_hold() -> None:
    assert doctest.testmod(module).failed == 0
