"""Draws checked by hand, with the numbers of Python's random generator written out."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.datasets.curation.draws import (
    Unit,
    allocate,
    allocate_evenly,
    draw,
    draw_stratified,
    units,
)
from portal.facts.sampling import shuffled

# random.Random(1).random(), six times, with two decimals: 0.13 0.85 0.76 0.26 0.50 0.45
KEYS = ["a", "b", "c", "d", "e", "f"]

names = st.text("abcxyz", min_size=1, max_size=3)
populations = st.dictionaries(names, st.sampled_from(["x", "y", "z", ""]), max_size=30)
seeds = st.integers(0, 2**53 - 1)


def population(strata: str) -> list[Unit]:
    """Units a, b, c, …; each character of `strata` is the stratum of one unit."""
    return [Unit(key, (stratum,)) for key, stratum in zip("abcdefgh", strata, strict=False)]


def test_shuffled_puts_the_smallest_numbers_first() -> None:
    assert shuffled(reversed(KEYS), 1) == ["a", "d", "f", "e", "c", "b"]


def test_draw_takes_the_smallest_numbers_and_sorts_them() -> None:
    assert draw(KEYS, 3, 1) == ["a", "d", "f"]
    assert draw(KEYS, 9, 1) == KEYS


def test_draw_refuses_doubled_keys_and_empty_samples() -> None:
    with pytest.raises(ValueError, match="a occurs twice"):
        draw(["b", "a", "a"], 1, 1)
    with pytest.raises(ValueError, match="at least 1, not 0"):
        draw(KEYS, 0, 1)


@pytest.mark.parametrize(
    ("available", "size", "given_"),
    [
        # Quotas 2.0, 1.2, 0.8: the last one goes to the largest remainder.
        ({"a": 5, "b": 3, "c": 2}, 4, {"a": 2, "b": 1, "c": 1}),
        # Quotas 3.5 and 1.5: equal remainders, the larger stratum first.
        ({"a": 3, "b": 7}, 5, {"a": 1, "b": 4}),
        # Quotas of 1/3 each: equal size too, the first in order.
        ({"c": 1, "a": 1, "b": 1}, 1, {"a": 1, "b": 0, "c": 0}),
        ({"a": 2, "b": 1}, 10, {"a": 2, "b": 1}),
        ({}, 3, {}),
    ],
)
def test_allocate_by_largest_remainders(
    available: dict[str, int], size: int, given_: dict[str, int]
) -> None:
    answer = allocate({(name,): count for name, count in available.items()}, size)
    assert answer == {(name,): count for name, count in given_.items()}


@given(st.dictionaries(st.tuples(names), st.integers(1, 500), max_size=12), st.integers(1, 2000))
def test_allocate_gives_all_and_no_more_than_there_is(
    available: dict[tuple[str, ...], int], size: int
) -> None:
    answer = allocate(available, size)
    total = sum(available.values())
    assert sum(answer.values()) == min(size, total)
    for stratum, count in answer.items():
        quota = min(size, total) * available[stratum] / total
        assert count <= available[stratum]
        assert abs(count - quota) < 1


@pytest.mark.parametrize(
    ("available", "size", "given_"),
    [
        # Three each, and b has only two: its third goes to the larger of the others.
        ({"a": 9, "b": 2, "c": 5}, 9, {"a": 4, "b": 2, "c": 3}),
        ({"a": 4, "b": 4, "c": 4}, 7, {"a": 3, "b": 2, "c": 2}),
        ({"a": 9, "b": 0, "c": 9}, 1, {"a": 1, "b": 0, "c": 0}),
        ({"a": 1, "b": 2}, 10, {"a": 1, "b": 2}),
        ({}, 3, {}),
    ],
)
def test_allocate_evenly_levels_the_strata(
    available: dict[str, int], size: int, given_: dict[str, int]
) -> None:
    answer = allocate_evenly({(name,): count for name, count in available.items()}, size)
    assert answer == {(name,): count for name, count in given_.items()}


@given(st.dictionaries(st.tuples(names), st.integers(0, 40), max_size=8), st.integers(1, 200))
def test_allocate_evenly_is_one_at_a_time_to_the_emptiest(
    available: dict[tuple[str, ...], int], size: int
) -> None:
    wanted = dict.fromkeys(available, 0)
    for _ in range(min(size, sum(available.values()))):
        open_ = [name for name in available if wanted[name] < available[name]]
        wanted[min(open_, key=lambda name: (wanted[name], -available[name], name))] += 1
    assert allocate_evenly(available, size) == wanted


def test_stratified_draw_takes_an_even_share_of_a_size() -> None:
    sample = draw_stratified(population("xyyyyy"), seed=1, size=3, evenly=True)
    assert [len(stratum.drawn) for stratum in sample.strata] == [1, 2]


def test_stratified_draw_takes_the_same_number_of_each() -> None:
    # The shuffled order is a d f e c b; x has a d e, y has f c b.
    sample = draw_stratified(population("xyyxxy"), seed=1, per_stratum=2)
    assert [(s.stratum, s.available, s.drawn) for s in sample.strata] == [
        (("x",), 3, ("a", "d")),
        (("y",), 3, ("c", "f")),
    ]
    assert sample.keys == ["a", "c", "d", "f"]


def test_stratified_draw_takes_shares_of_a_size() -> None:
    # Quotas of 3 documents: 2.0 of x (a b d e) and 1.0 of y (c f).
    assert draw_stratified(population("xxyxxy"), seed=1, size=3).keys == ["a", "d", "f"]


def test_small_stratum_gives_all_it_has() -> None:
    sample = draw_stratified(population("xyyyyy"), seed=1, per_stratum=3)
    assert [len(stratum.drawn) for stratum in sample.strata] == [1, 3]


@pytest.mark.parametrize("numbers", [{}, {"size": 1, "per_stratum": 1}])
def test_stratified_draw_wants_one_number(numbers: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="either a number per stratum or a size"):
        draw_stratified(population("xy"), seed=1, **numbers)


@pytest.mark.parametrize("numbers", [{"size": 0}, {"per_stratum": 0}])
def test_stratified_draw_refuses_nothing(numbers: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="at least 1, not 0"):
        draw_stratified(population("xy"), seed=1, **numbers)


def test_units_make_strata_of_any_values() -> None:
    rows: list[dict[str, object]] = [
        {"name": "p1", "doc_type": "tax_form", "fiscal_year": 2024},
        {"name": "p2", "doc_type": "tax_form", "fiscal_year": None},
    ]
    assert units(rows, "name", ["doc_type", "fiscal_year"]) == [
        Unit("p1", ("tax_form", "2024")),
        Unit("p2", ("tax_form", "")),
    ]
    with pytest.raises(ValueError, match="at least one field"):
        units(rows, "name", [])
    with pytest.raises(ValueError, match="only once"):
        units(rows, "name", ["doc_type", "doc_type"])


@given(populations, seeds, st.integers(1, 40))
def test_stratified_draw_is_the_same_in_any_order(
    strata: dict[str, str], seed: int, size: int
) -> None:
    forward = [Unit(key, (stratum,)) for key, stratum in strata.items()]
    sample = draw_stratified(forward, seed=seed, size=size)
    assert draw_stratified(reversed(forward), seed=seed, size=size) == sample
    assert len(sample.keys) == len(set(sample.keys)) == min(size, len(strata))
    assert Counter(strata.values()) == {s.stratum[0]: s.available for s in sample.strata}
    assert all(strata[key] == s.stratum[0] for s in sample.strata for key in s.drawn)
