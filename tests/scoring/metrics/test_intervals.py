"""Intervals, paired tests and ranks: hand-computed cases and invariants."""

import hashlib
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from scoring.metrics.intervals import (
    Interval,
    Replicates,
    bootstrap,
    combine,
    paired_bootstrap,
    resampling,
    significance_ranks,
    tally,
)

SCORES = st.lists(st.floats(0, 1, width=32), min_size=1, max_size=30)
few = settings(max_examples=40, deadline=None)


def names(number: int) -> list[str]:
    return [f"doc{i}" for i in range(number)]


def replicates(scores: list[float], seed: str = "release") -> Replicates:
    documents = names(len(scores))
    return bootstrap(tally(documents, scores), resampling(documents, seed=seed))


def test_a_ratio_of_sums_by_hand() -> None:
    assert tally(["a", "b", "b"], [1, 2, 0], [2, 3, 1]).value == 3 / 6
    assert tally(["a"], [0], [0]).value is None


def test_a_mean_of_means_by_hand() -> None:
    groups = [("KIE", "zh"), ("KIE", "zh"), ("KIE", "en"), ("VC", "zh"), ("VC", "en")]
    # KIE is the mean of 0.5 and 1; VC has no counts in English, and is 0.25.
    figure = tally(names(5), [0, 1, 1, 0.25, 0], [1, 1, 1, 1, 0], groups)
    assert figure.value == pytest.approx((0.75 + 0.25) / 2)


def test_paths_of_different_lengths_meet_where_they_end() -> None:
    figure = tally(names(3), [0, 1, 0.5], groups=[("a", "x"), ("a", "y"), ("b",)])
    assert figure.value == pytest.approx(0.5)


def test_every_replicate_resamples_within_the_strata() -> None:
    strata = ["x", "y", "x", "x", "y", "z"]
    drawn = resampling(names(6), seed="v1", strata=strata)
    assert drawn.documents == ("doc0", "doc2", "doc3", "doc1", "doc4", "doc5")
    weights = drawn.weights()
    assert weights.shape == (1000, 6)
    assert (weights[:, :3].sum(axis=1) == 3).all()
    assert (weights[:, 3:5].sum(axis=1) == 2).all()
    assert (weights[:, 5] == 1).all()


def test_documents_are_drawn_evenly() -> None:
    # 20,000 draws per document: 0.05 is seven standard errors.
    weights = resampling(names(20), seed="v1", resamples=20_000).weights()
    assert np.abs(weights.mean(axis=0) - 1).max() < 0.05
    assert weights.var(axis=0).mean() == pytest.approx(1 - 1 / 20, abs=0.02)


def test_weights_are_the_same_on_every_machine() -> None:
    weights = resampling(names(50), seed="0.1.0").weights()
    digest = hashlib.sha256(weights.astype("<i8").tobytes()).hexdigest()
    assert digest == "18e011ea545f46b47b623f57375941a5e46aa4de7e2f1bc414ead79725b50e34"
    other = resampling(names(50), seed="0.1.1").weights()
    assert (weights != other).any()


def test_weights_do_not_depend_on_the_size_of_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = resampling(names(50), seed="v1").weights()
    monkeypatch.setattr("scoring.metrics.intervals._BLOCK", 7 * 50 + 1)
    assert (resampling(names(50), seed="v1").weights() == whole).all()


def test_replicates_by_hand() -> None:
    documents = names(3)
    drawn = resampling(documents, seed="v1")
    found = bootstrap(tally(documents, [1, 2, 3], [2, 2, 4]), drawn)
    for weight, value in zip(drawn.weights(), found.values, strict=True):
        assert value == pytest.approx((weight @ [1, 2, 3]) / (weight @ [2, 2, 4]))


def test_an_interval_has_the_width_that_theory_gives() -> None:
    scores = [float(i % 10 < 8) for i in range(1000)]
    interval = replicates(scores).interval()
    assert interval is not None
    # Half of it is 1.96 standard errors of a share of 0.8 among 1,000.
    assert (interval.high - interval.low) / 2 == pytest.approx(0.0248, rel=0.1)


@pytest.mark.parametrize("n", [2, 30, 500])
def test_a_figure_that_all_documents_share_has_the_exact_interval(n: int) -> None:
    perfect, useless, half = (replicates([score] * n).interval() for score in (1.0, 0.0, 0.5))
    exact = binomtest(n, n).proportion_ci(method="exact")
    assert (perfect, useless) == (
        Interval(pytest.approx(exact.low), 1),  # type: ignore[arg-type]
        Interval(0, pytest.approx(1 - exact.low)),  # type: ignore[arg-type]
    )
    assert half is not None
    assert half.low == pytest.approx(0.5 * exact.low) == pytest.approx(1 - half.high)


def test_large_documents_and_small_groups_count_as_fewer_documents() -> None:
    assert tally(names(4), [1] * 4).effective_documents == pytest.approx(4)
    # Shares of 3/6, 1/6, 1/6, 1/6.
    large = tally(names(4), [3, 1, 1, 1], [3, 1, 1, 1])
    assert large.effective_documents == pytest.approx(1 / (9 + 3) * 36)
    # Two groups of 1/2: shares of 1/4, 1/4, 1/6, 1/6, 1/6; the third group counts nothing.
    groups = [("x",), ("x",), ("y",), ("y",), ("y",), ("z",)]
    grouped = tally(names(6), [1] * 6, [1, 1, 1, 1, 1, 0], groups)
    assert grouped.effective_documents == pytest.approx(1 / (2 / 16 + 3 / 36))
    whole = bootstrap(large, resampling(names(4), seed="s"))
    both = combine(lambda *parts: sum(parts) / 2, whole, replicates([1.0] * 4, "s"))
    assert both.documents == whole.documents


def test_a_constant_figure_of_unknown_documents_has_no_interval() -> None:
    assert Replicates(1.0, np.ones(1000), "").interval() is None


def test_documents_without_tallies_add_nothing() -> None:
    drawn = resampling(names(4), seed="v1")
    found = bootstrap(tally(names(3), [1, 1, 1]), drawn)
    assert set(found.values[np.isfinite(found.values)]) == {1.0}
    with pytest.raises(ValueError, match="'doc3' is not among"):
        bootstrap(tally(names(4), [1] * 4), resampling(names(3), seed="v1"))


def test_an_undefined_figure_has_no_interval() -> None:
    drawn = resampling(names(2), seed="v1")
    nothing = bootstrap(tally(names(2), [0, 0], [0, 0]), drawn)
    assert (nothing.value, nothing.interval()) == (None, None)
    assert paired_bootstrap(nothing, nothing) is None


def test_figures_combine_replicate_by_replicate() -> None:
    one, two = replicates([0.0, 1.0]), replicates([1.0, 1.0])
    mean = combine(lambda a, b: (a + b) / 2, one, two)
    assert mean.value == 0.75
    assert (mean.values == (one.values + two.values) / 2).all()


def test_replicates_of_different_releases_are_not_compared() -> None:
    with pytest.raises(ValueError, match="different resamplings"):
        paired_bootstrap(replicates([0.0, 1.0]), replicates([0.0, 1.0], seed="other"))


def test_a_clear_difference_is_significant_and_a_small_one_is_not() -> None:
    base = [float(i % 2) for i in range(200)]
    better = [max(score, float(i % 4 == 0)) for i, score in enumerate(base)]
    nearly = [1.0, *base[1:]]
    clear = paired_bootstrap(replicates(better), replicates(base))
    slight = paired_bootstrap(replicates(nearly), replicates(base))
    assert clear is not None
    assert slight is not None
    assert clear.difference == pytest.approx(0.25)
    assert clear.p_value == pytest.approx(2 / 1001)
    assert clear.interval is not None
    assert 0.15 < clear.interval.low < 0.25 < clear.interval.high < 0.35
    assert not slight.is_significant


def drawn(value: float, values: list[float]) -> Replicates:
    return Replicates(value, np.array(values), "drawn alike")


@pytest.mark.parametrize(
    ("below", "p_value", "is_significant"),
    # Of 1,000 replicates: 2 (1 + 24) / 1001 is below 5%, 2 (1 + 25) / 1001 is not.
    [(0, 2 / 1001, True), (24, 50 / 1001, True), (25, 52 / 1001, False), (600, 802 / 1001, False)],
)
def test_the_test_by_hand(below: int, p_value: float, is_significant: bool) -> None:
    values = [-1.0] * below + [float(i) for i in range(1, 1001 - below)]
    test = paired_bootstrap(drawn(5.0, values), drawn(0.0, [0.0] * 1000))
    assert test is not None
    assert test.interval is not None
    assert test.p_value == pytest.approx(p_value)
    assert test.is_significant is is_significant
    # The 25th value from each end.
    assert test.interval == Interval(sorted(values)[24], sorted(values)[-25])
    ranks = significance_ranks([drawn(5.0, values), drawn(0.0, [0.0] * 1000)])
    assert ranks == [1, 2 if is_significant else 1]


@few
@given(
    st.lists(
        st.one_of(st.floats(-1, 1, width=32), st.just(float("nan")), st.just(0.0)),
        min_size=1,
        max_size=300,
    ),
    st.floats(-1, 1),
    st.floats(-1, 1),
)
def test_p_value_and_interval_never_disagree(
    values: list[float], shift: float, difference: float
) -> None:
    first = drawn(difference, [value + shift for value in values])
    second = drawn(0.0, [0.0] * len(values))
    test = paired_bootstrap(first, second)
    finite = [value for value in values if np.isfinite(value)]
    if test is None:
        # With fewer, no p-value is below 5%.
        assert len(finite) < 40
        return
    assert test.interval is not None
    leaves_zero_out = test.interval.low > 0 or test.interval.high < 0
    assert leaves_zero_out == (test.p_value < 0.05)
    is_above = difference > 0 and test.interval.low > 0
    is_below = difference < 0 and test.interval.high < 0
    assert test.is_significant == (is_above or is_below)
    assert significance_ranks([first, second]) == [2 if is_below else 1, 2 if is_above else 1]


def test_a_document_alone_in_its_stratum_gives_no_test() -> None:
    """It is drawn once in every resample; a zero-width interval would mean that it is exact."""
    documents = names(5)
    weights = resampling(documents, seed="s", strata=["x", "x", "x", "x", "y"])
    first, second = (bootstrap(tally(documents, row), weights) for row in ([1] * 5, [0] * 5))
    assert (first.value, first.interval(), first.can_be_compared) == (1.0, None, False)
    assert paired_bootstrap(first, second) is None
    # Without tests, no entry has a rank by tests.
    assert significance_ranks([first, second]) == [None, None]
    # Counted by the other documents alone, the figure varies.
    others = [bootstrap(tally(documents[:4], row), weights) for row in ([1, 0, 1, 1], [0] * 4)]
    assert others[0].interval() is not None
    assert significance_ranks(others) == [1, 2]


def test_a_figure_that_one_document_counts_for_has_no_interval() -> None:
    documents = names(4)
    dates = bootstrap(tally(documents, [3, 0, 0, 0], [4, 0, 0, 0]), resampling(documents, seed="s"))
    assert (dates.value, dates.interval()) == (0.75, None)


def test_ranks_count_those_significantly_better() -> None:
    base = [float(i % 2) for i in range(200)]
    best = replicates([1.0] * 200)
    good = replicates(base)
    equal = replicates([1.0, *base[1:]])
    assert significance_ranks([good, best, equal, None]) == [2, 1, 2, None]
    assert significance_ranks([good, best, equal], direction="down") == [1, 3, 1]


@given(
    st.lists(st.lists(st.integers(0, 3), min_size=6, max_size=6), min_size=1, max_size=5),
    st.sampled_from(["up", "down"]),
)
@few
def test_ranks_are_those_of_the_paired_tests(
    outcomes: list[list[int]], direction: Literal["up", "down"]
) -> None:
    """Some documents count nothing, so that some replicates are undefined."""
    documents = names(6)
    weights = resampling(documents, seed="s")
    entries = [
        bootstrap(tally(documents, [n // 2 for n in row], [n % 2 for n in row]), weights)
        for row in outcomes
    ]
    sign = 1 if direction == "up" else -1

    def is_better(one: Replicates, other: Replicates) -> bool:
        test = paired_bootstrap(one, other)
        return test is not None and test.difference * sign > 0 and test.is_significant

    expected = [
        None if entry.value is None else 1 + sum(is_better(other, entry) for other in entries)
        for entry in entries
    ]
    if not all(entry.can_be_compared for entry in entries if entry.value is not None):
        expected = [None] * len(entries)
    assert significance_ranks(entries, direction) == expected


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tally([], []), "no values"),
        (lambda: tally(["a"], [1, 2]), "same length"),
        (lambda: tally(["a"], [float("nan")]), "finite"),
        (lambda: tally(["a"], [1], [-1]), "not negative"),
        (lambda: resampling(["a", "a"], seed=""), "once"),
        (lambda: resampling([], seed=""), "must be there"),
        (lambda: resampling(["a"], seed="", strata=[]), "0 strata"),
        (lambda: resampling(["a"], seed="", resamples=999), "at least 1000"),
    ],
)
def test_invalid_input_is_refused(call: object, message: str) -> None:
    assert callable(call)
    with pytest.raises(ValueError, match=message):
        call()


@few
@given(SCORES)
def test_identical_systems_never_differ(scores: list[float]) -> None:
    test = paired_bootstrap(replicates(scores), replicates(scores))
    if len(scores) == 1:
        assert test is None
    else:
        assert test is not None
        assert (test.difference, test.p_value) == (0.0, 1.0)


@few
@given(SCORES, st.randoms(use_true_random=False))
def test_the_order_of_documents_changes_nothing(scores: list[float], random: object) -> None:
    documents = names(len(scores))
    strata = [str(i % 3) for i in range(len(scores))]
    rows = list(zip(documents, scores, strata, strict=True))
    random.shuffle(rows)  # type: ignore[attr-defined]
    found = []
    for docs, values, parts in ((documents, scores, strata), zip(*rows, strict=True)):
        figure = tally(docs, values, groups=[(part,) for part in parts])
        found.append(bootstrap(figure, resampling(docs, seed="v1", strata=parts)))
    assert found[0].value == found[1].value
    assert np.array_equal(found[0].values, found[1].values, equal_nan=True)


@few
@given(st.lists(st.floats(0, 1, width=32), min_size=20, max_size=60))
def test_the_interval_holds_the_figure(scores: list[float]) -> None:
    # A mean of many: a lone outlier among equals may be drawn in only a few resamples.
    spread = [*scores, *(1 - score for score in scores)]
    found = replicates(spread)
    interval = found.interval()
    assert interval is not None
    assert found.value is not None
    assert interval.low - 1e-12 <= found.value <= interval.high + 1e-12


@few
@given(SCORES)
def test_swapping_the_systems_changes_the_sign_alone(scores: list[float]) -> None:
    first, second = replicates(scores), replicates([score / 2 for score in scores])
    one, other = paired_bootstrap(first, second), paired_bootstrap(second, first)
    if len(scores) == 1:
        assert (one, other) == (None, None)
        return
    assert one is not None
    assert other is not None
    assert (one.difference, one.p_value) == (-other.difference, other.p_value)
    assert isinstance(one.interval, Interval)
