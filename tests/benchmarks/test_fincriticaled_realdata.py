"""FinCriticalED on real filings and the real output of eight engines."""

import json
from functools import cache

import pytest

from scoring.benchmarks import BENCHMARKS, Scores, check_gold, check_predictions
from tests.shared import ORACLE, REALDATA, needs_oracle, needs_realdata

pytestmark = needs_realdata
BENCHMARK = BENCHMARKS["fincriticaled"]
CLEAN = ("tesseract", "rapidocr", "tesseract_psm6_text")


@cache
def graded(engine: str, matcher: str = "aligned") -> Scores:
    options = BENCHMARK.check_options({"matcher": matcher})
    gold = check_gold(BENCHMARK.read_gold(REALDATA / "gold"))
    predictions = check_predictions(
        BENCHMARK.read_predictions(REALDATA / "predictions" / engine), gold.lines
    )
    assert not gold.faults
    assert not predictions.faults
    assert not predictions.missing
    return BENCHMARK.aggregate(
        (
            BENCHMARK.score_item(line.payload, predictions.lines[name].payload, options)
            for name, line in gold.lines.items()
        ),
        options,
    )


@needs_oracle
@pytest.mark.parametrize("engine", ["tesseract", "gocr", "rapidocr", "tesseract_75dpi"])
def test_general_figures_equal_the_published_ones(engine: str) -> None:
    expected = json.loads((ORACLE / "text" / "expected.json").read_text())[engine]
    for key in ("r1", "rl", "edit_distance"):
        assert graded(engine).scores[key] == pytest.approx(expected[key], abs=1e-6)


def test_all_facts_of_the_gold_are_counted() -> None:
    scores = graded("tesseract")
    assert scores.subsets["Number"]["facts"] == 3857
    assert scores.subsets["Date"]["facts"] == 363


@pytest.mark.parametrize("engine", CLEAN)
def test_clean_engines_are_clearly_above_degraded_ones(engine: str) -> None:
    score = graded(engine).scores["ffa"]
    assert score is not None
    # rapidocr loses the spaces inside dates and every dash of a table, so that values slide.
    assert score > 0.85
    for degraded in ("tesseract_75dpi", "ocrad"):
        other = graded(degraded).scores["ffa"]
        assert other is not None
        assert other < 0.4


@pytest.mark.parametrize("engine", ["tesseract", "gocr", "tesseract_75dpi"])
def test_no_more_facts_are_correct_than_values_are_there_at_all(engine: str) -> None:
    aligned, substring = graded(engine).scores["ffa"], graded(engine, "substring").scores["ffa"]
    assert aligned is not None
    assert substring is not None
    # A value with a space more or less around its marks is typography to one rule only.
    assert aligned <= substring + 0.005
