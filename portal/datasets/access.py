"""Who may see which dataset, document and release.

A private dataset does not exist for anybody but organisers: 404, not 403. In a public one the
content of a document is closed while a release with hidden gold holds it, for a page's HTML is
the answer to be found; of a release in two parts that is the test part. Annotators read documents
in the workbench, at addresses of its own.
"""

from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404

from portal.accounts.access import is_organiser

from .models import (
    Batch,
    BatchDocument,
    Dataset,
    DatasetTask,
    Document,
    ImportRun,
    LicenceAcceptance,
    NearDuplicate,
    PageImage,
    Release,
    ReleaseItem,
    Selection,
)


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


def get_task(slug: str, pk: int) -> DatasetTask:
    """For organisers only; the caller has checked that."""
    tasks = DatasetTask.objects.select_related("dataset", "created_by")
    return get_object_or_404(tasks, dataset__slug=slug, pk=pk)


def get_batch(slug: str, number: int) -> Batch:
    """For organisers only; the caller has checked that."""
    batches = Batch.objects.select_related("dataset", "created_by")
    return get_object_or_404(batches, dataset__slug=slug, number=number)


def get_sampled(batch: Batch, name: str) -> BatchDocument:
    """A document that was drawn, with its record; 404 for any other."""
    drawn = batch.documents.filter(is_sampled=True).select_related("document__record")
    sampled = get_object_or_404(drawn, document__name=_named(name))
    sampled.batch = batch
    sampled.document.dataset = batch.dataset
    return sampled


def get_duplicate(slug: str, pk: int) -> NearDuplicate:
    """For organisers only; the caller has checked that."""
    pairs = NearDuplicate.objects.select_related("first__dataset", "second__dataset", "decided_by")
    return get_object_or_404(pairs, second__dataset__slug=slug, pk=pk)


def get_selection(slug: str, pk: int) -> Selection:
    """For organisers only; the caller has checked that."""
    selections = Selection.objects.select_related("dataset", "created_by")
    return get_object_or_404(selections, dataset__slug=slug, pk=pk)


def visible_releases(user: Any, dataset: Dataset) -> QuerySet[Release]:
    releases = dataset.releases.select_related("dataset")
    return releases if is_organiser(user) else releases.listed()


def get_release(user: Any, slug: str, version: str) -> Release:
    releases = visible_releases(user, get_dataset(user, slug))
    return get_object_or_404(releases, version=_named(version))


def may_see_all_gold(user: Any, release: Release) -> bool:
    """Gold, facts and hashes of all items, and the release's own hash."""
    return release.is_gold_public or is_organiser(user)


def may_see_split_gold(user: Any, release: Release, split: str) -> bool:
    """Gold, facts and hashes of the items of a split, "" for those in none."""
    return release.opens(split) or is_organiser(user)


def may_see_item_gold(user: Any, item: ReleaseItem) -> bool:
    return may_see_split_gold(user, item.release, item.split)


def seen_splits(user: Any, release: Release) -> frozenset[str] | None:
    """The splits whose gold the user may see; None for all there is, in splits or not."""
    if may_see_all_gold(user, release):
        return None
    return frozenset(split for split in ReleaseItem.Split.values if release.opens(split))


def may_see_some_gold(user: Any, release: Release) -> bool:
    """Whether there is gold for the user at all: the whole, or a part that is open."""
    seen = seen_splits(user, release)
    return seen is None or release.items.filter(split__in=seen).exists()


def get_downloadable_release(user: Any, slug: str, version: str) -> Release:
    release = get_release(user, slug, version)
    if not may_see_some_gold(user, release):
        raise Http404("the gold of this release is hidden")
    return release


def get_kit_release(user: Any, slug: str, version: str) -> Release:
    """A release with hidden gold, of which a starter kit can be made."""
    release = get_release(user, slug, version)
    if release.is_gold_public:
        raise Http404("the gold of this release is public: it has no starter kit")
    return release


def must_accept_licence(user: Any, release: Release) -> bool:
    """Whether the licence stands between the user and a download. Not for organisers."""
    if not release.licence or is_organiser(user):
        return False
    return not (
        user.is_authenticated
        and LicenceAcceptance.objects.filter(release=release, user=user).exists()
    )
