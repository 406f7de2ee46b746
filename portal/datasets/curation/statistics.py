"""Statistics of a dataset in the layout of a paper's table, and what its charts show.

Source of the layout: FinCriticalED, table 3 (total count, average per document, type ratio). Here
every average is a total over the labelled documents, and every ratio a share of all facts.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from portal.facts import label_kind

# A chart of facts per page has at most so many bars.
MAX_BINS = 20


class DocumentCounts(NamedTuple):
    """One document: `facts` by label, or None where nobody has labelled it yet."""

    doc_type: str
    fiscal_year: int | None
    images: int
    facts: Mapping[str, int] | None


class FactRow(NamedTuple):
    """Facts of one label (`""`: of all): how many, per labelled document, and share of all facts.

    `average` is None without labelled documents, `ratio` (0 to 1) without facts.
    """

    label: str
    total: int
    average: float | None
    ratio: float | None


class Bin(NamedTuple):
    """How many documents have `low` to `high` facts, both included."""

    low: int
    high: int
    documents: int


class TypeCount(NamedTuple):
    """Documents of a type, how many of them are labelled, and their facts."""

    doc_type: str
    documents: int
    labelled: int
    facts: int


class YearCount(NamedTuple):
    """Documents of a fiscal year; None is an unknown one."""

    year: int | None
    documents: int


@dataclass(frozen=True)
class DatasetStatistics:
    """`pairs` are documents with at least one image, `labelled` those with facts or known none.

    `rows` begins with that of all facts; the labels follow, in the order they were asked for.
    """

    documents: int
    pairs: int
    labelled: int
    rows: tuple[FactRow, ...]
    facts_per_document: tuple[Bin, ...]
    types: tuple[TypeCount, ...]
    years: tuple[YearCount, ...]


def dataset_statistics(
    documents: Iterable[DocumentCounts], labels: Sequence[str] = ()
) -> DatasetStatistics:
    """Everything the statistics page shows, in one pass.

    A label of `labels` has a row even if it occurs nowhere; others that occur follow by name.
    Types come by number of documents, years in order with the unknown one last.
    """
    pairs = total = 0
    facts: Counter[str] = Counter()
    per_document: Counter[int] = Counter()
    types: Counter[str] = Counter()
    labelled_types: Counter[str] = Counter()
    facts_of_types: Counter[str] = Counter()
    years: Counter[int | None] = Counter()
    for document in documents:
        total += 1
        pairs += document.images > 0
        types[document.doc_type] += 1
        years[document.fiscal_year] += 1
        if document.facts is not None:
            count = sum(document.facts.values())
            facts.update(document.facts)
            per_document[count] += 1
            labelled_types[document.doc_type] += 1
            facts_of_types[document.doc_type] += count
    return DatasetStatistics(
        documents=total,
        pairs=pairs,
        labelled=per_document.total(),
        rows=_rows(facts, per_document.total(), labels),
        facts_per_document=bins(per_document),
        types=tuple(
            TypeCount(name, count, labelled_types[name], facts_of_types[name])
            for name, count in sorted(types.items(), key=lambda item: (-item[1], item[0]))
        ),
        years=tuple(
            YearCount(year, years[year])
            for year in sorted(years, key=lambda year: (year is None, year or 0))
        ),
    )


def bins(counts: Mapping[int, int]) -> tuple[Bin, ...]:
    """Documents by number of facts, in at most MAX_BINS bins as wide as 1, 2 or 5 times 10^n.

    The bins begin at 0 and have no gap; the last one has the greatest number. None without counts.

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


def fact_title(label: str) -> str:
    """What the table calls the facts of a label.

    >>> fact_title(""), fact_title("Date"), fact_title("MonetaryUnit")
    ('All financial facts', 'Temporal facts', 'MonetaryUnit')
    """
    if not label:
        return "All financial facts"
    kind = label_kind(label)
    if kind == "number":
        return "Numeric facts"
    return "Temporal facts" if kind == "date" else label


def _rows(facts: Counter[str], labelled: int, labels: Sequence[str]) -> tuple[FactRow, ...]:
    every = facts.total()
    names = list(dict.fromkeys([*labels, *sorted(facts)]))

    def row(label: str, total: int) -> FactRow:
        average = total / labelled if labelled else None
        return FactRow(label, total, average, total / every if every else None)

    return (row("", every), *(row(name, facts[name]) for name in names))


def _width(values: int) -> int:
    power = 1
    while True:
        for step in (1, 2, 5):
            if step * power * MAX_BINS >= values:
                return step * power
        power *= 10
