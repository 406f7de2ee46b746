"""A page of a dataset's documents, quickly however many there are.

Names are looked for first, which an index gives without the rows, and only the rows of one page are
read. A search goes through all names and companies, so it is done once: its first MOST_FOUND names
are taken, which is the count as well.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet

from portal.accounts.access import is_organiser
from portal.datasets.models import Dataset, Document, PageImage, ReleaseItem

from .document_filters import DocumentFilter, closed_items, filter_documents, hides_some
from .documents import DocumentRow, document_rows

PER_PAGE = 50
MOST_FOUND = 10_000


@dataclass(frozen=True)
class TableRow:
    """A document in the table; `facts` is None where unknown or not to be shown."""

    row: DocumentRow
    image: PageImage | None
    facts: int | None

    @property
    def document(self) -> Document:
        return self.row.document


@dataclass(frozen=True)
class Table:
    """One page: `page` of the paginator over names, and its rows.

    `is_cut`: a search found more than MOST_FOUND documents, and only the first can be paged to.
    `leaves_out_hidden`: hidden documents are not among them, for what is asked is hidden.
    """

    page: Page[str]
    rows: list[TableRow]
    is_cut: bool
    leaves_out_hidden: bool

    @property
    def count(self) -> int:
        return self.page.paginator.count


def filtered_table(
    user: Any, dataset: Dataset, wanted: DocumentFilter, *, sort: str = "name", page: str = "1"
) -> Table:
    """The number of queries does not depend on how many documents there are or are found."""
    names, is_cut = found_names(filter_documents(user, dataset, wanted, sort=sort), wanted)
    shown: Page[str] = Paginator(names, PER_PAGE).get_page(page)
    closed_sort = sort.removeprefix("-") in {"year", "size", "facts"}
    hides = not is_organiser(user) and hides_some(dataset)
    return Table(
        page=shown,
        rows=_rows(user, dataset, list(shown), hides=hides),
        is_cut=is_cut,
        leaves_out_hidden=hides and (wanted.asks_closed or closed_sort),
    )


def found_names(
    found: QuerySet[Document], wanted: DocumentFilter
) -> tuple[Sequence[str] | QuerySet[Document, str], bool]:
    """The names that are found, in order, and whether there are more than these."""
    names = found.values_list("name", flat=True)
    if not wanted.query:
        return names, False
    listed = list(names[: MOST_FOUND + 1])
    return listed[:MOST_FOUND], len(listed) > MOST_FOUND


def _rows(user: Any, dataset: Dataset, names: list[str], *, hides: bool) -> list[TableRow]:
    documents = dataset.documents.filter(name__in=names).defer("metadata", "held_reason")
    by_name = {document.name: document for document in documents}
    # One that was renamed or removed since the names were read is not there.
    listed = [by_name[name] for name in names if name in by_name]
    rows = document_rows(user, dataset, listed)
    first = _first_images(listed)
    closed = _in_closed_releases(listed) if hides else set()
    return [
        TableRow(
            row=row,
            image=first.get(row.document.pk),
            facts=row.document.fact_count
            if row.readable and row.document.pk not in closed
            else None,
        )
        for row in rows
    ]


def _first_images(documents: list[Document]) -> dict[int, PageImage]:
    by_pk = {document.pk: document for document in documents}
    found: dict[int, PageImage] = {}
    for image in PageImage.objects.filter(document__in=by_pk).order_by("document", "number"):
        image.document = by_pk[image.document_id]
        found.setdefault(image.document_id, image)
    return found


def _in_closed_releases(documents: list[Document]) -> set[int]:
    closed = closed_items(ReleaseItem.objects.filter(document__in=documents))
    return {pk for pk in closed.values_list("document", flat=True) if pk is not None}
