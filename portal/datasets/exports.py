"""A release as a ZIP: written while it is sent, and the same bytes every time.

gold/ID.html     canonical HTML with inline fact tags, where the benchmark is of pages
gold.jsonl       the gold lines as the benchmark has them, in canonical JSON; an item's hash is of
                 its line
facts.jsonl      {"id", "text_chars", "text_sha256", "facts": [{n, type, value, start, end}]}
images/ID.png    on request
manifest.json    the release, its items' hashes, and the SHA-256 of every file before it
"""

import json
from collections.abc import Iterator
from typing import Any
from zipfile import ZIP_STORED

from portal.common.zips import DRAIN_AT, ZipSink, ZipWriter

from .models import Release, ReleaseItem
from .services.releases import canonical_json

AT_ONCE = 100


def archive_name(release: Release) -> str:
    return f"{release.dataset.slug}-{release.version}.zip"


def release_archive(release: Release, *, images: bool = False) -> Iterator[bytes]:
    """The archive's bytes, in pieces. Bounded memory: one item at a time."""
    sink = ZipSink()
    writer = ZipWriter(sink)
    for item in _items(release) if release.has_pages else ():
        writer.add(f"gold/{item.name}.html", item.gold["html"].encode())
        yield from sink.drain(DRAIN_AT)
    for name, lines in (("gold.jsonl", _gold_lines), ("facts.jsonl", _fact_lines)):
        for _ in writer.adding(name, lines(release)):
            yield from sink.drain(DRAIN_AT)
    for name, image in _images(release) if images else ():
        writer.add(name, image, method=ZIP_STORED)
        yield from sink.drain(DRAIN_AT)
    writer.add("manifest.json", _manifest(release, writer.files))
    writer.close()
    yield from sink.drain(0)


def facts_line(item: ReleaseItem) -> dict[str, Any]:
    """An item's facts with their offsets, and the text these count in."""
    document = item.document
    return {
        "id": item.name,
        "text_chars": document.text_chars if document else None,
        "text_sha256": document.text_sha256 if document else None,
        "facts": item.facts,
    }


def _items(release: Release) -> Iterator[ReleaseItem]:
    return release.items.select_related("document").iterator(chunk_size=AT_ONCE)


def _gold_lines(release: Release) -> Iterator[bytes]:
    for item in _items(release):
        yield (canonical_json(item.gold) + "\n").encode()


def _fact_lines(release: Release) -> Iterator[bytes]:
    for item in _items(release):
        yield (json.dumps(facts_line(item), ensure_ascii=False) + "\n").encode()


def _images(release: Release) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of every page image, in the order of the items."""
    items = release.items.defer("gold", "facts").select_related("document")
    for item in items.prefetch_related("document__images").iterator(chunk_size=AT_ONCE):
        for image in item.document.images.all() if item.document else ():
            number = "" if image.number == 1 else f"-{image.number}"
            with image.file.open("rb") as file:
                yield f"images/{item.name}{number}{image.suffix}", file.read()


def _manifest(release: Release, files: list[dict[str, Any]]) -> bytes:
    content = {
        "dataset": release.dataset.slug,
        "title": release.dataset.title,
        "licence": release.dataset.licence,
        "version": release.version,
        "benchmark": release.benchmark,
        "labels": release.labels,
        "visibility": release.visibility,
        "notes": release.notes,
        "frozen_at": release.frozen_at.isoformat(),
        "sha256": release.sha256,
        "item_count": release.item_count,
        "fact_count": release.fact_count,
        "items": list(release.items.values("name", "sha256").order_by("position")),
        "files": files,
    }
    return (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode()
