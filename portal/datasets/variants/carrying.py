"""Copies a release to a stress variant: the same gold for other images.

The gold of CC-OCR states the orientation of rotated images, because the benchmark compares them
with normal ones. Their ids end with it, so that the gold of both can be in one release. A variant
that keeps the normal images has both in its releases.
"""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from django.db import transaction

from portal.accounts.models import User
from portal.datasets.imports.layouts import CCOCR, oriented
from portal.datasets.models import Dataset, Document, PageImage, Release, ReleaseItem
from portal.datasets.releases.gold import ReleaseError
from portal.datasets.releases.publishing.manifest import gold_sha256
from portal.datasets.releases.services import freeze_rows


@transaction.atomic
def carry_release(*, release: Release, variant: Dataset, actor: User | None) -> Release:
    """Copy a release to a variant, with the items whose documents the variant has.

    Version, gold lines, splits, visibility, licence and citation are the same, and `gold_sha256`
    too if all items are copied and no gold states an orientation. The published hash differs,
    because it includes the images. Returns an existing copy. Raises ReleaseError.
    """
    base = release.dataset
    if variant.derived_from_id != base.pk:
        raise ReleaseError([f"{variant.slug} is not a variant of {base.slug}"])
    Dataset.objects.select_for_update().get(pk=variant.pk)
    if there := variant.releases.filter(version=release.version).first():
        return there
    captures = _captures(variant)
    copies: dict[str, list[Document]] = defaultdict(list)
    for each in variant.documents.only("name", "dataset").order_by("name"):
        copies[captures.get(each.pk, {}).get("original", each.name)].append(each)
    items = [
        (item, document)
        for item in release.items.select_related("document").order_by("position")
        for document in copies.get(_document_name(item), ())
    ]
    if not items:
        raise ReleaseError([f"{variant.slug} has none of the documents of {release}"])
    carried = Release(
        dataset=variant,
        version=release.version,
        notes=_notes(release, len({item.pk for item, _ in items}), variant),
        visibility=release.visibility,
        benchmark=release.benchmark,
        labels=release.labels,
        licence=release.licence,
        citation=release.citation,
        frozen_by=actor,
    )
    rows: list[ReleaseItem] = []
    for item, document in items:
        gold = gold_of_capture(item.gold, release.benchmark, captures.get(document.pk))
        is_same = gold == item.gold
        rows.append(
            ReleaseItem(
                position=len(rows),
                name=item.name if is_same else f"{item.name}@{gold['orientation']}",
                document=document,
                gold=gold,
                facts=item.facts,
                sha256=item.sha256 if is_same else gold_sha256(gold),
            )
        )
    pairs = zip(rows, items, strict=True)
    splits = {row.name: item.split for row, (item, _) in pairs if item.split}
    return freeze_rows(carried, rows, splits or None)


def gold_of_capture(
    gold: dict[str, Any], benchmark: str, capture: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return the gold of an image that was captured with these parameters."""
    degrees = (capture or {}).get("degrees")
    return gold if benchmark != CCOCR or degrees is None else oriented(gold, degrees)


def _document_name(item: ReleaseItem) -> str:
    """Return the name of the item's document, which may differ from the id of its gold."""
    return item.document.name if item.document else item.name


def _captures(variant: Dataset) -> dict[int, dict[str, Any]]:
    """Return the parameters of the first image of each document."""
    images = PageImage.objects.filter(document__dataset=variant, transform__isnull=False)
    found = images.order_by("document", "-number").values_list("document", "transform")
    return {document: transform for document, transform in found if transform}


def _notes(release: Release, items: int, variant: Dataset) -> str:
    """Return public notes: the number of items, and the kind of simulation."""
    count = f"all {items:,}" if items == release.item_count else f"{items:,} of the"
    return (
        f"Gold of {release.dataset.title} {release.version} ({count} items). The images are"
        f" simulated captures: {variant.simulation}."
    )
