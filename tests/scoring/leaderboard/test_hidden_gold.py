"""The scores of phases with hidden gold: steps from what each figure is a rate over, and random
rounding. The expected values are computed by hand."""

from collections.abc import Mapping
from statistics import mean
from typing import Any

import pytest

from portal.datasets.models import Release
from scoring.benchmarks import BENCHMARKS, deciding_column, get_benchmark
from scoring.benchmarks.items import Combined, Contribution, Share, largest_shares
from scoring.leaderboard.disclosure import (
    EXACT,
    random_rounding,
    rounded_scores,
    shown_scores,
    steps,
)
from scoring.models import Board, Grading, Phase

HIDDEN = Release(visibility=Release.Visibility.GOLD_HIDDEN)


# --- shares ---------------------------------------------------------------------------------


def test_an_item_has_the_share_of_its_facts_in_a_pooled_figure() -> None:
    """Eight of ten facts are on one page, so that it has 80%, and each fact 10%."""
    pages = [[Contribution("ffa", 0, 8, facts=8)], [Contribution("ffa", 0, 2, facts=2)]]
    assert largest_shares(pages, {}) == {"ffa": pytest.approx(Share(0.8, 0.1))}


def test_an_item_adds_up_what_it_contributes() -> None:
    """Three numbers and one date of a page, and two numbers of another: 4 of 6 facts."""
    pages = [
        [Contribution("ffa", 0, 3, facts=3), Contribution("ffa", 0, 1, facts=1)],
        [Contribution("ffa", 0, 2, facts=2)],
    ]
    assert largest_shares(pages, {}) == {"ffa": pytest.approx(Share(4 / 6, 1 / 6))}


def test_an_item_of_a_small_part_weighs_more_in_a_mean_of_means() -> None:
    """Track a has subsets x (1 item) and y (2 items), track b only z (4 items). In the mean of
    tracks, the item of x has 1/2 · 1/2, those of y 1/8, and those of z 1/2 · 1/4."""
    parts = [("a", "x"), *[("a", "y")] * 2, *[("b", "z")] * 4]
    items = [[Contribution("overall", 0, part=part)] for part in parts]
    assert largest_shares(items, {}) == {"overall": Share(0.25, 0.25)}


def test_items_without_facts_and_figures_without_items_have_no_share() -> None:
    items = [[Contribution("ffa", 0, 0, facts=0)], [Contribution("ffa", 1, 2, facts=2)], []]
    assert largest_shares(items, {}) == {"ffa": Share(1.0, 0.5)}
    assert largest_shares([[Contribution("ffa", 0, 0, facts=0)]], {}) == {}


def test_a_combined_figure_has_the_largest_share_of_its_parts() -> None:
    items = [[Contribution("r1", 0), Contribution("rl", 0)], [Contribution("rl", 0)]]
    combined = {"general": Combined(("r1", "rl"), max), "other": Combined(("r1", "e"), max)}
    shares = largest_shares(items, combined)
    assert shares["general"] == Share(1.0, 1.0)
    assert "other" not in shares


# --- steps ----------------------------------------------------------------------------------


def phase_of(benchmark: str = "fincriticaled", **settings: Any) -> Phase:
    defaults = {"score_decimals": 1, "per_day": 3, "in_total": 20, "release": HIDDEN}
    return Phase(board=Board(benchmark=benchmark), part_salt="secret", **(defaults | settings))


def grading_of(
    shares: Mapping[str, tuple[float, float]], scores: Mapping[str, Any] | None = None
) -> Grading:
    return Grading(shares={"all": shares}, scores=dict(scores or {}), answers_sha256="a")


@pytest.mark.parametrize(
    ("item", "fact", "step"),
    [
        # 50,000 facts: the rule for what all attempts say gives 0.0001, finer than one decimal.
        (0.0005, 0.00002, 0.001),
        # One item must not move the last digit.
        (0.0015, 0.00002, 0.002),
        # 2,500 facts: 0.0186.
        (0.0015, 0.0004, 0.02),
        # 1,000 facts: 0.075, which is more than 5%.
        (0.0015, 0.001, None),
        # Eight receipts.
        (1 / 8, 1 / 28, None),
    ],
)
def test_the_step_of_the_main_score(item: float, fact: float, step: float | None) -> None:
    assert steps(phase_of(), grading_of({"ffa": (item, fact)}))["ffa"] == step


def test_other_scores_share_the_rest_of_what_may_be_learnt() -> None:
    """0.0080 alone, and 0.0115 for each of two."""
    main, other = (0.0005, 0.0001), (0.0005, 0.0002)
    alone = steps(phase_of(), grading_of({"ffa": main, "n_ffa": other}))
    assert (alone["ffa"], alone["n_ffa"]) == (0.005, 0.01)
    both = steps(phase_of(), grading_of({"ffa": main, "n_ffa": other, "t_ffa": other}))
    assert (both["ffa"], both["n_ffa"], both["t_ffa"]) == (0.005, 0.02, 0.02)


def test_limits_decide_the_number_of_attempts() -> None:
    """3 a day are 10,950 a year for ten people, which gives 0.0116; 2,000 attempts give 0.0020."""
    grading = grading_of({"ffa": (0.0005, 0.00002)})
    assert steps(phase_of(in_total=None), grading)["ffa"] == 0.02
    assert steps(phase_of(in_total=None, per_day=None), grading)["ffa"] == 0.001
    assert steps(phase_of(in_total=200), grading)["ffa"] == 0.005


def test_figures_that_are_not_over_gold_are_withheld_whatever_their_shares() -> None:
    names = ["ffa", "precision", "hallucinated", "err_sign", "found", "n_precision", "unheard_of"]
    found = steps(phase_of(), grading_of(dict.fromkeys(names, (0.0001, 0.0001))))
    assert [key for key, step in found.items() if step is not None] == ["ffa"]
    assert "unheard_of" not in found


def test_a_grading_that_was_not_measured_shows_nothing() -> None:
    phase, grading = phase_of(), Grading(scores={"ffa": 0.5})
    assert set(steps(phase, grading).values()) == {None}
    assert rounded_scores(phase, grading) == shown_scores(phase, grading) == {}


def test_public_gold_and_exact_scores_have_their_own_steps() -> None:
    grading = grading_of({"ffa": (1.0, 1.0)})
    public = phase_of("receiptbench", release=Release(visibility=Release.Visibility.PUBLIC))
    found = steps(public, Grading())
    assert (found["precision"], found["fp_overall"]) == (0.001, None)
    assert steps(phase_of(score_decimals=None), grading)["precision"] == EXACT


@pytest.mark.parametrize("key", BENCHMARKS)
def test_every_benchmark_ranks_by_a_rate_over_gold(key: str) -> None:
    spec = get_benchmark(key)
    gold = spec.gold_figures(spec.default_options)
    figures = spec.figures_for(spec.default_options)
    assert deciding_column(spec.columns).key in gold
    assert all(figures[each].unit == "%" for each in gold)


def test_what_a_submission_chooses_is_not_over_gold() -> None:
    finest = {
        "fincriticaled": {"precision", "hallucinated", "found", "ffa_tax_form", "err_sign"},
        "receiptbench": {
            "overall",
            "perception",
            "precision",
            "recall",
            "std_total",
            "err_missing",
        },
        "fcmbench": {"overall", "f1", "unparseable", "without_iqe", "zh_KIE"},
        "ccocr": {"repetition", "fields", "grounding", "diff"},
    }
    for key, chosen in finest.items():
        spec = get_benchmark(key)
        options = spec.default_options
        assert chosen <= spec.figures_for(options).keys()
        assert not chosen & spec.gold_figures(options)


def test_tasks_by_the_published_rules_leave_answers_out() -> None:
    spec = get_benchmark("fcmbench")
    assert "KIE" in spec.gold_figures(spec.default_options)
    reference = spec.check_options({"rules": "reference"})
    assert spec.gold_figures(reference) == {"overall_strict"}


# --- random rounding ------------------------------------------------------------------------


def test_random_rounding_keeps_0_and_1_and_is_right_on_average() -> None:
    draws = [at / 1000 for at in range(1000)]
    for value in (0.0, 1.0):
        assert {random_rounding(value, 0.05, draw) for draw in draws} == {value}
    rounded = [random_rounding(0.423, 0.05, draw) for draw in draws]
    assert set(rounded) == {0.4, 0.45}
    assert mean(rounded) == pytest.approx(0.423, abs=0.001)


def shown(answers: str, phase: Phase, score: float = 0.423, figure: str = "ffa") -> float:
    """In steps of 5%: 1,667 facts give 0.0346."""
    shares = dict.fromkeys(("ffa", figure), (0.001, 0.0006))
    grading = grading_of(shares, {"ffa": score, figure: score})
    grading.answers_sha256 = answers
    return float(rounded_scores(phase, grading)[figure])


def test_the_same_answers_get_the_same_value() -> None:
    phase = phase_of()
    assert len({shown("a", phase) for _ in range(5)}) == 1


def test_scores_of_many_files_are_right_on_average() -> None:
    values = [shown(str(number), phase_of()) for number in range(2000)]
    assert set(values) == {0.4, 0.45}
    # The standard deviation of the mean is 0.05 · √(0.46 · 0.54 / 2000) = 0.0006.
    assert mean(values) == pytest.approx(0.423, abs=0.003)


def test_files_phases_and_parts_have_draws_of_their_own() -> None:
    files = [str(number) for number in range(64)]
    other = phase_of()
    other.part_salt = "other"
    assert [shown(each, phase_of()) for each in files] != [shown(each, other) for each in files]
    assert len({shown(each, phase_of()) for each in files}) == 2


def test_a_perfect_file_shows_100() -> None:
    assert {shown(str(number), phase_of(), score=1.0) for number in range(100)} == {1.0}


def test_a_withheld_main_score_ranks_in_its_step_and_is_not_shown() -> None:
    """The 28 facts of eight receipts give 16, so that the step is 100%."""
    phase, grading = phase_of(), grading_of({"ffa": (1 / 8, 1 / 28)}, {"ffa": 0.5, "n_ffa": 0.5})
    assert rounded_scores(phase, grading) == {}
    assert shown_scores(phase, grading).keys() == {"rank_ffa"}
    assert shown_scores(phase, grading)["rank_ffa"] in {0.0, 1.0}
