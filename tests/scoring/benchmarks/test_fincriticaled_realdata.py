"""FinCriticalED on real filings and the real output of eight engines."""

import json
from dataclasses import replace
from functools import cache
from itertools import islice

import pytest

from scoring.benchmarks import BENCHMARKS, GoldLine, Scores, check_gold, check_predictions
from scoring.benchmarks.answers import shown_gold, shown_prediction
from scoring.benchmarks.fincriticaled.readers import as_frozen
from tests.many import each_part, part_of
from tests.shared import ORACLE, REALDATA, needs_oracle, needs_realdata

pytestmark = needs_realdata
BENCHMARK = BENCHMARKS["fincriticaled"]
DEGRADED = ("gocr", "tesseract_75dpi")
CLEAN = ("tesseract", "rapidocr", "tesseract_psm6_text")


@cache
def gold() -> dict[str, GoldLine]:
    found = check_gold(BENCHMARK.read_gold(REALDATA / "gold"))
    assert not found.faults
    return found.lines


def graded(engine: str, matcher: str = "aligned", step: int = 1, answer: str = "shown") -> Scores:
    """Return the figures of an engine, over every page or every `step`th."""
    # The cache keys depend on how arguments are passed.
    return _graded(engine, matcher, step, answer)


@cache
def _graded(engine: str, matcher: str, step: int, answer: str) -> Scores:
    options = BENCHMARK.check_options(
        {"matcher": matcher, "text_rules": "reference", "answer": answer}
    )
    predictions = check_predictions(
        BENCHMARK.read_predictions(REALDATA / "predictions" / engine), gold()
    )
    assert not predictions.faults
    assert not predictions.missing
    return BENCHMARK.aggregate(
        (
            BENCHMARK.score_item(line.payload, predictions.lines[name].payload, options)
            for name, line in islice(gold().items(), 0, None, step)
        ),
        options,
    )


@each_part
def test_a_gold_page_is_perfect_as_its_own_prediction(part: str) -> None:
    options = BENCHMARK.check_options({})
    predictions = check_predictions(BENCHMARK.read_predictions(REALDATA / "gold"), gold())
    for name in part_of(sorted(gold()), part):
        payload = predictions.lines[name].payload
        shown, _ = shown_prediction("fincriticaled", gold()[name].payload, payload, options)
        own = shown_gold(gold()[name].payload, options)
        frozen = as_frozen(replace(gold()[name], payload=own), options)
        assert isinstance(frozen, GoldLine), name
        for kept in (own, frozen.payload):
            item = BENCHMARK.score_item(kept, shown, options)
            assert item["text"] == {"r1": 1, "rl": 1, "edit_distance": 0}, name
            assert all(fact["correct"] for fact in item["facts"]), name
            assert item["hallucinated"]["count"] == 0, name


@needs_oracle
@pytest.mark.parametrize("engine", ["tesseract", "gocr", "rapidocr", "tesseract_75dpi"])
def test_general_figures_equal_the_published_ones(engine: str) -> None:
    expected = json.loads((ORACLE / "text" / "expected.json").read_text())[engine]
    for key in ("r1", "rl", "edit_distance"):
        # The fact matcher does not affect these figures, and this one is the fastest. The published
        # script reads the title of a page, too.
        scores = graded(engine, "substring", answer="whole").scores
        assert scores[key] == pytest.approx(expected[key], abs=1e-6)


def test_all_facts_of_the_gold_are_counted() -> None:
    scores = graded("tesseract")
    assert scores.scores["ffa"] is not None
    assert 0.95 < scores.scores["ffa"] < 0.978
    assert scores.subsets["Number"]["facts"] == 3857
    assert scores.subsets["Date"]["facts"] == 363


@pytest.mark.slow
@pytest.mark.parametrize("engine", CLEAN)
def test_clean_engines_are_clearly_above_degraded_ones(engine: str) -> None:
    score = graded(engine, step=3).scores["ffa"]
    assert score is not None
    # rapidocr loses the spaces inside dates and every dash of a table, so that values slide.
    assert score > 0.85
    for degraded in ("tesseract_75dpi", "ocrad"):
        other = graded(degraded, step=3).scores["ffa"]
        assert other is not None
        assert other < 0.4


@pytest.mark.parametrize(
    "engine", ["tesseract", *(pytest.param(name, marks=pytest.mark.slow) for name in DEGRADED)]
)
def test_no_more_facts_are_correct_than_values_are_there_at_all(engine: str) -> None:
    step = 3 if engine in DEGRADED else 1
    aligned, substring = (
        graded(engine, matcher, step).scores["ffa"] for matcher in ("aligned", "substring")
    )
    assert aligned is not None
    assert substring is not None
    # A value with an extra or missing space around its marks differs only by the published rule.
    assert aligned <= substring + 0.005
