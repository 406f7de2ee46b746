"""Who may see, raise and decide disputes.

That a dispute of a visible release exists is no secret. What it says is one where the gold of its
item is hidden: a claim would tell the answer. Its raiser and those who decide read it all the same.
"""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404

from portal.accounts.access import is_organiser

from . import deciders
from .access import get_dataset, get_release, may_see_item_gold
from .models import Dataset, Dispute, Release, ReleaseItem


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
    if not deciders.may_decide(user, dispute.item.release.dataset):
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
