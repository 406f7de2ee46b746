"""The contract of columns and views for every benchmark, and each one's views by hand."""

import pytest

from scoring.benchmarks import BENCHMARKS, Benchmark, Column, deciding_column
from scoring.benchmarks.ccocr import CCOCR
from scoring.benchmarks.fcmbench import FCMBENCH
from scoring.benchmarks.fincriticaled import FINCRITICALED
from scoring.benchmarks.receiptbench import RECEIPTBENCH

EACH = pytest.mark.parametrize("benchmark", BENCHMARKS.values(), ids=BENCHMARKS)


def tables_of(benchmark: Benchmark) -> list[tuple[Column, ...]]:
    options = benchmark.check_options({})
    views = benchmark.views_for(options)
    return [benchmark.columns_for(options), *(view.columns for view in views)]


@EACH
def test_one_headline_column_decides_each_table(benchmark: Benchmark) -> None:
    for columns in tables_of(benchmark):
        assert deciding_column(columns).headline
        keys = [column.key for column in columns]
        assert len(set(keys)) == len(keys)


@EACH
def test_every_figure_of_every_table_is_aggregated(benchmark: Benchmark) -> None:
    options = benchmark.check_options({})
    scores = benchmark.aggregate([], options).scores
    assert scores.keys() == benchmark.figures_for(options).keys()
    assert set(scores.values()) == {None}


@EACH
def test_keys_of_views_differ_and_their_rows_fit(benchmark: Benchmark) -> None:
    views = benchmark.views_for(benchmark.check_options({}))
    assert len({view.key for view in views}) == len(views)
    for view in views:
        keys = {column.key for column in view.columns}
        assert all(row.scores and row.scores.keys() <= keys for row in view.reported)
        assert all(row.provenance and row.provenance_url for row in view.reported)


def test_no_column_decides_where_none_says_so() -> None:
    with pytest.raises(ValueError, match="not enough values"):
        deciding_column([Column("a", "A", "G", "a")])


def test_fcmbench_by_language_and_condition() -> None:
    def line(subtask: str, f1: float, condition: str = "Normal Captures") -> dict[str, object]:
        task = {"k": "KIE", "q": "IQE", "c": "CC"}[subtask.removeprefix("en.")[0]]
        return {
            "task": task,
            "subtask": subtask,
            "robustness": condition,
            "outcome": "scored",
            "missing": False,
            "f1": f1,
            "strict": f1,
            "published": f1,
            "output_tokens": None,
        }

    results = [
        line("k_1", 0.5),
        line("c_1", 1.0),
        line("q_1", 0.0),
        line("en.k_1", 0.8),
        line("k_1", 0.25, "Small ROIs"),
    ]
    scores = FCMBENCH.aggregate(results, FCMBENCH.check_options({})).scores
    assert scores["zh_KIE"] == pytest.approx(0.375)
    assert (scores["zh_IQE"], scores["zh_RR"]) == (0, None)
    # IQE is left out of the average.
    assert scores["zh_without_iqe"] == pytest.approx((0.375 + 1) / 2)
    assert scores["en_without_iqe"] == pytest.approx(0.8)
    # Normal: KIE is the mean of its two subtasks, CC is 1.
    assert scores["f1_normal"] == pytest.approx((0.65 + 1) / 2)
    # Small ROIs have one subtask of KIE alone.
    assert scores["relative_small_rois"] == pytest.approx(0.25 / 0.5)
    assert scores["relative_cropped_captures"] is None


def receipt(language: str, **answer: object) -> dict[str, object]:
    options = RECEIPTBENCH.check_options({})
    gold = {"id": "r", "language": language, "fields": {"type": "taxi", "place": "UK-London"}}
    return RECEIPTBENCH.score_item(gold, {"id": "r", "fields": answer}, options)


def test_receiptbench_by_language_and_field() -> None:
    results = [
        receipt("English", type="taxi", place="UK-London"),
        receipt("eng", type="bus"),
        receipt("Korean", type="bus", place="UK-London"),
    ]
    scores = RECEIPTBENCH.aggregate(results, RECEIPTBENCH.check_options({})).scores
    # English: three values correct or wrong of four: TP 2, FP 1, FN 2.
    assert scores["language_en"] == pytest.approx(4 / 7)
    assert scores["language_other"] == pytest.approx(0.5)
    assert scores["language_fr"] is None
    assert (scores["fp_type"], scores["fp_place"], scores["fp_overall"]) == (2, 0, 2)
    assert (scores["errors_type"], scores["errors_place"], scores["errors_overall"]) == (2, 1, 3)
    assert scores["weights_c"] == scores["overall"]


def test_fincriticaled_by_document_type() -> None:
    options = FINCRITICALED.check_options({})

    def page(doc_type: str, answer: str) -> dict[str, object]:
        gold = {"id": "p", "html": "<p>Total <Number>12</Number></p>", "doc_type": doc_type}
        return FINCRITICALED.score_item(gold, {"id": "p", "html": answer}, options)

    results = [
        page("tax_form", "Total 12"),
        page("tax_form", "Total 13"),
        page("", "Total 12"),
        page("poem", "Total 12"),
    ]
    found = FINCRITICALED.aggregate(results, options)
    assert found.scores["ffa_tax_form"] == 0.5
    assert found.scores["ffa_other"] == 1
    assert found.scores["ffa_financial_statement"] is None
    assert found.subsets["Tax form"]["pages"] == 2
    assert found.subsets["Tax form"]["n_ffa"] == 0.5
    assert found.scores["hallucinated"] == 0.25
    assert found.counts["number_and_date_tokens"] == 4


def test_document_types_are_those_of_the_dataset_manager() -> None:
    from portal.datasets.models import DocumentType
    from scoring.benchmarks.fincriticaled.scorer import DOCUMENT_TYPES

    assert set(DOCUMENT_TYPES) == set(DocumentType.values)


def test_ccocr_has_the_papers_tables() -> None:
    views = CCOCR.views_for(CCOCR.check_options({}))
    rows = {view.key: len(view.reported) for view in views}
    assert rows == {
        "multi_scene": 9,
        "multi_lan": 8,
        "doc_parsing": 6,
        "kie": 5,
        "grounding": 4,
        "orientation": 7,
        "repetition": 9,
    }
