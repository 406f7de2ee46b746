"""Robustness ratios by hand."""

import pytest

from scoring.metrics.fields import mean_relative_score, relative_scores

SCORES = {"normal": 0.8, "blur": 0.6, "glare": 0.8, "dark": 1.0, "none": None}


def test_relative_scores_divide_by_the_baseline() -> None:
    ratios = relative_scores(SCORES, "normal")
    assert ratios == {
        "normal": 1,
        "blur": pytest.approx(0.75),
        "glare": 1,
        "dark": pytest.approx(1.25),
        "none": None,
    }


@pytest.mark.parametrize("scores", [{"blur": 0.5}, {"normal": 0.0, "blur": 0.5}, {"normal": None}])
def test_relative_scores_without_a_baseline_are_none(scores: dict[str, float | None]) -> None:
    assert set(relative_scores(scores, "normal").values()) == {None}
    assert mean_relative_score(scores, "normal") is None


def test_mean_relative_score_leaves_the_baseline_out() -> None:
    assert mean_relative_score(SCORES, "normal") == pytest.approx((0.75 + 1 + 1.25) / 3)


def test_mean_relative_score_of_the_baseline_alone_is_none() -> None:
    assert mean_relative_score({"normal": 0.5}, "normal") is None
