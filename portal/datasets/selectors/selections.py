"""Selections of a dataset, their strata and documents. For organisers alone."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, QuerySet

from portal.datasets.curation.stratified import StratifiedSample, StratumSample
from portal.datasets.models import Dataset, Document, DocumentType, Selection

PER_PAGE = 50
# A table of more strata is none that anybody reads; it says how many there are.
STRATA_SHOWN = 200


@dataclass(frozen=True)
class StratumRow:
    """A stratum as people read it, how many documents it has and how many are drawn."""

    values: list[str]
    available: int
    drawn: int


@dataclass(frozen=True)
class StrataTable:
    """The strata in order, at most STRATA_SHOWN; the sums are of all `strata`."""

    rows: list[StratumRow]
    strata: int
    available: int
    drawn: int

    @property
    def left_out(self) -> int:
        return self.strata - len(self.rows)


@dataclass(frozen=True)
class SelectionPage:
    selection: Selection
    documents: int
    page: Page[Document]
    number: str
    filters: list[tuple[str, str]]


def strata_table(sample: StratifiedSample, fields: tuple[str, ...]) -> StrataTable:
    """What was drawn, to be read."""
    return StrataTable(
        rows=[_row(stratum, fields) for stratum in sample.strata[:STRATA_SHOWN]],
        strata=len(sample.strata),
        available=sum(stratum.available for stratum in sample.strata),
        drawn=sum(len(stratum.drawn) for stratum in sample.strata),
    )


def selection_rows(dataset: Dataset) -> QuerySet[Selection]:
    """Newest first, each with the number of its documents as `drawn`."""
    rows = dataset.selections.select_related("created_by").annotate(drawn=Count("documents"))
    return rows.order_by("-id")


def selection_page(selection: Selection, *, page: str = "1") -> SelectionPage:
    documents = selection.documents.order_by("name").defer("metadata")
    shown: Page[Document] = Paginator(documents, PER_PAGE).get_page(page)
    for document in shown:
        document.dataset = selection.dataset
    spec = selection.spec
    number = (
        f"{spec['size']:,} in proportion"
        if spec.get("size")
        else f"{spec['per_stratum']:,} of each"
    )
    return SelectionPage(
        selection=selection,
        documents=shown.paginator.count,
        page=shown,
        number=number,
        filters=[(name.replace("_", " "), str(value)) for name, value in _filters(spec)],
    )


def selection_lines(selection: Selection) -> Iterator[list[Any]]:
    """The rows of the CSV file, the heading first, the documents by name."""
    columns = ["name", "doc_type", "fiscal_year", "company", "source", "language"]
    yield columns
    rows = selection.documents.order_by("name").values_list(*columns)
    for row in rows.iterator(chunk_size=1_000):
        yield list(row)


def _filters(spec: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return list(spec.get("filters", {}).items())


def _row(stratum: StratumSample, fields: tuple[str, ...]) -> StratumRow:
    types: dict[str, str] = {value: str(label) for value, label in DocumentType.choices}
    values = [
        types.get(value, value) if name == "doc_type" else value or "unknown"
        for name, value in zip(fields, stratum.stratum, strict=True)
    ]
    return StratumRow(values, stratum.available, len(stratum.drawn))
