"""Repetition: runs by hand, both thresholds, any text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.metrics.reading import MOST_TIMES, is_repetitive, longest_run


@pytest.mark.parametrize(
    ("text", "run"),
    [
        ("a a a a a a", "a a a a a a"),
        ("a a a a a", ""),
        ("x a\na \n a a a a y", "a\na \n a a a a"),
        ("ab ab ab ab ab ab c c c c c c c", "ab ab ab ab ab ab"),
        ("a\ta\ta\ta\ta\ta\ta", ""),
        ("aaaaaaaaaa", ""),
        ("a b a b a b a b a b a b a b", ""),
        ("", ""),
        (" \n ", ""),
    ],
)
def test_longest_run(text: str, run: str) -> None:
    assert longest_run(text) == run


def test_a_run_must_make_up_more_than_a_quarter() -> None:
    run = " ".join(["no"] * 6)
    assert len(run) == 17
    assert not is_repetitive(run + " " + "x" * 50)  # 17 of 68 is a quarter
    assert is_repetitive(run + " " + "x" * 49)


def test_nothing_is_not_repetitive() -> None:
    assert not is_repetitive("")


@given(st.text())
def test_any_text_is_accepted(text: str) -> None:
    run = longest_run(text)
    assert run in text
    assert is_repetitive(text) == (4 * len(run) > len(text))


@given(st.text("ab", min_size=1), st.integers(1, 20))
def test_runs_are_counted_by_units(unit: str, times: int) -> None:
    assert bool(longest_run(" ".join([unit] * times))) == (times > MOST_TIMES)
