"""Text metrics: hand-computed values, rouge-score as reference, and the published figures."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from portal.facts import visible_text
from scoring.metrics.text import (
    NO_PREDICTION,
    edit_distance,
    general_score,
    rouge_1,
    rouge_l,
    rouge_tokens,
    text_scores,
)
from tests.shared import ORACLE, REALDATA, needs_oracle, needs_realdata

WORDS = st.lists(
    st.sampled_from(["net", "losses", "Operating", "1,200", "of", "(3.5)", "é", "2024", "a-b"]),
    max_size=30,
).map(" ".join)


def test_rouge_tokens_are_lower_case_and_stemmed_from_four_characters() -> None:
    assert rouge_tokens("Sales of the Subsidiaries: $(1,200.50) é") == [
        "sale",
        "of",
        "the",
        "subsidiari",
        "1",
        "200",
        "50",
    ]


def test_rouge_1_counts_tokens_as_a_multiset() -> None:
    # 2 shared of 3 and of 4: P = 2/4, R = 2/3, F = 4/7.
    assert rouge_1(["a", "a", "b"], ["a", "c", "c", "b"]) == pytest.approx(4 / 7)


def test_rouge_l_needs_common_order() -> None:
    # The longest common subsequence is "b c": P = R = 2/3.
    assert rouge_l(["a", "b", "c"], ["b", "c", "a"]) == pytest.approx(2 / 3)


@pytest.mark.parametrize("metric", [rouge_1, rouge_l])
def test_rouge_of_empty_texts_is_zero(metric: object) -> None:
    assert callable(metric)
    assert metric([], []) == 0
    assert metric(["a"], []) == 0


@pytest.mark.parametrize(
    ("gold", "prediction", "expected"),
    [
        ("", "", 0),
        ("abc", "", 1),
        ("", "abc", 1),
        ("kitten", "sitting", 3 / 7),
        ("1,200", "(1,200)", 2 / 7),
    ],
)
def test_edit_distance_is_relative_to_the_longer_text(
    gold: str, prediction: str, expected: float
) -> None:
    assert edit_distance(gold, prediction) == pytest.approx(expected)


def test_general_score_of_table_4() -> None:
    # GPT-5 in the paper: R1 57.37, RL 56.65, E 50.47.
    assert general_score(0.5737, 0.5665, 0.5047) == pytest.approx(0.5451667, abs=1e-6)


def test_no_prediction_scores_worst() -> None:
    assert (NO_PREDICTION.r1, NO_PREDICTION.rl, NO_PREDICTION.edit_distance) == (0, 0, 1)


@given(WORDS, WORDS)
def test_rouge_equals_rouge_score(gold: str, prediction: str) -> None:
    expected = RougeScorer(["rouge1", "rougeL"], use_stemmer=True).score(gold, prediction)
    scores = text_scores(gold, prediction)
    assert scores.r1 == pytest.approx(expected["rouge1"].fmeasure)
    assert scores.rl == pytest.approx(expected["rougeL"].fmeasure)


@given(st.text(max_size=80))
def test_a_text_equals_itself(text: str) -> None:
    scores = text_scores(text, text)
    assert scores.edit_distance == 0
    assert scores.r1 == scores.rl == (1 if rouge_tokens(text) else 0)


@needs_oracle
@needs_realdata
@pytest.mark.parametrize("engine", ["tesseract", "gocr", "rapidocr", "tesseract_75dpi"])
def test_text_scores_equal_the_published_figures(engine: str) -> None:
    expected = json.loads((ORACLE / "text" / "expected.json").read_text())[engine]["items"]
    assert len(expected) == 132
    for name, (r1, rl, e) in expected.items():
        texts = [
            visible_text((REALDATA / folder / f"{name}.html").read_bytes().decode())
            for folder in ("pages", f"predictions/{engine}")
        ]
        scores = text_scores(texts[0], texts[1])
        assert (scores.r1, scores.rl, scores.edit_distance) == pytest.approx((r1, rl, e), abs=1e-6)
