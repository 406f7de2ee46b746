"""Anchors: the heaviest sequence in common order, and moved blocks."""

import random

import pytest

from scoring.metrics.facts import alignment as anchors
from scoring.metrics.facts.alignment import Anchor, find_anchors


def test_an_anchor_is_the_longest_equal_stretch() -> None:
    shared = "consolidatedbalancesheet" * 4
    assert find_anchors(f"x{shared}1", f"yy{shared}2") == [[Anchor(1, 2, len(shared))]]
    assert find_anchors(shared, shared) == [[Anchor(0, 0, len(shared))]]


def test_text_that_moved_is_a_sequence_of_its_own() -> None:
    first, second = "consolidatedbalancesheet", "netlossattributable"
    assert find_anchors(first + second, second + first) == [
        [Anchor(0, len(second), len(first))],
        [Anchor(len(first), 0, len(second))],
    ]


@pytest.mark.parametrize("block", [1, 7, 1000])
def test_how_many_anchors_are_compared_at_a_time_changes_nothing(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(5)
    lines = ["".join(chance.choices("aeinorst", k=20)) for _ in range(150)]
    other = [line + str(n) for n, line in enumerate(lines)]
    chance.shuffle(other)
    gold = "".join(lines)
    expected = find_anchors(gold, "".join(other))
    assert sum(map(len, expected)) > 64
    monkeypatch.setattr(anchors, "_BLOCK", block)
    assert find_anchors(gold, "".join(other)) == expected
