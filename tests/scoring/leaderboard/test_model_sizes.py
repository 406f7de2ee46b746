"""Spellings of a model's size, each with the number of parameters counted by hand."""

import pytest

from scoring.leaderboard.filters import parameters

B = 1e9


@pytest.mark.parametrize(
    ("size", "number"),
    [
        ("7B", 7 * B),
        ("0.07b", 0.07 * B),
        ("0,9B", 0.9 * B),
        ("350 M", 0.35 * B),
        ("1,300M", 1.3 * B),
        ("1,300.5M", 1.3005 * B),
        ("1T", 1000 * B),
        ("7 billion", 7 * B),
        ("1.5bn", 1.5 * B),
        ("500 thousand", 5e5),
        ("7000000000", 7 * B),
        ("7,000,000,000", 7 * B),
        ("~72B", 72 * B),
        ("72B-Instruct", 72 * B),
        ("Qwen2.5-72B", 72 * B),
        # Models that work together are added up.
        ("3B + 671B", 674 * B),
        ("3B+671B", 674 * B),
        ("3B & 0.5B", 3.5 * B),
        ("3B and 671B", 674 * B),
        ("7B (LLM) + 300M (ViT)", 7.3 * B),
        ("1B + 2B + 3B", 6 * B),
        ("3B, 671B", 674 * B),
        ("7B + rules", 7 * B),
        # All parameters of a mixture of experts count.
        ("235B-A22B", 235 * B),
        ("30B-A3B", 30 * B),
        ("16B (A2.8B)", 16 * B),
        ("671B (37B active)", 671 * B),
        ("37B active, 671B", 671 * B),
        ("37B active/671B total", 671 * B),
        ("671B/37B", 671 * B),
        ("3B + 235B-A22B", 238 * B),
        ("8x7B", 56 * B),
        ("8 × 22B", 176 * B),
        ("8x7B (47B total)", 47 * B),
        # No size is stated.
        ("", None),
        ("-", None),
        ("large", None),
        ("A22B", None),
        ("v2.5", None),
        ("32k context", None),
        ("7 layers", None),
        ("7B, 32k tokens", 7 * B),
        ("9" * 5000 + "x1B", None),
    ],
)
def test_sizes_are_read_as_numbers_of_parameters(size: str, number: float | None) -> None:
    assert parameters(size) == pytest.approx(number)
