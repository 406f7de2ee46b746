"""Which documents have page images, and where image and text do not seem to belong together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet

from portal.datasets.models import Dataset, Document, PageImage, TextBoxes

PER_PAGE = 50
# A page whose images show less of its text than this is listed to be looked at.
LOW_SIMILARITY = 0.97


@dataclass(frozen=True)
class ImageCounts:
    """Documents of a dataset by the images they have; all but `pictures` count pages."""

    pages: int
    rendered: int
    imported: int
    without: int
    low: int
    pictures: int


@dataclass(frozen=True)
class SuspectRow:
    """A document whose images show little of its text; `similarity` is a share, 0 to 1."""

    document: Document
    image: PageImage
    similarity: float

    @property
    def percent(self) -> float:
        return 100 * self.similarity


@dataclass(frozen=True)
class ImagesPage:
    """What organisers see of a dataset's images; `running` is the task that renders now."""

    dataset: Dataset
    counts: ImageCounts
    page: Page[Any]
    rows: list[SuspectRow]
    running: Any


def images_page(dataset: Dataset, *, page: str = "1") -> ImagesPage:
    """The same number of queries whatever the dataset holds."""
    suspects = (
        PageImage.objects.filter(document__dataset=dataset, text_similarity__lt=LOW_SIMILARITY)
        .order_by()
        .values("document")
        .annotate(similarity=Min("text_similarity"))
        .order_by("similarity", "document")
    )
    shown = Paginator(suspects, PER_PAGE).get_page(page)
    return ImagesPage(
        dataset=dataset,
        counts=_counts(dataset),
        page=shown,
        rows=_rows(dataset, list(shown)),
        running=dataset.tasks.unfinished().filter(kind="render").defer("report").first(),
    )


def first_images(documents: list[Document]) -> dict[int, PageImage]:
    """The first image of each document that has one, by the document's key: one query."""
    images = PageImage.objects.filter(document__in=documents).order_by("document", "-number")
    return {image.document_id: image for image in images}


def _counts(dataset: Dataset) -> ImageCounts:
    own = PageImage.objects.filter(document=OuterRef("pk"))
    is_page = Q(kind=Document.Kind.PAGE)
    documents: QuerySet[Document] = dataset.documents.order_by().annotate(
        has_rendered=Exists(own.filter(is_rendered=True)),
        has_other=Exists(own.filter(is_rendered=False)),
        is_low=Exists(own.filter(text_similarity__lt=LOW_SIMILARITY)),
    )
    counted = documents.aggregate(
        pages=Count("pk", filter=is_page),
        rendered=Count("pk", filter=is_page & Q(has_rendered=True)),
        imported=Count("pk", filter=is_page & Q(has_other=True)),
        without=Count("pk", filter=is_page & Q(has_rendered=False, has_other=False)),
        low=Count("pk", filter=is_page & Q(is_low=True)),
        pictures=Count("pk", filter=~is_page),
    )
    return ImageCounts(**counted)


def _rows(dataset: Dataset, found: Sequence[Mapping[str, Any]]) -> list[SuspectRow]:
    keys = [row["document"] for row in found]
    documents = dataset.documents.defer("metadata").in_bulk(keys)
    images = first_images(list(documents.values()))
    for document in documents.values():
        document.dataset = dataset
    return [
        SuspectRow(documents[row["document"]], images[row["document"]], row["similarity"])
        for row in found
    ]


def document_boxes(document: int) -> list[dict[str, Any]]:
    """Where the text lies on a document's rendered images: {number, width, height, boxes}.

    One query. Whoever may read the document's text may know this, and nobody else.
    """
    found = TextBoxes.objects.filter(image__document=document).order_by("image__number")
    rows = found.values_list("image__number", "image__width", "image__height", "boxes")
    return [
        {"number": number, "width": width, "height": height, "boxes": boxes}
        for number, width, height, boxes in rows
    ]
