"""Checks of gold and predictions: every fault is listed, missing ids are named."""

import pytest

from scoring.benchmarks import (
    BENCHMARKS,
    GoldLine,
    PredictionLine,
    ReadFault,
    UnknownBenchmarkError,
    check_gold,
    check_predictions,
    get_benchmark,
)
from scoring.benchmarks.checking import MOST_FAULTS


def prediction(item: str, line: int) -> PredictionLine:
    return PredictionLine(item, {"id": item, "html": ""}, "sub.jsonl", line)


def test_predictions_with_every_kind_of_fault() -> None:
    broken = ReadFault("sub.jsonl", 2, None, "not valid JSON")
    check = check_predictions(
        [prediction("a", 1), broken, prediction("x", 3), prediction("a", 4)], ["a", "b", "c"]
    )
    assert list(check.lines) == ["a"]
    assert [str(fault) for fault in check.faults] == [
        "sub.jsonl:2: not valid JSON",
        "sub.jsonl:3: unknown id 'x'",
        "sub.jsonl:4: the id 'a' was already used at sub.jsonl:1",
    ]
    assert check.missing == ("b", "c")


def test_missing_ids_alone_are_no_fault() -> None:
    check = check_predictions([prediction("b", 1)], ["a", "b"])
    assert (check.faults, check.missing) == ((), ("a",))


def test_an_empty_submission_is_a_fault() -> None:
    check = check_predictions([], ["a"], "sub.jsonl")
    assert [str(fault) for fault in check.faults] == ["sub.jsonl:0: contains no predictions"]


def test_endless_faults_are_counted() -> None:
    many = (prediction("x", line) for line in range(1, MOST_FAULTS + 6))
    check = check_predictions(many, ["a"])
    assert (len(check.faults), check.faults_left_out) == (MOST_FAULTS, 5)


def test_gold_needs_items_and_distinct_ids() -> None:
    line = GoldLine("a", {"id": "a", "html": ""}, "gold.jsonl", 1)
    again = GoldLine("a", {"id": "a", "html": ""}, "gold.jsonl", 2)
    (fault,) = check_gold([line, again]).faults
    assert str(fault) == "gold.jsonl:2: the id 'a' was already used at gold.jsonl:1"
    assert [str(fault) for fault in check_gold([], "gold").faults] == ["gold:0: contains no items"]


def test_unknown_benchmarks_get_suggestions() -> None:
    assert get_benchmark("fincriticaled") is BENCHMARKS["fincriticaled"]
    with pytest.raises(UnknownBenchmarkError, match="did you mean fincriticaled"):
        get_benchmark("fincritcaled")
    with pytest.raises(UnknownBenchmarkError, match="there are "):
        get_benchmark("zzz")


def test_every_benchmark_is_listed_under_its_key_and_has_a_card() -> None:
    from pathlib import Path

    import scoring.benchmarks

    root = Path(scoring.benchmarks.__file__).parent
    for key, benchmark in BENCHMARKS.items():
        assert benchmark.key == key
        assert (root / key / "README.md").is_file()
        keys = [column.key for column in benchmark.columns]
        assert len(set(keys)) == len(keys)
        assert benchmark.signature(benchmark.check_options({})).startswith(f"{key}|")
