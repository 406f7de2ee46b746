"""Data for the pages of datasets, documents, images and tasks.

For a document with hidden content, only organisers see more than its name, type and images:
company, source and hashes would reveal the answer.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, Min, OuterRef, Prefetch, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.urls import reverse

from portal.accounts.access import is_organiser
from portal.datasets.access import may_read, visible_datasets, visible_releases
from portal.datasets.models import (
    Batch,
    Dataset,
    DatasetTask,
    Dispute,
    Document,
    DocumentRecord,
    DocumentType,
    ImportItem,
    ImportRun,
    NearDuplicate,
    PageImage,
    PiiFinding,
    Release,
    ReleaseItem,
    TextBoxes,
)
from portal.web.queries import count_by

from .content_rules import CONTENTS, Content, find_content

LATEST_IMPORTS = 5


@dataclass(frozen=True)
class TypeCount:
    value: str
    label: str
    count: int
    percent: float


def listed_datasets(user: Any) -> Any:
    """Return the visible datasets with `document_count` and visible releases, newest first."""
    documents = Document.objects.filter(dataset=OuterRef("pk")).order_by().values("dataset")
    counted = documents.annotate(count=Count("pk")).values("count")
    releases = Release.objects.order_by("-frozen_at", "-id")
    seen = releases if is_organiser(user) else releases.listed()
    return (
        visible_datasets(user)
        .select_related("derived_from")
        .annotate(document_count=Coalesce(Subquery(counted), 0))
        .prefetch_related(Prefetch("releases", queryset=seen))
    )


# Open work by the name of the page on which it is done: for one, and for several.
_OPEN_WORK = {
    "tasks": ("running job", "running jobs"),
    "disputes": ("open dispute", "open disputes"),
    "batches": ("batch to inspect", "batches to inspect"),
    "personal-data": ("finding of personal data", "findings of personal data"),
    "duplicates": ("pair of near-duplicates", "pairs of near-duplicates"),
}


def pending_work(dataset: Dataset) -> list[tuple[int, str, str]]:
    """Return the open work of a dataset as (number, words, URL), with one query."""
    findings = PiiFinding.objects.filter(decision=PiiFinding.Decision.OPEN)
    pairs = NearDuplicate.objects.filter(decision=NearDuplicate.Decision.OPEN)
    disputes = Dispute.objects.filter(state=Dispute.State.OPEN)
    numbers = Dataset.objects.filter(pk=dataset.pk).values_list(
        _number(DatasetTask.objects.unfinished(), "dataset"),
        _number(disputes, "item__release__dataset"),
        _number(Batch.objects.filter(state=Batch.State.OPEN), "dataset"),
        _number(findings, "document__dataset"),
        _number(pairs, "second__dataset"),
    )
    return [
        (number, several if number > 1 else one, reverse(f"datasets:{page}", args=[dataset.slug]))
        for number, (page, (one, several)) in zip(numbers.get(), _OPEN_WORK.items(), strict=True)
        if number
    ]


def _number(rows: QuerySet[Any], dataset: str) -> Subquery:
    """The number of rows; `dataset` is the path to their dataset."""
    matching = rows.filter(**{dataset: OuterRef("pk")}).order_by().values(dataset)
    return Subquery(matching.annotate(number=Count("pk")).values("number"))


def type_counts(dataset: Dataset) -> list[TypeCount]:
    """Count documents by type, in the fixed order of types."""
    counts = count_by(dataset.documents, "doc_type")
    total = sum(counts.values())
    return [
        TypeCount(value, str(label), counts[value], 100 * counts[value] / total)
        for value, label in DocumentType.choices
        if value in counts
    ]


def latest_imports(dataset: Dataset) -> QuerySet[ImportRun]:
    """Return the latest imports, each with its number of files by outcome (`imported`, …)."""
    counts = {
        outcome: Count("items", filter=Q(items__outcome=outcome))
        for outcome in ImportItem.Outcome.values
    }
    return dataset.imports.annotate(**counts).order_by("-pk")[:LATEST_IMPORTS]


@dataclass(frozen=True)
class DocumentPage:
    """A document. `details` is its metadata as (name, value), empty if hidden.

    `prompt` is the question to a model, which is public. `held_reason` is empty unless the user is
    an organiser.
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


def document_page(user: Any, document: Document) -> DocumentPage:
    readable = may_read(user, document)
    releases = visible_releases(user, document.dataset).filter(items__document=document)
    return DocumentPage(
        document=document,
        images=list(document.images.all()),
        releases=list(releases),
        readable=readable,
        details=_details(document) if readable else [],
        prompt=document_prompt(document),
        held_reason=document.held_reason if is_organiser(user) else "",
    )


def document_prompt(document: Document) -> str:
    """Return the question to a model about the document, or ""."""
    records = DocumentRecord.objects.filter(document=document)
    return records.values_list("prompt", flat=True).first() or ""


def _details(document: Document) -> list[tuple[str, str]]:
    """Return the metadata for display; nested values get names as `outer.inner`."""
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


CONTENT_LABELS: dict[Content, str] = {
    "numeric_table": "numeric table",
    "footnote": "footnote",
    "dated_reference": "date in the text",
}
# Longer pages are complete filings, and checking them takes too long.
MOST_CHARACTERS = 200_000


def page_content(document: Document) -> list[str] | None:
    """Return the labels of the page's content; None for a picture or a page that is too long."""
    if document.kind == Document.Kind.PICTURE or document.text_chars > MOST_CHARACTERS:
        return None
    contents = find_content(document.content.html)
    return [CONTENT_LABELS[content] for content in CONTENTS if content in contents]


PER_PAGE = 50
# Documents on the overview of a dataset.
FIRST_SHOWN = 10
# Pages whose images show less of their text are listed for a check.
LOW_SIMILARITY = 0.97


def suspect_documents(dataset: Dataset) -> QuerySet[Document]:
    """Return documents whose images show too little of their text, the worst first.

    `similarity` is the smallest share of the text in an image, from 0 to 1.
    """
    return (
        dataset.documents.filter(images__text_similarity__lt=LOW_SIMILARITY)
        .annotate(similarity=Min("images__text_similarity"))
        .select_related("dataset")
        .prefetch_related("images")
        .defer("metadata")
        .order_by("similarity", "pk")
    )


def image_counts(dataset: Dataset) -> dict[str, int]:
    """Count documents by their images; all counts except `pictures` are of pages."""
    own = PageImage.objects.filter(document=OuterRef("pk"))
    is_page = Q(kind=Document.Kind.PAGE)
    documents: QuerySet[Document] = dataset.documents.order_by().annotate(
        has_rendered=Exists(own.filter(is_rendered=True)),
        has_other=Exists(own.filter(is_rendered=False)),
        is_low=Exists(own.filter(text_similarity__lt=LOW_SIMILARITY)),
        is_released=Exists(ReleaseItem.objects.filter(document=OuterRef("pk"))),
    )
    counts: dict[str, int] = documents.aggregate(
        pages=Count("pk", filter=is_page),
        rendered=Count("pk", filter=is_page & Q(has_rendered=True)),
        imported=Count("pk", filter=is_page & Q(has_other=True)),
        without=Count("pk", filter=is_page & Q(has_rendered=False, has_other=False)),
        to_render=Count(
            "pk", filter=is_page & Q(has_rendered=False, has_other=False, is_released=False)
        ),
        low=Count("pk", filter=is_page & Q(is_low=True)),
        pictures=Count("pk", filter=~is_page),
    )
    return counts


def first_images(documents: list[Document]) -> dict[int, PageImage]:
    """Return the first image of each document by the document's key, with one query."""
    by_pk = {document.pk: document for document in documents}
    images: dict[int, PageImage] = {}
    for image in PageImage.objects.filter(document__in=by_pk).order_by("document", "-number"):
        image.document = by_pk[image.document_id]
        images[image.document_id] = image
    return images


def document_boxes(document: int) -> list[dict[str, Any]]:
    """Return {number, width, height, boxes} of a document's rendered images, with one query.

    Only for users who may read the document's text.
    """
    found = TextBoxes.objects.filter(image__document=document).order_by("image__number")
    rows = found.values_list("image__number", "image__width", "image__height", "boxes")
    return [
        {"number": number, "width": width, "height": height, "boxes": boxes}
        for number, width, height, boxes in rows
    ]


@dataclass(frozen=True)
class Fault:
    """A fault of a task in one document."""

    name: str
    code: str
    reason: str
    is_document: bool
    """Whether `name` is the name of a document."""


def task_faults(task: DatasetTask, faults: Iterable[dict[str, str]]) -> list[Fault]:
    """Return faults of the task's report, with at most one query."""
    listed = list(faults)
    documents = task.dataset.documents.filter(name__in={fault["name"] for fault in listed})
    known = set(documents.values_list("name", flat=True)) if listed else set()
    return [Fault(**fault, is_document=fault["name"] in known) for fault in listed]
