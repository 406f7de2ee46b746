"""Access to datasets, documents, releases and disputes.

Only organisers can see a private dataset; others get 404, not 403. In a public dataset, the content
of a document is hidden while a release with hidden gold contains it, because its HTML is the
answer.

Disputes of visible releases are public. If the gold of the item is hidden, only their raisers and
the users who decide can see them, because claim and decision could reveal the answer. An app whose
users decide disputes registers them with `register_deciders` when it starts.

Leads can export gold that is not released yet with their campaign (`annotation.exchange`, access in
`annotation.access`).
"""

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
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
    """Return the document without a check whether its content may be shown."""
    documents = get_dataset(user, slug).documents.select_related("dataset")
    return get_object_or_404(documents, name=_named(name))


def _named(text: str) -> str:
    """Check a name from a URL, because a database cannot search for all characters."""
    if not text.isprintable():
        raise Http404("Invalid name.")
    return text


def may_read(user: Any, document: Document) -> bool:
    """Whether the user may see HTML, text, source and hashes of a visible document."""
    return is_organiser(user) or not Document.objects.hidden().filter(pk=document.pk).exists()


def get_readable_document(user: Any, slug: str, name: str) -> Document:
    document = get_document(user, slug, name)
    if not may_read(user, document):
        raise Http404("The content of this document is hidden.")
    return document


def get_image(user: Any, slug: str, name: str, number: int) -> PageImage:
    """Return an image of a visible document. Images are public, also in a hidden test set."""
    return get_object_or_404(get_document(user, slug, name).images.all(), number=number)


def get_import(slug: str, pk: int) -> ImportRun:
    """For organisers only; the caller must check access."""
    return get_object_or_404(ImportRun.objects.select_related("dataset"), dataset__slug=slug, pk=pk)


def get_task(slug: str, pk: int) -> DatasetTask:
    """For organisers only; the caller must check access."""
    tasks = DatasetTask.objects.select_related("dataset", "created_by")
    return get_object_or_404(tasks, dataset__slug=slug, pk=pk)


def get_batch(slug: str, number: int) -> Batch:
    """For organisers only; the caller must check access."""
    batches = Batch.objects.select_related("dataset", "created_by")
    return get_object_or_404(batches, dataset__slug=slug, number=number)


def get_sampled(batch: Batch, name: str) -> BatchDocument:
    """Return a sampled document with its record. Raises Http404 for any other."""
    drawn = batch.documents.filter(is_sampled=True).select_related("document__record")
    sampled = get_object_or_404(drawn, document__name=_named(name))
    sampled.batch = batch
    sampled.document.dataset = batch.dataset
    return sampled


def get_duplicate(slug: str, pk: int) -> NearDuplicate:
    """For organisers only; the caller must check access."""
    pairs = NearDuplicate.objects.select_related("first__dataset", "second__dataset", "decided_by")
    return get_object_or_404(pairs, second__dataset__slug=slug, pk=pk)


def get_selection(slug: str, pk: int) -> Selection:
    """For organisers only; the caller must check access."""
    selections = Selection.objects.select_related("dataset", "created_by")
    return get_object_or_404(selections, dataset__slug=slug, pk=pk)


def visible_releases(user: Any, dataset: Dataset) -> QuerySet[Release]:
    releases = dataset.releases.select_related("dataset")
    return releases if is_organiser(user) else releases.listed()


def get_release(user: Any, slug: str, version: str) -> Release:
    releases = visible_releases(user, get_dataset(user, slug))
    return get_object_or_404(releases, version=_named(version))


def may_see_all_gold(user: Any, release: Release) -> bool:
    """Whether the user may see gold, facts and hashes of all items, and the release's hash."""
    return release.is_gold_public or is_organiser(user)


def may_see_split_gold(user: Any, release: Release, split: str) -> bool:
    """Whether the user may see gold, facts and hashes of a split, or "" for no split."""
    return release.opens(split) or is_organiser(user)


def may_see_item_gold(user: Any, item: ReleaseItem) -> bool:
    return may_see_split_gold(user, item.release, item.split)


# Splits whose gold may be shown; None for all gold, also of releases without splits.
GoldSplits: TypeAlias = frozenset[str] | None
ALL_GOLD: GoldSplits = None


def gold_splits_for(user: Any, release: Release) -> GoldSplits:
    """Return the splits whose gold the user may see; None for all items."""
    if may_see_all_gold(user, release):
        return ALL_GOLD
    return frozenset(split for split in ReleaseItem.Split.values if release.opens(split))


def may_see_some_gold(user: Any, release: Release) -> bool:
    """Whether the user may see gold of the release, or of a part of it."""
    splits = gold_splits_for(user, release)
    return splits is None or release.items.filter(split__in=splits).exists()


def get_downloadable_release(user: Any, slug: str, version: str) -> Release:
    release = get_release(user, slug, version)
    if not may_see_some_gold(user, release):
        raise Http404("The gold of this release is hidden.")
    return release


def get_kit_release(user: Any, slug: str, version: str) -> Release:
    """Return a release with hidden gold, which can have a starter kit."""
    release = get_release(user, slug, version)
    if release.is_gold_public:
        raise Http404("This release has public gold and no starter kit.")
    return release


def must_accept_licence(user: Any, release: Release) -> bool:
    """Whether the user must accept the licence to download; never for organisers."""
    if not release.licence or is_organiser(user):
        return False
    return not (
        user.is_authenticated
        and LicenceAcceptance.objects.filter(release=release, user=user).exists()
    )


class OrganisersChange(IsOrganiser):
    """Anyone may read visible objects, and organisers may change them."""

    def has_permission(self, request: Request, view: object) -> bool:
        return request.method in SAFE_METHODS or super().has_permission(request, view)


def actor_of(request: Request) -> User:
    """Return the user of a request behind a permission that requires an account."""
    assert isinstance(request.user, User)
    return request.user


@dataclass(frozen=True)
class Workplace:
    """A page on which gold can be changed: its title and path."""

    title: str
    url: str


class DeciderSource(Protocol):
    """An app with users who decide disputes."""

    def may_decide(self, user: Any, dataset: Dataset) -> bool:
        """Whether this logged-in user decides disputes of the dataset."""

    def worked_on(self, user: Any, document: Document) -> bool:
        """Whether this logged-in user made gold of the document."""

    def workplaces(self, user: Any, dataset: Dataset, document: Document | None) -> list[Workplace]:
        """Return the pages on which this user can change the gold of the document."""


_decider_sources: list[DeciderSource] = []


def register_deciders(source: DeciderSource) -> None:
    """Register a source, once from the AppConfig of each app."""
    _decider_sources.append(source)


def may_decide(user: Any, dataset: Dataset) -> bool:
    """Whether the user is an organiser, or an app lets them decide."""
    if not user.is_authenticated:
        return False
    return is_organiser(user) or any(
        source.may_decide(user, dataset) for source in _decider_sources
    )


OWN_DISPUTE = "You cannot decide your own dispute."
OWN_GOLD = "You annotated or adjudicated this document. Another lead or an organiser must decide."


def own_part(user: Any, dispute: Dispute) -> str:
    """Why the dispute is about the logged-in user's own work, or empty."""
    if dispute.raised_by_id == user.pk:
        return OWN_DISPUTE
    document = dispute.item.document
    if document and any(source.worked_on(user, document) for source in _decider_sources):
        return OWN_GOLD
    return ""


def workplaces(user: Any, dataset: Dataset, document: Document | None) -> list[Workplace]:
    return [
        place for source in _decider_sources for place in source.workplaces(user, dataset, document)
    ]


def get_release_item(user: Any, slug: str, version: str, name: str) -> ReleaseItem:
    """Return an item of a visible release without a check whether its gold may be shown."""
    release = get_release(user, slug, version)
    items = release.items.select_related("document")
    item = get_object_or_404(items, name=_named(name))
    item.release = release
    return item


def visible_disputes(user: Any, dataset: Dataset) -> QuerySet[Dispute]:
    """Return the disputes that the user may read, newest first, without loading gold."""
    disputes = Dispute.objects.filter(item__release__dataset=dataset)
    if not is_organiser(user):
        disputes = disputes.exclude(item__release__visibility=Release.Visibility.PRIVATE)
        if not may_decide(user, dataset):
            # An anonymous user has no key, and neither has a raiser who deleted the account.
            own = Q(raised_by=user.pk) if user.is_authenticated else Q(pk__in=())
            disputes = disputes.filter(_has_open_gold() | own)
    related = disputes.select_related("item__release", "raised_by", "decided_by", "settled_in")
    return related.defer("item__gold", "item__facts")


def get_dispute(user: Any, slug: str, pk: int) -> Dispute:
    dataset = get_dataset(user, slug)
    dispute = get_object_or_404(
        visible_disputes(user, dataset).select_related("item__document"), pk=pk
    )
    dispute.item.release.dataset = dataset
    return dispute


def _has_open_gold() -> Q:
    """The condition that everyone may see the gold of a dispute's item."""
    is_public = Q(item__release__visibility=Release.Visibility.PUBLIC)
    is_hidden = Q(item__release__visibility=Release.Visibility.GOLD_HIDDEN)
    return is_public | is_hidden & Q(item__split=ReleaseItem.Split.DEV)


def get_decidable(user: Any, slug: str, pk: int) -> Dispute:
    """Return a dispute that the user may decide. Raises PermissionDenied for any other."""
    dispute = get_dispute(user, slug, pk)
    if not may_decide(user, dispute.item.release.dataset):
        raise PermissionDenied(
            "Only organisers and leads of the dataset's campaigns can decide disputes."
        )
    if own := own_part(user, dispute):
        raise PermissionDenied(own)
    return dispute


def get_own_dispute(user: Any, slug: str, pk: int) -> Dispute:
    """Return a dispute that the user raised. Raises PermissionDenied for any other."""
    dispute = get_dispute(user, slug, pk)
    if dispute.raised_by_id != user.pk:
        raise PermissionDenied("Only the user who raised a dispute can withdraw it.")
    return dispute
