"""Stores the pages of `bench.filings` as documents; runs in the Django of a site."""

from bench.filings import Filing
from portal.datasets.models import Dataset, Document, DocumentContent
from portal.facts import canonicalise


def add_document(dataset: Dataset, page: Filing) -> Document:
    """A document of the page, as an import makes it."""
    canonical = canonicalise(page.html)
    document = Document.objects.create(
        dataset=dataset,
        name=page.name,
        source_sha256=canonical.html_sha256,
        html_sha256=canonical.html_sha256,
        text_sha256=canonical.text_sha256,
        text_chars=len(canonical.text),
    )
    DocumentContent.objects.create(document=document, html=canonical.html, text=canonical.text)
    return document
