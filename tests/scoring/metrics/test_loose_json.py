"""JSON objects in any text: notations by hand, what is refused, and hostile text."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.metrics.fields import LONGEST_TEXT, UnparseableError
from scoring.metrics.loose_json import LONGEST_LOOSE, MOST_BRACES, read_objects, read_values
from tests.counting import LINEAR, growth

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=4), VALUES, max_size=4)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('{"a": 1}', [{"a": 1}]),
        ("{'a': None, 'b': [True, False,],}", [{"a": None, "b": [True, False]}]),
        ("{'a': 'it\\'s', \"b\": \"it's\"}", [{"a": "it's", "b": "it's"}]),
        ("{'a': '\\u4e2d\\n'}", [{"a": "中\n"}]),
        ("{“a”：“b”，‘c’: ‘d’}", [{"a": "b", "c": "d"}]),
        ("{a: 1, b_2: 'x'}", [{"a": 1, "b_2": "x"}]),
        ('{"a": "two\nlines"}', [{"a": "two\nlines"}]),
        ("I don't {know} {'a': 1} {}.", [{"a": 1}, {}]),
        ('{"a": 1} {"a": 1} {"a": 2}', [{"a": 1}, {"a": 2}]),
        ('{"a": 1, "a": 1}', [{"a": 1}]),
        ('{"a": 1, "a": 2, "b": 3}', [{"a": [1, 2], "b": 3}]),
        # 1 and true are different, and so are 1 and "1".
        ('{"a": 1, "a": true, "a": "1"}', [{"a": [1, True, "1"]}]),
        # An object that is cut short has no parts of its own.
        ('{"a": 1} {"b": {"c": 2}', [{"a": 1}]),
    ],
)
def test_objects_are_read_in_any_notation(text: str, values: list[Any]) -> None:
    assert read_objects(text) == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("{'a': 1.50} as in [1]", [{"a": "1.50"}]),
        ("['a', 7,] or [[]]", [["a", "7"], [[]]]),
        ('{"a": ["x"], "a": "y", "b": ["z"]}', [{"a": ["x", "y"], "b": ["z"]}]),
        ('[unclosed {"a": 1}', [{"a": "1"}]),
        # A list that is cut short has no parts of its own.
        ('[1] [{"a": 1}, {"b"', [["1"]]),
    ],
)
def test_lists_are_read_if_there_is_no_object(text: str, values: list[Any]) -> None:
    assert read_values(text, numbers_as_written=True) == values


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "contains no JSON object"),
        ('["A"]', "contains no JSON object"),
        ('{"a": "b}', "a quotation mark is not closed"),
        ('{"a": {"b": 1}', "a bracket is not closed"),
        ("{a b: 1}", "not valid JSON"),
        ("{'a': O'Brien}", "not valid JSON"),
        ('{"a": 1]', "brackets do not match"),
        ('{"a": 007}', "not valid JSON"),
        ('{"a": ' + "9" * 5000 + "}", "too many digits"),
        ('{"a":' * 201 + "1" + "}" * 201, "nested deeper than 200 levels"),
        ("{}" + "x" * LONGEST_TEXT, "longer than"),
        ("{a: '" + "x" * LONGEST_LOOSE + "'}", "not valid JSON"),
        ("{x}" * MOST_BRACES + '{"a": 1}', "not valid JSON"),
    ],
    ids=lambda value: value[:16],
)
def test_other_text_is_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(UnparseableError, match=reason):
        read_objects(text)


@given(OBJECTS)
def test_json_and_python_are_the_same(value: dict[str, Any]) -> None:
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False), repr(value)):
        assert read_objects(f"So: {text}.") == [value]


@given(st.text(alphabet="{}[]\"'“”‘’,:：，\\ax1 \n", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        values = read_objects(text)
    except UnparseableError:
        return
    assert all(isinstance(value, dict) for value in values)


@pytest.mark.parametrize(
    "piece",
    [
        "[",
        "{",
        '"',
        '{"',
        "{'",
        '{"a":',
        "{}",
        "{[]",
        "{1, ",
        "“",
        "\\",
        "{ ",
        '{"a":1}',
        "''",
        "{]",
        "[1] ",
        "[{",
        "[ ",
    ],
)
@pytest.mark.parametrize(
    ("read", "start"), [(read_objects, "{"), (read_values, "["), (read_values, "")]
)
def test_work_grows_with_the_length_of_hostile_text(
    read: Callable[[str], list[Any]], start: str, piece: str
) -> None:
    def read_some(size: int) -> None:
        try:
            read(start + piece * size)
        except UnparseableError:
            return

    assert growth(read_some, 4000) <= LINEAR
