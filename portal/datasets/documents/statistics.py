"""Statistics of a dataset, as CSV and as a LaTeX table. No Django.

The layout follows FinCriticalED, table 3 (total count, average per document, type ratio). Averages
are over the labelled documents, and ratios are shares of all facts.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from portal.facts import label_kind
from portal.files.tables import PACKAGES, Cell, Head, Row, Table, breakable, csv_text, escaped

# The most bars in the chart of facts per page.
MAX_BINS = 20
_UNKNOWN = (None, None)


class FactDetails(NamedTuple):
    """Facts by label, documents by number of facts, and (labelled documents, facts) by type."""

    by_label: Mapping[str, int]
    per_document: Mapping[int, int]
    by_type: Mapping[str, tuple[int, int]]


class FactTally(NamedTuple):
    """The `total` facts of `labelled` documents; `details` is None if the gold is hidden."""

    labelled: int
    total: int
    details: FactDetails | None = None


class Amounts(NamedTuple):
    """Documents, and the different images that they have."""

    documents: int
    images: int


class Tally(NamedTuple):
    """The counts of a dataset. `types` and `years` count documents; None is an unknown year.
    `strata` counts documents and images by value, for each field that has values.

    `pairs` is the number of documents with an image. `facts` is None without labelled documents.
    """

    documents: int
    pairs: int
    types: Mapping[str, int]
    years: Mapping[int | None, int]
    facts: FactTally | None = None
    strata: Mapping[str, Mapping[str, Amounts]] = {}


@dataclass(frozen=True)
class FactRow:
    """The facts of one label, or of all for "".

    `average` per labelled document is None without documents. `ratio`, the share of all facts from
    0 to 1, is None without facts.
    """

    label: str
    total: int
    average: float | None
    ratio: float | None

    @property
    def title(self) -> str:
        """The name of the facts in the table.

        >>> FactRow("", 0, None, None).title, FactRow("Date", 0, None, None).title
        ('All financial facts', 'Temporal facts')
        """
        if not self.label:
            return "All financial facts"
        titles = {"number": "Numeric facts", "date": "Temporal facts"}
        return titles.get(label_kind(self.label) or "", self.label)


@dataclass(frozen=True)
class Bin:
    """The number of documents with `low` to `high` facts, inclusive."""

    low: int
    high: int
    documents: int


@dataclass(frozen=True)
class TypeCount:
    """Documents of a type, the number of labelled ones, and their facts; None if hidden."""

    doc_type: str
    documents: int
    labelled: int | None
    facts: int | None


@dataclass(frozen=True)
class YearCount:
    """Documents of a fiscal year; None is an unknown year."""

    year: int | None
    documents: int


@dataclass(frozen=True)
class StratumCount:
    """Documents and images with a value of a field; `share` of all documents with values of it.
    The empty value is unknown."""

    field: str
    value: str
    documents: int
    images: int
    share: float


@dataclass(frozen=True)
class DatasetStatistics:
    """The statistics of a dataset.

    `pairs` is the number of documents with an image, `labelled` of those in the release. `rows` has
    all facts first, then the labels in their order; it is empty without labelled documents.
    """

    documents: int
    pairs: int
    labelled: int
    rows: tuple[FactRow, ...]
    facts_per_document: tuple[Bin, ...]
    types: tuple[TypeCount, ...]
    years: tuple[YearCount, ...]
    strata: tuple[StratumCount, ...] = ()


def dataset_statistics(tally: Tally, labels: Sequence[str] = ()) -> DatasetStatistics:
    """Compute the statistics from a tally.

    Every label of `labels` has a row; other labels follow by name. Types are sorted by number of
    documents, and years in order with the unknown one last.
    """
    facts = tally.facts
    details = facts.details if facts else None
    return DatasetStatistics(
        documents=tally.documents,
        pairs=tally.pairs,
        labelled=facts.labelled if facts else 0,
        rows=_rows(facts, labels) if facts else (),
        facts_per_document=bins(details.per_document) if details else (),
        types=tuple(
            TypeCount(name, count, *(details.by_type.get(name, (0, 0)) if details else _UNKNOWN))
            for name, count in sorted(tally.types.items(), key=lambda item: (-item[1], item[0]))
        ),
        years=tuple(
            YearCount(year, tally.years[year])
            for year in sorted(tally.years, key=lambda year: (year is None, year or 0))
        ),
        strata=tuple(_strata(tally.strata)),
    )


def _strata(counted: Mapping[str, Mapping[str, Amounts]]) -> Iterator[StratumCount]:
    """By field, the most frequent value first and the unknown one last."""
    for field, values in counted.items():
        total = sum(amounts.documents for amounts in values.values())
        for value in sorted(values, key=lambda each: (not each, -values[each].documents, each)):
            documents, images = values[value]
            yield StratumCount(field, value, documents, images, documents / total)


def bins(counts: Mapping[int, int]) -> tuple[Bin, ...]:
    """Group documents by number of facts, in at most MAX_BINS bins of width 1, 2 or 5 times 10^n.

    The bins start at 0 without gaps, and the last one contains the greatest number.

    >>> bins({0: 1, 3: 2})
    (Bin(low=0, high=0, documents=1), Bin(low=1, high=1, documents=0), \
Bin(low=2, high=2, documents=0), Bin(low=3, high=3, documents=2))
    """
    if not counts:
        return ()
    greatest = max(counts)
    width = _width(greatest + 1)
    sums = Counter[int]()
    for facts, documents in counts.items():
        sums[facts // width] += documents
    return tuple(
        Bin(index * width, (index + 1) * width - 1, sums[index])
        for index in range(greatest // width + 1)
    )


def _rows(facts: FactTally, labels: Sequence[str]) -> tuple[FactRow, ...]:
    by_label = facts.details.by_label if facts.details else {}
    names = list(dict.fromkeys([*labels, *sorted(by_label)])) if facts.details else []

    def row(label: str, total: int) -> FactRow:
        average = total / facts.labelled if facts.labelled else None
        return FactRow(label, total, average, total / facts.total if facts.total else None)

    return (row("", facts.total), *(row(name, by_label.get(name, 0)) for name in names))


def _width(values: int) -> int:
    power = 1
    while True:
        for step in (1, 2, 5):
            if step * power * MAX_BINS >= values:
                return step * power
        power *= 10


CSV_COLUMNS = (
    "section", "name", "documents", "facts", "average_per_document", "type_ratio", "images",
)  # fmt: skip

_NOTHING = "---"
_HEADS = (Head("Total count"), Head("Average per document"), Head("Type ratio (%)"))
_SYMBOLS = {"number": " ($F_n$)", "date": " ($F_t$)"}


def statistics_csv(statistics: DatasetStatistics) -> str:
    """Format all figures as CSV, one per line; unknown ones are empty.

    Sections: size, facts, facts_per_document (the name is `low-high`), type, year, and language,
    category, subset, condition, where the dataset has values of them.
    """
    return csv_text([CSV_COLUMNS, *_lines(statistics)])


def statistics_latex(statistics: DatasetStatistics, title: str) -> str:
    """Format the table as LaTeX with booktabs: averages with two decimals, ratios in percent."""
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
        yield "size", name, getattr(statistics, name), "", "", "", ""
    for row in statistics.rows:
        yield "facts", row.label or "all", "", row.total, row.average, row.ratio, ""
    for count in statistics.facts_per_document:
        yield "facts_per_document", f"{count.low}-{count.high}", count.documents, "", "", "", ""
    for kind in statistics.types:
        yield "type", kind.doc_type, kind.documents, kind.facts, "", "", ""
    for year in statistics.years:
        yield "year", "unknown" if year.year is None else year.year, year.documents, *[""] * 4
    for part in statistics.strata:
        yield part.field, part.value or "unknown", part.documents, "", "", part.share, part.images


def _fact_row(row: FactRow) -> Row:
    symbol = _SYMBOLS.get(label_kind(row.label) or "", "") if row.label else " ($F$)"
    average = _NOTHING if row.average is None else f"{row.average:.2f}"
    ratio = _NOTHING if row.ratio is None else f"{100 * row.ratio:.1f}"
    return _latex_row(row.title, f"{row.total:,}", average, ratio, mark=symbol)


def _latex_row(name: str, *cells: str, mark: str = "") -> Row:
    return Row(name, (), tuple(Cell(cell, cell) for cell in cells), mark)
