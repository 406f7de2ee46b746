"""Objects for tests: what several apps need. Each app has its own beside its tests."""

from itertools import count
from typing import Any

from portal.datasets.models import Dataset, Document, DocumentContent
from portal.facts import canonicalise

_numbers = count(1)


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
    canonical = canonicalise(html)
    document = Document.objects.create(
        dataset=dataset,
        name=name,
        source_sha256=canonical.html_sha256,
        html_sha256=canonical.html_sha256,
        text_sha256=canonical.text_sha256,
        text_chars=len(canonical.text),
    )
    DocumentContent.objects.create(
        document=document, html=canonical.html + uncleaned, text=canonical.text
    )
    return document
