"""The scores of phases with hidden gold: steps from what each figure is a rate over, and random
rounding. The expected values are computed by hand."""

from collections.abc import Mapping
from statistics import mean
from typing import Any

import pytest

from portal.accounts.models import User
from portal.datasets.models import Release
from portal.jobs.worker import run_due_jobs
from scoring.benchmarks import BENCHMARKS, deciding_column, get_benchmark
from scoring.benchmarks.items import Combined, Contribution, Share, largest_shares
from scoring.grading.services import measure_older
from scoring.leaderboard.disclosure import (
    EXACT,
    random_rounding,
    rounded_scores,
    shown_scores,
    steps,
)
from scoring.models import Board, Entry, Grading, Phase
from scoring.submissions.services import publish_submission
from tests.fixture_types import ApiOf, ClientOf
from tests.scoring.factories import (
    first_phase,
    latest_grading,
    make_board,
    make_release,
    make_submission,
)

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


# --- a phase, from upload to page --------------------------------------------------------------

# 20 pages of 10 numbers and a date, no two of which are the same: one page has 5% of them.
PAGES = {
    f"page-{page}": "".join(
        f"<p>In <Date>{1900 + page}</Date></p>"
        if fact == 10
        else f"<p>Line {chr(97 + fact)} <Number>{page + 11}{fact},{300 + page}</Number></p>"
        for fact in range(11)
    )
    for page in range(20)
}


def read(right: int) -> dict[str, str]:
    """The first pages right, and nothing on the others."""
    marks = ("<Number>", "</Number>", "<Date>", "</Date>")
    answers = dict(PAGES)
    for place, (name, page) in enumerate(PAGES.items()):
        for mark in marks:
            page = page.replace(mark, "")
        answers[name] = page if place < right else "<p>Nothing</p>"
    return answers


@pytest.fixture
def board(organiser: User) -> Board:
    """Hidden gold, and one attempt for each person except organisers: 10 · (1/220)² / 0.005 is
    0.041, so that the main score has steps of 5%."""
    limits: dict[str, Any] = {"score_decimals": 1, "per_day": 1, "in_total": 1}
    release = make_release(PAGES, visibility=Release.Visibility.GOLD_HIDDEN)
    board = make_board(release, diagnostics=Phase.Diagnostics.AGGREGATES, **limits)
    for right in (20, 13, 0):
        submission = make_submission(board, organiser, read(right), name=f"Reads {right}")
        run_due_jobs()
        publish_submission(submission=submission, actor=None)
    run_due_jobs()
    return board


@pytest.mark.django_db
def test_shown_scores_are_steps_everywhere(
    board: Board, api_of: ApiOf, client_of: ClientOf, organiser: User
) -> None:
    entries = {entry.name: entry for entry in Entry.objects.select_related("grading")}
    assert latest_grading(entries["Reads 13"].grading.submission).scores["ffa"] == 0.65  # type: ignore[union-attr]
    assert {name: entry.scores["ffa"] for name, entry in entries.items()} == {
        "Reads 20": 1.0,
        "Reads 13": 0.65,
        "Reads 0": 0.0,
    }
    assert {key for entry in entries.values() for key in entry.scores} == {"ffa"}
    assert not any(entry.intervals or entry.ranks for entry in entries.values())
    table = api_of(None).get("/api/v1/boards/board/leaderboard/").json()
    [section] = table["sections"]
    rows = [
        (row["name"], row["values"]["ffa"], row["ranks"]["rank_ffa"]) for row in section["rows"]
    ]
    assert rows == [("Reads 20", 1.0, 1), ("Reads 13", 0.65, 2), ("Reads 0", 0.0, 3)]
    assert {row["values"]["n_ffa"] for row in section["rows"]} == {None}
    page = client_of(None).get("/boards/board/").content.decode()
    assert "rounded up or down at random" in page
    assert "No rank" not in page
    precision = client_of(None).get("/boards/board/?view=found_facts").content.decode()
    assert "withheld" in precision
    mine = entries["Reads 13"].grading
    assert mine is not None
    url = f"/api/v1/submissions/{mine.submission_id}/"
    assert api_of(None).get(url).json()["grading"]["scores"] == {"ffa": 0.65}
    assert "n_ffa" in api_of(organiser).get(url).json()["grading"]["scores"]


@pytest.mark.django_db
def test_more_attempts_round_published_scores_again(
    board: Board, api_of: ApiOf, organiser: User
) -> None:
    """1,000 attempts: 1,000 · (1/220)² / 0.005 = 4.1, so that the main score only ranks."""
    changed = api_of(organiser).patch(
        "/api/v1/boards/board/phases/test/", {"in_total": 100, "per_day": 100}, format="json"
    )
    assert changed.status_code == 200
    assert all(entry.scores.keys() == {"rank_ffa"} for entry in Entry.objects.all())
    assert Entry.objects.get(name="Reads 20").scores == {"rank_ffa": 1.0}
    assert Entry.objects.get(name="Reads 0").scores == {"rank_ffa": 0.0}


@pytest.mark.django_db
def test_gradings_of_earlier_versions_are_measured_by_the_upkeep(board: Board) -> None:
    before = dict(Entry.objects.values_list("name", "scores"))
    Grading.objects.update(shares={}, answers_sha256="")
    Entry.objects.update(scores={})
    assert rounded_scores(first_phase(board), Grading.objects.first()) == {}  # type: ignore[arg-type]
    assert measure_older() == 3
    assert dict(Entry.objects.values_list("name", "scores")) == before
    assert measure_older() == 0
