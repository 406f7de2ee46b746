"""Grounding: matches by hand, confidences, ties, and any entries."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.metrics.limits import TooLargeError
from scoring.metrics.reading import Matches, UnitRule, Word, grounding_f1, match_words, word_of
from tests.many import drawn

RULE = UnitRule()
WORDS = st.lists(
    st.builds(
        Word,
        st.sampled_from(["net", "loss", "-", "&"]),
        st.tuples(st.integers(0, 3).map(float), st.integers(0, 3).map(float)),
        st.none() | st.sampled_from([0.1, 0.5, 0.9]),
    ),
    max_size=8,
)
ENTRIES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.sampled_from(["text", "point", "box", "confidence"]), inner)
    ),
)


def test_each_word_goes_to_the_nearest_and_must_read_the_same() -> None:
    gold = [Word("Net", (0, 0)), Word("loss", (10, 0))]
    prediction = [Word("net", (1, 1)), Word("less", (9, 0)), Word("loss", (100, 100))]
    # The distant `loss` is nearest to the gold one as well, but `less` is nearer.
    assert match_words(gold, prediction, RULE) == Matches(tp=1, fp=2, fn=1)


def test_the_most_confident_of_several_is_kept() -> None:
    gold = [Word("loss", (0, 0))]
    near, far = Word("less", (1, 0), 0.4), Word("loss", (5, 0), 0.6)
    assert match_words(gold, [near, far], RULE) == Matches(1, 1, 0)
    assert match_words(gold, [near, Word("loss", (5, 0), 0.2)], RULE) == Matches(0, 2, 1)
    # A word with a confidence takes precedence over one without.
    assert match_words(gold, [Word("less", (1, 0)), far], RULE) == Matches(1, 1, 0)


def test_the_same_word_is_taken_of_equally_near_gold_words() -> None:
    gold = [Word("net", (0, 0)), Word("loss", (0, 0)), Word("loss", (0, 0))]
    assert match_words(gold, gold, RULE) == Matches(3, 0, 0)


def test_words_without_units_must_be_written_the_same() -> None:
    rule = UnitRule(alphanumeric=True)
    assert match_words([Word("—", (0, 0))], [Word("—", (0, 0))], rule).tp == 1
    assert match_words([Word("—", (0, 0))], [Word("&", (0, 0))], rule).tp == 0


def test_nothing_to_match() -> None:
    word = Word("a", (0, 0))
    assert match_words([], [word], RULE) == Matches(0, 1, 0)
    assert match_words([word], [], RULE) == Matches(0, 0, 1)
    assert match_words([], [], RULE) == Matches(0, 0, 0)


def test_f1_by_hand() -> None:
    assert grounding_f1(tp=2, fp=1, fn=3) == 0.5
    assert grounding_f1(0, 0, 4) == 0.0
    assert grounding_f1(0, 0, 0) == 1.0


@pytest.mark.parametrize(
    ("entry", "centre"),
    [
        ({"text": "a", "point": [1, 2.5]}, (1.0, 2.5)),
        ({"text": "a", "box": [0, 0, 10, 4]}, (5.0, 2.0)),
        ({"text": "a", "box": [10, 4, 0, 0], "confidence": "high"}, (5.0, 2.0)),
    ],
)
def test_words_are_read(entry: Any, centre: tuple[float, float]) -> None:
    assert word_of(entry) == Word("a", centre)


@pytest.mark.parametrize(
    "entry",
    [
        None,
        {},
        {"text": "a"},
        {"point": [1, 2]},
        {"text": 1, "point": [1, 2]},
        {"text": "a", "point": [1]},
        {"text": "a", "point": [1, float("nan")]},
        {"text": "a", "point": [10**400, 1]},
        {"text": "a", "point": [True, 1]},
        {"text": "a", "box": "0 0 1 1"},
    ],
)
def test_invalid_words_are_none(entry: Any) -> None:
    assert word_of(entry) is None


@drawn(ENTRIES)
def test_any_entry_is_a_word_or_none(entry: Any) -> None:
    word = word_of(entry)
    assert word is None or isinstance(word, Word)


@given(WORDS, st.randoms())
def test_a_perfect_response_in_any_order_is_all_right(
    gold: list[Word], shuffle: random.Random
) -> None:
    prediction = list(gold)
    shuffle.shuffle(prediction)
    assert match_words(gold, prediction, RULE) == Matches(len(gold), 0, 0)


@drawn(WORDS, WORDS, st.randoms())
def test_order_changes_nothing(
    gold: list[Word], prediction: list[Word], shuffle: random.Random
) -> None:
    before = match_words(gold, prediction, RULE)
    shuffle.shuffle(gold)
    shuffle.shuffle(prediction)
    assert match_words(gold, prediction, RULE) == before


@given(WORDS, WORDS)
def test_counts_add_up(gold: list[Word], prediction: list[Word]) -> None:
    matches = match_words(gold, prediction, RULE)
    assert matches.tp + matches.fp == len(prediction)
    assert matches.tp + matches.fn == len(gold)


def test_too_many_words_are_refused() -> None:
    word = Word("net", (1.0, 2.0))
    assert match_words([word] * 40, [word] * 1_000, RULE) == Matches(40, 960, 0)
    with pytest.raises(TooLargeError, match="40 and 100,001 words are not compared"):
        match_words([word] * 40, [word] * 100_001, RULE)
