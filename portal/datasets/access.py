"""Who may see which dataset, document and release, and who may raise and decide disputes.

A private dataset does not exist for anyone but organisers: 404, not 403. In a public one the
content of a document is closed while a release with hidden gold holds it, because a page's HTML
is the answer to be found.

That a dispute of a visible release exists is no secret. What it says is secret where the gold of
its item is hidden, because a claim would give away the answer. Its raiser and those who decide
read it all the same. Datasets know of no campaigns: an app whose people answer for gold
registers them with `register_deciders` when it starts.

Gold that is not released yet has another door: leads export their campaign (`annotation.exchange`,
access in `annotation.access`).
"""

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from portal.accounts.access import IsOrganiser, is_organiser
from portal.accounts.models import User

from .models import (
    Batch,
    BatchDocument,
    Dataset,
    DatasetTask,
    Dispute,
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


# Splits whose gold may be shown; None for all gold, also of releases without splits.
GoldSplits: TypeAlias = frozenset[str] | None
ALL_GOLD: GoldSplits = None


def gold_splits_for(user: Any, release: Release) -> GoldSplits:
    """The splits whose gold the user may see."""
    if may_see_all_gold(user, release):
        return ALL_GOLD
    return frozenset(split for split in ReleaseItem.Split.values if release.opens(split))


def may_see_some_gold(user: Any, release: Release) -> bool:
    """Whether there is gold for the user at all: the whole, or a part that is open."""
    splits = gold_splits_for(user, release)
    return splits is None or release.items.filter(split__in=splits).exists()


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


class OrganisersChange(IsOrganiser):
    """Reading is open, as far as the objects are; changing is for organisers."""

    def has_permission(self, request: Request, view: object) -> bool:
        return request.method in SAFE_METHODS or super().has_permission(request, view)


def actor_of(request: Request) -> User:
    """Who does it, behind a permission that only people with an account pass."""
    assert isinstance(request.user, User)
    return request.user


@dataclass(frozen=True)
class Workplace:
    """Where gold is changed: the name of the place and the path of its page."""

    title: str
    url: str


class DeciderSource(Protocol):
    """An app with people who answer for the gold of datasets."""

    def may_decide(self, user: Any, dataset: Dataset) -> bool:
        """Whether this person, who is logged in, is one of them."""

    def workplaces(self, user: Any, dataset: Dataset, document: Document | None) -> list[Workplace]:
        """Where this person can change the gold of the document, or find out how."""


_decider_sources: list[DeciderSource] = []


def register_deciders(source: DeciderSource) -> None:
    """Called once by each app, from its AppConfig."""
    _decider_sources.append(source)


def may_decide(user: Any, dataset: Dataset) -> bool:
    """Organisers always; others where an app says so."""
    if not user.is_authenticated:
        return False
    return is_organiser(user) or any(
        source.may_decide(user, dataset) for source in _decider_sources
    )


def workplaces(user: Any, dataset: Dataset, document: Document | None) -> list[Workplace]:
    return [
        place for source in _decider_sources for place in source.workplaces(user, dataset, document)
    ]


def get_release_item(user: Any, slug: str, version: str, name: str) -> ReleaseItem:
    """An item of a release one may see; whether its gold may be shown is another question."""
    release = get_release(user, slug, version)
    if not name.isprintable():
        raise Http404("not a name")
    items = release.items.select_related("document")
    item = get_object_or_404(items, name=name)
    item.release = release
    return item


def visible_disputes(user: Any, dataset: Dataset) -> QuerySet[Dispute]:
    """Of the releases the user may see, newest first, without gold."""
    disputes = Dispute.objects.filter(item__release__dataset=dataset)
    if not is_organiser(user):
        disputes = disputes.exclude(item__release__visibility=Release.Visibility.PRIVATE)
    related = disputes.select_related("item__release", "raised_by", "decided_by", "settled_in")
    return related.defer("item__gold", "item__facts")


def get_dispute(user: Any, slug: str, pk: int) -> Dispute:
    dataset = get_dataset(user, slug)
    dispute = get_object_or_404(
        visible_disputes(user, dataset).select_related("item__document"), pk=pk
    )
    dispute.item.release.dataset = dataset
    return dispute


def may_read_dispute(user: Any, dispute: Dispute, *, decides: bool) -> bool:
    """Whether claim, reason and answer are open to the user. `decides`: what `may_decide` says."""
    own = user.is_authenticated and dispute.raised_by_id == user.pk
    return own or decides or may_see_item_gold(user, dispute.item)


def get_decidable(user: Any, slug: str, pk: int) -> Dispute:
    """A dispute that the user may decide; 403 for their own and for those who decide nothing."""
    dispute = get_dispute(user, slug, pk)
    if not may_decide(user, dispute.item.release.dataset):
        raise PermissionDenied(
            "Disputes are decided by the leads of the dataset's campaigns and by organisers."
        )
    if dispute.raised_by_id == user.pk:
        raise PermissionDenied("You raised this dispute: somebody else decides it.")
    return dispute


def get_own_dispute(user: Any, slug: str, pk: int) -> Dispute:
    """A dispute that the user raised; 403 for those of others."""
    dispute = get_dispute(user, slug, pk)
    if dispute.raised_by_id != user.pk:
        raise PermissionDenied("Only who raised a dispute withdraws it.")
    return dispute
