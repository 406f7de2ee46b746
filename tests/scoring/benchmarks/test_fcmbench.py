"""FCMBench: rules by hand, aggregation by hand, invariants, hostile files, and the reference."""

import gzip
import io
import json
import math
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.benchmarks import OptionError, ReadFault, check_gold, check_predictions
from scoring.benchmarks.base import GoldLine, PredictionLine
from scoring.benchmarks.fcmbench import FCMBENCH
from scoring.benchmarks.fcmbench.figures import CONDITIONS, condition_key
from scoring.benchmarks.fcmbench.scorer import MOST_FIELDS, TASKS
from scoring.benchmarks.items import MOST_CHARACTERS
from tests.counting import LINEAR, growth
from tests.many import together
from tests.shared import ORACLE, needs_oracle

OPTIONS = FCMBENCH.check_options({})
SKIP = FCMBENCH.check_options({"missing": "skip"})
REFERENCE = FCMBENCH.check_options({"rules": "reference"})
PAPER = FCMBENCH.check_options({"tolerance": "paper"})


def gold(
    item: str = "q1",
    answer: Any = "A",
    *,
    task: str = "CC",
    subtask: str = "con_cnk_001",
    robustness: str = "Normal Captures",
) -> dict[str, str]:
    return {
        "id": item,
        "task": task,
        "subtask": subtask,
        "robustness": robustness,
        "response": json.dumps({"answer": answer}),
    }


def said(response: str) -> dict[str, Any]:
    return {"id": "q1", "response": response}


def score(
    line: dict[str, str], response: str | None, options: dict[str, str] = OPTIONS
) -> dict[str, Any]:
    prediction = None if response is None else said(response)
    return FCMBENCH.score_item(line, prediction, options)


def graded(rows: Iterable[tuple[dict[str, str], str | None]]) -> Any:
    return FCMBENCH.aggregate([score(line, response) for line, response in rows], OPTIONS)


# --- one answer ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "response", "f1"),
    [
        ("A", '{"answer": "A"}', 1),
        ("A", '{"answer": ["A"]}', 1),
        ("A,B", '```json\n{"answer": ["B", "A"]}\n```', 1),
        ({"sum": 12}, '{"answer": {"sum": "12.0"}}', 1),
        ({"sum": 12}, '{"sum": "12.0"}', 1),
        ({"sum": 1234}, '{"answer": {"sum": "1,234"}}', 1),
        ({"sum": 1234}, '{"answer": {"sum": "1，234"}}', 1),
        ({"<sum>": 1}, '{"sum": 1}', 1),
        ([["rent", 30.0], ["pay", 8]], '{"answer": [["rent", "30"], ["pay", 9]]}', 1 / 2),
        ([], '{"answer": []}', 1),
        ([], '{"answer": [""]}', 1),
        ([], '{"answer": ["A"]}', 0),
    ],
)
def test_f1_of_one_answer(answer: object, response: str, f1: float) -> None:
    result = score(gold(answer=answer), response)
    assert result["f1"] == pytest.approx(f1)
    assert (result["strict"], result["outcome"]) == (result["f1"], "scored")


def test_a_result_names_what_was_missed_and_what_is_too_much() -> None:
    result = score(gold(answer={"a": 1, "b": [["x", 2]]}), '{"a": 1, "c": "no"}')
    assert (result["right"], result["missed_count"], result["extra_count"]) == (1, 1, 1)
    assert result["missed"] == [["b", ["x", "2"]]]
    assert result["extra"] == [["c", "no"]]


def test_a_result_stays_small_and_can_be_stored() -> None:
    wild = {"answer": {f"k{n}": "\0\ud800" + "x" * 1000 for n in range(500)}}
    result = score(gold(), json.dumps(wild))
    assert (len(result["extra"]), result["extra_count"]) == (MOST_FIELDS, 500)
    text = json.dumps(result, ensure_ascii=False)
    text.encode("utf-8")
    assert "\\u0000" not in text
    assert len(result["extra"][0][1]) == MOST_CHARACTERS


@pytest.mark.parametrize(
    ("subtask", "response", "reason"),
    [
        ("con_cnk_001", "{'answer': 'A'", "not valid JSON: a bracket is not closed"),
        ("con_cnk_001", '{"answer": A}', "not valid JSON: Expecting value"),
        ("con_cnk_001", "I cannot tell.", "contains no JSON object"),
        ("con_cnk_001", '{"answer": null}', "null is no answer"),
        ("doc_cla_003", '{"answer": "unknown"}', "has no present_categories"),
        ("num_cal_001", '{"answer": null}', "null is no answer"),
    ],
)
@pytest.mark.parametrize("answer", [["A"], [], {"present_categories": [""]}])
def test_no_answer_counts_0_and_says_why(
    answer: object, subtask: str, response: str, reason: str
) -> None:
    result = score(gold(answer=answer, subtask=subtask), response)
    assert (result["outcome"], result["f1"], result["strict"]) == ("unparseable", 0, 0)
    assert result["reason"] == reason


def test_no_answer_to_an_empty_gold_is_right_only_in_the_reference() -> None:
    line = gold(answer=[])
    assert score(line, "There is none.")["published"] == 1
    result = score(line, "There is none.", REFERENCE)
    assert (result["f1"], result["strict"]) == (1, 0)


@pytest.mark.parametrize(
    ("answer", "response", "f1", "published"),
    [
        ("Yes", '{"answer": "Yes"}', 1, 1),
        ("Yes", '{"answer": "Yes, No"}', 0, 2 / 3),
        ("Yes", '{"answer": ["Yes", "No"]}', 0, 2 / 3),
        ("Yes", '{"answer": "Yes", "answer": "No"}', 0, 0),
        ("Yes", '{"answer": "Yes"} or {"answer": "No"}', 0, 0),
        ("Yes", '{"answer": "Yes"} Again: {"answer": "Yes"}', 1, 0),
        ("Yes", '{"answer": ["Yes"], "sure": {"answer": "No"}}', 1, 1),
        # Several values where the gold has one are one wrong value.
        ({"name": "Li", "age": 7}, '{"name": "Li", "age": [7, 8]}', 1 / 2, 4 / 5),
        ({"name": "Li", "age": 7}, '{"name": "Li", "age": 7, "age": 8}', 1 / 2, 1 / 2),
        ({"name": "Li", "age": 7}, '{"name": "Li", "age": "1,2"}', 1 / 2, 1 / 2),
        # A list is a set of answers: P = 1/3, R = 1.
        (["A"], '{"answer": ["A", "B", "C"]}', 1 / 2, 1 / 2),
        ("A,B", '{"answer": "A"}', 2 / 3, 2 / 3),
    ],
)
def test_more_than_one_answer_where_one_is_asked_is_wrong(
    answer: object, response: str, f1: float, published: float
) -> None:
    result = score(gold(answer=answer), response)
    assert (result["f1"], result["published"]) == pytest.approx((f1, published))


def test_the_published_score_is_of_the_whole_output() -> None:
    response = '<think>{"answer": "B"}</think>{"answer": "A"}'
    result = score(gold(), response)
    assert (result["f1"], result["published"]) == (1, 0)
    assert score(gold(), response, REFERENCE)["f1"] == 0


def test_an_image_has_one_defect() -> None:
    line = gold(answer=["Blur"], task="IQE", subtask="qua_eva_001")
    assert score(line, '{"answer": "Blur"}')["f1"] == 1
    result = score(line, '{"answer": ["Blur", "Glare"]}')
    assert (result["f1"], result["published"]) == (0, pytest.approx(2 / 3))


@pytest.mark.parametrize(
    ("response", "f1", "strict"),
    [
        ('{"a": 1, "b": 2}', 1, 1),
        # One of two fields is right; the other one is wrong or not answered.
        ('{"a": 1, "b": 9}', 1 / 2, 1 / 2),
        ('{"a": 1}', 2 / 3, 1 / 2),
        ('{"a": 1, "b": null}', 2 / 3, 1 / 2),
        ('{"a": 1, "b": ""}', 2 / 3, 1 / 2),
        ('{"a": 1, "b": 2, "c": 3}', 4 / 5, 4 / 5),
        ("{}", 0, 0),
    ],
)
def test_a_field_without_an_answer_counts_like_a_wrong_one(
    response: str, f1: float, strict: float
) -> None:
    result = score(gold(answer={"a": 1, "b": 2}), response)
    assert (result["f1"], result["strict"]) == pytest.approx((f1, strict))


@pytest.mark.parametrize(
    "response",
    [
        "{'answer': {'Name': 'Li Wei', 'Salary': '4,850.00', 'Spouse': None}}",
        '{"answer": {"Name": "Li Wei", "Salary": "4,850.00",},}',
        "{“answer”：{“Name”：“Li Wei”，“Salary”：“4,850.00”}}",
        'I use {braces}. {"answer": {"Name": "Li\u00a0Wei", "Salary": 4850}} {done}',
        '{"answer": {"Name": "Ｌｉ　Ｗｅｉ", "Salary": "４，８５０．００"}}',
        '{"thought": "?"} {"answer": {"<Name>": "<Li  Wei>", "Salary": "+4850"}}',
        '{answer: {Name: "Li Wei", Salary: 4850.0}}',
    ],
)
def test_the_form_of_an_answer_does_not_matter(response: str) -> None:
    line = gold(answer={"Name": "Li Wei", "Salary": "4,850.00", "Spouse": ""})
    assert score(line, response)["strict"] == 1


@pytest.mark.parametrize(
    ("answer", "response", "f1"),
    [
        ("-5", '{"answer": "\u22125"}', 1),
        ("-5", '{"answer": "5"}', 0),
        ("12%", '{"answer": "１２ ％"}', 1),
        ("12%", '{"answer": "0.12"}', 0),
        ("Café", '{"answer": "Cafe\u0301"}', 1),
        ("it's “so”", '{"answer": "it’s \\"so\\""}', 1),
        ("2025-01-31", '{"answer": "2025–01–31"}', 1),
        ("12", '{"answer": "1,2"}', 0),
        ("1234567", '{"answer": "12,34,567"}', 1),
        ("102", '{"answer": "10²"}', 0),
        ("007", '{"answer": "７"}', 0),
        ("yes", '{"answer": "Yes"}', 0),
    ],
)
def test_typography_is_no_difference(answer: str, response: str, f1: float) -> None:
    assert score(gold(answer=answer), response)["f1"] == f1


@pytest.mark.parametrize(
    ("answer", "response", "f1", "strict"),
    [
        (281, '{"answer": 283}', 1, 1),
        (281, '{"answer": "279"}', 1, 1),
        (281, '{"answer": 283.5}', 0, 0),
        (1281, '{"answer": "1,281"}', 0, 1),
        (281, '{"answer": [281]}', 0, 1),
        (281, '{"answer": [281, 300]}', 0, 0),
        (281, '{"answer": NaN}', 0, 0),
        (281, '{"answer": 1e400}', 0, 0),
        (281, "I cannot tell.", None, 0),
        (281, '{"answer": null}', None, 0),
    ],
)
@pytest.mark.parametrize("subtask", ["num_cal_001", "en.num_cal_002"])
def test_calculations_allow_two_and_ignore_what_is_no_answer(
    subtask: str, answer: float, response: str, f1: float | None, strict: float
) -> None:
    line = gold(answer=answer, task="NC", subtask=subtask)
    result = score(line, response)
    assert (result["f1"], result["strict"], result["published"]) == (strict, strict, f1)
    reference = score(line, response, REFERENCE)
    assert (reference["f1"], reference["strict"]) == (f1, f1 or 0)


@pytest.mark.parametrize(
    ("answer", "response", "relative", "paper"),
    [
        (281, "283", 1, 0),
        (281, "282.9", 1, 1),
        (0.68, "0.0", 0, 1),
        (0.68, "0.7", 0, 1),
        (0.68, "0.684", 1, 1),
        # Ratios are rounded to two decimals.
        (0.3, "0.304", 1, 1),
        (1.0, "2", 0, 1),
        (1, "2", 1, 1),
        (1520.34, "1521.5", 1, 1),
        ("35.2%", "36.1%", 0, 1),
        ("35.2%", "35.3%", 1, 1),
        ("35.2%", "35.2", 0, 0),
    ],
)
def test_ratios_have_a_relative_tolerance(
    answer: float | str, response: str, relative: int, paper: int
) -> None:
    line = gold(answer=answer, task="NC", subtask="en.num_cal_002")
    said = f'{{"answer": "{response}"}}'
    assert (score(line, said)["f1"], score(line, said, PAPER)["f1"]) == (relative, paper)


@pytest.mark.parametrize(
    ("answer", "response", "f1", "reference"),
    [
        (281, '{"answer": 282}', 1, 0),
        (281, '{"answer": "283.0"}', 1, 0),
        (281, '{"answer": "283.01"}', 0, 0),
        (281, '{"answer": -281}', 0, 0),
        (1520.34, '{"answer": "1,521.50"}', 1, 0),
        ([95], '{"answer": 96}', 1, 0),
        # Of two predicted numbers one is close: P = 1/2, R = 1.
        ([95], '{"answer": [96, 99]}', 2 / 3, 0),
        # Every number is taken once: 96 cannot be both 95 and 97.
        ([95, 97], '{"answer": [96]}', 2 / 3, 0),
        ([95, 97], '{"answer": [97, 99]}', 1, 1 / 2),
        (["Ada Ltd"], '{"answer": "Ada Ltd"}', 1, 1),
        (["Ada Ltd"], '{"answer": "Ada Ltd."}', 0, 0),
        ({"in": 10, "out": 20}, '{"in": 11, "out": 23}', 1 / 2, 0),
        ({"in": 10}, '{"out": 10}', 0, 0),
        ([["rent", 30.0]], '{"answer": [["rent", 31]]}', 1, 0),
        ([["rent", 30.0]], '{"answer": [["pay", 31]]}', 0, 0),
        ([["rent", 30.0, 5]], '{"answer": [["rent", 31, 9]]}', 0, 0),
        # Identifiers have no tolerance.
        ({"account no.": 3445}, '{"account no.": 3446}', 0, 0),
        (["007"], '{"answer": "008"}', 0, 0),
        ([], '{"answer": []}', 1, 1),
        ([], '{"answer": [1]}', 0, 0),
        (281, "I cannot tell.", 0, 0),
    ],
)
@pytest.mark.parametrize("subtask", ["num_cal_003", "en.num_cal_004"])
def test_every_calculation_allows_two(
    subtask: str, answer: object, response: str, f1: float, reference: float
) -> None:
    line = gold(answer=answer, task="NC", subtask=subtask)
    assert score(line, response)["f1"] == pytest.approx(f1)
    assert score(line, response, REFERENCE)["f1"] == pytest.approx(reference)


def test_a_close_number_is_neither_missed_nor_extra() -> None:
    line = gold(answer=[95, 7], task="NC", subtask="num_cal_003")
    result = score(line, '{"answer": [96, 12]}')
    assert (result["right"], result["missed"], result["extra"]) == (1, [["", "7"]], [["", "12"]])


def test_other_tasks_have_no_tolerance() -> None:
    assert score(gold(answer=281, task="KIE", subtask="inf_ext_002"), '{"answer": 282}')["f1"] == 0


@pytest.mark.parametrize(
    ("answer", "response", "f1", "reference"),
    [
        # The two numbers are the same float.
        ("6222021234567893445", '{"answer": "6222021234567893446"}', 0, 1),
        (6222021234567893445, '{"answer": 6222021234567893446}', 0, 1),
        (6222021234567893445, '{"answer": "6222021234567893445"}', 1, 1),
        ("007", '{"answer": "7"}', 0, 1),
        ("007", '{"answer": 7}', 0, 1),
        ("007", '{"answer": "007"}', 1, 1),
        ("000", '{"answer": "0"}', 0, 1),
        ("12E4", '{"answer": "120000"}', 0, 1),
        ("1_000", '{"answer": "1000"}', 0, 1),
        ("007,008", '{"answer": ["007", "008"]}', 1, 0),
        ({"Account number": "1,234"}, '{"Account number": "1234"}', 0, 1),
        ({"Account number": "1234"}, '{"Account number": "1234.0"}', 0, 1),
        ({"Account number": 1234}, '{"Account number": "1234"}', 1, 1),
        ({"证件号码": "3445"}, '{"证件号码": "3445.0"}', 0, 1),
        ({"邮编": "010000"}, '{"邮编": "10000"}', 0, 1),
        # Quantities are still compared by value, now exactly.
        ("12.0", '{"answer": 12}', 1, 1),
        ("0.50", '{"answer": ".5"}', 1, 1),
        ("1,234,567.80", '{"answer": 1234567.8}', 1, 1),
        ("9,007,199,254,740,993", '{"answer": "9,007,199,254,740,992"}', 0, 1),
        ({"Number of pages": "1,234"}, '{"Number of pages": "1234"}', 1, 1),
        ([["a", "007"]], '{"answer": [["a", "7"]]}', 0, 1),
    ],
)
def test_identifiers_are_compared_as_text(
    answer: object, response: str, f1: float, reference: float
) -> None:
    assert score(gold(answer=answer), response)["f1"] == pytest.approx(f1)
    assert score(gold(answer=answer), response, REFERENCE)["f1"] == pytest.approx(reference)


def placed(content: object) -> dict[str, object]:
    return {"content": content, "coord": [10, 20, 90, 40]}


@pytest.mark.parametrize("options", [OPTIONS, REFERENCE])
@pytest.mark.parametrize(
    ("answer", "response", "f1"),
    [
        ({"name": placed("Li Wei"), "sum": placed("12.0")}, '{"name": "Li Wei", "sum": 12}', 1),
        ({"name": "Li Wei"}, json.dumps({"answer": {"name": placed("Li Wei")}}), 1),
        ({"name": placed("Li Wei")}, json.dumps({"name": {**placed("Li Wei"), "coord": []}}), 1),
        ({"name": placed("Li Wei")}, json.dumps({"name": placed("Li Na")}), 0),
        (placed("A, B"), '{"answer": ["B", "A"]}', 1),
        ([placed("A"), placed("B")], '{"answer": ["A"]}', 2 / 3),
        ([[placed("rent"), 30]], '{"answer": [["rent", 30]]}', 1),
        ({"rows": placed({"a": placed(1)})}, '{"rows": {"a": 1}}', 1),
        ({"name": placed("")}, "{}", 1),
        # Other objects with such keys are records.
        ({"content": "A"}, '{"answer": "A"}', 0),
        ({"coord": [1, 2]}, '{"coord": [1, 2]}', 1),
        ({**placed("A"), "page": 1}, '{"answer": "A"}', 0),
    ],
)
def test_a_value_with_its_place_is_the_value(
    answer: object, response: str, f1: float, options: dict[str, str]
) -> None:
    assert score(gold(answer=answer), response, options)["f1"] == pytest.approx(f1)


def test_a_number_with_its_place_is_a_number() -> None:
    line = gold(answer=placed(281), task="NC", subtask="num_cal_001")
    assert score(line, '{"answer": "283"}')["f1"] == 1
    assert score(line, json.dumps({"answer": placed(280)}))["f1"] == 1


def test_document_types_count_what_is_present_only() -> None:
    answer = {"present_categories": ["id"], "missing_categories": ["deed"]}
    line = {**gold(task="DTR", subtask="en.doc_cla_003"), "response": json.dumps(answer)}
    assert score(line, '{"present_categories": ["id"], "missing_categories": []}')["f1"] == 1
    assert score(line, '{"answer": {"present_categories": "id"}}')["f1"] == 1
    assert score(line, '{"missing_categories": ["deed"]}')["f1"] == 0
    assert score(line, '{"answer": ["id"]}')["f1"] == 0
    assert score(line, "no")["f1"] == 0


def test_a_subtask_under_construction_is_left_out() -> None:
    result = score(gold(task="NC", subtask="num_cal_005"), '{"answer": "A"}')
    assert (result["outcome"], result["f1"], result["strict"]) == ("left_out", None, None)


def test_a_question_without_an_answer_counts_zero_or_not_at_all() -> None:
    line = gold()
    zero = FCMBENCH.score_item(line, None, OPTIONS)
    skip = FCMBENCH.score_item(line, None, SKIP)
    assert (zero["outcome"], zero["f1"], zero["strict"]) == ("missing", 0, 0)
    assert (skip["outcome"], skip["f1"], skip["strict"]) == ("missing", None, None)


# --- all answers --------------------------------------------------------------------------


def test_means_go_over_answers_then_subtasks_then_tasks() -> None:
    right, wrong = '{"answer": "A"}', '{"answer": "B"}'
    scores = graded(
        [
            # CC: (1 + 0)/2 = 1/2 and 1, so 3/4.
            (gold("1", subtask="con_cnk_001"), right),
            (gold("2", subtask="con_cnk_001"), wrong),
            (gold("3", subtask="con_chk_004"), right),
            # IQE: 0; DTR: 1.
            (gold("4", task="IQE", subtask="qua_eva_001"), wrong),
            (gold("5", task="DTR", subtask="doc_cla_001"), right),
        ]
    )
    assert scores.scores["CC"] == pytest.approx(3 / 4)
    assert scores.scores["perception"] == pytest.approx((0 + 1) / 2)
    assert scores.scores["reasoning"] == pytest.approx(3 / 4)
    assert scores.scores["overall"] == pytest.approx((0 + 1 + 3 / 4) / 3)
    assert scores.scores["without_iqe"] == pytest.approx((1 + 3 / 4) / 2)
    assert scores.scores["f1"] == pytest.approx(3 / 5)
    assert scores.scores["KIE"] is None
    assert scores.subsets["CC con_cnk_001"] == {"answers": 2, "f1": 0.5}
    assert scores.counts == {"answers": 5, "unparseable": 0, "ignored": 0, "left_out": 0}


ABSTENTIONS = [
    (gold("1", 7, task="NC", subtask="num_cal_001"), '{"answer": 7}'),
    (gold("2", 7, task="NC", subtask="num_cal_001"), "about seven"),
    (gold("3", 7, task="NC", subtask="num_cal_001"), '{"answer": null}'),
    (gold("4", 7, task="NC", subtask="num_cal_005"), "?"),
    (gold("5", [], task="VC", subtask="key_ver_001"), "none"),
]


def test_every_question_counts_for_the_rank() -> None:
    scores = graded(ABSTENTIONS)
    assert (scores.scores["NC"], scores.scores["VC"]) == (pytest.approx(1 / 3), 0)
    assert scores.scores["overall_strict"] == pytest.approx((1 / 3 + 0) / 2)
    # The published evaluator leaves 2 and 3 out, and 5 has no fields like its gold.
    assert scores.scores["overall"] == 1
    assert scores.scores["unparseable"] == pytest.approx(3 / 4)
    assert scores.counts == {"answers": 4, "unparseable": 3, "ignored": 0, "left_out": 1}


def test_the_rules_of_the_evaluator_leave_answers_out_but_rank_by_all() -> None:
    results = [score(line, response, REFERENCE) for line, response in ABSTENTIONS]
    scores = FCMBENCH.aggregate(results, REFERENCE)
    assert (scores.scores["NC"], scores.scores["VC"], scores.scores["overall"]) == (1, 1, 1)
    assert scores.scores["overall_strict"] == pytest.approx((1 / 3 + 0) / 2)
    assert scores.counts == {"answers": 2, "unparseable": 2, "ignored": 2, "left_out": 1}


@pytest.mark.parametrize(
    ("options", "response"), [(REFERENCE, '{"answer": null}'), (SKIP, None)], ids=["null", "skip"]
)
def test_a_task_without_a_score_leaves_no_score_that_ranks(
    options: dict[str, str], response: str | None
) -> None:
    rows = [
        (gold("1", 7, task="NC", subtask="num_cal_001"), response),
        (gold("2", "A"), '{"answer": "A"}'),
    ]
    scores = FCMBENCH.aggregate([score(*row, options) for row in rows], options).scores
    assert (scores["NC"], scores["CC"], scores["overall_strict"]) == (None, 1, None)
    # No mean gains from the missing task.
    for key in ("reasoning", "without_iqe", "zh_without_iqe", "f1_normal"):
        assert scores[key] is None


def test_results_of_version_2_are_still_read() -> None:
    old = {"identifiers": "text", "tolerance": "paper", "missing": "zero"}
    line, response = gold(answer="A", subtask="con_cnk_001"), '{"answer": "A,B"}'
    result = score(line, response, REFERENCE)
    del result["published"]
    scores = FCMBENCH.aggregate([result], old).scores
    assert scores["overall"] == scores["overall_strict"] == pytest.approx(2 / 3)
    assert FCMBENCH.sides(line, said(response), old) == ({"answer": "A"}, {"answer": "A,B"})
    assert dict.fromkeys(["CC", "overall", "overall_strict"], pytest.approx(2 / 3)) == {
        each.figure: each.numerator for each in FCMBENCH.contributions(result, old)
    }


def test_tasks_that_the_gold_does_not_have_do_not_count() -> None:
    scores = graded([(gold("1", "A"), '{"answer": "A"}')]).scores
    assert (scores["NC"], scores["overall_strict"]) == (None, 1)


def test_languages_leave_image_quality_out_and_english_has_no_rationality() -> None:
    right, wrong = '{"answer": "A"}', '{"answer": "B"}'
    scores = graded(
        [
            (gold("1", task="IQE", subtask="en.qua_eva_001"), right),
            (gold("2", task="KIE", subtask="en.inf_ext_001"), wrong),
            (gold("3", task="VC", subtask="en.key_ver_001"), right),
            (gold("4", task="RR", subtask="rea_chk_001"), right),
            (gold("5", task="IQE", subtask="qua_eva_001"), wrong),
        ]
    )
    assert scores.subsets["English"] == {
        "answers": 3,
        "IQE": 1,
        "KIE": 0,
        "VC": 1,
        "without_iqe": 0.5,
    }
    assert scores.subsets["Chinese"] == {"answers": 2, "IQE": 0, "RR": 1, "without_iqe": 1}


def test_conditions_are_relative_to_normal_captures_without_image_quality() -> None:
    right, half = '{"answer": ["A"]}', '{"answer": ["A", "X", "Y"]}'
    scores = graded(
        [
            (gold("1", ["A"]), right),
            (gold("2", ["A"], task="VC", subtask="key_ver_001"), half),
            (gold("3", ["A"], robustness="Out-of-focus"), half),
            (gold("4", ["A"], robustness="Small ROIs", task="IQE", subtask="qua_eva_001"), right),
            (gold("5", ["A"], robustness="Small ROIs"), right),
            (gold("6", ["A"], robustness="Small ROIs", subtask="con_new_009"), half),
        ]
    )
    # Half correct: P = 1/3, R = 1, F1 = 1/2. Normal captures: (1 + 1/2) / 2 = 3/4, but 1 in the
    # only subtask that both have.
    conditions = ["Normal Captures", "Out-of-focus", "Small ROIs"]
    assert [scores.subsets[name]["without_iqe"] for name in conditions] == [0.75, 0.5, 0.75]
    assert [scores.subsets[name]["relative"] for name in conditions] == pytest.approx([1, 1 / 2, 1])
    assert [scores.subsets[name]["answers"] for name in conditions] == [2, 1, 2]


def test_output_tokens_are_summed_up_when_stated() -> None:
    results = [
        FCMBENCH.score_item(gold(item), {**said('{"answer": "A"}'), **tokens}, OPTIONS)
        for item, tokens in [("1", {"output_tokens": 7}), ("2", {"output_tokens": 5}), ("3", {})]
    ]
    counts = FCMBENCH.aggregate(results, OPTIONS).counts
    assert (counts["output_tokens"], counts["with_output_tokens"]) == (12, 2)


def test_nothing_to_grade_gives_no_figures() -> None:
    scores = FCMBENCH.aggregate([], OPTIONS)
    assert set(scores.scores.values()) == {None}
    assert set(scores.scores) == FCMBENCH.figures_for(OPTIONS).keys()


def test_a_perfect_submission_scores_one_everywhere() -> None:
    lines = [
        gold(f"{task}{n}", {"a": [n], "b": "x"}, task=task, subtask=f"{prefix}s_{task}_00{n}")
        for task in TASKS
        for n in range(3)
        for prefix in ("", "en.")
    ]
    scores = graded((line, line["response"]) for line in lines).scores
    assert scores["unparseable"] == 0
    assert {key: value for key, value in scores.items() if value != 1} == {
        "unparseable": 0,
        # Which items the published subset has is not known here.
        "overall_subset": None,
        # There are no conditions other than normal captures.
        **{condition_key(name): None for name in CONDITIONS},
    }


@given(
    st.lists(
        st.tuples(
            st.sampled_from(TASKS),
            st.sampled_from(["s_001", "en.s_001", "num_cal_001", "num_cal_005", "doc_cla_003"]),
            st.sampled_from(["Normal Captures", "Out-of-focus"]),
            st.sampled_from(['{"answer": "A"}', '{"answer": ["A", "B", 3]}', "A", '{"a": 0.1}']),
        ),
        max_size=25,
    ),
    st.randoms(use_true_random=False),
)
def test_the_order_of_answers_changes_no_digit(
    rows: list[tuple[str, str, str, str]], shuffler: random.Random
) -> None:
    results = [
        score(gold(str(n), ["A", 3], task=task, subtask=subtask, robustness=robustness), response)
        for n, (task, subtask, robustness, response) in enumerate(rows)
    ]
    shuffled = list(results)
    shuffler.shuffle(shuffled)
    assert FCMBENCH.aggregate(shuffled, OPTIONS) == FCMBENCH.aggregate(results, OPTIONS)


@given(st.text() | st.text(alphabet='{}[]",:019eE.-aN\\u \n，', max_size=80))
def test_any_response_is_scored(response: str) -> None:
    for subtask in ("con_cnk_001", "num_cal_001", "doc_cla_003", "num_cal_005"):
        result = score(gold(answer=["A"], subtask=subtask), response)
        assert result["f1"] is None or 0 <= result["f1"] <= 1
        json.dumps(result, ensure_ascii=False, allow_nan=False).encode("utf-8")


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        ('{"a":' * 100_000 + "1" + "}" * 100_000, "nested deeper than 200 levels"),
        ('{"answer": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested deeper than 200 levels"),
        ('{"answer": ' + "9" * 1_000_000 + "}", "contains a number with too many digits"),
        ('{"answer": "' + "9" * 1_900_000 + '"}', ""),
        ('{"answer": "' + "1," * 900_000 + '"}', ""),
        ('{"answer": [' + "[]," * 100_000 + "[]]}", ""),
        (
            f'{{"{"k" * 900_000}": {{{",".join(f""""{n}": 1""" for n in range(80_000))}}}}}',
            "its paths are too long",
        ),
        ("{" * 2_000_000, "nested deeper than 200 levels"),
        ("{" + "x" * 50_000_000 + "}", "longer than 2,000,000 characters"),
    ],
    ids=["deep", "deep-list", "digits", "long-number", "commas", "lists", "paths", "open", "huge"],
)
def test_hostile_responses_score_zero_and_say_which_limit_they_break(
    response: str, reason: str
) -> None:
    result = score(gold(answer={"present_categories": ["A"]}), response)
    assert (result["strict"], result["reason"]) == (0, reason)
    for subtask in ("num_cal_001", "doc_cla_003"):
        line = gold(answer={"present_categories": ["A"]}, subtask=subtask)
        is_zero = score(line, response)["strict"] == 0
        assert is_zero


# --- files --------------------------------------------------------------------------------


def read_gold(data: bytes) -> list[GoldLine | ReadFault]:
    return list(FCMBENCH.read_gold(named(data)))


def read_predictions(data: bytes) -> list[PredictionLine | ReadFault]:
    return list(FCMBENCH.read_predictions(named(data)))


def named(data: bytes) -> io.BytesIO:
    file = io.BytesIO(data)
    file.name = "folder/answers.jsonl"
    return file


def test_gold_keeps_what_is_scored() -> None:
    line = {**gold("id-1"), "question": "?", "images": ["a.jpg"]}
    (read,) = read_gold(json.dumps(line).encode())
    assert isinstance(read, GoldLine)
    assert (read.id, read.payload, read.line) == ("id-1", gold("id-1"), 1)


def test_predictions_are_read_plain_and_gzipped() -> None:
    rows = [{"id": "1", "response": "x", "note": 1}, {"id": "2", "response": None}]
    data = "\n".join(map(json.dumps, rows)).encode()
    for raw in (data, gzip.compress(data, mtime=0)):
        lines = [line.payload for line in read_predictions(raw) if isinstance(line, PredictionLine)]
        assert lines == [{"id": "1", "response": "x"}, {"id": "2", "response": ""}]


def test_predictions_may_state_their_output_tokens() -> None:
    (line,) = read_predictions(b'{"id": "1", "response": "", "output_tokens": 12}')
    assert isinstance(line, PredictionLine)
    assert line.payload["output_tokens"] == 12


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": 3}, "'id' must be a string, not a number"),
        ({"id": " "}, "'id' must have 1 to 160 printable characters"),
        ({"id": "x" * 161}, "'id' is longer than 160 characters"),
        ({"task": "OCR"}, "'task' must be one of IQE, DTR, KIE, CC, VC, NC, RR, not 'OCR'"),
        ({"subtask": ""}, "'subtask' must have 1 to 100 printable characters"),
        ({"robustness": ["x"]}, "'robustness' must be a string, not a list"),
        ({"response": {"answer": 1}}, "'response' must be a string, not an object"),
        ({"response": "A"}, "'response' is not valid JSON"),
        ({"response": "[" * 300 + "]" * 300}, "'response' is nested deeper than 200 levels"),
        ({"response": "\0"}, "'response' contains a NUL character"),
    ],
)
def test_gold_that_cannot_be_used_is_a_fault(change: dict[str, object], message: str) -> None:
    (fault,) = read_gold(json.dumps({**gold(), **change}).encode())
    assert isinstance(fault, ReadFault)
    assert str(fault).startswith("answers.jsonl:1: ")
    assert message in fault.message


@pytest.mark.parametrize("key", ["id", "task", "subtask", "robustness", "response"])
def test_gold_needs_every_key(key: str) -> None:
    line = {name: value for name, value in gold().items() if name != key}
    (fault,) = read_gold(json.dumps(line).encode())
    assert isinstance(fault, ReadFault)
    assert fault.message == f"has no {key!r}"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"id": "1"}', "has no 'response'"),
        (b'{"response": ""}', "has no 'id'"),
        (b'{"id": "1", "response": ["A"]}', "must be a string, not a list"),
        (b'{"id": "1", "response": "a\\u0000"}', "NUL"),
        (b'{"id": "1", "response": "", "output_tokens": "7"}', "must be a whole number"),
        (b'{"id": "1", "response": "", "output_tokens": -1}', "must be between 0"),
        (b'{"id": "1", "response": "", "output_tokens": true}', "must be a whole number"),
        (b'{"id": "1", "response": "' + b"x" * 3_000_000 + b'"}', "longer than 2,000,000"),
    ],
    ids=lambda value: value[:24] if isinstance(value, bytes) else value,
)
def test_predictions_that_cannot_be_used_are_faults(data: bytes, message: str) -> None:
    first = b'{"id": "0", "response": "ok"}\n'
    line, fault = read_predictions(first + data)
    assert isinstance(line, PredictionLine)
    assert isinstance(fault, ReadFault)
    assert (fault.file, fault.line) == ("answers.jsonl", 2)
    assert message in fault.message


def test_pages_are_refused(tmp_path: Path) -> None:
    (tmp_path / "1.txt").write_text("A", encoding="utf-8")
    for read in (FCMBENCH.read_gold, FCMBENCH.read_predictions):
        (fault,) = read(tmp_path)
        assert isinstance(fault, ReadFault)
        assert "JSON Lines" in fault.message


# --- columns and reported rows -------------------------------------------------------------


def test_the_signature_names_what_can_change_a_figure() -> None:
    assert FCMBENCH.signature(SKIP) == (
        "fcmbench|v4|rules:factboard|identifiers:text|tolerance:relative|missing:skip"
        "|num_cal_005:left-out|relative:same-subtasks-without-IQE|answer:shown"
    )
    assert "|rules:reference|identifiers:reference|tolerance:reference|" in FCMBENCH.signature(
        REFERENCE
    )
    # As before version 3, these two have the scores of the evaluator.
    both = FCMBENCH.check_options({"identifiers": "reference", "tolerance": "reference"})
    assert both == REFERENCE
    with pytest.raises(OptionError, match="missing must be zero or skip"):
        FCMBENCH.check_options({"missing": "drop"})


def test_columns_follow_table_4_and_end_with_what_ranks() -> None:
    headline = [column.key for column in FCMBENCH.columns if column.headline]
    assert headline == [*TASKS, "overall_strict", "overall"]
    assert {column.group for column in FCMBENCH.columns if column.headline} == {"F1 by task"}


REPORTED = [
    *FCMBENCH.reported,
    *(row for view in FCMBENCH.views_for(OPTIONS) for row in view.reported),
]


def test_reported_rows_are_those_of_the_three_tables() -> None:
    tables: dict[str, list[Any]] = {}
    for row in REPORTED:
        tables.setdefault(row.provenance, []).append(row)
    assert {name: len(rows) for name, rows in tables.items()} == {
        "FCMBench-V1.1, Table 4": 28,
        "FCMBench-V1.1, Table A5": 28,
        "FCMBench-V1.1, Table A6": 28,
    }
    known = FCMBENCH.figures_for(OPTIONS).keys()
    assert all(row.scores.keys() <= known for row in REPORTED)
    best = max(tables["FCMBench-V1.1, Table 4"], key=lambda row: row.scores["overall"])
    assert (best.name, best.scores["overall"]) == ("Gemini 3 Pro", pytest.approx(0.6516))


@together("row", REPORTED)
def test_a_reported_average_is_the_mean_of_its_tasks(row: Any) -> None:
    *tasks, key = row.scores
    averaged = [row.scores[task] for task in (tasks if key == "overall" else tasks[1:])]
    assert len(averaged) == {"v1.1": 7, "v1.1 Chinese": 6, "v1.1 English": 5}[row.protocol]
    # Figures are rounded to hundredths of a per cent, and so is their printed mean.
    assert row.scores[key] == pytest.approx(math.fsum(averaged) / len(averaged), abs=1.01e-4)


# --- the reference ------------------------------------------------------------------------


def oracle() -> tuple[dict[str, GoldLine], dict[str, PredictionLine], dict[str, Any]]:
    folder = ORACLE / "fcmbench"
    items = check_gold(FCMBENCH.read_gold(folder / "gold.jsonl"))
    answers = check_predictions(
        FCMBENCH.read_predictions(folder / "predictions.jsonl"), items.lines
    )
    assert not items.faults
    assert not answers.faults
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    return items.lines, answers.lines, expected


@needs_oracle
def test_figures_equal_the_reference() -> None:
    lines, answers, expected = oracle()
    results = [
        FCMBENCH.score_item(line.payload, answers[item].payload, REFERENCE)
        for item, line in lines.items()
    ]
    scored = {result["id"]: result["f1"] for result in results if result["outcome"] != "left_out"}
    assert scored == pytest.approx(expected["items"], abs=1e-6)
    scores = FCMBENCH.aggregate(results, REFERENCE)
    assert {task: scores.scores[task] for task in TASKS} == pytest.approx(
        expected["tasks"], abs=1e-6
    )
    assert scores.scores["overall"] == pytest.approx(expected["overall"], abs=1e-6)
    assert (scores.items, scores.missing, scores.counts["left_out"]) == (648, 0, 3)


@needs_oracle
def test_the_work_grows_with_the_answers() -> None:
    lines, answers, _ = oracle()
    pairs = [(line.payload, answers[item].payload) for item, line in lines.items()]

    def grade(size: int) -> None:
        results = (FCMBENCH.score_item(*pairs[n % 100], OPTIONS) for n in range(size))
        assert FCMBENCH.aggregate(results, OPTIONS).items == size

    assert growth(grade, 200) <= LINEAR
