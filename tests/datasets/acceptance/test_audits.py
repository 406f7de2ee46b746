import json
from dataclasses import asdict
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from portal.datasets.acceptance.audits import (
    Acceptance,
    Verdict,
    accept,
    audit_report,
    field_accuracy,
    pooled,
    smallest_conclusive_sample,
)
from portal.datasets.acceptance.records import FieldFault
from portal.facts.sampling import wilson

DOCUMENTS = [f"r{number:03}" for number in range(100)]


def verdicts(wrong: dict[str, int], documents: list[str] = DOCUMENTS) -> list[Verdict]:
    """The first documents are wrong, as many as given for each field."""
    return [
        Verdict(name, field, index >= count)
        for field, count in wrong.items()
        for index, name in enumerate(documents)
    ]


def judged(wrong: dict[str, int], threshold: float = 0.97) -> Acceptance:
    return accept(
        fields=list(wrong), sampled=DOCUMENTS, verdicts=verdicts(wrong), threshold=threshold
    )


def test_three_wrong_of_a_hundred_reach_97_percent() -> None:
    acceptance = judged({"total": 3, "date": 0})
    assert acceptance.state == "accepted"
    assert acceptance.failing == ()
    assert [row.accuracy for row in acceptance.fields] == [0.97, 1.0]
    assert (acceptance.overall.right, acceptance.overall.n) == (197, 200)


def test_one_field_under_the_threshold_rejects_the_whole_batch() -> None:
    acceptance = judged({"total": 4, "date": 0, "seller": 0})
    assert acceptance.state == "rejected"
    assert acceptance.failing == ("total",)
    assert acceptance.overall.accuracy == 296 / 300


@given(st.integers(1, 400), st.integers(1, 100))
def test_threshold_counts_as_it_is_written(n: int, percent: int) -> None:
    """The comparison is exact: right / n >= percent / 100, without floating-point errors."""
    documents = [str(number) for number in range(n)]
    wrong = n * (100 - percent) // 100
    for count, state in ((wrong, "accepted"), (wrong + 1, "rejected")):
        if count <= n:
            said = verdicts({"f": count}, documents)
            acceptance = accept(
                fields=["f"], sampled=documents, verdicts=said, threshold=percent / 100
            )
            assert acceptance.state == state


def test_inspection_is_incomplete_until_all_is_seen() -> None:
    said = verdicts({"total": 0, "date": 4})[:-1]
    acceptance = accept(fields=["total", "date"], sampled=DOCUMENTS, verdicts=said)
    assert acceptance.state == "incomplete"
    assert [row.missing for row in acceptance.fields] == [0, 1]
    # 95 right and one missing make at most 96.
    assert acceptance.failing == ("date",)


def test_nothing_inspected_has_no_accuracy() -> None:
    acceptance = accept(fields=["total"], sampled=DOCUMENTS, verdicts=[])
    assert (acceptance.state, acceptance.failing) == ("incomplete", ())
    assert acceptance.fields[0].accuracy is None
    assert acceptance.fields[0].low is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sampled": []}, "needs sampled documents"),
        ({"fields": []}, "and fields"),
        ({"fields": ["total", "total"]}, "each field once"),
        ({"threshold": 0}, "above 0 and at most 1"),
        ({"threshold": 1.01}, "above 0 and at most 1"),
        ({"verdicts": [Verdict("other", "total", True)]}, "total of other is not in the sample"),
        ({"verdicts": [Verdict("r001", "tip", True)]}, "tip of r001 is not in the sample"),
        ({"verdicts": [Verdict("r001", "total", True)] * 2}, "total of r001 has two results"),
    ],
)
def test_accept_refuses_invalid_arguments(changes: dict[str, object], message: str) -> None:
    arguments: dict[str, object] = {"fields": ["total"], "sampled": DOCUMENTS, "verdicts": []}
    with pytest.raises(ValueError, match=message):
        accept(**{**arguments, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(("right", "n"), [(0, 1), (97, 100), (125, 125), (3, 7)])
def test_interval_is_the_one_of_statsmodels(right: int, n: int) -> None:
    assert wilson(right, n) == pytest.approx(proportion_confint(right, n, 0.05, "wilson"))


def test_smallest_conclusive_sample() -> None:
    for threshold in (0.9, 0.97, 0.99):
        size = smallest_conclusive_sample(threshold)
        low, before = wilson(size, size), wilson(size - 1, size - 1)
        assert low
        assert before
        assert low.low >= threshold > before.low


def test_pooled_adds_up_batches() -> None:
    rows = [field_accuracy("a", 97, 100), field_accuracy("b", 40, 50, 3)]
    assert pooled(rows) == field_accuracy("overall", 137, 150, 3)


def test_audit_report_has_decision_errors_and_faults() -> None:
    documents = ["r1", "r2"]
    said = [
        Verdict(name, field, (name, field) != ("r2", "total"), "12.00", "a 7 read as a 1", "72.00")
        for name, field in product(documents, ["total", "date"])
    ]
    faults = {
        "r1": [FieldFault("std_total", "sum", "…"), FieldFault("date", "date", "…")],
        "r2": [],
        "r9": [FieldFault("std_total", "sum", "…")],
    }
    acceptance = accept(fields=["total", "date"], sampled=documents, verdicts=said)
    report = asdict(audit_report(acceptance, said, faults, batch_size=40, seed=7))
    assert json.loads(json.dumps(report)) == report
    assert report["state"] == "rejected"
    assert report["failing"] == ["total"]
    assert (report["batch_size"], report["sample_size"], report["seed"]) == (40, 2, 7)
    assert report["fields"][0]["accuracy"] == 0.5
    assert report["fields"][0]["low"] == pytest.approx(0.0945, abs=5e-5)
    assert report["overall"]["right"] == 3
    assert report["errors"] == [
        {
            "document": "r2",
            "field": "total",
            "value": "72.00",
            "correct_value": "12.00",
            "comment": "a 7 read as a 1",
        }
    ]
    assert report["validation"] == {
        "documents_with_faults": 2,
        "counts": [
            {"field": "std_total", "code": "sum", "count": 2},
            {"field": "date", "code": "date", "count": 1},
        ],
    }
