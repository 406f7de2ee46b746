"""Alpha and span F1: by hand, and against references."""

import warnings
from dataclasses import dataclass
from itertools import permutations

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from scoring.metrics.agreement import cohen_kappa, fleiss_kappa
from tests.counting import lines_run

from .plain import Alpha, SpanAgreement, krippendorff_alpha, span_agreement

SHAPES = st.tuples(st.integers(1, 30), st.integers(2, 5))
CODES = SHAPES.flatmap(lambda shape: arrays(np.int64, shape, elements=st.integers(-1, 3)))


@dataclass(frozen=True)
class Marked:
    start: int
    end: int
    label: str = "Number"


def test_alpha_by_hand() -> None:
    # Krippendorff's example of 2011 with 4 observers, 12 units and missing values: 0.743.
    table = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, -1, -1, -1],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, -1, 3],
        [-1, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, -1],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, -1],
    ]
    alpha = krippendorff_alpha(np.array(table).T)
    assert alpha.value == pytest.approx(0.743, abs=5e-4)
    assert (alpha.n, alpha.ratings) == (11, 40)


def test_alpha_is_undefined_where_nothing_can_differ() -> None:
    assert krippendorff_alpha([[1, 1], [1, 1]]) == Alpha(None, 2, 4)
    assert krippendorff_alpha([[1, -1], [-1, 0]]) == Alpha(None, 0, 0)
    assert krippendorff_alpha([]) == Alpha(None, 0, 0)
    with pytest.raises(ValueError, match="shape"):
        krippendorff_alpha([[0, -2]])


@given(CODES)
def test_alpha_equals_the_reference(
    codes: "np.ndarray[tuple[int, int], np.dtype[np.int64]]",
) -> None:
    alpha = krippendorff_alpha(codes)
    if alpha.value is None:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = np.where(codes < 0, np.nan, codes).T
        expected = krippendorff.alpha(data, level_of_measurement="nominal")
    assert alpha.value == pytest.approx(expected, abs=1e-9)


def test_span_f1_by_hand() -> None:
    first = [Marked(0, 5), Marked(10, 20), Marked(30, 35, "Date")]
    second = [Marked(0, 5), Marked(12, 14), Marked(15, 22), Marked(30, 35)]
    found = span_agreement(first, second)
    # One of the two in [10, 20) is matched; the date got another label.
    assert found == SpanAgreement(exact=1, overlapping=2, first=3, second=4)
    assert (found.exact_f1, found.overlap_f1) == (2 / 7, 4 / 7)


def test_span_f1_of_nothing_is_undefined() -> None:
    assert span_agreement([], []).exact_f1 is None
    assert span_agreement([Marked(0, 1)], []).overlap_f1 == 0.0
    assert span_agreement([Marked(0, 2)], [Marked(2, 4)]).overlapping == 0


SPANS = st.lists(st.integers(1, 4), max_size=10).flatmap(
    lambda gaps: st.just(
        [Marked(sum(gaps[:i]), sum(gaps[: i + 1])) for i in range(0, len(gaps), 2)]
    )
)


@settings(deadline=None, max_examples=60)
@given(SPANS, SPANS)
def test_as_many_spans_are_matched_as_can_be(first: list[Marked], second: list[Marked]) -> None:
    short, long = sorted((first, second), key=len)
    most = max(
        sum(max(a.start, b.start) < min(a.end, b.end) for a, b in zip(short, order, strict=False))
        for order in permutations(long, len(short))
    )
    assert span_agreement(first, second).overlapping == most
    assert span_agreement(second, first).overlapping == most
    assert span_agreement(first, first).exact == len(first)


def test_a_million_tokens_run_no_more_python_than_a_thousand() -> None:
    codes = np.random.default_rng(1).integers(0, 4, (1_000_000, 4)).astype(np.int16)

    def kappas(size: int) -> None:
        cohen_kappa(codes[:size, 0], codes[:size, 1])
        fleiss_kappa(codes[:size])

    kappas(1_000)
    assert lines_run(lambda: kappas(1_000_000)) == lines_run(lambda: kappas(1_000))
    assert krippendorff_alpha(codes).value == pytest.approx(0, abs=0.01)
