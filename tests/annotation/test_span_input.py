"""Submitted spans: every malformed one gets a fault, and none breaks the reader."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.spans import MAX_SPANS, check_drafts, read_spans

TEXT = "Net revenue was 1,200 in 2025 \U0001f4b6 café"
GOOD: dict[str, Any] = {"key": "a", "label": "Number", "start": 16, "end": 21, "quote": "1,200"}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def codes(raw: object) -> list[str]:
    """The codes of the faults that a save would find."""
    drafts, faults = read_spans(raw)
    faults = faults or check_drafts(TEXT, drafts, ["Number", "Date"])
    return [fault["code"] for fault in faults]


def test_good_span_has_no_fault() -> None:
    assert codes([GOOD]) == []
    assert codes([]) == []


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"start": 21, "end": 16}, "range"),
        ({"start": 16, "end": 16, "quote": ""}, "range"),
        ({"end": 10**30}, "range"),
        ({"start": -5}, "range"),
        ({"start": True}, "type"),
        ({"start": 16.0}, "type"),
        ({"start": "16"}, "type"),
        ({"start": None}, "type"),
        ({"quote": None}, "type"),
        ({"label": 1}, "type"),
        ({"key": ["a"]}, "type"),
        ({"key": ""}, "key"),
        ({"key": "a b"}, "key"),
        ({"key": "x" * 37}, "key"),
        ({"key": "\ud800"}, "key"),
        ({"label": "Money"}, "label"),
        ({"label": "N" * 65}, "label"),
        ({"quote": "1,20"}, "quote"),
        ({"start": 15, "quote": "1,200"}, "quote"),
        ({"start": 15, "end": 16, "quote": " "}, "blank"),
    ],
)
def test_fault_is_named(change: dict[str, Any], code: str) -> None:
    assert code in codes([GOOD | change])


@pytest.mark.parametrize("raw", [None, {}, "spans", 7, [None], [[]], [GOOD, 3], [{"key": "a"}]])
def test_wrong_shape_is_a_type_fault(raw: object) -> None:
    assert codes(raw) == ["type"]


def test_overlap_and_duplicate_key_are_reported_with_their_place() -> None:
    other = GOOD | {"start": 18, "quote": "200"}
    drafts, _ = read_spans([GOOD, other])
    faults = check_drafts(TEXT, drafts, ["Number"])
    assert {(fault["index"], fault["code"]) for fault in faults} == {
        (1, "duplicate_key"),
        (1, "overlap"),
    }
    assert all(fault["key"] == "a" for fault in faults)


def test_offsets_count_code_points() -> None:
    start = TEXT.index("café")
    span = {"key": "b", "label": "Date", "start": start, "end": start + 4, "quote": "café"}
    assert codes([span]) == []


def test_too_many_spans_are_refused_before_they_are_read() -> None:
    _, faults = read_spans([None] * (MAX_SPANS + 1))
    assert [fault["code"] for fault in faults] == ["too_many"]


@given(json_values)
def test_any_json_is_answered(raw: Any) -> None:
    read_spans(raw)
    drafts, faults = read_spans([raw, GOOD | {"quote": raw}, GOOD | {"label": raw}])
    assert drafts or faults
