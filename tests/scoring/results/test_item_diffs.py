"""Gold and prediction compared, as text and field by field."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.benchmarks.items import Sides
from scoring.results.fields import MOST_WORDS, FieldPair, field_diff, item_diff, text_diff

WORDS = st.lists(st.sampled_from("abcde"), max_size=60)


@given(WORDS, WORDS)
def test_each_side_can_be_read_from_the_stretches(gold: list[str], prediction: list[str]) -> None:
    """However much equal text is cut, no word that only one side has is lost."""
    stretches = text_diff(gold, prediction)
    for words, kind in ((gold, "missed"), (prediction, "extra")):
        kept = [each for each in stretches if each.kind in {"same", kind}]
        shown = [word for each in kept for word in f"{each.text} {each.rest}".split()]
        assert len(shown) + sum(each.skipped for each in kept) == len(words)
        if not any(each.skipped for each in kept):
            assert shown == words


def test_long_stretches_that_are_the_same_are_cut_in_the_middle() -> None:
    words = [f"w{n}" for n in range(100)]
    [same] = text_diff(words, words)
    assert (same.kind, same.skipped) == ("same", 76)
    assert (same.text.split()[-1], same.rest.split()[0]) == ("w11", "w88")


def test_fields_are_in_order_and_what_is_empty_is_not_there() -> None:
    gold: dict[str, Any] = {"b": {"y": 1}, "list": [{"n": n} for n in range(11)], "none": None}
    prediction = {"b": {"y": "1"}, "list": [{"n": 0}], "empty": "", "new": [1, 2]}
    pairs = field_diff(gold, prediction)
    assert [each.path for each in pairs] == ["b.y", *(f"list[{n}].n" for n in range(11)), "new"]
    assert pairs[0] == FieldPair("b.y", "1", "1")
    assert [each.verdict for each in pairs[1:3]] == ["same", "missed"]
    assert (pairs[-1].verdict, pairs[-1].prediction) == ("extra", "[1, 2]")


@pytest.mark.parametrize(
    ("sides", "words"),
    [
        (Sides("a", None), "There is no readable prediction."),
        (Sides("a", {"a": 1}), "Gold and prediction have different types."),
        (Sides("a", "b " * (MOST_WORDS + 1)), "More than 10,000 words are not compared."),
    ],
)
def test_problems_have_a_reason(sides: Sides, words: str) -> None:
    assert item_diff(sides).problem == words


def test_long_objects_are_cut_and_say_so() -> None:
    diff = item_diff(Sides({str(n): n for n in range(500)}, {}))
    assert diff.has_more
    assert diff.fields is not None
    assert len(diff.fields) == 200
