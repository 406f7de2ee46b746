"""Text reading: hand-computed overlaps, the reference's epsilons, invariants."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.metrics.reading import (
    Overlap,
    UnitRule,
    macro_f1,
    micro_f1,
    overlap_f1,
    reading_units,
    unit_overlap,
)

WORDS, PLAIN_WORDS = UnitRule(), UnitRule(alphanumeric=True)
CHARACTERS = UnitRule(characters=True)
RULES = (WORDS, PLAIN_WORDS, CHARACTERS)


def f1(gold: str, prediction: str, rule: UnitRule = WORDS) -> float:
    return overlap_f1(unit_overlap(reading_units(gold, rule), reading_units(prediction, rule)))


@pytest.mark.parametrize(
    ("text", "rule", "units"),
    [
        ("Net\tLoss\n(1,200)", WORDS, ["net", "loss", "(1,200)"]),
        ("Net Loss (1,200) — é", PLAIN_WORDS, ["net", "loss", "1200"]),
        ("### Title ***bold***", WORDS, ["title", "bold"]),
        ("a###b", WORDS, ["ab"]),
        ("净 利\n润　A", CHARACTERS, ["净", "利", "润", "a"]),
        ("İ", CHARACTERS, ["i̇"]),
        ("  ", WORDS, []),
        ("", CHARACTERS, []),
    ],
)
def test_units(text: str, rule: UnitRule, units: list[str]) -> None:
    assert reading_units(text, rule) == units


def test_overlap_counts_as_multisets() -> None:
    assert unit_overlap(["a", "a", "b"], ["a", "c", "a", "a"]) == Overlap(3, 4, 2)
    assert unit_overlap([], ["a"]) == Overlap(0, 1, 0)


def test_f1_by_hand() -> None:
    """Two of three words are correct, of four read words: 2·2 / (3 + 4)."""
    assert f1("net loss 2024", "net loss for 2023") == pytest.approx(4 / 7, abs=1e-8)
    assert f1("", "anything") == 0.0
    assert f1("", "") == 0.0
    assert f1("a", "") == 0.0


def test_macro_is_the_mean_and_micro_counts_all_units() -> None:
    overlaps = [Overlap(1, 1, 1), Overlap(9, 9, 0)]
    assert macro_f1([overlap_f1(overlap) for overlap in overlaps]) == pytest.approx(0.5, abs=1e-8)
    assert micro_f1(overlaps) == pytest.approx(0.1, abs=1e-8)
    assert macro_f1([]) == micro_f1([]) == 0.0


@given(st.text(), st.text(), st.sampled_from(RULES))
def test_any_text_gives_a_score_in_range(gold: str, prediction: str, rule: UnitRule) -> None:
    assert 0.0 <= f1(gold, prediction, rule) <= 1.0


@given(st.lists(st.text("abc1净", min_size=1), min_size=1), st.sampled_from(RULES), st.randoms())
def test_the_order_of_what_is_read_does_not_matter(
    words: list[str], rule: UnitRule, shuffle: random.Random
) -> None:
    gold = " ".join(["a", *words])
    shuffle.shuffle(words)
    assert f1(gold, " ".join([*words, "a"]), rule) == pytest.approx(1.0, abs=1e-6)


@given(st.lists(st.sampled_from("abc")), st.lists(st.sampled_from("abc")), st.sampled_from("abcd"))
def test_garbage_never_raises_recall_beyond_the_gold(
    gold: list[str], prediction: list[str], more: str
) -> None:
    before, after = unit_overlap(gold, prediction), unit_overlap(gold, [*prediction, more])
    assert before.right <= after.right <= min(len(gold), before.right + (more in gold))
