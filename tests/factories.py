"""Factories for several apps. Those of one app are with its tests."""

import hashlib
from collections.abc import Mapping
from functools import cache
from itertools import count
from typing import Any

from portal.datasets.models import Dataset, Document, DocumentContent
from portal.facts import canonicalise

_numbers = count(1)
# Most tests use the same few pages.
_canonical = cache(canonicalise)


def empty_dataset(**fields: Any) -> Dataset:
    """Creates an empty dataset with a generated slug and title, unless given."""
    number = next(_numbers)
    return Dataset.objects.create(
        **{"slug": f"dataset-{number}", "title": f"Dataset {number}", **fields}
    )


def make_document(dataset: Dataset, name: str, html: str, *, uncleaned: str = "") -> Document:
    """Creates a document as an import does: canonical HTML and text with their hashes.

    `uncleaned` is appended unchanged to the HTML, as if cleaning had missed it.
    """
    (document,) = make_documents(dataset, {name: html}, uncleaned=uncleaned)
    return document


def make_documents(
    dataset: Dataset, pages: Mapping[str, str], *, uncleaned: str = ""
) -> list[Document]:
    """Creates documents from HTML by name, in two queries. See `make_document`."""
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


def make_picture(dataset: Dataset, name: str, **fields: Any) -> Document:
    """Creates a document without HTML, as an import of pictures does."""
    digest = hashlib.sha256(f"{dataset.pk} {name}".encode()).hexdigest()
    return Document.objects.create(
        dataset=dataset,
        name=name,
        kind=Document.Kind.PICTURE,
        source_sha256=digest,
        html_sha256=digest,
        text_sha256=digest,
        text_chars=0,
        **fields,
    )
