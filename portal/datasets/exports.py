"""A release as a ZIP: written while it is sent, and the same bytes every time.

gold/ID.html     canonical HTML with inline fact tags, where the benchmark is of pages
gold.jsonl       the gold lines as the benchmark has them, in canonical JSON; an item's hash is of
                 its line
facts.jsonl      {"id", "text_chars", "text_sha256", "facts": [{n, type, value, start, end}]}
items.jsonl      {"id", "document", "prompt", "images"} per item; in splits {…, "split"} too
meta.jsonl       {"id", "company", "source_url", …} per document whose gold is seen
items.parquet    ids, prompts, gold and facts in one table
images/ID.png    on request, named by the document
citation.bib, CITATION.cff
croissant.json   the data set in the terms of Croissant, for the files beside it
manifest.json    the release, its items' hashes, and the SHA-256 of every file before it

Of a release in splits, those who may see the gold of one part only get all of that for this part,
and of the other ids, prompts and images: `seen` is what they may see, None for everything.

Here the database's rows become those that `publishing` writes.
"""

from collections.abc import Callable, Collection, Iterator
from typing import Any
from zipfile import ZIP_STORED

from django.db.models import QuerySet

from portal.common.zips import DRAIN_AT, ZipSink, ZipWriter

from .models import Document, PageImage, Release, ReleaseItem
from .publishing.bare_images import bare_image
from .publishing.citation import BIBTEX, CFF, bibtex, citation_cff, read_citation
from .publishing.croissant import CROISSANT, DistributedFile, ItemFile, croissant_bytes
from .publishing.draws import read_draw
from .publishing.jsonl import FACT_LINES, GOLD_LINES, fact_lines, gold_lines
from .publishing.manifest import MANIFEST, ItemEntry, write_manifest
from .publishing.meta_lines import LANGUAGE, META_LINES, PublishedMeta, meta_line
from .publishing.parquet import PARQUET, parquet_pieces
from .publishing.rows import (
    Fact,
    ItemGold,
    ItemImage,
    PublishedItem,
    PublishedRelease,
    image_name,
)
from .publishing.starter_kit import ITEM_LINES, KitItem, item_line

AT_ONCE = 100
_META_FIELDS = (
    "doc_type", "company", "form_type", "fiscal_year", "source_url", "licence", LANGUAGE,
)  # fmt: skip
# Of the archive's files those that Croissant tells of one by one.
_DISTRIBUTED = frozenset({GOLD_LINES, FACT_LINES, PARQUET})


def archive_name(release: Release) -> str:
    return f"{release.dataset.slug}-{release.version}.zip"


def release_archive(
    release: Release, *, images: bool = False, seen: frozenset[str] | None = None
) -> Iterator[bytes]:
    """The archive's bytes, in pieces. Bounded memory: one item at a time."""
    sink = ZipSink()
    writer = ZipWriter(sink)

    def items() -> Iterator[PublishedItem]:
        return published_items(release, seen=seen)

    for item in items() if release.has_pages else ():
        if item.gold:
            writer.add(f"gold/{item.name}.html", item.gold.line["html"].encode())
        yield from sink.drain(DRAIN_AT)
    for name, pieces in (
        (GOLD_LINES, gold_lines(items())),
        (FACT_LINES, fact_lines(items())),
        (ITEM_LINES, (item_line(item, images=images) for item in _bare_items(release))),
        (META_LINES, map(meta_line, _published_meta(release, seen))),
        (PARQUET, parquet_pieces(items(), gold=True)),
    ):
        for _ in writer.adding(name, pieces):
            yield from sink.drain(DRAIN_AT)
    for bare in _bare_items(release, seen=seen) if images else ():
        for image in bare.images:
            writer.add(f"images/{image.name}", image.read(), method=ZIP_STORED)
            yield from sink.drain(DRAIN_AT)
    _add_descriptions(writer, release, seen)
    writer.close()
    yield from sink.drain(0)


def published_release(
    release: Release, *, page: str = "", seen: frozenset[str] | None = None
) -> PublishedRelease:
    """The release's row as it is told to those who may see `seen`; `page` is its absolute
    address.
    """
    dataset = release.dataset
    return PublishedRelease(
        dataset=dataset.slug,
        title=dataset.title,
        version=release.version,
        frozen_at=release.frozen_at,
        description=dataset.description,
        licence=release.licence or dataset.licence,
        must_accept=bool(release.licence),
        benchmark=release.benchmark,
        labels=tuple(release.labels),
        visibility=release.visibility,
        notes=release.notes,
        sha256=release.sha256 if seen is None else "",
        item_count=release.item_count,
        fact_count=release.fact_count if seen is None else None,
        citation=read_citation(release.citation),
        draw=read_draw(release.draw),
        keywords=(release.benchmark, *(("simulated captures",) if dataset.derivation else ())),
        page=page,
    )


def published_items(
    release: Release,
    *,
    seen: frozenset[str] | None = None,
    names: Collection[str] | None = None,
) -> Iterator[PublishedItem]:
    """The items with their images, in their order, and with the gold of the splits in `seen`.

    The gold of the others does not even leave the database. `names` are the items wanted, at most
    as many as one query takes.
    """
    items = _items(release)
    if names is not None:
        items = items.filter(name__in=names)
    if seen is None:
        for item in items.iterator(chunk_size=AT_ONCE):
            yield published_item(item)
        return
    without_gold = items.defer("gold", "facts", "sha256", "document__record__gold")
    chunk: list[ReleaseItem] = []
    for item in without_gold.iterator(chunk_size=AT_ONCE):
        chunk.append(item)
        if len(chunk) == AT_ONCE:
            yield from _with_seen_gold(chunk, seen)
            chunk = []
    yield from _with_seen_gold(chunk, seen)


def _with_seen_gold(items: list[ReleaseItem], seen: frozenset[str]) -> Iterator[PublishedItem]:
    opened = [item.pk for item in items if item.split in seen]
    columns = ("gold", "facts", "sha256")
    golds = ReleaseItem.objects.filter(pk__in=opened).values("pk", *columns) if opened else ()
    by_item = {row["pk"]: row for row in golds}
    for item in items:
        if row := by_item.get(item.pk):
            for column in columns:
                setattr(item, column, row[column])
            yield published_item(item)
        else:
            images = _item_images(item, bare=True)
            yield PublishedItem(item.name, item.split, _prompt(item.document), images)


def published_item(item: ReleaseItem) -> PublishedItem:
    """An item with its gold; one that is about to be frozen without prompt and images."""
    document = item.document
    return PublishedItem(
        name=item.name,
        split=item.split,
        prompt=_prompt(document) if item.pk else "",
        images=_item_images(item) if item.pk else (),
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
    items = _items(release).exclude(split=ReleaseItem.Split.DEV)
    yield from _kit_items(items, seen=frozenset())


def _bare_items(release: Release, *, seen: frozenset[str] | None = None) -> Iterator[KitItem]:
    return _kit_items(_items(release), seen=seen)


def _kit_items(items: QuerySet[ReleaseItem], *, seen: frozenset[str] | None) -> Iterator[KitItem]:
    for item in items.defer("gold", "facts", "sha256").iterator(chunk_size=AT_ONCE):
        is_hidden = seen is not None and item.split not in seen
        yield KitItem(
            item.name,
            item.split,
            _prompt(item.document),
            _item_images(item, bare=is_hidden),
            document=item.document.name if item.document else "",
        )


def _published_meta(release: Release, seen: frozenset[str] | None) -> Iterator[PublishedMeta]:
    """Of the documents whose gold is seen, each once, by name."""
    items = release.items.all() if seen is None else release.items.filter(split__in=seen)
    documents = Document.objects.filter(pk__in=items.order_by().values("document"))
    columns = ("name", *_META_FIELDS, "metadata")
    for name, *values, metadata in (
        documents.order_by("name").values_list(*columns).iterator(chunk_size=AT_ONCE)
    ):
        fields = dict(zip(_META_FIELDS, values, strict=True))
        yield PublishedMeta(name, fields, metadata)


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


def _item_images(item: ReleaseItem, *, bare: bool = False) -> tuple[ItemImage, ...]:
    """The images, called as the document is: an id may have what no file's name may. `bare`: with
    nothing in the files but the picture.
    """
    document = item.document
    if document is None:
        return ()
    return tuple(
        ItemImage(image_name(document.name, image.number, image.suffix), _reader(image, bare=bare))
        for image in document.images.all()
    )


def _reader(image: PageImage, *, bare: bool) -> Callable[[], bytes]:
    def read() -> bytes:
        with image.file.open("rb") as file:
            data: bytes = file.read()
        return bare_image(data) if bare else data

    return read


def _add_descriptions(writer: ZipWriter, release: Release, seen: frozenset[str] | None) -> None:
    """What tells of the files before: citations, Croissant, and last the manifest."""
    row = published_release(release, seen=seen)
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
    entries = [
        ItemEntry(name, sha256 if seen is None or split in seen else "", split)
        for name, sha256, split in hashes
    ]
    writer.add(MANIFEST, write_manifest(row, entries, writer.files))
