"""Carrying a release over into a stress variant: the same gold for other images."""

from django.db import transaction

from portal.accounts.models import User
from portal.datasets.models import Dataset, Release, ReleaseItem

from .releases import ReleaseError, freeze_rows


@transaction.atomic
def carry_release(*, release: Release, variant: Dataset, actor: User | None) -> Release:
    """Freezes the release's items whose documents the variant has, under the same version.

    Gold lines, splits, visibility, licence and citation stay; so does `gold_sha256` where all items
    are carried over. The published hash is another one, for it covers the images. A second time it
    gives the release there is. Raises ReleaseError.
    """
    base = release.dataset
    if variant.derived_from_id != base.pk:
        raise ReleaseError([f"{variant.slug} is no variant of {base.slug}"])
    Dataset.objects.select_for_update().get(pk=variant.pk)
    if there := variant.releases.filter(version=release.version).first():
        return there
    documents = {each.name: each for each in variant.documents.only("name", "dataset")}
    items = [item for item in release.items.order_by("position") if item.name in documents]
    if not items:
        raise ReleaseError([f"{variant.slug} has none of the documents of {release}"])
    carried = Release(
        dataset=variant,
        version=release.version,
        notes=_notes(release, len(items), variant),
        visibility=release.visibility,
        benchmark=release.benchmark,
        labels=release.labels,
        licence=release.licence,
        citation=release.citation,
        frozen_by=actor,
    )
    rows = [
        ReleaseItem(
            position=position,
            name=item.name,
            document=documents[item.name],
            gold=item.gold,
            facts=item.facts,
            sha256=item.sha256,
        )
        for position, item in enumerate(items)
    ]
    splits = {item.name: item.split for item in items if item.split}
    return freeze_rows(carried, rows, splits or None)


def _notes(release: Release, items: int, variant: Dataset) -> str:
    """What everybody may know: numbers of documents, and that no camera was there."""
    count = f"all {items:,}" if items == release.item_count else f"{items:,} of the"
    return (
        f"Gold of {release.dataset.title} {release.version}, carried over: {count} items. The"
        f" images are simulated captures: {variant.simulation}."
    )
