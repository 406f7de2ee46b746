"""The result of an item in words."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.results.fields import LONGEST_VALUE, result_parts

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def texts(result: dict[str, Any], **options: Any) -> dict[str, dict[str, str]]:
    parts = result_parts(result, **{"without": frozenset(), "is_compared": False, **options})
    return {part.title: {row.label: row.text for row in part.rows} for part in parts}


def test_keys_have_labels_and_nothing_is_raw() -> None:
    result = {
        "id": "left out",
        "f1": 2 / 3,
        "outcome": "left_out",
        "reason": "",
        "orientation": None,
        "repetitive": False,
        "missed_count": 2,
        "missed": [["category", "Payslip"], ["dates", ["2020", "2021"]]],
        "extra": [],
        "output_tokens": 17,
    }
    assert texts(result, without={"id"}) == {
        "": {
            "Outcome": "left out",
            "Reason": "–",
            "Orientation": "–",
            "F1": "0.6667",
            "Number not found": "2",
            "Not found": "category: Payslip; dates: 2020, 2021",
            "Not in the gold": "none",
            "Repeats itself": "no",
            "Output tokens": "17",
        }
    }


def test_the_order_of_rows_does_not_depend_on_the_database() -> None:
    result = {"reward": 1.0, "outcome": "read", "zeta": 1, "alpha": 2, "f1": 0.5}
    (part,) = result_parts(result, without=(), is_compared=False)
    labels = [row.label for row in part.rows]
    assert labels == ["Outcome", "F1", "Reward", "Alpha", "Zeta"]
    turned = dict(reversed(result.items()))
    assert result_parts(turned, without=(), is_compared=False) == [part]


RECEIPT = {
    "fields": {
        "std_curr": {
            "counts": [0, 1, 1, 0],
            "reward": 0.0,
            "errors": {"reasoning": 1},
            "gold": "USD",
            "prediction": "UDS",
        },
        "arrival": {"counts": [0, 0, 0, 1], "reward": 0.3},
    },
    "weights": {"A, lexical": {"detail": [4, 0, 2, 0]}},
}


def test_fields_keep_their_names_and_counts_are_words() -> None:
    assert texts(RECEIPT) == {
        "By field": {
            "arrival": "1 rightly empty; reward: 0.3",
            "std_curr": "1 not in the gold, 1 not found; errors: reasoning: 1; reward: 0; "
            "gold: USD; prediction: UDS",
        },
        "Lists under other weights": {"A, lexical": "detail: 4 right, 2 not found"},
    }


def test_compared_gold_and_prediction_are_not_repeated() -> None:
    fields = texts(RECEIPT, is_compared=True)["By field"]
    assert fields["std_curr"] == "1 not in the gold, 1 not found; errors: reasoning: 1; reward: 0"


def test_long_texts_are_cut_and_say_so() -> None:
    text = texts({"reason": "x" * (LONGEST_VALUE + 1)})[""]["Reason"]
    assert text == "x" * LONGEST_VALUE + "… cut off"


def test_four_numbers_elsewhere_are_no_counts() -> None:
    assert texts({"box": [1, 2, 3, 4]}) == {"": {"Box": "1, 2, 3, 4"}}


@settings(max_examples=20)
@given(st.dictionaries(st.text(), JSON))
def test_any_result_has_words(result: dict[str, Any]) -> None:
    check_words(result)


@pytest.mark.slow
@given(st.dictionaries(st.text(), JSON))
def test_each_of_many_results_has_words(result: dict[str, Any]) -> None:
    check_words(result)


def check_words(result: dict[str, Any]) -> None:
    """Return the result as stored in a database."""
    kept = json.loads(json.dumps(result))
    parts = result_parts(kept, without=(), is_compared=True)
    rows = sum(len(part.rows) for part in parts)
    groups = [value for value in kept.values() if isinstance(value, dict) and value]
    assert rows == len(kept) - len(groups) + sum(map(len, groups))
    assert all(row.text for part in parts for row in part.rows)
