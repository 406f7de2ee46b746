"""Clusters of spans: where annotators agree and where they differ."""

import doctest
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation import spans as module
from annotation.spans import clusters
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
def test_every_span_is_in_one_cluster(annotators: list[list[Span]]) -> None:
    found = clusters(annotators)
    for who, spans in enumerate(annotators):
        assert [span for cluster in found for span in cluster.marks[who]] == spans
    assert all(a.end <= b.start for a, b in pairwise(found))
    for cluster in found:
        inside = [span for marks in cluster.marks for span in marks]
        assert cluster.start == min(span.start for span in inside)
        assert cluster.end == max(span.end for span in inside)


@given(markings())
def test_unanimous_clusters_hold_one_span(annotators: list[list[Span]]) -> None:
    for cluster in clusters(annotators):
        if cluster.is_unanimous:
            assert [len(marks) for marks in cluster.marks] == [1] * len(annotators)


@given(markings())
def test_annotator_agrees_with_itself(annotators: list[list[Span]]) -> None:
    assert all(cluster.is_unanimous for cluster in clusters([annotators[0], annotators[0]]))


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
    (cluster,) = clusters([ann, ben])
    assert not cluster.is_unanimous
    assert cluster.kind == kind


def test_spans_that_touch_are_not_one_cluster() -> None:
    found = clusters([[Span(0, 4, "Number")], [Span(4, 8, "Number")]])
    assert [(cluster.start, cluster.end) for cluster in found] == [(0, 4), (4, 8)]


def test_chain_of_overlaps_is_one_cluster() -> None:
    ann, ben = [Span(0, 4, "Number"), Span(6, 9, "Number")], [Span(3, 7, "Number")]
    (cluster,) = clusters([ann, ben])
    assert (cluster.start, cluster.end) == (0, 9)


def test_third_annotator_who_marked_nothing_makes_it_missing() -> None:
    (cluster,) = clusters([[NUMBER], [NUMBER], []])
    assert cluster.kind == "missing"


def test_one_of_three_that_marked_is_extra() -> None:
    (cluster,) = clusters([[NUMBER], [], []])
    assert (cluster.kind, cluster.majority) == ("extra", ())
    assert cluster.score == pytest.approx(2 / 3)


def test_majority_needs_more_than_half_of_three() -> None:
    other = Span(10, 15, "Date")
    assert clusters([[NUMBER], [other]])[0].majority is None
    assert clusters([[NUMBER], [NUMBER], [other]])[0].majority == (NUMBER,)
    assert clusters([[NUMBER], [NUMBER], [other], [other]])[0].majority is None


def test_score_of_a_label_is_the_largest_share() -> None:
    assert clusters([[NUMBER], [Span(10, 15, "Date")]])[0].score == 0.5


def test_score_of_a_boundary_is_the_mean_f1_of_characters() -> None:
    """5 of 5 and 6 characters are shared: 10 / 11. The third annotator equals one of them."""
    wider = Span(10, 16, "Number")
    assert clusters([[NUMBER], [wider]])[0].score == pytest.approx(10 / 11)
    three = clusters([[NUMBER], [wider], [wider]])[0]
    assert three.score == pytest.approx((10 / 11 + 10 / 11 + 1) / 3)


@given(markings())
def test_score_and_majority_do_not_depend_on_the_order(annotators: list[list[Span]]) -> None:
    turned = clusters(annotators[::-1])
    for cluster, other in zip(clusters(annotators), turned, strict=True):
        assert cluster.score == pytest.approx(other.score)
        assert 0 <= cluster.score <= 1
        assert (cluster.majority, cluster.kind) == (other.majority, other.kind)


def test_examples_hold() -> None:
    assert doctest.testmod(module).failed == 0
