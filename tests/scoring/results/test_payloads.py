"""Any JSON as a table of fields."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.results.fields import MOST_CHARACTERS, MOST_ROWS, field_table

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
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
