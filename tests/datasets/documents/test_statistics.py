import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.datasets.documents.statistics import (
    CSV_COLUMNS,
    MAX_BINS,
    Bin,
    FactRow,
    FactTally,
    TypeCount,
    YearCount,
    bins,
    dataset_statistics,
    statistics_csv,
    statistics_latex,
)
from tests.latex import complaints

from .tallies import DocumentCounts, tally_of

DOCUMENTS = [
    DocumentCounts("tax_form", 2024, 1, {"Number": 3, "Date": 1}),
    DocumentCounts("tax_form", None, 2, {"Number": 0}),
    DocumentCounts("other", 2023, 0, {"Number": 3, "Date": 1}),
    DocumentCounts("financial_legal", 2024, 1, None),
]


def test_table_by_hand() -> None:
    statistics = dataset_statistics(tally_of(DOCUMENTS), ["Number", "Date"])
    assert (statistics.documents, statistics.pairs, statistics.labelled) == (4, 3, 3)
    assert statistics.rows == (
        FactRow("", 8, 8 / 3, 1.0),
        FactRow("Number", 6, 2.0, 0.75),
        FactRow("Date", 2, 2 / 3, 0.25),
    )


def test_table_of_the_paper_has_its_totals_and_ratios() -> None:
    """500 pairs, 444 and 295 facts. The paper's averages (2.44, 1.48, 0.96) differ: 739 / 500."""
    documents = [DocumentCounts("other", 2024, 1, {"Number": 1, "Date": 1})] * 295
    documents += [DocumentCounts("other", 2024, 1, {"Number": 1})] * 149
    documents += [DocumentCounts("other", 2024, 1, {})] * 56
    statistics = dataset_statistics(tally_of(documents))
    latex = statistics_latex(statistics, "FinCriticalED")
    assert r"Dataset size (pairs) & 500 & --- & --- \\" in latex
    assert r"All financial facts ($F$) & 739 & 1.48 & 100.0 \\" in latex
    assert r"Numeric facts ($F_n$) & 444 & 0.89 & 60.1 \\" in latex
    assert r"Temporal facts ($F_t$) & 295 & 0.59 & 39.9 \\" in latex


def test_charts_by_hand() -> None:
    statistics = dataset_statistics(tally_of(DOCUMENTS))
    assert statistics.facts_per_document == (
        Bin(0, 0, 1),
        Bin(1, 1, 0),
        Bin(2, 2, 0),
        Bin(3, 3, 0),
        Bin(4, 4, 2),
    )
    assert statistics.types == (
        TypeCount("tax_form", 2, 2, 4),
        TypeCount("financial_legal", 1, 0, 0),
        TypeCount("other", 1, 1, 4),
    )
    assert statistics.years == (YearCount(2023, 1), YearCount(2024, 2), YearCount(None, 1))


def test_nothing_has_no_averages() -> None:
    statistics = dataset_statistics(tally_of([]), ["Number"])
    assert statistics.rows == (FactRow("", 0, None, None), FactRow("Number", 0, None, None))
    assert (statistics.facts_per_document, statistics.types, statistics.years) == ((), (), ())
    assert r"Numeric facts ($F_n$) & 0 & --- & --- \\" in statistics_latex(statistics, "x")


def test_labels_asked_for_come_first_and_others_follow() -> None:
    counts = [DocumentCounts("other", None, 1, {"Zeta": 1, "Alpha": 1, "Number": 1})]
    statistics = dataset_statistics(tally_of(counts), ["Number", "Temporal"])
    assert [row.label for row in statistics.rows] == ["", "Number", "Temporal", "Alpha", "Zeta"]
    titles = [row.title for row in statistics.rows[2:4]]
    assert titles == ["Temporal facts", "Alpha"]


@pytest.mark.parametrize(
    ("greatest", "width"),
    [(0, 1), (19, 1), (20, 2), (39, 2), (40, 5), (99, 5), (100, 10), (313, 20)],
)
def test_bins_are_as_wide_as_needed(greatest: int, width: int) -> None:
    first, *_ = found = bins({greatest: 1, 0: 1})
    assert (first.low, first.high) == (0, width - 1)
    assert found[-1].low <= greatest <= found[-1].high


@given(st.dictionaries(st.integers(0, 10_000), st.integers(1, 9), min_size=1))
def test_bins_hold_every_document_once(counts: dict[int, int]) -> None:
    found = bins(counts)
    assert len(found) <= MAX_BINS
    assert [bar.low for bar in found[1:]] == [bar.high + 1 for bar in found[:-1]]
    for bar in found:
        inside = (counts[facts] for facts in counts if bar.low <= facts <= bar.high)
        assert bar.documents == sum(inside)


def test_csv_has_every_figure_with_six_decimals() -> None:
    rows = list(
        csv.DictReader(io.StringIO(statistics_csv(dataset_statistics(tally_of(DOCUMENTS)))))
    )
    assert tuple(rows[0]) == CSV_COLUMNS
    by_place = {(row["section"], row["name"]): row for row in rows}
    assert len(by_place) == len(rows) == 3 + 3 + 5 + 3 + 3
    assert by_place["size", "labelled"]["documents"] == "3"
    assert by_place["facts", "all"]["average_per_document"] == "2.666667"
    assert by_place["facts", "Date"]["type_ratio"] == "0.25"
    assert by_place["facts_per_document", "4-4"]["documents"] == "2"
    assert by_place["type", "tax_form"]["facts"] == "4"
    assert by_place["year", "unknown"]["documents"] == "1"


def test_latex_escapes_titles_and_counts_labelled_documents() -> None:
    latex = statistics_latex(dataset_statistics(tally_of(DOCUMENTS)), "R&D\n50 %")
    assert latex.startswith(r"% Statistics of R\&D 50 \%; needs")
    assert r"\caption{Statistics of R\&D 50 \%: 4 documents, 3 of which are labelled.}" in latex


@pytest.mark.tex
def test_latex_fits_the_page(tmp_path: Path) -> None:
    statistics = dataset_statistics(tally_of(DOCUMENTS))
    rows = tuple(replace(row, label="MonetaryUnit" * 5, total=10**9) for row in statistics.rows)
    statistics = replace(statistics, rows=rows)
    assert complaints(statistics_latex(statistics, "Title" * 30), tmp_path) == []


def test_hidden_facts_leave_the_totals_alone() -> None:
    tally = tally_of(DOCUMENTS)._replace(facts=FactTally(3, 8))
    statistics = dataset_statistics(tally, ["Number", "Date"])
    assert statistics.rows == (FactRow("", 8, 8 / 3, 1.0),)
    assert statistics.facts_per_document == ()
    assert {(row.labelled, row.facts) for row in statistics.types} == {(None, None)}
    assert "Numeric" not in statistics_latex(statistics, "x")
    rows = csv.DictReader(io.StringIO(statistics_csv(statistics)))
    assert [row["facts"] for row in rows if row["section"] == "type"] == ["", "", ""]


def test_unlabelled_dataset_has_no_rows_of_facts() -> None:
    statistics = dataset_statistics(tally_of(DOCUMENTS)._replace(facts=None), ["Number"])
    assert (statistics.labelled, statistics.rows) == (0, ())
    assert r"4 documents, 0 of which are labelled" in statistics_latex(statistics, "x")
