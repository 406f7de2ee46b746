"""CC-OCR: rules by hand, aggregation by hand, invariants, hostile files, and the reference."""

import io
import json
import math
import random
import zipfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.benchmarks import OptionError, ReadFault, Scores, check_gold, check_predictions
from scoring.benchmarks.base import GoldLine, PredictionLine
from scoring.benchmarks.ccocr import CCOCR
from scoring.benchmarks.ccocr.figures import GROUNDED, OPS, SUBSETS, TRACK_TITLES, find_subset
from scoring.benchmarks.ccocr.scorer import unit_rule
from scoring.metrics.reading import UnitRule
from tests.many import short_id
from tests.shared import ORACLE, needs_oracle

OPTIONS = CCOCR.check_options({})
# The published evaluators grade the whole output.
REFERENCE = CCOCR.check_options({"rules": "reference", "answer": "whole"})
TABLE = "<table><tr><td>Net loss</td><td>1,200</td></tr></table>"
WORD = {"text": "Total", "point": [10, 20]}
# A gold answer and a perfect response for every op.
PERFECT: dict[str, tuple[Any, str]] = {
    "ocr": ("Net loss 1,200", "net Loss 1,200"),
    "doc": ("\\section{Loss} 1,200", "```latex\n\\section{Loss}\n1,200\n```"),
    "table": (TABLE, f"```html\n{TABLE}\n```"),
    "formula": ("x^2 + y", "```latex x^2+y```"),
    "molecular": ("CCO", "<smiles>CCO</smiles>"),
    "kie": (
        {"total": "9.80", "menu": [{"name": "tea"}]},
        '{"menu":[{"name":"tea"}],"total":"9.80"}',
    ),
    "grounding": ([WORD], json.dumps([WORD])),
}
TRACK_OF = {"ocr": "multi_scene", "kie": "kie", "grounding": "multi_scene"}


def gold(
    op: str = "ocr",
    answer: Any = None,
    *,
    item: str = "1",
    subset: str = "some",
    track: str = "",
    orientation: int | None = None,
) -> dict[str, Any]:
    line = {
        "id": item,
        "subset": subset,
        "track": track or TRACK_OF.get(op, "doc_parsing"),
        "op": op,
        "answer": PERFECT[op][0] if answer is None else answer,
    }
    return line if orientation is None else {**line, "orientation": orientation}


def score(line: dict[str, Any], response: str | None) -> dict[str, Any]:
    prediction = None if response is None else {"response": response}
    return CCOCR.score_item(line, prediction, OPTIONS)


def graded(rows: Iterable[tuple[dict[str, Any], str | None]]) -> Scores:
    return CCOCR.aggregate([score(line, response) for line, response in rows], OPTIONS)


# --- columns ------------------------------------------------------------------------------


def test_subsets_are_those_of_the_paper() -> None:
    assert len(SUBSETS) == 39
    assert sum(subset.images for subset in SUBSETS) == 7058
    images: Counter[str] = Counter()
    for subset in SUBSETS:
        images[subset.track] += subset.images
    assert images == {"multi_scene": 2750, "multi_lan": 1500, "doc_parsing": 800, "kie": 2008}
    assert len({subset.key for subset in SUBSETS}) == 39
    assert {subset.op for subset in SUBSETS} == set(OPS) - {"grounding"}
    assert len(GROUNDED) == 8


def test_subsets_are_found_by_any_of_their_names() -> None:
    for track, name in (("kie", "COLD_CELL"), ("kie", "SOLD-HUST-CELL"), ("kie", "sold-hust-cell")):
        assert find_subset(track, name) == find_subset("kie", "SOLD-HUST-CELL")
    assert find_subset("kie", "CORD") != find_subset("multi_scene", "CORD")
    assert find_subset("kie", "CORD_KIE") == find_subset("kie", "CORD")
    assert find_subset("multi_lan", "CORD") is None


@pytest.mark.parametrize(
    ("track", "subset", "rule"),
    [
        ("multi_scene", "FUNSD", UnitRule(alphanumeric=True)),
        ("multi_scene", "zh_scene", UnitRule(characters=True)),
        ("multi_scene", "Doc_hw_zh", UnitRule(characters=True)),
        ("multi_lan", "French", UnitRule()),
        ("multi_lan", "Japanese", UnitRule(characters=True)),
        ("multi_lan", "Arabic", UnitRule(characters=True)),
        ("multi_scene", "Arabic", UnitRule(characters=True)),
    ],
)
def test_units_of_subsets(track: str, subset: str, rule: UnitRule) -> None:
    assert unit_rule(track, subset, OPTIONS) == rule


def test_option_units_reads_arabic_by_words() -> None:
    paper = CCOCR.check_options({"units": "paper"})
    assert unit_rule("multi_lan", "Arabic", paper) == UnitRule()
    assert unit_rule("multi_lan", "Korean", paper) == UnitRule(characters=True)
    assert CCOCR.signature(paper) == "ccocr|v4|rules:factboard|units:paper|answer:shown"
    with pytest.raises(OptionError, match="reference or paper"):
        CCOCR.check_options({"units": "words"})


REPORTED = [
    *CCOCR.reported,
    *(row for view in CCOCR.views_for(OPTIONS) for row in view.reported),
]


def test_every_column_has_a_figure_and_every_reported_figure_a_column() -> None:
    keys = CCOCR.figures_for(OPTIONS).keys()
    assert keys == graded([]).scores.keys()
    for row in REPORTED:
        assert row.scores.keys() <= keys
        assert row.provenance.startswith("CC-OCR, Table")


def test_reported_rows_add_up() -> None:
    """The paper's totals are the means of their subsets, except three that the card names."""
    totals = {track: [one.key for one in SUBSETS if one.track == track] for track in TRACK_TITLES}
    totals["grounding"] = [f"grounding_{subset.key}" for subset in GROUNDED]
    known = {("GPT-4o", "kie"), ("Claude-3.5-Sonnet", "kie"), ("TextMonkey", "grounding")}
    checked = 0
    for row in REPORTED:
        for total, parts in totals.items():
            if {total, *parts} <= row.scores.keys():
                mean = sum(row.scores[part] for part in parts) / len(parts)
                agrees = row.scores[total] == pytest.approx(mean, abs=0.0002)
                assert agrees == ((row.name, total) not in known), (row.name, total)
                checked += 1
        if "diff" in row.scores:
            diff = row.scores["multi_orientation"] - row.scores["multi_scene"]
            assert row.scores["diff"] == pytest.approx(diff, abs=1e-9)
    assert checked == 9 + 8 + 6 + 5 + 4
    assert len(REPORTED) == 9 + 9 + 8 + 6 + 5 + 4 + 7 + 9


def test_five_reported_rows_have_all_headline_figures() -> None:
    headline = {column.key for column in CCOCR.columns if column.headline}
    whole = {row.name: row.scores for row in CCOCR.reported if headline <= row.scores.keys()}
    assert len(whole) == 5
    assert round(whole["Gemini-1.5-Pro"]["overall"], 3) == 0.730
    assert round(whole["Qwen2-VL-72B"]["overall"], 3) == 0.687


# --- one image ----------------------------------------------------------------------------


@pytest.mark.parametrize("op", OPS)
def test_a_perfect_response_scores_one(op: str) -> None:
    result = score(gold(op), PERFECT[op][1])
    assert result["score"] == pytest.approx(1.0, abs=1e-6)
    assert not result["missing"]
    assert result["fault"] is None


@pytest.mark.parametrize("op", OPS)
def test_a_missing_response_scores_nothing(op: str) -> None:
    result = score(gold(op), None)
    assert result["score"] == 0.0
    assert result["missing"]
    assert result["repetitive"] is None


@pytest.mark.parametrize("op", OPS)
def test_results_are_plain_json(op: str) -> None:
    for response in (None, "", PERFECT[op][1], '{"\\ud800": "\\u0000"}'):
        result = score(gold(op), response)
        text = json.dumps(result, ensure_ascii=False, allow_nan=False)
        text.encode("utf-8")
        assert "\\u0000" not in text
        assert json.loads(text) == result


def test_record_says_which_fields_are_wrong() -> None:
    result = score(gold("kie", {"a": "1", "b": "2"}), '{"a": "1", "b": "3", "c": "4"}')
    assert (result["tp"], result["fp"], result["fn"]) == (1, 2, 1)
    assert result["missed"] == [["b", "2"]]
    assert result["extra"] == [["b", "3"], ["c", "4"]]


@pytest.mark.parametrize(
    ("op", "response", "fault"),
    [
        ("kie", "no JSON", "unparseable"),
        ("kie", '```json {"total": "9.80"', "unparseable"),
        ("grounding", "{}", "unparseable"),
        ("table", f"<table>{'<tr><td>x</td></tr>' * 50_000}</table>", "too large"),
        ("kie", json.dumps({"a": ["x"] * 100_000}), "too large"),
    ],
    ids=short_id,
)
def test_a_response_that_cannot_be_used_is_a_counted_fault(
    op: str, response: str, fault: str
) -> None:
    answers = {
        "table": f"<table>{'<tr><td>x</td></tr>' * 100}</table>",
        "kie": {str(number): "x" for number in range(100)},
    }
    result = score(gold(op, answers.get(op)), response)
    assert result["fault"] == fault
    assert result["reason"]
    assert result["score"] == 0.0
    counts = CCOCR.aggregate([result], OPTIONS).counts
    assert counts[fault.replace(" ", "_")] == 1


def test_entries_that_are_no_words_count_as_wrong() -> None:
    result = score(gold("grounding"), json.dumps([WORD, {"text": "x"}, 7]))
    assert (result["tp"], result["fp"], result["fn"]) == (1, 2, 0)


def test_the_published_teds_is_next_to_the_score_of_tables() -> None:
    """By the published rules, one of three nodes differs."""
    response = TABLE.replace("<td>Net loss</td>", "<th>Net loss</th>")
    ours = score(gold("table"), response)
    assert (ours["score"], ours["teds"]) == (1.0, pytest.approx(2 / 3))
    theirs = CCOCR.score_item(gold("table"), {"response": response}, REFERENCE)
    assert theirs["score"] == theirs["teds"] == ours["teds"]
    assert CCOCR.aggregate([ours], OPTIONS).scores["tables"] == 1.0
    assert CCOCR.aggregate([ours], OPTIONS).scores["teds"] == ours["teds"]


def test_old_gradings_are_read_by_the_published_rules() -> None:
    sides = CCOCR.sides(gold("kie", {"a": None}), {"response": '{"a": null}'}, {"units": "paper"})
    assert sides is not None
    assert sides.gold == sides.prediction == {"a": ["None"]}


@given(st.sampled_from(OPS), st.text())
@settings(deadline=None)
def test_any_response_is_scored(op: str, response: str) -> None:
    assert score(gold(op), response)["score"] <= 1.0


# --- aggregation --------------------------------------------------------------------------


def test_tracks_are_means_of_subsets_and_overall_of_tracks() -> None:
    rows = [
        (gold("ocr", "a b", subset="IC15", item="1"), "a b"),
        (gold("ocr", "a b", subset="IC15", item="2"), "x"),
        (gold("ocr", "a b", subset="FUNSD"), "a b"),
        (gold("ocr", "a b", subset="French", track="multi_lan"), "a b"),
        (gold("formula", subset="Math"), None),
        (gold("table", subset="Table_scan_en"), TABLE),
        (gold("kie", subset="POIE"), PERFECT["kie"][1]),
    ]
    found = graded(rows)
    assert (found.items, found.missing) == (7, 1)
    assert found.scores["multi_scene"] == pytest.approx((0.5 + 1) / 2, abs=1e-6)
    assert found.scores["multi_lan"] == pytest.approx(1.0, abs=1e-6)
    assert found.scores["doc_parsing"] == pytest.approx(0.5, abs=1e-6)
    assert found.scores["kie"] == pytest.approx(1.0, abs=1e-6)
    assert found.scores["overall"] == pytest.approx((0.75 + 1 + 0.5 + 1) / 4, abs=1e-6)
    assert found.scores["multi_scene_ic15"] == pytest.approx(0.5, abs=1e-6)
    assert found.scores["kie_sroie"] is None
    assert list(found.subsets) == ["IC15", "FUNSD", "French", "Table_scan_en", "Math", "POIE"]
    assert found.subsets["IC15"]["items"] == 2
    assert found.subsets["IC15"]["micro_f1"] == pytest.approx(2 * 2 / (4 + 3), abs=1e-6)
    tables = {"items", "missing", "score", "tables", "teds", "teds_s"}
    assert set(found.subsets["Table_scan_en"]) == tables
    assert set(found.subsets["POIE"]) == {"items", "missing", "fields", "f1", "acc"}


def test_overall_needs_all_four_tracks() -> None:
    found = graded([(gold("kie"), PERFECT["kie"][1])])
    assert found.scores["overall"] is None
    assert found.scores["multi_scene"] is None
    assert graded([]).scores["repetition"] is None


def test_field_f1_is_taken_over_all_images() -> None:
    rows = [
        (gold("kie", {"a": "1", "b": "2", "c": "3"}, item="1"), '{"a": "1", "b": "2", "c": "3"}'),
        (gold("kie", {"a": "1"}, item="2"), '{"a": "2"}'),
    ]
    assert graded(rows).scores["kie"] == pytest.approx(3 / 4, abs=1e-6)


def test_a_field_that_is_left_out_costs_as_much_as_a_wrong_one() -> None:
    answer = {"a": "1", "b": "2", "c": "3"}
    wrong, missing = (
        graded([(gold("kie", answer), json.dumps({"a": "1", "b": "2", **rest}))]).scores
        for rest in ({"c": "4"}, {})
    )
    assert wrong["kie"] == missing["kie"] == wrong["fields"] == pytest.approx(2 / 3, abs=1e-6)
    assert wrong["f1"] == pytest.approx(2 / 3, abs=1e-6)
    assert missing["f1"] == pytest.approx(2 / 2.5, abs=1e-6)


def test_a_word_that_is_left_out_costs_as_much_as_a_wrong_one() -> None:
    words = [{"text": text, "point": [place, 0]} for place, text in enumerate("abcd")]
    wrong = [*words[:3], {"text": "x", "point": [3, 0]}]
    twice = [*words, {"text": "x", "point": [3, 0.1]}]
    found = [
        score(gold("grounding", words), json.dumps(each)) for each in (wrong, words[:3], twice)
    ]
    assert [each["score"] for each in found] == [3 / 4, 3 / 4, 4 / 4.5]
    by_reference = CCOCR.score_item(
        gold("grounding", words), {"response": json.dumps(words[:3])}, REFERENCE
    )
    assert by_reference["score"] == 3 / 3.5


def test_repetition_is_the_share_of_outputs() -> None:
    rows = [
        (gold(item="1"), "so " * 9),
        (gold(item="2"), "so it is"),
        (gold(item="3"), None),
        (gold("table", item="4"), "<tr><td>Total</td><td>5.00</td></tr>\n" * 200),
    ]
    found = graded(rows)
    assert found.scores["repetition"] == pytest.approx(2 / 3)
    assert (found.counts["repetition"], found.counts["outputs"]) == (2, 3)


def test_rotated_images_are_graded_apart() -> None:
    rows = [
        (gold("ocr", "a b", subset="IC15", item="1"), "a b"),
        (gold("ocr", "a b", subset="IC15", item="1@0", orientation=0), "a b"),
        (gold("ocr", "a b", subset="IC15", item="1@90", orientation=90), "x y"),
        (gold("ocr", "a b", subset="FUNSD", item="1@90", orientation=90), "a b"),
    ]
    found = graded(rows)
    assert found.scores["multi_scene"] == pytest.approx(1.0, abs=1e-6)
    assert found.scores["multi_orientation"] == pytest.approx(0.75, abs=1e-6)
    assert found.scores["diff"] == pytest.approx(1 / 2 - 1, abs=1e-6)
    assert found.subsets["multi_scene@90"]["macro_f1"] == pytest.approx(0.5, abs=1e-6)
    assert found.subsets["IC15@90"]["items"] == 1
    assert found.subsets["IC15"]["items"] == 1


def test_the_difference_compares_the_same_subsets() -> None:
    rows = [
        (gold("ocr", "a b", subset="IC15", item="1"), "a b"),
        # One of three words is wrong: 2/3, as a mean of the four rotations.
        *(
            (gold("ocr", "a b c", subset="IC15", item=f"1@{turn}", orientation=turn), "a b x")
            for turn in (0, 90, 180, 270)
        ),
        # Not rotated.
        (gold("ocr", "a b", subset="FUNSD", item="1"), "x y"),
        # Not there in normal orientation.
        (gold("ocr", "a b", subset="IAM", item="1@90", orientation=90), "a b"),
        # No reading of the first track.
        (gold("kie", {"a": "1"}, subset="IC15", track="kie", item="2"), "{}"),
    ]
    found = graded(rows).scores
    assert found["multi_scene"] == pytest.approx(1 / 2, abs=1e-6)
    assert found["multi_orientation"] == pytest.approx((2 / 3 + 1) / 2, abs=1e-6)
    assert found["diff"] == pytest.approx(-1 / 3, abs=1e-6)


def test_rotations_of_a_subset_are_mixed() -> None:
    rows = [
        (gold("ocr", "a b", subset="IC15", item="1"), "a b"),
        *(
            (gold("ocr", "a b", subset="IC15", item=f"{n}@90", orientation=90), "x y")
            for n in range(3)
        ),
        (gold("ocr", "a b", subset="IC15", item="1@0", orientation=0), "a b"),
    ]
    # A mean over the images, not over the rotations.
    assert graded(rows).scores["diff"] == pytest.approx(1 / 4 - 1, abs=1e-6)


@pytest.mark.parametrize("orientation", [None, 90])
def test_without_a_common_subset_there_is_no_difference(orientation: int | None) -> None:
    rows = [
        (gold("ocr", "a b", subset="IC15", item="1", orientation=orientation), "a b"),
        (gold("ocr", "a b", subset="FUNSD", item="2", orientation=orientation), "a b"),
    ]
    assert graded(rows).scores["diff"] is None


def test_grounding_is_apart_from_the_tracks() -> None:
    wrong = json.dumps([{**WORD, "text": "Tax"}])
    rows = [
        (gold("grounding", subset="IC15_grounding", item="1"), json.dumps([WORD])),
        (gold("grounding", subset="IC15_grounding", item="2"), wrong),
    ]
    found = graded(rows)
    assert found.scores["multi_scene"] is None
    assert found.scores["grounding"] == found.scores["grounding_multi_scene_ic15"] == 0.5


def test_subsets_of_one_name_are_distinguished() -> None:
    rows = [
        (gold("ocr", "a", subset="CORD"), "a"),
        (gold("kie", subset="CORD"), PERFECT["kie"][1]),
    ]
    found = graded(rows)
    assert list(found.subsets) == ["multi_scene/ocr/CORD", "kie/kie/CORD"]
    assert found.scores["multi_scene_cord"] == pytest.approx(1.0, abs=1e-6)
    assert found.scores["kie_cord"] == pytest.approx(1.0, abs=1e-6)


ROWS = [
    (gold(op, item=str(number), subset=subset), response)
    for op in OPS
    for subset in ("IC15", "other")
    for number, response in enumerate([PERFECT[op][1], None, "x y", "so so so so so so so"])
]


@given(st.permutations(ROWS))
@settings(max_examples=20, deadline=None)
def test_order_changes_nothing(rows: list[tuple[dict[str, Any], str | None]]) -> None:
    assert graded(rows) == graded(ROWS)


# --- files --------------------------------------------------------------------------------


def lines(*values: Any) -> io.BytesIO:
    return io.BytesIO("\n".join(json.dumps(value) for value in values).encode())


def read_gold(*values: Any) -> list[GoldLine | ReadFault]:
    return list(CCOCR.read_gold(lines(*values)))


def read_predictions(*values: Any) -> list[PredictionLine | ReadFault]:
    return list(CCOCR.read_predictions(lines(*values)))


@pytest.mark.parametrize("op", OPS)
def test_gold_lines_are_canonical(op: str) -> None:
    written = {**gold(op, track="multi_scene_ocr"), "image": "left aside"}
    (line,) = read_gold(written)
    assert isinstance(line, GoldLine)
    assert line.id == "some:1"
    assert line.payload == gold(op, track="multi_scene")


def test_json_answers_may_be_text() -> None:
    (line,) = read_gold(gold("kie", '{"a": "1"}'))
    assert isinstance(line, GoldLine)
    assert line.payload["answer"] == {"a": "1"}


def test_images_of_different_subsets_may_share_an_id() -> None:
    values = [gold(subset="one"), gold(subset="two")]
    check = check_gold(iter(read_gold(*values)))
    assert (list(check.lines), check.faults) == (["one:1", "two:1"], ())
    said = [{"id": "1", "subset": name, "response": name} for name in ("two", "one", "three")]
    predictions = check_predictions(iter(read_predictions(*said)), check.lines)
    assert predictions.lines["one:1"].payload["response"] == "one"
    assert [fault.line for fault in predictions.faults] == [3]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": None}, "'id' must be a string"),
        ({"subset": ""}, "'subset' must have"),
        ({"subset": "x" * 160}, "160 characters together"),
        ({"track": "cooking"}, "'track' must be one of multi_scene"),
        ({"track": ["kie"]}, "'track' must be one of"),
        ({"op": "vqa"}, "'op' must be one of ocr"),
        ({"orientation": 45}, "'orientation' must be"),
        ({"orientation": True}, "'orientation' must be"),
        ({"answer": {"a": 1}}, "'answer' must be a string, not an object"),
        ({"answer": "a\0b"}, "NUL"),
        ({"op": "kie", "answer": 7}, "must be an object, not a number"),
        ({"op": "kie", "answer": "{"}, "cannot be read: not JSON"),
        ({"op": "kie", "answer": {"a": ["\0"]}}, "NUL"),
        ({"op": "kie", "answer": json.loads("[" * 150 + "]" * 150)}, "100 deep"),
        ({"op": "grounding", "answer": {}}, "must be a list of words"),
        ({"op": "grounding", "answer": [WORD, {"text": "x"}]}, "word 2 of 'answer'"),
        ({"op": "table", "answer": f"<table>{'<td>x</td>' * 4000}"}, "too large a table"),
        ({"op": "table", "answer": f"<table>{'<tr><td>x' * 2000}"}, "too large a table"),
    ],
)
def test_gold_that_cannot_be_used_is_refused(change: dict[str, Any], message: str) -> None:
    (fault,) = read_gold({**gold(), **change})
    assert isinstance(fault, ReadFault)
    assert message in str(fault)
    assert str(fault).startswith("upload:1: ")


def test_gold_without_a_key_is_refused() -> None:
    for key in gold():
        line = gold()
        del line[key]
        (fault,) = read_gold(line)
        assert isinstance(fault, ReadFault)
        assert f"has no '{key}'" in fault.message


def test_predictions_are_read() -> None:
    good = {"id": "1", "subset": "one", "response": "text", "model": "left aside"}
    first, second = read_predictions(good, {**good, "id": "2", "response": None})
    assert isinstance(first, PredictionLine)
    assert first.payload == {"id": "1", "subset": "one", "response": "text"}
    assert isinstance(second, PredictionLine)
    assert second.payload["response"] == ""


@pytest.mark.parametrize(
    "change", [{"response": {"a": 1}}, {"response": "x" * 2_000_001}, {"subset": 1}, {"id": " "}]
)
def test_predictions_that_cannot_be_used_are_refused(change: dict[str, Any]) -> None:
    (fault,) = read_predictions({"id": "1", "subset": "one", "response": "", **change})
    assert isinstance(fault, ReadFault)


def test_too_many_words_are_too_large() -> None:
    words = gold("grounding") | {"answer": [WORD] * 100}
    result = score(words, json.dumps([WORD] * 40_001))
    assert (result["fault"], result["score"]) == ("too large", 0)
    assert (result["tp"], result["fp"], result["fn"]) == (0, 40_001, 100)
    (fault,) = read_gold(words | {"answer": [WORD] * 2_001})
    assert isinstance(fault, ReadFault)
    assert fault.message == "'answer' is too large: 2,001 and 2,001 words are not compared"


# --- the published layout -----------------------------------------------------------------

INDEX = [
    {"dataset": "CORD", "base_dir": "data/ocr/CORD", "group": "multi_scene_ocr", "op": "document"},
    {"dataset": "CORD", "base_dir": "data/kie/CORD", "group": "kie", "op": "constrained_category"},
    {"dataset": "doc_scan_eng", "base_dir": "data/doc", "group": "doc_parsing", "op": "doc"},
]
PUBLISHED: dict[str, Any] = {
    "index/all.json": INDEX,
    "data/ocr/CORD/label.json": {"1.jpg": "a b"},
    "data/kie/CORD/label.json": {"1.jpg": {"total": "9.80"}, "2.jpg": '{"total": "1"}'},
    "data/doc/label.json": {"x.png": "Net loss"},
}


def folder(root: Path, files: dict[str, Any]) -> Path:
    for name, value in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value, indent=1), encoding="utf-8")
    return root


def test_published_gold_is_read(tmp_path: Path) -> None:
    found = list(CCOCR.read_gold(folder(tmp_path / "CC-OCR", PUBLISHED)))
    assert all(isinstance(line, GoldLine) for line in found)
    payloads = {line.id: line.payload for line in found if isinstance(line, GoldLine)}
    assert payloads["CORD:1.jpg"] == gold("ocr", "a b", item="1.jpg", subset="CORD")
    assert payloads["CORD_KIE:2.jpg"]["answer"] == {"total": "1"}
    assert payloads["doc_scan_eng:x.png"]["op"] == "doc"
    assert len(payloads) == 4


def test_published_gold_of_rotated_images_is_read(tmp_path: Path) -> None:
    entry = {"dataset": "IC15", "base_dir": "ocr", "group": "multi_scene_ocr", "op": ""}
    (tmp_path / "ocr").mkdir()
    (tmp_path / "ocr" / "label.json").write_text('{"1": "Exit"}')
    (tmp_path / "index.json").write_text(json.dumps([entry, {**entry, "orientation": 180}]))
    found = [line for line in CCOCR.read_gold(tmp_path) if isinstance(line, GoldLine)]
    assert [(line.id, line.payload.get("orientation")) for line in found] == [
        ("IC15:1", None),
        ("IC15:1@180", 180),
    ]


def test_published_gold_is_read_from_a_zip() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as bundle:
        for name, value in PUBLISHED.items():
            bundle.writestr(f"CC-OCR/{name}", json.dumps(value))
    assert len(list(CCOCR.read_gold(packed))) == 4


def test_published_predictions_are_read(tmp_path: Path) -> None:
    answer = {"choices": [{"message": {"content": "from a service"}}]}
    root = folder(
        tmp_path,
        {
            "multi_scene_ocr/model/CORD/1.jpg.json": {"model_name": "local_x", "response": "a b"},
            "kie/model/CORD/1.jpg.json": {"response": {"data": {"response": answer}}},
            "kie/model/CORD/2.jpg.json": {"response": {"content": [{"text": "of another"}]}},
            "kie/model/status.json": {"CORD": {}},
        },
    )
    found = list(CCOCR.read_predictions(root))
    assert [
        (line.id, line.payload["response"]) for line in found if isinstance(line, PredictionLine)
    ] == [
        ("CORD_KIE:1.jpg", "from a service"),
        ("CORD_KIE:2.jpg", "of another"),
        ("CORD:1.jpg", "a b"),
    ]
    assert len(found) == 3


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"data/x/label.json": {}}, "contains no index"),
        ({"index.json": {}}, "a list of subsets was expected"),
        ({"index.json": [7]}, "subset 1: not an object"),
        ({"index.json": [{"dataset": "a", "base_dir": "b"}]}, "'group' must be a string"),
        ({"index.json": [{**INDEX[0], "group": "x"}]}, "'group' must be one of"),
        ({"index.json": INDEX[:1]}, "there is no data/ocr/CORD/label.json"),
        ({"index.json": INDEX[:1], "data/ocr/CORD/label.json": []}, "not a JSON object"),
        (
            {"index.json": INDEX[:1], "data/ocr/CORD/label.json": {"1": 7}},
            "'answer' must be a string",
        ),
    ],
)
def test_published_gold_that_cannot_be_used_is_refused(
    tmp_path: Path, files: dict[str, Any], message: str
) -> None:
    found = list(CCOCR.read_gold(folder(tmp_path / "gold", files)))
    assert [message in str(fault) for fault in found] == [True]
    assert str(found[0]).startswith(str(tmp_path / "gold"))


def test_published_predictions_that_cannot_be_used_are_refused(tmp_path: Path) -> None:
    root = folder(tmp_path, {"a/1.json": {"text": "x"}, "a/2.json": {"response": 7}})
    (root / "a" / "3.txt").write_text("x")
    (root / "a" / "4.json").write_text('{"response": NaN}')
    (root / "a" / "5.json").write_text("")
    (root / "a" / "6.json").write_text('{\n"response":\nx}')
    faults = list(CCOCR.read_predictions(root))
    assert all(isinstance(fault, ReadFault) for fault in faults)
    messages = " | ".join(str(fault) for fault in faults)
    for part in ("has no 'response'", "must be a string", "unexpected file", "NaN", "is empty"):
        assert part in messages
    assert f"{root}/a/6.json:3: not valid JSON" in messages
    assert len(faults) == 6


# --- the reference ------------------------------------------------------------------------


def grade(name: str) -> tuple[dict[tuple[str, str], dict[str, Any]], Scores, dict[str, Any]]:
    """Return item results by subset and id, the scores, and the reference's figures."""
    known = check_gold(CCOCR.read_gold(ORACLE / name / "gold.jsonl"))
    said = check_predictions(
        CCOCR.read_predictions(ORACLE / name / "predictions.jsonl"), known.lines
    )
    assert not known.faults
    assert not said.faults
    assert not said.missing
    results = [
        CCOCR.score_item(line.payload, said.lines[item].payload, REFERENCE)
        for item, line in known.lines.items()
    ]
    expected = json.loads((ORACLE / name / "expected.json").read_text())
    by_item = {(result["subset"], result["id"]): result for result in results}
    return by_item, CCOCR.aggregate(results, REFERENCE), expected


@needs_oracle
def test_parsing_equals_the_reference() -> None:
    items, found, expected = grade("ccocr_parsing")
    compared = 0
    for subset, figures in expected.items():
        assert found.subsets[subset]["score"] == pytest.approx(figures["score"], abs=1e-6)
        for item, value in figures["items"].items():
            assert items[subset, item]["score"] == pytest.approx(value, abs=1e-6)
            compared += 1
    assert compared == len(items) == 112


@needs_oracle
def test_key_information_equals_the_reference() -> None:
    _, found, expected = grade("ccocr_kie")
    for subset, figures in expected.items():
        assert found.subsets[subset]["f1"] == pytest.approx(figures["f1_score"], abs=1e-6)
        assert found.subsets[subset]["acc"] == pytest.approx(figures["acc"], abs=1e-6)
    assert found.counts["unparseable"] == sum(len(one["unparsed"]) for one in expected.values())


@needs_oracle
def test_reading_equals_the_reference() -> None:
    _, found, expected = grade("ccocr_ocr")
    for subset, figures in expected.items():
        summary = figures["summary"]
        macro, micro = summary["macro_f1_score"], summary["mirco_f1_score"]
        assert found.subsets[subset]["macro_f1"] == pytest.approx(macro, abs=1e-6)
        assert found.subsets[subset]["micro_f1"] == pytest.approx(micro, abs=1e-6)


def test_a_large_board_is_aggregated_in_little_memory_and_time() -> None:
    """Results may be a stream: only numbers are stored of each."""
    random.seed(5)
    template = score(gold("kie"), PERFECT["kie"][1])
    stream = ({**template, "acc": random.random()} for _ in range(100_000))
    found = CCOCR.aggregate(stream, OPTIONS)
    assert found.items == 100_000
    accuracy = found.scores["acc"]
    assert accuracy is not None
    assert math.isclose(accuracy, 0.5, abs_tol=0.01)
