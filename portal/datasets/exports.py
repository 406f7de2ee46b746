"""A release as a ZIP: written while it is sent, and the same bytes every time.

gold/ID.html     canonical HTML with inline fact tags, where the benchmark is of pages
gold.jsonl       the gold lines as the benchmark has them, in canonical JSON; an item's hash is of
                 its line
facts.jsonl      {"id", "text_chars", "text_sha256", "facts": [{n, type, value, start, end}]}
items.parquet    all of that in one table
images/ID.png    on request
citation.bib, CITATION.cff
croissant.json   the data set in the terms of Croissant, for the files beside it
manifest.json    the release, its items' hashes, and the SHA-256 of every file before it

Here the database's rows become those that `publishing` writes.
"""

from collections.abc import Callable, Iterator
from typing import Any
from zipfile import ZIP_STORED

from django.db.models import QuerySet

from portal.common.zips import DRAIN_AT, ZipSink, ZipWriter

from .models import Document, PageImage, Release, ReleaseItem
from .publishing.citation import BIBTEX, CFF, bibtex, citation_cff, read_citation
from .publishing.croissant import CROISSANT, DistributedFile, ItemFile, croissant_bytes
from .publishing.jsonl import FACT_LINES, GOLD_LINES, fact_lines, gold_lines
from .publishing.manifest import MANIFEST, ItemEntry, write_manifest
from .publishing.parquet import PARQUET, parquet_pieces
from .publishing.rows import (
    Fact,
    ItemGold,
    ItemImage,
    PublishedItem,
    PublishedRelease,
    image_name,
)
from .publishing.starter_kit import KitItem

AT_ONCE = 100
# Of the archive's files those that Croissant tells of one by one.
_DISTRIBUTED = frozenset({GOLD_LINES, FACT_LINES, PARQUET})


def archive_name(release: Release) -> str:
    return f"{release.dataset.slug}-{release.version}.zip"


def release_archive(release: Release, *, images: bool = False) -> Iterator[bytes]:
    """The archive's bytes, in pieces. Bounded memory: one item at a time."""
    sink = ZipSink()
    writer = ZipWriter(sink)
    for item in published_items(release) if release.has_pages else ():
        if item.gold:
            writer.add(f"gold/{item.name}.html", item.gold.line["html"].encode())
        yield from sink.drain(DRAIN_AT)
    for name, pieces in (
        (GOLD_LINES, gold_lines(published_items(release))),
        (FACT_LINES, fact_lines(published_items(release))),
        (PARQUET, parquet_pieces(published_items(release), gold=True)),
    ):
        for _ in writer.adding(name, pieces):
            yield from sink.drain(DRAIN_AT)
    for image in _images(release) if images else ():
        writer.add(f"images/{image.name}", image.read(), method=ZIP_STORED)
        yield from sink.drain(DRAIN_AT)
    _add_descriptions(writer, release)
    writer.close()
    yield from sink.drain(0)


def published_release(release: Release, *, page: str = "") -> PublishedRelease:
    """The release's row, for those who may see its gold; `page` is its absolute address."""
    dataset = release.dataset
    return PublishedRelease(
        dataset=dataset.slug,
        title=dataset.title,
        version=release.version,
        frozen_at=release.frozen_at,
        description=dataset.description,
        licence=release.licence or dataset.licence,
        benchmark=release.benchmark,
        labels=tuple(release.labels),
        visibility=release.visibility,
        notes=release.notes,
        sha256=release.sha256,
        item_count=release.item_count,
        fact_count=release.fact_count,
        citation=read_citation(release.citation),
        keywords=(release.benchmark, *(("simulated captures",) if dataset.derivation else ())),
        page=page,
    )


def published_items(release: Release) -> Iterator[PublishedItem]:
    """The items with their gold and images, in their order. For those who may see the gold."""
    for item in _items(release).iterator(chunk_size=AT_ONCE):
        document = item.document
        yield PublishedItem(
            name=item.name,
            split=item.split,
            prompt=_prompt(document),
            images=_item_images(item),
            gold=ItemGold(
                line=item.gold,
                sha256=item.sha256,
                facts=tuple(_fact(fact) for fact in item.facts),
                text_chars=document.text_chars if document else None,
                text_sha256=document.text_sha256 if document else None,
            ),
        )


def kit_items(release: Release) -> Iterator[KitItem]:
    """The items of a starter kit: all, or of a release in splits those that are not open.

    Their gold does not even leave the database.
    """
    items = _items(release).exclude(split=ReleaseItem.Split.DEV).defer("gold", "facts", "sha256")
    for item in items.iterator(chunk_size=AT_ONCE):
        yield KitItem(item.name, item.split, _prompt(item.document), _item_images(item))


def _items(release: Release) -> QuerySet[ReleaseItem]:
    items = release.items.select_related("document__record").order_by("position")
    return items.prefetch_related("document__images").defer(
        "document__metadata", "document__record__gold"
    )


def _prompt(document: Document | None) -> str:
    record = getattr(document, "record", None)
    return record.prompt if record else ""


def _fact(fact: dict[str, Any]) -> Fact:
    return Fact(fact["n"], fact["type"], fact["value"], fact["start"], fact["end"])


def _item_images(item: ReleaseItem) -> tuple[ItemImage, ...]:
    images = item.document.images.all() if item.document else ()
    return tuple(
        ItemImage(image_name(item.name, image.number, image.suffix), _reader(image))
        for image in images
    )


def _reader(image: PageImage) -> Callable[[], bytes]:
    def read() -> bytes:
        with image.file.open("rb") as file:
            data: bytes = file.read()
        return data

    return read


def _images(release: Release) -> Iterator[ItemImage]:
    """Every page image, in the order of the items."""
    items = release.items.defer("gold", "facts").select_related("document")
    for item in items.prefetch_related("document__images").iterator(chunk_size=AT_ONCE):
        yield from _item_images(item)


def _add_descriptions(writer: ZipWriter, release: Release) -> None:
    """What tells of the files before: citations, Croissant, and last the manifest."""
    row = published_release(release)
    writer.add(BIBTEX, bibtex(row).encode())
    writer.add(CFF, citation_cff(row).encode())
    files = [
        DistributedFile(file["path"], file["path"], file["bytes"], file["sha256"])
        for file in writer.files
        if file["path"] in _DISTRIBUTED
    ]
    described = croissant_bytes(row, files, ItemFile(PARQUET, gold=True, images=False))
    writer.add(CROISSANT, described)
    hashes = release.items.order_by("position").values_list("name", "sha256", "split")
    entries = [ItemEntry(*entry) for entry in hashes]
    writer.add(MANIFEST, write_manifest(row, entries, writer.files))
