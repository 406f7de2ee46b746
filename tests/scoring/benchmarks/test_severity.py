"""Severity-weighted accuracy and its table of weights."""

import pytest

from scoring.benchmarks.fincriticaled import FINCRITICALED
from scoring.benchmarks.fincriticaled.columns import SEVERITY
from scoring.metrics.facts import ERROR_TYPES

OPTIONS = FINCRITICALED.check_options({})


def test_every_error_type_has_a_weight_and_a_reason() -> None:
    assert set(SEVERITY.weights) == set(SEVERITY.reasons) == set(ERROR_TYPES)
    assert all(0 < weight <= 1 for weight in SEVERITY.weights.values())
    assert max(SEVERITY.weights.values()) == 1


def test_a_lost_sign_or_shifted_decimal_weighs_more_than_a_changed_separator() -> None:
    weights = SEVERITY.weights
    assert min(weights["sign"], weights["decimal"]) > weights["separator"]


def test_a_space_weighs_least_of_all() -> None:
    others = [weight for error, weight in SEVERITY.weights.items() if error != "spacing"]
    assert SEVERITY.weights["spacing"] < min(others)


@pytest.mark.parametrize(
    ("errors", "facts", "accuracy"),
    [
        ({}, 4, 1),
        ({"sign": 4}, 4, 0),
        ({"sign": 1, "separator": 2}, 4, 1 - 1.4 / 4),
        ({"missing": 1, "truncated": 1}, 2, 1 - 1.25 / 2),
    ],
)
def test_weighted_accuracy_by_hand(errors: dict[str, int], facts: int, accuracy: float) -> None:
    assert SEVERITY.weighted_accuracy(errors, facts) == pytest.approx(accuracy)


def test_without_facts_there_is_none() -> None:
    assert SEVERITY.weighted_accuracy({}, 0) is None


def test_it_is_shown_next_to_ffa() -> None:
    gold = {
        "id": "p",
        "html": "<p>Revenue <Number>1,200</Number>, loss <Number>(350)</Number></p>",
    }
    answer = {"id": "p", "html": "<p>Revenue 1.200, loss 350</p>"}
    result = FINCRITICALED.score_item(gold, answer, OPTIONS)
    assert result["errors"] == {"sign": 1, "separator": 1}
    scores = FINCRITICALED.aggregate([result], OPTIONS).scores
    assert scores["ffa"] == 0
    assert scores["weighted_ffa"] == pytest.approx(1 - (1 + 0.2) / 2)


def test_the_version_is_in_the_signature_and_above_the_table() -> None:
    (table,) = FINCRITICALED.rules
    assert FINCRITICALED.signature(OPTIONS).endswith(f"|severity:{SEVERITY.version}")
    assert table.help.startswith(f"Version {SEVERITY.version}.")
    assert table.rows[0][1] == "1"
    assert table.rows[-1][:2] == ("spacing", "0.1")
