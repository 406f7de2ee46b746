"""Structured fields: hand-computed cases, invariants, and hostile text."""

import json
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from scoring.metrics.fields import (
    DEEPEST,
    LONGEST_TEXT,
    Normalise,
    SubtaskScores,
    UnparseableError,
    extract_json,
    flatten,
    is_close,
    names_identifier,
    near_pairs,
    normalise_float,
    normalise_text,
    normalise_value,
    parse_json,
    relative_scores,
    set_f1,
    unwrap_answer,
    without_places,
)
from tests.many import together

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.sampled_from(["1,234.50", "12.0", "a, b", "a，b", "<Name>", "007", "１２"])
)
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=20,
)


def reversed_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: reversed_keys(value[key]) for key in reversed(value)}
    return [reversed_keys(child) for child in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ('{"answer": "A"}', {"answer": "A"}),
        ('```json\n{"answer": ["A", "B"]}\n```', {"answer": ["A", "B"]}),
        ('So the answer is {"answer": 3}, I think.', {"answer": 3}),
        ('{"answer": 1, "answer": 2}', {"answer": 2}),
        ('{"answer": 1e400}', {"answer": float("inf")}),
        ('{"answer": -Infinity}', {"answer": float("-inf")}),
        ("{}", {}),
    ],
)
def test_extract_json_takes_the_first_to_the_last_brace(response: str, expected: object) -> None:
    assert extract_json(response) == expected


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        ("", "contains no JSON object"),
        ("The answer is A.", "contains no JSON object"),
        ("} and {", "contains no JSON object"),
        ('["A"]', "contains no JSON object"),
        ("{'answer': 'A'}", "not valid JSON"),
        ('{"answer": "A}', "not valid JSON"),
        ('{"a": 1} or {"a": 2}', "not valid JSON"),
        ('{"answer": ' + "9" * 5000 + "}", "too many digits"),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, "nested deeper"),
        ('{"a":' * 300 + "1" + "}" * 300, "nested deeper"),
        ('{"a":' * 100_000 + "}", "nested deeper"),
        ('{"a": "' + "x" * LONGEST_TEXT + '"}', "longer than"),
    ],
    ids=lambda value: value[:20],
)
def test_extract_json_says_why_a_response_cannot_be_read(response: str, reason: str) -> None:
    with pytest.raises(UnparseableError, match=reason):
        extract_json(response)


def test_nesting_is_taken_up_to_the_stated_limit() -> None:
    deepest = "[" * DEEPEST + "1" + "]" * DEEPEST
    assert parse_json(deepest)
    with pytest.raises(UnparseableError):
        parse_json(f"[{deepest}]")


def test_many_adjacent_brackets_are_not_deep() -> None:
    assert len(parse_json(json.dumps([[1]] * 10_000))) == 10_000


def test_unwrap_answer_takes_one_wrapping_off() -> None:
    assert unwrap_answer({"answer": {"answer": 1}, "why": ""}) == {"answer": 1}
    assert unwrap_answer({"name": "A"}) == {"name": "A"}
    assert unwrap_answer(["answer"]) == ["answer"]


@together(
    "value expected",
    [
        (None, ""),
        ("", ""),
        (" <> ", ""),
        (" <Li Wei> ", "Li Wei"),
        (12.0, "12"),
        (12, "12"),
        ("12.0", "12"),
        ("12.50", "12.5"),
        ("1,234", "1234"),
        ("1,234,567.80", "1234567.8"),
        ("1，234", "1，234"),
        ("007", "7"),
        ("-0.0", "0"),
        ("+5", "5"),
        ("1e3", "1000"),
        ("1e400", "inf"),
        (10**400, "inf"),
        ("NaN", "nan"),
        ("１２", "12"),
        ("12 %", "12 %"),
        (True, "True"),
        # Floats are compared at their precision, even for long numbers.
        ("110101199003078888", "110101199003078880"),
        ({"b": 1, "a": [None]}, "{'a': [None], 'b': 1}"),
    ],
)
def test_normalise_value(value: object, expected: str) -> None:
    assert normalise_value(value) == expected


@together(
    "key value expected",
    [
        ("", None, ""),
        ("", " <Li Wei> ", "Li Wei"),
        ("", 12.0, "12"),
        ("", "12.50", "12.5"),
        ("", "+5", "5"),
        ("", "-0.0", "0"),
        ("", "-.50", "-0.5"),
        ("", "5.", "5"),
        ("", "1,234,567.80", "1234567.8"),
        ("", "1，234", "1，234"),
        ("", "１２", "12"),
        ("", "0", "0"),
        ("", "007", "007"),
        ("", "-007", "-007"),
        ("", "00.5", "00.5"),
        ("", "1e3", "1e3"),
        ("", "1_000", "1_000"),
        ("", "NaN", "NaN"),
        ("", float("inf"), "inf"),
        ("", 1e16, "10000000000000000"),
        ("", 1e-7, "0.0000001"),
        ("", True, "True"),
        ("", "110101199003078888", "110101199003078888"),
        ("", "1,234,567,890,123,456.50", "1234567890123456.5"),
        ("ID", "12.0", "12.0"),
        ("ID", 12.0, "12"),
        ("ID", 12, "12"),
        ("ID", " <12> ", "12"),
    ],
)
def test_normalise_text(key: str, value: object, expected: str) -> None:
    assert normalise_text(key, value) == expected


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (
            "ID|id_number|idNo|Account number|Account No.|Routing number (for direct deposit)|SSN|"
            "Zip code|Phone|Form number|证件号码|账号|卡号|编号（正本）|统一社会信用代码|邮编|手机",
            True,
        ),
        (
            "|No.|Number|Number of pages|Total number of payments|Numbers|Idea|Paid|Notes|"
            "合计总流入资金笔数|金额|姓名|号外新闻",
            False,
        ),
    ],
)
def test_keys_of_identifiers(keys: str, expected: bool) -> None:
    assert [key for key in keys.split("|") if names_identifier(key) is not expected] == []


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9))
def test_a_quantity_is_compared_by_its_value(number: Decimal) -> None:
    value = f"{number:f}"
    plain = normalise_text("", value)
    assert Decimal(plain) == number
    assert normalise_text("", plain) == plain
    assert normalise_text("", f"{number:,f}") == plain


@given(st.from_regex(r"0[0-9]{1,20}|[1-9][0-9]{15,25}", fullmatch=True))
def test_an_identifier_stays_as_it_is(digits: str) -> None:
    assert normalise_text("", digits) == digits


NUMBERS = st.sets(st.integers(0, 12), max_size=6)


@given(NUMBERS, NUMBERS)
def test_as_many_numbers_as_possible_are_near(ours: set[int], theirs: set[int]) -> None:
    gold, found = ({("", str(number)) for number in side} for side in (ours, theirs))
    pairs = near_pairs(gold, found)
    assert all(abs(int(str(a[1])) - int(str(b[1]))) <= 2 for a, b in pairs)
    assert len({a for a, _ in pairs}) == len({b for _, b in pairs}) == len(pairs)
    apart = np.abs(np.subtract.outer(sorted(ours), sorted(theirs)))
    near = apart <= 2 if ours and theirs else np.zeros((0, 0))
    rows, columns = linear_sum_assignment(-near.astype(float))
    assert len(pairs) == near[rows, columns].sum()


@given(JSON)
def test_fields_are_near_themselves(value: object) -> None:
    fields = flatten(parse_json(json.dumps(value)))
    assert len(near_pairs(fields, fields)) == len(fields)


@given(JSON)
def test_values_without_places_are_left(value: object) -> None:
    assert without_places(value) == value
    assert without_places({"a": {"content": value, "coord": [1, 2]}}) == {"a": value}


def test_flatten_joins_keys_and_shares_the_path_of_a_list() -> None:
    value = {"person": {"name": "Li", "aliases": ["A", "B, C", ""]}, "sum": "1,234.0", "gone": None}
    assert flatten(value) == {
        ("person.name", "Li"),
        ("person.aliases", "A"),
        ("person.aliases", "B"),
        ("person.aliases", "C"),
        ("sum", "1234"),
    }


def test_flatten_makes_an_inner_list_one_tuple_of_normalised_values() -> None:
    assert flatten({"rows": [["rent, paid", 30.0, None], ["pay", "8,000"], []]}) == {
        ("rows", ("rent, paid", "30", "")),
        ("rows", ("pay", "8000")),
        ("rows", ()),
    }


def test_flatten_splits_at_the_full_width_comma_and_does_not_normalise_the_parts() -> None:
    assert flatten("12.0， 5") == {("", "12.0"), ("", "5")}


def test_flatten_of_nothing_is_empty() -> None:
    nothing: list[Any] = [None, "", [], {}, [""], {"a": {}}, " , ，"]
    for value in nothing:
        assert flatten(value) == frozenset()


def test_flatten_refuses_paths_that_grow_with_the_square_of_the_text() -> None:
    value = {"k" * 100_000: {str(number): 1 for number in range(1000)}}
    with pytest.raises(UnparseableError, match="paths"):
        flatten(value)


def test_set_f1_by_hand() -> None:
    gold = flatten({"a": 1, "b": 2, "c": 3})
    # 2 of 3 correct, 1 of 3 predicted wrong: P = R = 2/3.
    assert set_f1(gold, flatten({"a": 1, "b": 2, "c": 4})) == pytest.approx(2 / 3)
    # P = 1, R = 1/3.
    assert set_f1(gold, flatten({"a": "1.0"})) == pytest.approx(1 / 2)
    assert set_f1(gold, frozenset()) == 0
    assert set_f1(frozenset(), gold) == 0
    assert set_f1(frozenset(), frozenset()) == 1


@pytest.mark.parametrize(
    ("gold", "prediction", "expected"),
    [
        (281, 283, True),
        (281, 279.0, True),
        (281, 283.01, False),
        ("281", " 282 ", True),
        (1234, "1,234", False),
        (1, True, True),
        (5, [5], False),
        (5, {"value": 5}, False),
        (None, 5, False),
        (float("nan"), float("nan"), False),
        (float("inf"), float("inf"), False),
        (5, 10**400, False),
    ],
)
def test_is_close_allows_two(gold: object, prediction: object, expected: bool) -> None:
    assert is_close(gold, prediction) is expected


@given(JSON, st.sampled_from([normalise_text, normalise_float]))
def test_a_value_is_equal_to_itself(value: object, normalise: Normalise) -> None:
    again = parse_json(json.dumps(value))
    assert set_f1(flatten(value, normalise), flatten(again, normalise)) == 1


@given(JSON)
def test_the_order_of_keys_changes_nothing(value: object) -> None:
    assert flatten(reversed_keys(value)) == flatten(value)


@given(JSON, JSON)
def test_set_f1_is_symmetric_and_a_rate(one: object, other: object) -> None:
    score = set_f1(flatten(one), flatten(other))
    assert 0 <= score <= 1
    assert score == set_f1(flatten(other), flatten(one))


@given(st.text(alphabet='{}[]",:0123456789eE.-aNIn\\u \n，', max_size=60) | st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    for response in (text, f"{{{text}}}", f'{{"answer": {text}}}'):
        try:
            fields = flatten(unwrap_answer(extract_json(response)))
        except UnparseableError:
            continue
        assert set_f1(fields, fields) == 1


SCORES = {
    "normal": {"A": {"1": 0.9, "2": 0.3}, "B": {"1": 0.3}},
    "blur": {"A": {"1": 0.3, "2": 0.3}, "B": {"1": 0.15}},
    "glare": {"A": {"1": 0.9}, "C": {"1": 0.1}},
    "dark": {"A": {"3": 0.9}, "B": {"1": 0.6}},
    "wet": {"A": {"3": 0.9}},
}


def test_relative_scores_divide_by_the_baseline_over_the_same_subtasks() -> None:
    assert relative_scores(SCORES, "normal") == {
        "normal": 1,
        # (0.3 + 0.15) / (0.6 + 0.3)
        "blur": pytest.approx(0.5),
        # Only A 1 is in both, and only B 1.
        "glare": pytest.approx(1),
        "dark": pytest.approx(2),
        "wet": None,
    }


@pytest.mark.parametrize(
    "scores",
    [
        {"blur": {"A": {"1": 0.5}}},
        {"normal": {"A": {"1": 0.0}}, "blur": {"A": {"1": 0.5}}},
        {"normal": {}},
    ],
)
def test_relative_scores_without_a_baseline_are_none(scores: dict[str, SubtaskScores]) -> None:
    assert set(relative_scores(scores, "normal").values()) == {None}
