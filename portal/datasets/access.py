"""Who may see which dataset, document and release.

A private dataset does not exist for anybody but organisers: 404, not 403. In a public one the
content of a document is closed while a release with hidden gold holds it, for a page's HTML is
the answer to be found. Annotators read documents in the workbench, at addresses of its own.
"""

from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404

from portal.accounts.access import is_organiser

from .models import Dataset, Document, ImportRun, PageImage, Release


def visible_datasets(user: Any) -> QuerySet[Dataset]:
    return Dataset.objects.all() if is_organiser(user) else Dataset.objects.public()


def get_dataset(user: Any, slug: str) -> Dataset:
    return get_object_or_404(visible_datasets(user), slug=slug)


def get_document(user: Any, slug: str, name: str) -> Document:
    """The document's row; whether its content may be shown is another question."""
    documents = get_dataset(user, slug).documents.select_related("dataset")
    return get_object_or_404(documents, name=_named(name))


def _named(text: str) -> str:
    """A name out of an address, which can spell what no database can look for."""
    if not text.isprintable():
        raise Http404("not a name")
    return text


def may_read(user: Any, document: Document) -> bool:
    """Whether HTML, text, source and hashes of a visible document are open to the user."""
    return is_organiser(user) or not Document.objects.hidden().filter(pk=document.pk).exists()


def get_readable_document(user: Any, slug: str, name: str) -> Document:
    document = get_document(user, slug, name)
    if not may_read(user, document):
        raise Http404("the content of this document is hidden")
    return document


def get_image(user: Any, slug: str, name: str, number: int) -> PageImage:
    """Images are open wherever the document is: of a hidden test set they are the questions."""
    return get_object_or_404(get_document(user, slug, name).images.all(), number=number)


def get_import(slug: str, pk: int) -> ImportRun:
    """For organisers only; the caller has checked that."""
    return get_object_or_404(ImportRun.objects.select_related("dataset"), dataset__slug=slug, pk=pk)


def visible_releases(user: Any, dataset: Dataset) -> QuerySet[Release]:
    releases = dataset.releases.select_related("dataset")
    return releases if is_organiser(user) else releases.listed()


def get_release(user: Any, slug: str, version: str) -> Release:
    releases = visible_releases(user, get_dataset(user, slug))
    return get_object_or_404(releases, version=_named(version))


def may_see_gold(user: Any, release: Release) -> bool:
    """Gold, facts and hashes: open for a public release, else for organisers."""
    return release.is_gold_public or is_organiser(user)


def get_downloadable_release(user: Any, slug: str, version: str) -> Release:
    release = get_release(user, slug, version)
    if not may_see_gold(user, release):
        raise Http404("the gold of this release is hidden")
    return release
