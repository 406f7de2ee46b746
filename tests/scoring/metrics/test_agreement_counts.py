"""Counts of agreement: their figures equal those computed from ratings, and the references'."""

import math
import random
from collections.abc import Sequence
from itertools import combinations

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
from scoring.metrics.agreement import Ratings, trim_spans
from scoring.metrics.agreement_counts import (
    Draws,
    against_rest,
    alpha_values,
    cohen_values,
    document_counts,
    estimate,
    f1_values,
    fleiss_values,
    level_counts,
    mean_values,
    observed_values,
)
from tests.counting import LINEAR, growth, lines_run

from .plain import krippendorff_alpha, span_agreement

LABELS = ("Number", "Date", "Name")
CODES = st.tuples(st.integers(1, 40), st.integers(2, 5)).flatmap(
    lambda shape: arrays(np.int16, shape, elements=st.integers(0, 3))
)
PAGE = "Net revenue was 1,200 and the loss (310) as of March 31, 2025."


def rated(codes: np.ndarray) -> Ratings:
    return Ratings(codes, ("O", *LABELS))


def same(value: float, expected: float | None) -> bool:
    if expected is None or not math.isfinite(expected):
        return not math.isfinite(value)
    return value == pytest.approx(expected, abs=1e-9)


@given(CODES)
def test_cohen_kappa_equals_scikit_learn(codes: np.ndarray) -> None:
    tables = level_counts(rated(codes)).tables.astype(float)
    for table, (a, b) in zip(tables, combinations(range(codes.shape[1]), 2), strict=True):
        certain = len({*codes[:, a], *codes[:, b]}) == 1
        expected = None if certain else cohen_kappa_score(codes[:, a], codes[:, b])
        assert same(float(cohen_values(table)), expected)


@given(CODES)
def test_fleiss_kappa_equals_statsmodels(codes: np.ndarray) -> None:
    coincidences = level_counts(rated(codes)).coincidences
    with np.errstate(all="ignore"):
        expected = reference_fleiss(aggregate_raters(codes)[0])
    assert same(float(fleiss_values(coincidences)), expected)


@given(CODES)
def test_alpha_equals_the_reference(codes: np.ndarray) -> None:
    counts = level_counts(rated(codes))
    assert same(float(alpha_values(counts.coincidences)), krippendorff_alpha(codes).value)
    # Labels alone: unmarked ratings are missing.
    alone = krippendorff_alpha(np.where(codes == 0, -1, codes))
    assert same(float(alpha_values(counts.labelled)), alone.value)
    assert counts.labelled_items == alone.n


@given(CODES, st.integers(0, 3))
def test_one_code_against_the_rest(codes: np.ndarray, code: int) -> None:
    counts = level_counts(rated(codes))
    binary = level_counts(Ratings((codes == code).astype(np.int16), ("O", "it")))
    assert against_rest(counts.tables.astype(float), code).tolist() == binary.tables.tolist()
    ours = against_rest(counts.coincidences, code)
    np.testing.assert_allclose(ours, binary.coincidences, atol=1e-9)


def test_alpha_over_documents_with_different_numbers_of_annotators() -> None:
    # Added coincidences equal the reference's α of one table with the fourth annotator missing.
    pair = np.array([[1, 1], [1, 2], [0, 2]], dtype=np.int16)
    four = np.array([[1, 1, 1, 0], [2, 2, 2, 2], [0, 1, 0, 0]], dtype=np.int16)
    added = level_counts(rated(pair)).coincidences + level_counts(rated(four)).coincidences
    table = np.full((6, 4), np.nan)
    table[:3, :2], table[3:] = pair, four
    expected = krippendorff.alpha(table.T, level_of_measurement="nominal")
    assert float(alpha_values(added)) == pytest.approx(expected)


def test_counts_of_a_page_by_hand() -> None:
    ann = [Span(16, 21, "Number"), Span(35, 40, "Number"), Span(47, 61, "Date")]
    ben = [Span(15, 22, "Number"), Span(36, 39, "Number"), Span(47, 61, "Number")]
    counts = document_counts(PAGE, [ann, ben], LABELS)
    assert [PAGE[start:end] for start, end in counts.offsets.tolist()] == [
        "1,200",
        "(310)",
        "310",
        "March 31, 2025",
    ]
    # Rows Ann, columns Ben: not marked, Number, Date, Name.
    assert counts.entity.tables.tolist() == [
        [[0, 1, 0, 0], [1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    ]
    # Net revenue was … and the loss … as of … . : 9 unmarked tokens; "(" and ")" only by Ann.
    assert counts.token.tables[0].tolist()[0] == [9, 0, 0, 0]
    assert counts.token.tables[0].tolist()[1] == [2, 2, 0, 0]
    assert counts.token.tables[0].tolist()[2] == [0, 4, 0, 0]
    # Exact, overlapping, marked by both together: of any label, Number, Date, Name.
    assert counts.spans.tolist() == [[[2, 3, 6], [1, 2, 5], [0, 0, 1], [0, 0, 0]]]
    assert float(f1_values(np.array(2.0), np.array(6.0))) == pytest.approx(2 / 3)


def marked(seed: int, length: int = 200) -> list[Span]:
    """Disjoint spans with white space at some ends."""
    chance = random.Random(seed)
    spans, place = [], 0
    while place < length - 12:
        start = place + chance.randint(0, 6)
        place = start + chance.randint(1, 6)
        spans.append(Span(start, place, chance.choice(LABELS)))
    return spans


TEXT = "".join(random.Random(0).choice("ab12 ,.") for _ in range(200))


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_span_counts_equal_those_of_each_label(one: int, other: int) -> None:
    pair = [trim_spans(TEXT, marked(seed)) for seed in (one, other)]
    counts = document_counts(TEXT, pair, LABELS).spans[0].tolist()

    def expected(of: Sequence[Sequence[Span]]) -> list[int]:
        found = span_agreement(*of)
        return [found.exact, found.overlapping, found.first + found.second]

    bare = [[Span(span.start, span.end, "") for span in spans] for spans in pair]
    assert counts[0] == expected(bare)
    for code, label in enumerate(LABELS, 1):
        named = [[span for span in spans if span.label == label] for spans in pair]
        assert counts[code] == expected(named)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 10**6), min_size=2, max_size=4), st.randoms())
def test_order_of_annotators_and_spans_changes_no_figure(
    seeds: list[int], chance: random.Random
) -> None:
    annotations = [marked(seed) for seed in seeds]
    shuffled = [chance.sample(spans, len(spans)) for spans in annotations]
    chance.shuffle(shuffled)
    first, second = (document_counts(TEXT, some, LABELS) for some in (annotations, shuffled))
    for one, other in ((first.entity, second.entity), (first.token, second.token)):
        assert one.coincidences.tolist() == other.coincidences.tolist()
        assert one.labelled.tolist() == other.labelled.tolist()
        assert one.items == other.items
    assert first.offsets.tolist() == second.offsets.tolist()
    assert first.spans.sum(axis=0).tolist() == second.spans.sum(axis=0).tolist()


def test_no_annotator_marked_anything() -> None:
    counts = document_counts("", [[], []], LABELS)
    assert (counts.entity.items, counts.token.items) == (0, 0)
    assert math.isnan(float(fleiss_values(counts.entity.coincidences)))
    assert math.isnan(float(alpha_values(counts.entity.coincidences)))
    assert math.isnan(float(observed_values(counts.entity.coincidences)))
    with pytest.raises(ValueError, match="two annotators"):
        document_counts("", [[]], LABELS)


def some_tables(documents: int = 12) -> np.ndarray:
    chance = np.random.default_rng(4)
    codes = chance.integers(0, 4, (documents, 40, 2)).astype(np.int16)
    codes[..., 1] = np.where(chance.random((documents, 40)) < 0.8, codes[..., 0], codes[..., 1])
    return np.stack([level_counts(rated(some)).tables[0] for some in codes])


def test_intervals_are_around_the_figure() -> None:
    tables = some_tables()
    names = [f"doc{number:02}" for number in range(len(tables))]
    found = estimate(cohen_values(Draws(names, seed="v1").sums(tables)))
    assert found.value == pytest.approx(float(cohen_values(tables.sum(axis=0).astype(float))))
    assert found.interval is not None
    assert found.value is not None
    assert found.interval.low < found.value < found.interval.high < found.interval.low + 0.3
    assert estimate(cohen_values(Draws(names, seed="v2").sums(tables))) != found


def test_interval_of_a_binomial_share_is_about_that_of_the_textbook() -> None:
    # 100 documents of one item each, 80 alike: 0.8 ± 1.96 * sqrt(0.8 * 0.2 / 100).
    alike = np.arange(100) < 80
    sums = Draws([f"{n:03}" for n in range(100)], seed="").sums(alike.astype(float))
    found = estimate(sums / 100)
    assert found.interval is not None
    assert found.interval.low == pytest.approx(0.8 - 0.0784, abs=0.015)
    assert found.interval.high == pytest.approx(0.8 + 0.0784, abs=0.015)


def test_single_document_has_no_interval() -> None:
    found = estimate(cohen_values(Draws(["a"], seed="").sums(some_tables(1))))
    assert found.value is not None
    assert found.interval is None


def test_a_label_of_one_document_among_many_has_no_interval() -> None:
    """Matched and marked spans of a label that is in one of five documents: 3 of 4 match."""
    counts = np.zeros((5, 2))
    counts[2] = (3, 4)
    sums = Draws([f"doc{i}" for i in range(5)], seed="v1").sums(counts)
    with np.errstate(invalid="ignore"):
        found = estimate(sums[:, 0] / sums[:, 1])
    assert (found.value, found.interval) == (0.75, None)
    # With another document that has the label, the figure varies.
    counts[4] = (1, 4)
    sums = Draws([f"doc{i}" for i in range(5)], seed="v1").sums(counts)
    with np.errstate(invalid="ignore"):
        found = estimate(sums[:, 0] / sums[:, 1])
    assert found.value == 0.5
    assert found.interval is not None
    assert found.interval.low < 0.5 < found.interval.high


def test_draws_refuse_what_depends_on_order() -> None:
    for names in ([], ["b", "a"], ["a", "a"]):
        with pytest.raises(ValueError, match="sorted by name"):
            Draws(names, seed="")


def test_mean_leaves_out_what_is_undefined() -> None:
    parts = [np.array([0.5, np.nan]), np.array([1.0, np.nan]), np.array([np.nan, np.nan])]
    assert mean_values(parts)[0] == 0.75
    assert math.isnan(mean_values(parts)[1])


def test_more_tokens_run_no_more_python() -> None:
    spans = [[Span(0, 4, "Number"), Span(5, 9, "Date")], [Span(0, 4, "Number")]]

    def count(words: int) -> None:
        document_counts("word " * words, spans * 2, LABELS)

    count(1_000)
    # Libraries execute slightly different numbers of lines between calls.
    assert lines_run(lambda: count(200_000)) <= 1.05 * lines_run(lambda: count(1_000))


def test_more_spans_cost_no_more_than_their_share() -> None:
    def count(spans: int) -> None:
        ours = [Span(10 * n, 10 * n + 4, "Number") for n in range(spans)]
        theirs = [Span(10 * n, 10 * n + 3 + n % 2, "Number") for n in range(spans)]
        document_counts("0123456789" * spans, [ours, theirs, ours, theirs], LABELS)

    assert growth(count, 500) <= LINEAR
