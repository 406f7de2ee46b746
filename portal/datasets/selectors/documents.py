"""The table of a dataset's documents and the page of one.

Of a document whose content is hidden, people other than organisers learn its name, type and
images; company, source and hashes would lead them to the answer.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, QuerySet

from portal.accounts.access import is_organiser
from portal.datasets.access import may_read, visible_releases
from portal.datasets.models import Dataset, Document, DocumentRecord, PageImage, Release

from .document_filters import DocumentFilter, filter_documents

PER_PAGE = 50


@dataclass(frozen=True)
class DocumentRow:
    """A document in a table. `readable`: whether more than name, type and images may be shown."""

    document: Document
    images: int
    readable: bool


@dataclass(frozen=True)
class DocumentTable:
    """One page of the table: `page` of the paginator, and its rows."""

    page: Page[Document]
    rows: list[DocumentRow]


@dataclass(frozen=True)
class DocumentPage:
    """One document; `details` are its readable facts as (name, value), empty when hidden.

    `prompt` is what a model is asked, which is no secret. `held_reason` says to organisers why it
    is held back, and is empty for others.
    """

    document: Document
    images: list[PageImage]
    releases: list[Release]
    readable: bool
    details: list[tuple[str, str]]
    prompt: str
    held_reason: str

    @property
    def is_picture(self) -> bool:
        return self.document.kind == Document.Kind.PICTURE


def find_documents(
    user: Any, dataset: Dataset, *, query: str = "", doc_type: str = ""
) -> QuerySet[Document]:
    """Documents by a part of their name or company, and by type, ordered by name."""
    return filter_documents(user, dataset, DocumentFilter(query=query, doc_type=doc_type))


def document_table(
    user: Any, dataset: Dataset, *, query: str = "", doc_type: str = "", page: str = "1"
) -> DocumentTable:
    found = find_documents(user, dataset, query=query, doc_type=doc_type).defer("metadata")
    shown = Paginator(found, PER_PAGE).get_page(page)
    return DocumentTable(shown, document_rows(user, dataset, shown))


def document_rows(user: Any, dataset: Dataset, documents: Iterable[Document]) -> list[DocumentRow]:
    """Rows for documents of one dataset: two queries, however many they are."""
    listed = list(documents)
    keys = [document.pk for document in listed]
    images = dict(
        PageImage.objects.filter(document__in=keys)
        .order_by()
        .values_list("document")
        .annotate(Count("id"))
    )
    hidden: set[int] = set()
    if not is_organiser(user):
        hidden = set(Document.objects.filter(pk__in=keys).hidden().values_list("pk", flat=True))
    for document in listed:
        document.dataset = dataset
    return [
        DocumentRow(document, images.get(document.pk, 0), document.pk not in hidden)
        for document in listed
    ]


def document_page(user: Any, document: Document) -> DocumentPage:
    readable = may_read(user, document)
    images = list(document.images.all())
    for image in images:
        image.document = document
    releases = visible_releases(user, document.dataset).filter(items__document=document)
    return DocumentPage(
        document=document,
        images=images,
        releases=list(releases),
        readable=readable,
        details=_details(document) if readable else [],
        prompt=document_prompt(document),
        held_reason=document.held_reason if is_organiser(user) else "",
    )


def document_prompt(document: Document) -> str:
    """What a model is asked about the document; empty where nothing is told."""
    records = DocumentRecord.objects.filter(document=document)
    return records.values_list("prompt", flat=True).first() or ""


def _details(document: Document) -> list[tuple[str, str]]:
    """Further metadata for reading, nested values flattened to `outer.inner`."""
    return [
        (name, str(value))
        for name, value in _flat(document.metadata, "")
        if value not in (None, "", [], {})
    ]


def _flat(value: dict[str, Any], prefix: str) -> Iterable[tuple[str, Any]]:
    for key, part in value.items():
        if isinstance(part, dict):
            yield from _flat(part, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", part
