"""Agreement: hand-computed cases, and scikit-learn and statsmodels as references."""

import math
import warnings
from dataclasses import dataclass
from itertools import permutations

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as reference_fleiss

from portal.facts import Span
from scoring.metrics.agreement import (
    TOKEN,
    Kappa,
    cohen_kappa,
    entity_items,
    entity_ratings,
    fleiss_kappa,
    token_ratings,
    trim_spans,
)
from tests.counting import lines_run

from .plain import Alpha, SpanAgreement, krippendorff_alpha, span_agreement

LABELS = ("Number", "Date")
TABLES = st.tuples(st.integers(1, 40), st.integers(2, 5)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.integers(0, 3))
)


@dataclass(frozen=True)
class Marked(Span):
    label: str = "Number"


def test_cohen_kappa_by_hand() -> None:
    # Agreement 35/50; chance (25*30 + 25*20) / 2500 = .5.
    first = ["yes"] * 20 + ["yes"] * 5 + ["no"] * 10 + ["no"] * 15
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    kappa = cohen_kappa(first, second)
    assert kappa.value == pytest.approx(0.4)
    assert (kappa.n, kappa.observed, kappa.expected) == (50, 0.7, 0.5)


def test_fleiss_kappa_by_hand() -> None:
    # P = (1/3 + 1) / 2, P_e = (2/6)^2 + (4/6)^2.
    kappa = fleiss_kappa([["a", "a", "b"], ["b", "b", "b"]])
    assert kappa.value == pytest.approx((2 / 3 - 5 / 9) / (4 / 9))
    assert kappa.n == 2


def test_kappa_is_undefined_where_chance_agreement_is_certain() -> None:
    assert cohen_kappa(["a", "a"], ["a", "a"]) == Kappa(None, 2, 1.0, 1.0)
    assert fleiss_kappa([["a", "a"], ["a", "a"]]).value is None


def test_kappa_is_undefined_without_items() -> None:
    assert cohen_kappa([], []) == Kappa(None, 0, None, None)
    assert fleiss_kappa([]) == Kappa(None, 0, None, None)


def test_kappa_refuses_what_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match="3 ratings cannot be compared with 2"):
        cohen_kappa(["a"] * 3, ["a"] * 2)
    with pytest.raises(ValueError, match="at least two ratings"):
        fleiss_kappa([["a"], ["b"]])


@given(TABLES)
def test_cohen_kappa_equals_scikit_learn(table: np.ndarray) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = cohen_kappa_score(table[:, 0], table[:, 1])
    value = cohen_kappa(table[:, 0], table[:, 1]).value
    assert math.isnan(expected) if value is None else value == pytest.approx(expected)


@given(TABLES)
def test_fleiss_kappa_equals_statsmodels(table: np.ndarray) -> None:
    with np.errstate(all="ignore"):
        expected = reference_fleiss(aggregate_raters(table)[0])
    value = fleiss_kappa(table).value
    assert not math.isfinite(expected) if value is None else value == pytest.approx(expected)


@given(TABLES)
def test_kappa_is_the_same_for_words_and_numbers(table: np.ndarray) -> None:
    words = [["none", "Number", "Date", "x"][code] for code in table[:, 0]]
    others = [["none", "Number", "Date", "x"][code] for code in table[:, 1]]
    assert cohen_kappa(words, others) == cohen_kappa(table[:, 0], table[:, 1])


def test_entity_ratings_are_the_union_of_exact_spans() -> None:
    ann = [Marked(0, 5, "Number"), Marked(10, 14, "Date")]
    ben = [Marked(0, 5, "Date"), Marked(10, 13, "Date")]
    ratings = entity_ratings([ann, ben], LABELS)
    words = [[ratings.labels[code] for code in row] for row in ratings.codes]
    assert words == [["Number", "Date"], ["O", "Date"], ["Date", "O"]]


def test_white_space_at_the_ends_is_no_disagreement() -> None:
    text = "Net \u00a01,200\n in 2023"
    sloppy, exact = [Span(3, 11, "Number"), Span(14, 19, "Date")], [Span(5, 10, "Number")]
    offsets, ratings = entity_items([trim_spans(text, spans) for spans in (sloppy, exact)], LABELS)
    assert [text[start:end] for start, end in offsets.tolist()] == ["1,200", "2023"]
    assert ratings.codes.tolist() == [[1, 1], [2, 0]]
    assert trim_spans(text, [Span(3, 5, "Number")]) == []


def test_entity_ratings_without_spans_are_empty_but_count_annotators() -> None:
    ratings = entity_ratings([[], []], LABELS)
    assert (ratings.items, ratings.annotators) == (0, 2)
    assert cohen_kappa(*ratings.codes.T).value is None


def test_tokens_keep_numbers_whole_and_marks_apart() -> None:
    text = "Loss (1,200.50) on May 27,2021—3%"
    assert TOKEN.findall(text) == [
        "Loss",
        "(",
        "1,200.50",
        ")",
        "on",
        "May",
        "27,2021",
        "—",
        "3",
        "%",
    ]


def test_token_ratings_show_a_boundary_that_differs() -> None:
    text = "Net (1,200) in 2023"
    ann, ben = [Marked(4, 11, "Number")], [Marked(5, 10, "Number"), Marked(15, 19, "Date")]
    ratings = token_ratings(text, [ann, ben], LABELS)
    words = [[ratings.labels[code] for code in row] for row in ratings.codes]
    assert words == [
        ["O", "O"],
        ["Number", "O"],
        ["Number", "Number"],
        ["Number", "O"],
        ["O", "O"],
        ["O", "Date"],
    ]


def test_token_that_two_spans_share_goes_to_the_first() -> None:
    ratings = token_ratings("1234", [[Marked(2, 4, "Date"), Marked(0, 2, "Number")]], LABELS)
    assert ratings.labels[ratings.codes[0, 0]] == "Number"


def test_one_label_against_the_rest() -> None:
    ratings = token_ratings("1 2", [[Marked(0, 1, "Date")], [Marked(2, 3, "Number")]], LABELS)
    assert ratings.only("Date").codes.tolist() == [[1, 0], [0, 0]]


def test_ratings_refuse_unknown_labels_and_double_spans() -> None:
    with pytest.raises(ValueError, match="'Ratio' is not one of"):
        entity_ratings([[Marked(0, 1, "Ratio")]], LABELS)
    with pytest.raises(ValueError, match=r"two spans at \[0, 1\)"):
        entity_ratings([[Marked(0, 1, "Date"), Marked(0, 1, "Number")]], LABELS)
    with pytest.raises(ValueError, match="must be distinct"):
        token_ratings("a", [[]], ("O",))


SHAPES = st.tuples(st.integers(1, 30), st.integers(2, 5))
CODES = SHAPES.flatmap(lambda shape: arrays(np.int64, shape, elements=st.integers(-1, 3)))


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
