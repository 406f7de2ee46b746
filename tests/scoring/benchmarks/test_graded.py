"""Fields of items: where they are on both sides, and that they agree with the scorers' results."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scoring.benchmarks import WHOLE, get_benchmark
from scoring.benchmarks.graded import (
    NOT_FOUND,
    WRONG,
    GradedItem,
    Piece,
    align,
    graded_cells,
    graded_lines,
    record_sheet,
    text_sheet,
)
from scoring.benchmarks.reading import ReadFault

SAMPLE = Path(__file__).parents[3] / "sample" / "benchmarks"
BENCHMARKS = ["ccocr", "fcmbench", "findoc", "receiptbench"]


def verdicts(item: GradedItem | None) -> list[tuple[str, str | None, str]]:
    assert item is not None
    return [(field.value, field.read, field.error) for field in item.fields]


def test_a_line_is_right_if_all_its_words_were_read_in_order() -> None:
    item = graded_lines("Bread\nOpen 7 to 3\nClosed", "Bread\nOpen 7 to3", "signs")
    assert verdicts(item) == [
        ("Bread", "Bread", ""),
        ("Open 7 to 3", "Open 7 to3", WRONG),
        ("Closed", None, NOT_FOUND),
    ]


def test_a_line_has_its_place_on_both_sides() -> None:
    item = graded_lines("Bread\n\nOpen 7", "Bread Open\n7", "signs")
    assert item is not None
    assert item.prediction is not None
    assert item.gold.rows == ((Piece("Bread", (0,)),), (Piece(""),), (Piece("Open 7", (1,)),))
    assert item.prediction.rows == (
        (Piece("Bread", (0,)), Piece(" "), Piece("Open", (1,))),
        (Piece("7", (1,)),),
    )


def test_an_added_line_moves_no_other() -> None:
    item = graded_lines("a b\nc", "x y\na b\nc", "")
    assert verdicts(item) == [("a b", "a b", ""), ("c", "c", "")]
    assert item is not None
    assert item.prediction is not None
    assert item.prediction.rows[0] == (Piece("x y"),)


def test_cells_are_compared_in_order_without_white_space() -> None:
    gold = [["Item", "2026"], ["Net sales", "1,200"], ["Total", "9"]]
    read = [["Item", "2026"], ["Netsales", "1.200"], ["Total"]]
    item = graded_cells(gold, read, "tables")
    assert verdicts(item) == [
        ("Item", "Item", ""),
        ("2026", "2026", ""),
        ("Net sales", "Netsales", ""),
        ("1,200", "1.200", WRONG),
        ("Total", "Total", ""),
        ("9", None, NOT_FOUND),
    ]
    assert item is not None
    assert item.fields[3].name == "row 2, column 2"
    assert item.prediction is not None
    assert item.prediction.rows[1][1] == Piece("1.200", (3,))


def test_too_many_words_are_not_aligned() -> None:
    assert align([["a"] * 10_001], ["a"]) is None
    assert graded_lines("a", "a " * 10_001, "") is None


def test_a_value_marks_the_row_that_contains_it_or_else_its_whole_path() -> None:
    record = {"menu": [{"name": "tea"}, {"name": "cake"}], "total": "4,850.00"}
    sheet = record_sheet(
        record, [("menu.name", "cake"), ("total", "4850"), ("menu", ""), ("no", "x")]
    )
    assert [row[1] for row in sheet.rows] == [
        Piece("tea", (2,)),
        Piece("cake", (0, 2)),
        Piece("4,850.00", (1,)),
    ]


def test_places_that_overlap_are_cut_at_each_border() -> None:
    assert text_sheet("one two\nthree", [(0, 7, 1), (4, 7, 0), (6, 9, 2)]).rows == (
        (Piece("one ", (1,)), Piece("tw", (1, 0)), Piece("o", (1, 0, 2))),
        (Piece("t", (2,)), Piece("hree")),
    )


def graded(key: str) -> Iterator[tuple[dict[str, Any], GradedItem | None]]:
    """The items of every sample submission, with their results."""
    spec, folder = get_benchmark(key), SAMPLE / key
    options, grades = spec.default_options, get_benchmark(key).field_grades
    assert grades is not None
    gold = {line.id: line.payload for line in _lines(spec.read_gold(folder / "gold/dev.jsonl"))}
    for path in sorted((folder / "submissions/dev").glob("*.jsonl")):
        read = {line.id: line.payload for line in _lines(spec.read_predictions(path))}
        for name, payload in gold.items():
            prediction = read.get(name)
            result = spec.score_item(payload, prediction, options)
            yield result, grades.item(payload, prediction, result, options)


def _lines(found: Iterator[Any]) -> Iterator[Any]:
    for line in found:
        assert not isinstance(line, ReadFault), line
        yield line


@pytest.mark.parametrize("key", BENCHMARKS)
def test_wrong_fields_of_the_result_are_those_of_the_item(key: str) -> None:
    grades = get_benchmark(key).field_grades
    assert grades is not None
    compared = 0
    for result, item in graded(key):
        wrong = grades.wrong(result)
        if wrong is None or item is None or any(name.name == WHOLE for name in wrong.fields):
            continue
        if result.get("op", "kie") != "kie":
            continue
        listed = Counter(field.key for field in item.fields if field.error)
        if key == "receiptbench":
            # They name fields without their values.
            listed = Counter(name._replace(value="") for name in listed.elements())
        assert wrong.fields <= listed, result["id"]
        assert wrong.fields == listed or wrong.is_cut, result["id"]
        compared += wrong.fields.total()
    assert compared > 5


@pytest.mark.parametrize("key", BENCHMARKS)
def test_most_right_fields_have_a_place_on_both_sides(key: str) -> None:
    placed = total = 0
    for _, item in graded(key):
        if item is None or item.prediction is None:
            continue
        sides = [
            {number for row in sheet.rows for piece in row for number in piece.fields}
            for sheet in (item.gold, item.prediction)
        ]
        right = {n for n, field in enumerate(item.fields) if not field.error and field.value}
        # Fixed phrases of a statement are not in its gold.
        right -= {n for n in right if item.fields[n].kind in {"section", "disclosure"}}
        placed += len(right & sides[0] & sides[1])
        total += len(right)
    assert placed > 0.97 * total


def test_a_missing_prediction_leaves_every_field_unread() -> None:
    for key in BENCHMARKS:
        spec = get_benchmark(key)
        assert spec.field_grades is not None
        [first, *_] = _lines(spec.read_gold(SAMPLE / key / "gold/dev.jsonl"))
        result = spec.score_item(first.payload, None, spec.default_options)
        item = spec.field_grades.item(first.payload, None, result, spec.default_options)
        assert item is not None
        assert all(field.error for field in item.fields if field.value), key


@pytest.mark.parametrize(
    "response", ["", "{", "null", "[" * 5000, '{"a": ' * 5000, "<table>" * 500, "\0 \ud83d"]
)
def test_hostile_responses_are_shown(response: str) -> None:
    for key in ("ccocr", "fcmbench", "receiptbench"):
        spec = get_benchmark(key)
        assert spec.field_grades is not None
        for line in _lines(spec.read_gold(SAMPLE / key / "gold/dev.jsonl")):
            prediction = {"id": line.id, "response": response}
            result = spec.score_item(line.payload, prediction, spec.default_options)
            spec.field_grades.item(line.payload, prediction, result, spec.default_options)
