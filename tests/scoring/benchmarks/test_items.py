"""Contributions of items: they add up to the figures and give their replicates; item summaries."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from scoring.benchmarks import BENCHMARKS, Benchmark, deciding_column, get_benchmark
from scoring.benchmarks.items import (
    Combined,
    Contribution,
    ItemSummary,
    Observation,
    Sides,
    replicated,
    resampled_documents,
)
from scoring.metrics.intervals import Replicates
from tests.scoring.benchmarks.samples import SAMPLES
from tests.scoring.benchmarks.toy import TOY

# CC-OCR adds 1e-6 to denominators; contributions do not.
TOLERANCE = 1e-5


def graded(spec: Benchmark, *, missing: int = 0) -> list[Observation]:
    """The sample's items graded, the last of them without a prediction."""
    sample = SAMPLES[spec.key]
    options = spec.check_options({})
    predictions = {line["id"]: line for line in sample.predictions[: len(sample.gold) - missing]}
    return [
        Observation(gold["id"], spec.score_item(gold, predictions.get(gold["id"]), options))
        for gold in sample.gold
    ]


def replicates_of(
    spec: Benchmark, rows: list[Observation], seed: str = "release"
) -> dict[str, Replicates]:
    options = spec.check_options({})
    weights = resampled_documents(rows, spec.stratum, seed=seed)
    return replicated(
        rows, lambda result: spec.contributions(result, options), spec.combined, weights
    )


@pytest.mark.parametrize("missing", [0, 1])
@pytest.mark.parametrize("key", BENCHMARKS)
def test_figures_are_those_of_the_benchmark(key: str, missing: int) -> None:
    spec = get_benchmark(key)
    rows = graded(spec, missing=missing)
    scores = spec.aggregate([dict(row.result) for row in rows], spec.check_options({})).scores
    found = replicates_of(spec, rows)
    known = {name: value for name, value in scores.items() if name in found and value is not None}
    assert known
    for name, value in known.items():
        assert found[name].value == pytest.approx(value, abs=TOLERANCE), name
    # Every existing headline figure has an interval, around or at the figure.
    for column in spec.columns:
        if (column.headline or column.rank) and scores[column.key] is not None:
            interval = found[column.key].interval()
            # None if a part has only one document, as in some of these small samples.
            assert (interval is not None) == found[column.key].can_be_compared, column.key


@pytest.mark.parametrize("key", BENCHMARKS)
def test_every_benchmark_decides_by_a_figure_that_has_replicates(key: str) -> None:
    spec = get_benchmark(key)
    assert deciding_column(spec.columns).key in replicates_of(spec, graded(spec))


def test_items_in_any_order_give_the_same_replicates() -> None:
    spec = get_benchmark("fincriticaled")
    rows = graded(spec)
    first, second = replicates_of(spec, rows), replicates_of(spec, rows[::-1])
    for name, replicates in first.items():
        assert replicates.key == second[name].key
        assert np.array_equal(replicates.values, second[name].values, equal_nan=True)


def test_another_seed_draws_other_documents() -> None:
    spec = get_benchmark("fincriticaled")
    rows = graded(spec)
    first, second = replicates_of(spec, rows), replicates_of(spec, rows, seed="other")
    assert first["ffa"].key != second["ffa"].key


def test_items_of_one_document_are_drawn_together() -> None:
    """Two items of one document cancel out in every replicate, those of two documents do not."""

    def contribute(result: Mapping[str, Any]) -> list[Contribution]:
        return [Contribution("mean", result["value"])]

    def spread(documents: tuple[str, ...]) -> float:
        rows = [
            Observation(document, {"value": value})
            for document, value in zip(documents, (0.0, 1.0, 0.0, 1.0), strict=True)
        ]
        weights = resampled_documents(rows, lambda _: "", seed="s")
        values = replicated(rows, contribute, {}, weights)["mean"].values
        return float(values.max() - values.min())

    assert spread(("one", "one", "two", "two")) == 0.0
    assert spread(("one", "two", "three", "four")) > 0.4


def test_a_document_is_drawn_within_the_strata_of_its_items() -> None:
    rows = [
        Observation(name, {"kind": kind})
        for name, kind in (("a", "x"), ("b", "x"), ("c", "y"), ("d", "y"))
    ]
    weights = resampled_documents(rows, lambda result: result["kind"], seed="s")
    drawn = dict(zip(weights.documents, weights.weights().T, strict=True))
    assert (drawn["a"] + drawn["b"] == 2).all()
    assert (drawn["c"] + drawn["d"] == 2).all()
    assert drawn["a"].min() == 0


@pytest.mark.parametrize(
    ("kinds", "together"),
    [
        # Several documents, each with its own set of parts, are drawn together.
        ({"a": "x", "b": "x", "c": "xy", "d": "xz", "e": "y"}, ("c", "d")),
        # A single one joins the largest stratum that shares a part.
        ({"a": "x", "b": "x", "c": "xy", "d": "y"}, ("a", "b", "c")),
    ],
)
def test_documents_of_several_strata_can_vary(
    kinds: dict[str, str], together: tuple[str, ...]
) -> None:
    rows = [Observation(name, {"kind": kind}) for name, all_ in kinds.items() for kind in all_]
    weights = resampled_documents(rows, lambda result: result["kind"], seed="s")
    drawn = dict(zip(weights.documents, weights.weights().T, strict=True))
    assert (sum(drawn[name] for name in together) == len(together)).all()
    assert all(drawn[name].min() == 0 for name in together)


def test_a_part_of_one_document_has_no_interval() -> None:
    """Nor have figures computed from it: a width of zero would mean that they are known exactly."""

    def contribute(result: Mapping[str, Any]) -> list[Contribution]:
        return [
            Contribution("mean", result["value"], part=(result["kind"],)),
            Contribution(f"only {result['kind']}", result["value"]),
        ]

    kinds = {"a": "x", "b": "x", "c": "y"}
    rows = [
        Observation(name, {"kind": kind, "value": i / 2})
        for i, (name, kind) in enumerate(kinds.items())
    ]
    weights = resampled_documents(rows, lambda result: result["kind"], seed="s")
    combined = {"half": Combined(("mean",), lambda mean: mean / 2)}
    found = replicated(rows, contribute, combined, weights)
    assert {name: each.value for name, each in found.items()} == {
        "mean": (0.25 + 1.0) / 2,
        "only x": 0.25,
        "only y": 1.0,
        "half": 0.3125,
    }
    has_interval = {name for name, each in found.items() if each.interval() is not None}
    assert has_interval == {"only x"}
    assert not found["mean"].can_be_compared


def test_a_combined_figure_needs_all_its_parts() -> None:
    def contribute(result: Mapping[str, Any]) -> list[Contribution]:
        return [Contribution("half", result["value"] / 2)]

    rows = [Observation(name, {"value": 1.0}) for name in "ab"]
    weights = resampled_documents(rows, lambda _: "", seed="s")
    combined = {
        "double": Combined(("half",), lambda half: 4 * half),
        "sum": Combined(("half", "other"), lambda half, other: half + other),
    }
    found = replicated(rows, contribute, combined, weights)
    assert found.keys() == {"half", "double"}
    assert found["double"].value == 2.0
    assert math.isclose(found["double"].values[0], 2.0)


def test_a_benchmark_may_do_without_intervals() -> None:
    assert list(TOY.contributions({"id": "q1"}, {})) == []


def test_nothing_cannot_be_resampled() -> None:
    with pytest.raises(ValueError, match="documents must be there"):
        resampled_documents([], lambda _: "", seed="s")


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
