"""Groups of overlapping spans, their differences and scores."""

import doctest
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation import spans as module
from annotation.spans import span_groups
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
def test_every_span_is_in_one_group(annotators: list[list[Span]]) -> None:
    found = span_groups(annotators)
    for who, spans in enumerate(annotators):
        assert [span for group in found for span in group.marks[who]] == spans
    assert all(a.end <= b.start for a, b in pairwise(found))
    for group in found:
        inside = [span for marks in group.marks for span in marks]
        assert group.start == min(span.start for span in inside)
        assert group.end == max(span.end for span in inside)


@given(markings())
def test_unanimous_groups_hold_one_span(annotators: list[list[Span]]) -> None:
    for group in span_groups(annotators):
        if group.is_unanimous:
            assert [len(marks) for marks in group.marks] == [1] * len(annotators)


@given(markings())
def test_annotator_agrees_with_itself(annotators: list[list[Span]]) -> None:
    assert all(group.is_unanimous for group in span_groups([annotators[0], annotators[0]]))


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
def test_kind_names_the_most_serious_difference(
    ann: list[Span], ben: list[Span], kind: str
) -> None:
    (group,) = span_groups([ann, ben])
    assert not group.is_unanimous
    assert group.kind == kind


def test_spans_that_touch_are_not_one_group() -> None:
    found = span_groups([[Span(0, 4, "Number")], [Span(4, 8, "Number")]])
    assert [(group.start, group.end) for group in found] == [(0, 4), (4, 8)]


def test_chain_of_overlaps_is_one_group() -> None:
    ann, ben = [Span(0, 4, "Number"), Span(6, 9, "Number")], [Span(3, 7, "Number")]
    (group,) = span_groups([ann, ben])
    assert (group.start, group.end) == (0, 9)


def test_third_annotator_who_marked_nothing_makes_it_missing() -> None:
    (group,) = span_groups([[NUMBER], [NUMBER], []])
    assert group.kind == "missing"


def test_one_of_three_that_marked_is_extra() -> None:
    (group,) = span_groups([[NUMBER], [], []])
    assert (group.kind, group.majority) == ("extra", ())
    assert group.score == pytest.approx(2 / 3)


def test_majority_needs_more_than_half_of_three() -> None:
    other = Span(10, 15, "Date")
    assert span_groups([[NUMBER], [other]])[0].majority is None
    assert span_groups([[NUMBER], [NUMBER], [other]])[0].majority == (NUMBER,)
    assert span_groups([[NUMBER], [NUMBER], [other], [other]])[0].majority is None


def test_score_of_a_label_is_the_largest_share() -> None:
    assert span_groups([[NUMBER], [Span(10, 15, "Date")]])[0].score == 0.5


def test_score_of_a_boundary_is_the_mean_f1_of_characters() -> None:
    """5 of the 5 and 6 characters are shared: 10 / 11. The third agrees fully with one of them."""
    wider = Span(10, 16, "Number")
    assert span_groups([[NUMBER], [wider]])[0].score == pytest.approx(10 / 11)
    three = span_groups([[NUMBER], [wider], [wider]])[0]
    assert three.score == pytest.approx((10 / 11 + 10 / 11 + 1) / 3)


@given(markings())
def test_score_and_majority_do_not_depend_on_the_order(annotators: list[list[Span]]) -> None:
    turned = span_groups(annotators[::-1])
    for group, other in zip(span_groups(annotators), turned, strict=True):
        assert group.score == pytest.approx(other.score)
        assert 0 <= group.score <= 1
        assert (group.majority, group.kind) == (other.majority, other.kind)


def test_examples_hold() -> None:
    assert doctest.testmod(module).failed == 0
