"""Objects for tests: what several apps need. Each app has its own beside its tests."""

from collections.abc import Mapping
from functools import cache
from itertools import count
from typing import Any

from portal.datasets.models import Dataset, Document, DocumentContent
from portal.facts import canonicalise

_numbers = count(1)
# Most tests are about the same few pages.
_canonical = cache(canonicalise)


def empty_dataset(**fields: Any) -> Dataset:
    """An empty dataset; what is not given is made up."""
    number = next(_numbers)
    return Dataset.objects.create(
        **{"slug": f"dataset-{number}", "title": f"Dataset {number}", **fields}
    )


def make_document(dataset: Dataset, name: str, html: str, *, uncleaned: str = "") -> Document:
    """A document as an import would store it: canonical HTML and text with their hashes.

    `uncleaned` is stored behind it as it is, as if cleaning had overlooked it.
    """
    (document,) = make_documents(dataset, {name: html}, uncleaned=uncleaned)
    return document


def make_documents(
    dataset: Dataset, pages: Mapping[str, str], *, uncleaned: str = ""
) -> list[Document]:
    """Documents of HTML by name, as `make_document` makes one, in two queries."""
    contents = [_canonical(html) for html in pages.values()]
    documents = Document.objects.bulk_create(
        Document(
            dataset=dataset,
            name=name,
            source_sha256=canonical.html_sha256,
            html_sha256=canonical.html_sha256,
            text_sha256=canonical.text_sha256,
            text_chars=len(canonical.text),
        )
        for name, canonical in zip(pages, contents, strict=True)
    )
    DocumentContent.objects.bulk_create(
        DocumentContent(document=document, html=canonical.html + uncleaned, text=canonical.text)
        for document, canonical in zip(documents, contents, strict=True)
    )
    return documents
