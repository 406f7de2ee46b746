"""Agreement of judges, by hand, and samples that anybody can draw again."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.judge.reliability import (
    Confusion,
    confusion,
    confusions,
    draw,
    mean_absolute_difference,
    sample_size,
)

decisions = st.lists(st.tuples(st.booleans(), st.booleans()), max_size=40)


def test_confusion_counts_by_hand() -> None:
    said = [(True, True)] * 6 + [(True, False)] + [(False, True)] + [(False, False)] * 2
    found = confusion(said)
    assert found == Confusion(6, 1, 1, 2)
    assert found.n == 10
    assert found.agreement == 0.8
    # Chance: both say right 7 of 10 times, wrong 3 of 10: 0.49 + 0.09.
    assert found.kappa.value == pytest.approx((0.8 - 0.58) / (1 - 0.58))


def test_without_facts_and_without_variation_there_is_no_kappa() -> None:
    assert confusion([]).agreement is None
    assert confusion([]).kappa.value is None
    always = confusion([(True, True)] * 3)
    assert (always.agreement, always.kappa.value) == (1, None)


@given(decisions)
def test_confusion_is_of_all_and_turns_with_its_judges(said: list[tuple[bool, bool]]) -> None:
    found, turned = confusion(said), confusion((second, first) for first, second in said)
    assert found.n == len(said)
    assert turned.agreement == found.agreement
    assert turned.kappa.value == pytest.approx(found.kappa.value)
    assert (turned.only_first_right, turned.only_second_right) == (
        found.only_second_right,
        found.only_first_right,
    )


def test_groups_are_counted_each_for_itself() -> None:
    said = [("Number", True, True), ("Date", True, False), ("Number", False, True)]
    assert confusions(said) == {"Number": Confusion(1, 0, 1, 0), "Date": Confusion(0, 1, 0, 0)}


def test_difference_of_counts() -> None:
    assert mean_absolute_difference([]) is None
    assert mean_absolute_difference([(4, 1), (0, 2), (5, 5)]) == pytest.approx(5 / 3)


@pytest.mark.parametrize(
    ("pages", "size"), [(0, 0), (7, 7), (10, 10), (499, 10), (501, 11), (2_000, 40)]
)
def test_two_per_cent_but_at_least_ten(pages: int, size: int) -> None:
    assert sample_size(pages, 0.02, 10) == size


def test_draw_is_the_order_of_hashes() -> None:
    keys = [f"{number}/page" for number in range(30)]
    by_hand = sorted(keys, key=lambda key: hashlib.sha256(f"seed|{key}".encode()).hexdigest())
    assert draw(keys, 5, "seed") == by_hand[:5]
    assert draw(reversed(keys), 5, "seed") == by_hand[:5]
    assert draw(keys, 5, "another") != by_hand[:5]


@given(st.sets(st.text(max_size=5), max_size=30), st.integers(0, 10), st.text(max_size=5))
def test_another_page_displaces_one_at_most(keys: set[str], size: int, seed: str) -> None:
    before = draw(keys, size, seed)
    after = draw({*keys, "one more than the others"}, size, seed)
    assert len(set(before) - set(after)) <= 1
