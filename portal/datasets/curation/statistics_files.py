"""Statistics of a dataset as CSV, with six decimals, and as a LaTeX table for a paper."""

from collections.abc import Iterator

from portal.facts import label_kind
from portal.files.tables import PACKAGES, Cell, Head, Row, Table, breakable, csv_text, escaped

from .statistics import DatasetStatistics, FactRow, fact_title

CSV_COLUMNS = ("section", "name", "documents", "facts", "average_per_document", "type_ratio")

_NOTHING = "---"
_HEADS = (Head("Total count"), Head("Average per document"), Head("Type ratio (%)"))
_SYMBOLS = {"number": " ($F_n$)", "date": " ($F_t$)"}


def statistics_csv(statistics: DatasetStatistics) -> str:
    """One line per figure of the table and of the charts; what is not known is empty.

    Sections: size, facts, facts_per_document (the name is `low-high`), type, year.
    """
    return csv_text([CSV_COLUMNS, *_lines(statistics)])


def statistics_latex(statistics: DatasetStatistics, title: str) -> str:
    """The table as papers print it, in the manner of booktabs: two decimals, ratios in percent."""
    some = statistics.labelled < statistics.documents
    labelled = f", {statistics.labelled:,} of which are labelled" if some else ""
    size = _latex_row("Dataset size (pairs)", f"{statistics.pairs:,}", _NOTHING, _NOTHING)
    table = Table(("Category",), _HEADS, [size, *map(_fact_row, statistics.rows)])
    caption = f"Statistics of {breakable(title)}: {statistics.documents:,} documents{labelled}."
    lines = [
        f"% Statistics of {escaped(title)}; needs {PACKAGES}.",
        *table.lines_of_latex(caption, "dataset-statistics"),
    ]
    return "\n".join(lines) + "\n"


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


def _fact_row(row: FactRow) -> Row:
    symbol = _SYMBOLS.get(label_kind(row.label) or "", "") if row.label else " ($F$)"
    average = _NOTHING if row.average is None else f"{row.average:.2f}"
    ratio = _NOTHING if row.ratio is None else f"{100 * row.ratio:.1f}"
    return _latex_row(fact_title(row.label), f"{row.total:,}", average, ratio, mark=symbol)


def _latex_row(name: str, *cells: str, mark: str = "") -> Row:
    return Row(name, (), tuple(Cell(cell, cell) for cell in cells), mark)
