"""Draws by hand: the numbers of Python's generator are written out, so that nothing is circular."""

import doctest
from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from annotation.templatetags import annotation_figures
from portal.facts import sampling
from portal.facts.sampling import Key, draw, sample_size, wilson
from tests.many import drawn

# random.Random(1).random(), ten times, to four places.
SEED_1 = [0.1344, 0.8474, 0.7638, 0.2551, 0.4954, 0.4495, 0.6516, 0.7887, 0.0939, 0.0283]
SEED_2024 = [0.4701, 0.7283, 0.3038, 0.8873, 0.4101, 0.7166, 0.2652, 0.2452, 0.8126, 0.4983]
# In sorted order: the first page's facts by their offsets, then the second's.
KEYS = [Key("page-1", start) for start in (3, 20, 100, 105)] + [
    Key("page-2", start) for start in (0, 9, 10, 30, 200, 1000)
]

keys = st.sets(st.builds(Key, st.text(max_size=3), st.integers(0, 50)), max_size=40)
shares = st.floats(0.001, 1)
seeds = st.integers(0, 2**53 - 1)


@pytest.mark.parametrize(("seed", "numbers"), [(1, SEED_1), (2024, SEED_2024)])
def test_generator_gives_the_numbers_written_here(seed: int, numbers: list[float]) -> None:
    generator = Random(seed)
    assert [round(generator.random(), 4) for _ in numbers] == numbers


def test_draw_takes_the_smallest_numbers() -> None:
    # Of SEED_1 the three smallest are 0.0283, 0.0939, 0.1344: the tenth, ninth and first key.
    assert draw(KEYS, 0.3, 1) == [Key("page-1", 3), Key("page-2", 200), Key("page-2", 1000)]
    # Of SEED_2024 0.2452, 0.2652, 0.3038: the eighth, seventh and third key.
    assert draw(KEYS, 0.3, 2024) == [Key("page-1", 100), Key("page-2", 10), Key("page-2", 30)]


def test_order_of_the_keys_does_not_matter() -> None:
    assert draw(list(reversed(KEYS)), 0.5, 7) == draw(KEYS, 0.5, 7)


def test_offsets_sort_as_numbers() -> None:
    assert draw([Key("a", 10), Key("a", 9)], 1, 1) == [Key("a", 9), Key("a", 10)]


@pytest.mark.parametrize(
    ("population", "share", "size"),
    [
        (0, 0.05, 0),
        (1, 0.05, 1),
        (20, 0.05, 1),
        (21, 0.05, 2),
        (100, 0.05, 5),
        (101, 0.05, 6),
        (100, 0.07, 7),  # 100 * 0.07 is 7.000000000000001 in floats
        (100, 0.29, 29),
        (3, 1, 3),
        (10, 1e-5, 1),
    ],
)
def test_size_is_the_share_rounded_up(population: int, share: float, size: int) -> None:
    assert sample_size(population, share) == size


@pytest.mark.parametrize("share", [0, -0.1, 1.01, float("nan")])
def test_share_out_of_range_is_refused(share: float) -> None:
    with pytest.raises(ValueError, match="the share must be"):
        sample_size(10, share)


def test_key_that_comes_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="twice"):
        draw([Key("a", 1), Key("a", 1)], 0.5, 1)


@drawn(keys, shares, seeds)
def test_draw_is_a_sorted_part_of_the_right_size(
    population: set[Key], share: float, seed: int
) -> None:
    drawn = draw(population, share, seed)
    assert drawn == sorted(set(drawn))
    assert set(drawn) <= population
    assert len(drawn) == sample_size(len(population), share)
    assert drawn == draw(sorted(population, reverse=True), share, seed)


@given(keys, seeds)
def test_greater_share_draws_more_of_the_same(population: set[Key], seed: int) -> None:
    assert set(draw(population, 0.2, seed)) <= set(draw(population, 0.6, seed))


def test_every_fact_is_as_likely_as_the_others() -> None:
    """Over 4,000 seeds each of ten facts comes 400 ± 95 times, five standard deviations."""
    drawn = Counter(key for seed in range(4000) for key in draw(KEYS, 0.1, seed))
    assert set(drawn) == set(KEYS)
    assert all(305 < count < 495 for count in drawn.values())


@pytest.mark.parametrize(("accepted", "n"), [(0, 5), (5, 5), (19, 20), (1, 3), (480, 500)])
def test_interval_equals_statsmodels(accepted: int, n: int) -> None:
    assert wilson(accepted, n) == pytest.approx(proportion_confint(accepted, n, method="wilson"))


def test_no_trials_have_no_interval() -> None:
    assert wilson(0, 0) is None


def test_examples_in_docstrings() -> None:
    for module in (sampling, annotation_figures):
        result = doctest.testmod(module)
        assert result.attempted > 0
        assert result.failed == 0
