"""Statistics of a dataset as CSV, with six decimals, and as a LaTeX table for a paper."""

from collections.abc import Iterator

from portal.common.latex import escaped
from portal.common.spreadsheets import csv_text
from portal.facts import label_kind

from .statistics import DatasetStatistics, FactRow, fact_title

CSV_COLUMNS = ("section", "name", "documents", "facts", "average_per_document", "type_ratio")

_NOTHING = "---"
_SYMBOLS = {"number": " ($F_n$)", "date": " ($F_t$)"}


def statistics_csv(statistics: DatasetStatistics) -> str:
    """One line per figure of the table and of the charts; what is not known is empty.

    Sections: size, facts, facts_per_document (the name is `low-high`), type, year.
    """
    return csv_text([CSV_COLUMNS, *_lines(statistics)])


def statistics_latex(statistics: DatasetStatistics, title: str) -> str:
    """The table as papers print it, in the manner of booktabs: two decimals, ratios in percent."""
    rows = "\n".join(_latex_row(row) for row in statistics.rows)
    some = statistics.labelled < statistics.documents
    labelled = f", {statistics.labelled:,} of which are labelled" if some else ""
    return rf"""% Statistics of {escaped(title)}; needs \usepackage{{booktabs}}.
\begin{{table}}
\centering
\begin{{tabular}}{{lrrr}}
\toprule
Category & Total count & Average per document & Type ratio (\%) \\
\midrule
Dataset size (pairs) & {statistics.pairs:,} & {_NOTHING} & {_NOTHING} \\
{rows}
\bottomrule
\end{{tabular}}
\caption{{Statistics of {escaped(title)}: {statistics.documents:,} documents{labelled}.}}
\label{{tab:dataset-statistics}}
\end{{table}}
"""


def _lines(statistics: DatasetStatistics) -> Iterator[tuple[object, ...]]:
    for name in ("documents", "pairs", "labelled"):
        yield "size", name, getattr(statistics, name), "", "", ""
    for row in statistics.rows:
        ratio = "" if row.ratio is None else row.ratio
        average = "" if row.average is None else row.average
        yield "facts", row.label or "all", "", row.total, average, ratio
    for count in statistics.facts_per_document:
        yield "facts_per_document", f"{count.low}-{count.high}", count.documents, "", "", ""
    for kind in statistics.types:
        facts = "" if kind.facts is None else kind.facts
        yield "type", kind.doc_type, kind.documents, facts, "", ""
    for year in statistics.years:
        yield "year", "unknown" if year.year is None else year.year, year.documents, "", "", ""


def _latex_row(row: FactRow) -> str:
    symbol = _SYMBOLS.get(label_kind(row.label) or "", "") if row.label else " ($F$)"
    name = escaped(fact_title(row.label)) + symbol
    average = _NOTHING if row.average is None else f"{row.average:.2f}"
    ratio = _NOTHING if row.ratio is None else f"{100 * row.ratio:.1f}"
    return rf"{name} & {row.total:,} & {average} & {ratio} \\"
