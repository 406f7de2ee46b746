"""What belongs to a release is pinned by it: its documents' images, prompts and metadata, and the
words that describe it. Its published hash covers all of that.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Prefetch
from django.utils import timezone

from portal.datasets.exports import (
    document_images,
    document_meta,
    document_text,
    published_item,
    published_release,
    related_prompt,
    release_about,
)
from portal.datasets.models import Document, PageImage, Release, ReleaseItem
from portal.datasets.publishing.covered import Content, content_entries
from portal.datasets.publishing.manifest import (
    GOLD_ONLY,
    WHOLE,
    ItemEntry,
    manifest_sha256,
    release_sha256,
)

from .release_rows import AT_ONCE


@dataclass(frozen=True)
class Restored:
    """What a release that is restored had pinned: its scheme, the words about it, and of each item
    by name what differs from its document here.
    """

    scheme: str = WHOLE
    about: Mapping[str, Any] | None = None
    pinned: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def pin_rows(rows: Sequence[ReleaseItem], restored: Restored | None = None) -> None:
    """Writes into the rows what their documents show now.

    Locks the documents, so that nothing is added to them before the release is stored.
    """
    pinned = restored.pinned if restored else {}
    for start in range(0, len(rows), AT_ONCE):
        part = rows[start : start + AT_ONCE]
        keys = [row.document_id for row in part if row.document_id is not None]
        list(Document.objects.select_for_update().filter(pk__in=keys).order_by("pk").values("pk"))
        images = Prefetch("images", PageImage.objects.order_by("number"))
        documents = (
            Document.objects.select_related("record")
            .prefetch_related(images)
            .defer("record__gold")
            .in_bulk(keys)
        )
        for row in part:
            document = documents.get(row.document_id) if row.document_id else None
            row.pinned = _pins(document) | dict(pinned.get(row.name, {}))


def _pins(document: Document | None) -> dict[str, Any]:
    return {
        "document": document.name if document else "",
        "prompt": related_prompt(document),
        "images": document_images(document),
        "meta": document_meta(document).decode(),
        **document_text(document),
    }


def seal(release: Release, rows: Sequence[ReleaseItem], restored: Restored | None = None) -> None:
    """Writes what describes the release and its hashes; the rows are pinned and in their splits."""
    release.scheme = restored.scheme if restored else WHOLE
    release.frozen_at = timezone.now()
    release.item_count = len(rows)
    release.fact_count = sum(len(row.facts) for row in rows)
    told = restored.about if restored else None
    release.about = release_about(release) | dict(told or {})
    release.gold_sha256 = release_sha256((row.name, row.sha256) for row in rows)
    release.sha256 = release.gold_sha256
    if release.scheme != GOLD_ONLY:
        release.sha256 = _whole_sha256(release, rows)


def _whole_sha256(release: Release, rows: Sequence[ReleaseItem]) -> str:
    def parts() -> Iterator[Content]:
        for row in rows:
            assert row.pinned is not None
            pinned = row.pinned
            yield Content(published_item(row), pinned["document"], pinned["meta"].encode())

    items = [ItemEntry(row.name, row.sha256, row.split) for row in rows]
    return manifest_sha256(published_release(release), items, content_entries(parts))
