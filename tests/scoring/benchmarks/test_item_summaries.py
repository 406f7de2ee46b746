"""Summaries of each benchmark's items: their own score, part, errors, and both sides."""

from typing import Any

import pytest

from scoring.benchmarks import get_benchmark
from scoring.benchmarks.items import ItemSummary, Sides

FACTS = "<p><Number>1,200</Number> of <Number>(350)</Number></p>"
RECEIPT: dict[str, Any] = {"id": "r", "fields": {"type": "taxi", "std_total": 45}}
QUESTION = {"id": "q", "task": "KIE", "subtask": "inf_ext_001", "robustness": "normal",
            "response": '{"name": "Ann", "sum": "3"}'}  # fmt: skip
RECORD = {"id": "i", "subset": "SROIE", "track": "kie", "op": "kie", "answer": {"total": "9.80"}}
FILING = {"id": "f", "gold": {"Revenue total": 1200, "Costs total": 300}}

CASES: list[tuple[str, dict[str, Any], dict[str, Any], ItemSummary, Sides | None]] = [
    (
        "fincriticaled",
        {"id": "p", "html": FACTS, "doc_type": "tax_form"},
        {"id": "p", "html": "<p>1,200 of 350</p>"},
        ItemSummary(0.5, "Tax form", ("sign",)),
        Sides("1,200 of (350)", "1,200 of 350"),
    ),
    (
        "fcmbench",
        QUESTION,
        {"id": "q", "response": '{"name": "Ann", "sum": "4"}'},
        ItemSummary(0.5, "KIE inf_ext_001", ("extra fields", "missed fields")),
        Sides({"answer": {"name": "Ann", "sum": "3"}}, {"answer": {"name": "Ann", "sum": "4"}}),
    ),
    (
        "fcmbench",
        QUESTION,
        {"id": "q", "response": "no idea"},
        ItemSummary(0.0, "KIE inf_ext_001", ("missed fields", "unparseable")),
        Sides({"answer": {"name": "Ann", "sum": "3"}}, None),
    ),
    (
        "ccocr",
        RECORD,
        {"id": "i", "subset": "SROIE", "response": '{"total": "9.90"}'},
        ItemSummary(0.0, "kie SROIE", ("extra fields", "missed fields")),
        Sides({"total": ["9.80"]}, {"total": ["9.90"]}),
    ),
    (
        "receiptbench",
        RECEIPT,
        {"id": "r", "response": "no idea"},
        ItemSummary(0.0, "taxi", ("missing", "unparseable")),
        Sides(RECEIPT["fields"], None),
    ),
    (
        "findoc",
        FILING,
        {"id": "f", "text": "Revenue total 1200"},
        # One number of two, which weigh 40 %; no phrase of sections or disclosures.
        ItemSummary(0.2, "", ("disclosures not found", "numbers not found", "sections not found")),
        None,
    ),
]


@pytest.mark.parametrize(("key", "gold", "prediction", "summary", "sides"), CASES)
def test_in_short_and_side_by_side(
    key: str,
    gold: dict[str, Any],
    prediction: dict[str, Any],
    summary: ItemSummary,
    sides: Sides | None,
) -> None:
    spec = get_benchmark(key)
    options = spec.check_options({})
    result = spec.score_item(gold, prediction, options)
    assert spec.summarise(result, options) == summary
    assert spec.sides(gold, prediction, options) == sides
