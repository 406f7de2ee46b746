"""Items without facts: any JSON as a table of fields, results in words, and comparisons."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.benchmarks.graded import MOST_CHARACTERS
from scoring.benchmarks.items import Sides
from scoring.results.fields import (
    LONGEST_VALUE,
    MOST_ROWS,
    MOST_WORDS,
    FieldPair,
    field_diff,
    field_table,
    item_diff,
    result_parts,
    text_diff,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def rows(value: dict[str, Any]) -> dict[str, str]:
    table = field_table("Gold", value, without=frozenset({"id"}))
    return {row.path: row.text for row in table.rows}


def test_paths_and_texts() -> None:
    value = {
        "id": "left out",
        "fields": {"detail": [{"amount": 45, "ifTax": False}], "place": None},
        "counts": [1, 0, 0],
        "empty": [],
        "long": list(range(9)),
        "": "nameless",
    }
    found = rows(value)
    assert found["fields.detail[0].amount"] == "45"
    assert found["fields.detail[0].ifTax"] == "false"
    assert found["fields.place"] == "null"
    assert found["counts"] == "[1, 0, 0]"
    assert found["empty"] == "[]"
    assert found["long[8]"] == "8"
    assert found["(no name)"] == "nameless"
    assert "id" not in found


def test_long_tables_are_cut_and_marked() -> None:
    table = field_table("Gold", {"a": list(range(1000))}, without=frozenset())
    assert (len(table.rows), table.has_more) == (MOST_ROWS, True)
    table = field_table("Gold", {"a": "x" * (MOST_CHARACTERS + 1)}, without=frozenset())
    assert table.rows[0].is_cut
    assert len(table.rows[0].text) == MOST_CHARACTERS


def test_deep_nesting_is_no_harm() -> None:
    value: dict[str, Any] = {"end": 1}
    for _ in range(5000):
        value = {"a": value}
    assert list(rows(value).values()) == ["1"]


@settings(max_examples=20)
@given(st.dictionaries(st.text(), JSON))
def test_any_object_has_a_row_for_each_key(value: dict[str, Any]) -> None:
    check_rows(value)


@pytest.mark.slow
@given(st.dictionaries(st.text(), JSON))
def test_each_of_many_objects_has_a_row_for_each_key(value: dict[str, Any]) -> None:
    check_rows(value)


def check_rows(value: dict[str, Any]) -> None:
    table = field_table("Gold", value, without=frozenset())
    assert len(table.rows) >= min(len(value), MOST_ROWS)


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
            "Repetitive output": "no",
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
            "arrival": "1 correctly empty; reward: 0.3",
            "std_curr": "1 not in the gold, 1 not found; errors: reasoning: 1; reward: 0; "
            "gold: USD; prediction: UDS",
        },
        "List fields with other weights": {"A, lexical": "detail: 4 correct, 2 not found"},
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


WORDS = st.lists(st.sampled_from("abcde"), max_size=60)


@given(WORDS, WORDS)
def test_each_side_can_be_read_from_the_stretches(gold: list[str], prediction: list[str]) -> None:
    """However much equal text is cut, no word that only one side has is lost."""
    stretches = text_diff(gold, prediction)
    for words, kind in ((gold, "missed"), (prediction, "extra")):
        kept = [each for each in stretches if each.kind in {"same", kind}]
        shown = [word for each in kept for word in f"{each.text} {each.rest}".split()]
        assert len(shown) + sum(each.skipped for each in kept) == len(words)
        if not any(each.skipped for each in kept):
            assert shown == words


def test_long_stretches_that_are_the_same_are_cut_in_the_middle() -> None:
    words = [f"w{n}" for n in range(100)]
    [same] = text_diff(words, words)
    assert (same.kind, same.skipped) == ("same", 76)
    assert (same.text.split()[-1], same.rest.split()[0]) == ("w11", "w88")


def test_fields_are_in_order_and_what_is_empty_is_not_there() -> None:
    gold: dict[str, Any] = {"b": {"y": 1}, "list": [{"n": n} for n in range(11)], "none": None}
    prediction = {"b": {"y": "1"}, "list": [{"n": 0}], "empty": "", "new": [1, 2]}
    pairs = field_diff(gold, prediction)
    assert [each.path for each in pairs] == ["b.y", *(f"list[{n}].n" for n in range(11)), "new"]
    assert pairs[0] == FieldPair("b.y", "1", "1")
    assert [each.verdict for each in pairs[1:3]] == ["same", "missed"]
    assert (pairs[-1].verdict, pairs[-1].prediction) == ("extra", "[1, 2]")


@pytest.mark.parametrize(
    ("sides", "words"),
    [
        (Sides("a", None), "The prediction cannot be read."),
        (Sides("a", {"a": 1}), "Gold and prediction have different types."),
        (
            Sides("a", "b " * (MOST_WORDS + 1)),
            "The texts are not compared because one has more than 10,000 words.",
        ),
    ],
)
def test_problems_have_a_reason(sides: Sides, words: str) -> None:
    assert item_diff(sides).problem == words


def test_long_objects_are_cut_and_say_so() -> None:
    diff = item_diff(Sides({str(n): n for n in range(500)}, {}))
    assert diff.has_more
    assert diff.fields is not None
    assert len(diff.fields) == 200
