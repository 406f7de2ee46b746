"""Key information: normalisation and fields by hand, trees against zss, hostile answers."""

import json
import re
import time
from collections import Counter
from contextlib import suppress
from typing import Any

import pytest
import zss  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from scoring.metrics import Strict, TooLargeError, structured
from scoring.metrics.fields import UnparseableError
from scoring.metrics.structured import (
    DEEPEST,
    FieldCounts,
    Fields,
    check_gold_record,
    comparable_record,
    field_counts,
    field_f1,
    fields_of,
    mean_accuracy,
    normalise_record,
    normalise_text,
    parse_record,
    read_record,
    strict_counts,
    tree_accuracy,
    with_single_values,
)
from tests.many import drawn, short_id

TEXTS = st.text("ab1 .,:净总", max_size=5)
SCALARS = st.none() | st.booleans() | st.integers(0, 9) | st.floats() | TEXTS
KEYS = st.sampled_from(["a", "b", "id", "total", "a.b", "<leaf>x", "<root>", "<subtree>"])
RECORDS = st.dictionaries(
    KEYS,
    st.recursive(
        SCALARS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
        max_leaves=8,
    ),
    max_size=4,
)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("总 金 额", "总金额"),
        ("总 9 元 A 级", "总9元A级"),
        ("３．５ｋｇ", "3.5 kg"),
        ("a、b，c", "a, b, c"),
        ("Beijing ,China", "Beijing, China"),
        ("12:30", "12:30"),
        ("at 12 : 30", "at 12 : 30"),
        ("No.5", "No. 5"),
        ("5.No", "5.No"),
        ("5kg", "5 kg"),
        ("kg5", "kg 5"),
        ("a\u3000\t b", "a b"),
        ("Total:9.80", "Total: 9.80"),
        ("", ""),
    ],
)
def test_text_is_normalised(text: str, normal: str) -> None:
    assert normalise_text(text) == normal


def test_record_is_normalised() -> None:
    record = {
        "total": 9.5,
        "id": "５kg",
        "names": ["５kg", " x ", "", None, True, 7, ["y"]],
        "menu": [{"name": "a ,b", "n": None}, {}],
        "none": [],
        "empty": {},
        "blank": "",
        "mixed": [{"a": 1}, "x"],
        "paid": True,
    }
    assert normalise_record(record) == {
        "id": ["5 kg"],
        "menu": [{"n": ["None"], "name": ["a, b"]}],
        "paid": ["True"],
        "blank": [""],
        "mixed": ["x"],
        "names": ["５kg", "x", "7"],
        "total": ["9.5"],
    }
    assert list(normalise_record({"bb": 1, "c": 2, "aa": 3})) == ["c", "aa", "bb"]


def test_fields_are_a_multiset_of_paths_and_values() -> None:
    normal = normalise_record({"menu": [{"name": "tea"}, {"name": "tea"}], "total": "9.80"})
    assert dict(fields_of(normal)) == {("menu.name", "tea"): 2, ("total", "9.80"): 1}


def test_field_f1_by_hand() -> None:
    gold = fields_of(normalise_record({"a": ["x", "x", "y"], "b": "z"}))
    found = fields_of(normalise_record({"a": ["x", "q"], "b": "z"}))
    counts = field_counts(gold, found)
    assert counts == FieldCounts(tp=2, fp=1, fn=2)
    assert field_f1([counts]) == pytest.approx(2 / 3.5, abs=1e-6)
    assert field_f1([counts, FieldCounts(4, 0, 0)]) == pytest.approx(6 / 7.5, abs=1e-6)
    assert field_f1([]) == 0.0


@pytest.mark.parametrize(
    ("record", "right", "counted"),
    [
        ({"a": ["x", "x", "y"], "b": "z"}, 8, 8),
        ({"a": ["x", "q", "q"], "b": "q"}, 2, 8),
        ({"a": ["x"]}, 2, 8),
        ({}, 0, 8),
        # Two values too many.
        ({"a": ["x", "x", "y", "p", "q"], "b": "z"}, 8, 10),
        # More than twice as many extra values as right ones: none of them is right.
        ({"a": ["x", "x", "y"], "b": ["z", "p", "q", "r"]}, 6, 8),
        # A field that the gold has not. Such fields cost at most what is right.
        ({"a": ["x", "x", "y"], "c": "p"}, 6, 9),
        ({"b": "z", "c": ["p", "q", "r"]}, 2, 10),
        ({"c": ["p", "q", "r"]}, 0, 8),
    ],
    ids=short_id,
)
def test_strict_counts_by_hand(record: Any, right: int, counted: int) -> None:
    gold = fields_of(normalise_record({"a": ["x", "x", "y"], "b": "z"}))
    found = strict_counts(gold, fields_of(normalise_record(record)))
    assert found == Strict(right, counted)


def test_an_invented_record_costs_a_value_where_there_is_none() -> None:
    invented = fields_of({"a": ["x", "y"]})
    assert strict_counts(Fields(), invented) == Strict(0, 1)
    assert strict_counts(Fields(), Fields()) == Strict(0, 0)


@given(RECORDS, RECORDS, st.integers(0, 50), st.integers(0, 50))
def test_leaving_out_a_field_or_a_record_never_raises_strict_f1(
    gold_record: Any, record: Any, right: int, wrong: int
) -> None:
    """Together with any other records, which have `right` of `right + wrong` counts."""

    def f1(fields: Fields) -> float:
        found = strict_counts(gold, fields)
        assert 0 <= found.right <= found.counted
        return (right + found.right) / max(1, right + wrong + found.counted)

    gold, given_fields = (fields_of(normalise_record(each)) for each in (gold_record, record))
    before = f1(given_fields) + 1e-12
    assert not gold or f1(Fields()) <= before
    asked, answered = (
        Counter(path for path, _ in each.elements()) for each in (gold, given_fields)
    )
    for field in given_fields:
        path = field[0]
        without = Fields({key: n for key, n in given_fields.items() if key[0] != path})
        assert path not in asked or f1(without) <= before
        assert answered[path] > asked[path] or f1(given_fields - Fields([field])) <= before
    assert f1(gold) >= before - 2e-12


def test_tree_accuracy_by_hand() -> None:
    """The gold costs 1 + 4 + 1 + 3 to build; a digit is wrong, then a key is missing, then all."""
    gold = {"total": ["9.80"], "name": ["tea"]}
    assert tree_accuracy(gold, gold) == 1.0
    assert tree_accuracy(gold, {**gold, "total": ["9.60"]}) == 1 - 1 / 9
    assert tree_accuracy(gold, {"name": ["tea"]}) == 1 - 5 / 9
    assert tree_accuracy(gold, {}) == 0.0
    assert tree_accuracy({"a": ["x"]}, {"b": ["y" * 50]}) == 0.0


def test_gold_without_fields_has_accuracy_zero() -> None:
    assert tree_accuracy({}, {}) == tree_accuracy({}, {"a": ["b"]}) == 0.0


def test_mean_accuracy_has_the_references_divisor() -> None:
    assert mean_accuracy([1.0, 0.0]) == pytest.approx(1 / 2.000001, abs=1e-12)
    assert mean_accuracy([]) == 0.0


def reference_tree(record: Any, label: str = "<root>") -> Any:
    node = zss.Node(label)
    if isinstance(record, dict):
        for key, value in record.items():
            node.addkid(reference_tree(value, key))
    for item in record if isinstance(record, list) else []:
        is_object = isinstance(item, dict)
        node.addkid(reference_tree(item, "<subtree>") if is_object else zss.Node(f"<leaf>{item}"))
    return node


def leaf_text(node: Any) -> str | None:
    return node.label.replace("<leaf>", "") if "<leaf>" in node.label else None


def reference_size(node: Any) -> int:
    text = leaf_text(node)
    return 1 if text is None else len(text)


def reference_rename(one: Any, other: Any) -> int:
    first, second = leaf_text(one), leaf_text(other)
    if first is not None and second is not None:
        return Levenshtein.distance(first, second)
    if first is None and second is None:
        return int(one.label != other.label)
    return 1 + len(first or second or "")


def reference_distance(first: Any, second: Any) -> float:
    return float(
        zss.distance(
            reference_tree(first),
            reference_tree(second),
            zss.Node.get_children,
            insert_cost=reference_size,
            remove_cost=reference_size,
            update_cost=reference_rename,
        )
    )


@drawn(RECORDS, RECORDS)
def test_zss_agrees(gold: Any, prediction: Any) -> None:
    first, second = normalise_record(gold), normalise_record(prediction)
    from_nothing = reference_distance({}, first)
    if from_nothing:
        expected = max(0.0, 1.0 - reference_distance(second, first) / from_nothing)
        assert tree_accuracy(first, second) == pytest.approx(expected, abs=1e-9)


@given(RECORDS)
def test_a_perfect_answer_scores_one(gold: Any) -> None:
    normal = normalise_record(gold)
    fields = fields_of(normal)
    if fields:
        assert field_f1([field_counts(fields, fields)]) == pytest.approx(1.0, abs=1e-6)
        assert tree_accuracy(normal, normal) == 1.0


@given(RECORDS)
def test_the_order_of_keys_changes_nothing(gold: Any) -> None:
    turned = dict(reversed(gold.items()))
    assert repr(normalise_record(turned)) == repr(normalise_record(gold))


@drawn(RECORDS, RECORDS, st.text())
def test_more_fields_never_find_less(gold: Any, prediction: Any, more: str) -> None:
    """With `more` under its own key, nothing else changes."""
    first, second = fields_of(normalise_record(gold)), fields_of(normalise_record(prediction))
    third = fields_of(normalise_record({**prediction, "another key": more}))
    assert field_counts(first, third).tp >= field_counts(first, second).tp
    assert field_counts(first, third).tp <= first.total()


@given(st.text() | st.recursive(SCALARS, st.lists).map(json.dumps))
def test_any_text_is_a_record_or_unparseable(text: str) -> None:
    try:
        record = normalise_record(parse_record(text))
    except UnparseableError:
        return
    assert 0.0 <= tree_accuracy({"a": ["b"]}, record) <= 1.0


@pytest.mark.parametrize(
    ("text", "record"),
    [
        ('{"a": 1}', {"a": 1}),
        ('  {"a":\n 1}\n', {"a": 1}),
        ('Yes: ```json\n{"a": 1}\n``` done', {"a": 1}),
        ('{"a": 1, "a": 2}', {"a": 2}),
        ("[1]", [1]),
        ('"x"', "x"),
        ("[" * DEEPEST + "]" * DEEPEST, ...),
    ],
)
def test_answers_are_read(text: str, record: Any) -> None:
    found = parse_record(text)
    assert record is ... or found == record


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not JSON"),
        ("The total is 9.80", "not JSON"),
        ('{"a": 1', "not JSON"),
        ('```json {"a": 1}', "never closed"),
        ('```\n{"a": 1}\n```', "not JSON"),
        ("null", "null"),
        ('{"a": ' + "9" * 5000 + "}", "too many digits"),
        ("[" * 101 + "]" * 101, "100 deep"),
        ("[" * 100_000, "deep"),
        ('{"a":' * 100_000, "deep"),
    ],
    ids=short_id,
)
def test_unparseable_answers_say_why(text: str, reason: str) -> None:
    with pytest.raises(UnparseableError, match=reason):
        parse_record(text)


@pytest.mark.parametrize(
    "text", [" " * 500_000, "中" + " " * 500_000, ", " * 300_000, "1a" * 300_000, "5 " * 300_000]
)
def test_hostile_values_are_gone_over_a_few_times_only(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    class Recorded:
        def __init__(self, pattern: re.Pattern[str]) -> None:
            self.pattern = pattern

        def sub(self, replacement: str, value: str) -> str:
            seen.append(value)
            return self.pattern.sub(replacement, value)

    for name, value in vars(structured).copy().items():
        if isinstance(value, re.Pattern):
            monkeypatch.setattr(structured, name, Recorded(value))
    normalise_text(text)
    assert 1 < len(seen) <= 6
    # Only the first pattern, which is one run, sees runs of white space.
    assert not any("  " in value for value in seen[1:3])
    assert sum(map(len, seen)) <= 12 * len(text)


def test_records_that_are_too_large_are_refused() -> None:
    many = {"a": ["x"] * 3500}
    with pytest.raises(TooLargeError, match="nodes"):
        tree_accuracy(many, many)
    with pytest.raises(TooLargeError, match="characters"):
        fields_of({"k" * 10_000: {str(number): [""] for number in range(3000)}})
    with pytest.raises(TooLargeError):
        check_gold_record(many)
    long = {"a": ["x" * 300_000]}
    with pytest.raises(TooLargeError, match="300,000"):
        tree_accuracy(long, {"a": ["y" * 300_000]})


# --- records in any form --------------------------------------------------------------------------
GOLD = {"total": "9.80", "paid": {"by": "card", "on": ""}, "menu": [{"nm": "tea"}, {"nm": "cake"}]}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(GOLD),
        f"```\n{json.dumps(GOLD)}\n```",
        f"```JSON {json.dumps(GOLD)}",
        f"Sure [1], {{as read}}: {json.dumps(GOLD, indent=1)} Anything else?",
        json.dumps([GOLD, GOLD]),
        json.dumps(GOLD | {"total": ["９.80", "9.80"]}),
        json.dumps(GOLD | {"paid": [{"by": "card"}, {"on": None}]}),
        json.dumps(GOLD).replace('"9.80"', "9.80"),
        json.dumps(GOLD).replace("{", '{"total": "9.80", ', 1),
    ],
    ids=short_id,
)
def test_forms_of_a_record(text: str) -> None:
    assert comparable_record(with_single_values(read_record(text), GOLD)) == comparable_record(GOLD)


@pytest.mark.parametrize(
    "text",
    [
        '{"total": ["9.80", "9.60"]}',
        '{"total": "9.60", "total": "9.80"}',
        '{"total": "9.80", "total": "9.60"}',
        '{"total": "9.60"} {"total": "9.80"}',
        '[{"total": "9.60"}, {"total": "9.80"}]',
        '```json {"total": "9.60"}``` or ```json {"total": "9.80"}```',
        '{"total": "9.80 or 9.60"}',
        '{"paid": [{"by": "card"}, {"by": "cash"}]}',
    ],
)
def test_several_values_for_one_field_are_wrong(text: str) -> None:
    found = comparable_record(with_single_values(read_record(text), GOLD))
    counts = field_counts(fields_of(comparable_record(GOLD)), fields_of(found))
    assert counts == FieldCounts(0, 1, 5)


def test_lists_of_the_gold_may_have_several_values() -> None:
    gold = {"names": ["a", "b"], "rows": [{"x": "1"}]}
    found = {"names": ["a", "b", "c"], "rows": [{"x": "1"}, {"x": "2"}], "more": ["y", "z"]}
    assert with_single_values(found, gold) == found


@given(RECORDS, RECORDS, KEYS, TEXTS)
def test_another_value_never_helps(gold: Any, prediction: Any, key: str, text: str) -> None:
    """Where the field has one value in the gold."""
    if isinstance(gold.get(key), list) or key not in prediction:
        return
    hedged = prediction | {key: [prediction[key], text]}
    fields = fields_of(comparable_record(gold))
    found = [
        field_counts(fields, fields_of(comparable_record(with_single_values(one, gold)))).tp
        for one in (prediction, hedged)
    ]
    assert found[1] <= found[0] + (prediction[key] in ("", None, [], {}))


@given(st.text(alphabet='{}[]",:ab1`. \n\\'))
def test_any_text_is_read_or_unparseable(text: str) -> None:
    try:
        comparable_record(with_single_values(read_record(text), GOLD))
    except UnparseableError as error:
        assert str(error)


@pytest.mark.parametrize("text", ['{"a":"b",', '{"x {', "[{", '{"a": "b"} ', "[1]"])
def test_hostile_records_take_linear_time(text: str) -> None:
    start = time.perf_counter()
    with suppress(UnparseableError):
        read_record(text * 100_000)
    assert time.perf_counter() - start < 5
