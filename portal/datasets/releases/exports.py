"""A release as a ZIP: written while it is sent, and the same bytes every time.

gold/ID.html     canonical HTML with inline fact tags, where the benchmark is of pages
gold.jsonl       the gold lines as the benchmark has them, in canonical JSON; an item's hash is of
                 its line
facts.jsonl      {"id", "text_chars", "text_sha256", "facts": [{n, type, value, start, end}]}
items.jsonl      {"id", "document", "prompt", "images"} per item; in splits {…, "split"} too
meta.jsonl       {"id", "company", "source_url", …} per document whose gold is seen, as frozen
items.parquet    ids, prompts, gold and facts in one table
images/ID.png    on request, named by the document
citation.bib, CITATION.cff
croissant.json   the data set in the terms of Croissant, for the files beside it
manifest.json    the release, its items' hashes, and the SHA-256 of every file before it

A release shows what it pinned when it was frozen, whatever became of its documents and of the
dataset's title. Releases from before that show documents and dataset as they are now.

Of a release in splits, those who may see the gold of one part only get all of that for this part,
and of the other ids, prompts and images: `seen` is what they may see, None for everything.

Here the database's rows become those that `publishing` writes.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any
from zipfile import ZIP_STORED

from django.core.files.storage import default_storage
from django.db.models import QuerySet

from portal.datasets.imaging.pictures import bare_image
from portal.datasets.models import Document, Release, ReleaseItem
from portal.datasets.releases.publishing.covered import described_files, image_entries, unique_lines
from portal.datasets.releases.publishing.croissant import read_citation
from portal.datasets.releases.publishing.formats import (
    FACT_LINES,
    GOLD_LINES,
    ITEM_LINES,
    PARQUET,
    KitItem,
    fact_lines,
    gold_lines,
    item_line,
    parquet_pieces,
)
from portal.datasets.releases.publishing.manifest import (
    GOLD_ONLY,
    MANIFEST,
    ContentEntry,
    FileEntry,
    ItemEntry,
    write_manifest,
)
from portal.datasets.releases.publishing.rows import (
    LANGUAGE,
    META_LINES,
    Fact,
    ItemGold,
    ItemImage,
    PublishedItem,
    PublishedMeta,
    PublishedRelease,
    image_name,
    meta_line,
    read_draw,
)
from portal.files.archives import DRAIN_AT, ZipSink, ZipWriter

AT_ONCE = 100
_META_FIELDS = (
    "doc_type", "company", "form_type", "fiscal_year", "source_url", "licence", LANGUAGE,
)  # fmt: skip
# Of an archive's files those that a release consists of, but for its images.
_CONTENT = frozenset({GOLD_LINES, FACT_LINES, ITEM_LINES, META_LINES})


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
        (ITEM_LINES, _item_lines(release, images=images or _is_covered(release, seen))),
        (META_LINES, _meta_lines(release, seen)),
        (PARQUET, parquet_pieces(items(), gold=True)),
    ):
        for _ in writer.adding(name, pieces):
            yield from sink.drain(DRAIN_AT)
    added: set[str] = set()
    for bare in _bare_items(release, seen=seen) if images else ():
        for image in bare.images:
            # Two items may be of one document; an image that did not come back has no file.
            if image.name in added or image.read is missing_image:
                continue
            added.add(image.name)
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
    about = release.about or release_about(release)
    return PublishedRelease(
        **{key: about[key] for key in ("dataset", "title", "description", "licence", "notes")},
        version=release.version,
        frozen_at=datetime.fromisoformat(about["frozen_at"]),
        must_accept=bool(release.licence),
        benchmark=release.benchmark,
        labels=tuple(release.labels),
        visibility=release.visibility,
        scheme=release.scheme,
        sha256=release.sha256 if seen is None else "",
        item_count=release.item_count,
        fact_count=release.fact_count if seen is None else None,
        citation=read_citation(release.citation),
        draw=read_draw(release.draw),
        keywords=tuple(about["keywords"]),
        page=page,
    )


def release_about(release: Release) -> dict[str, Any]:
    """What describes the release, as its dataset is now; pinned when it is frozen."""
    dataset = release.dataset
    simulated = ["simulated captures"] if dataset.derivation else []
    return {
        "dataset": dataset.slug,
        "title": dataset.title,
        "description": dataset.description,
        "licence": release.licence or dataset.licence,
        "keywords": [release.benchmark, *simulated],
        "notes": release.notes,
        "frozen_at": release.frozen_at.isoformat(),
    }


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
            yield PublishedItem(item.name, item.split, _prompt(item), _item_images(item, bare=True))


def published_item(item: ReleaseItem) -> PublishedItem:
    """An item with its gold; one that is not pinned yet without prompt and images."""
    text = document_text(item.document) if item.pinned is None else item.pinned
    return PublishedItem(
        name=item.name,
        split=item.split,
        prompt=_prompt(item),
        images=_item_images(item),
        gold=ItemGold(
            line=item.gold,
            sha256=item.sha256,
            facts=tuple(_fact(fact) for fact in item.facts),
            text_chars=text["text_chars"],
            text_sha256=text["text_sha256"],
        ),
    )


def document_text(document: Document | None) -> dict[str, Any]:
    """Of the text in which the facts' offsets count, its length and hash; None for none."""
    return {
        "text_chars": document.text_chars if document else None,
        "text_sha256": document.text_sha256 if document else None,
    }


def kit_items(release: Release) -> Iterator[KitItem]:
    """The items of a starter kit: all, or of a release in splits those that are not open.

    Their gold does not even leave the database.
    """
    items = _items(release).exclude(split=ReleaseItem.Split.DEV)
    for item in _kit_items(items, seen=frozenset()):
        here = tuple(image for image in item.images if image.read is not missing_image)
        yield replace(item, images=here)


def _bare_items(release: Release, *, seen: frozenset[str] | None = None) -> Iterator[KitItem]:
    return _kit_items(_items(release), seen=seen)


def _kit_items(items: QuerySet[ReleaseItem], *, seen: frozenset[str] | None) -> Iterator[KitItem]:
    for item in items.defer("gold", "facts", "sha256").iterator(chunk_size=AT_ONCE):
        is_hidden = seen is not None and item.split not in seen
        yield KitItem(
            item.name,
            item.split,
            _prompt(item),
            _item_images(item, bare=is_hidden),
            document=_document_name(item),
        )


def _item_lines(release: Release, *, images: bool) -> Iterator[bytes]:
    return (item_line(item, images=images) for item in _bare_items(release))


def _is_covered(release: Release, seen: frozenset[str] | None) -> bool:
    """Whether a hash covers the archive, so that its lines are the same with images and without."""
    return seen is None and release.scheme != GOLD_ONLY


def _meta_lines(release: Release, seen: frozenset[str] | None) -> Iterator[bytes]:
    """Of the documents whose gold is seen, each once, in the order of the items."""
    items = release.items.select_related("document").defer("gold", "facts").order_by("position")
    if seen is not None:
        items = items.filter(split__in=seen)
    found = items.filter(document__isnull=False).iterator(chunk_size=AT_ONCE)
    return unique_lines(
        item.pinned["meta"].encode() if item.pinned else document_meta(item.document)
        for item in found
    )


def document_meta(document: Document | None) -> bytes:
    """The document's line of `meta.jsonl` as it is now; empty for none."""
    if document is None:
        return b""
    fields = {name: getattr(document, name) for name in _META_FIELDS}
    return meta_line(PublishedMeta(document.name, fields, document.metadata))


def _items(release: Release) -> QuerySet[ReleaseItem]:
    items = release.items.select_related("document__record").order_by("position")
    return items.prefetch_related("document__images").defer(
        "document__metadata", "document__record__gold"
    )


def _document_name(item: ReleaseItem) -> str:
    if item.pinned is not None:
        return str(item.pinned["document"])
    return item.document.name if item.document else ""


def _prompt(item: ReleaseItem) -> str:
    if item.pinned is not None:
        return str(item.pinned["prompt"])
    return related_prompt(item.document) if item.pk else ""


def related_prompt(document: Document | None) -> str:
    """The prompt of a document that was read with its record; empty for none."""
    record = getattr(document, "record", None)
    return record.prompt if record else ""


def _fact(fact: dict[str, Any]) -> Fact:
    return Fact(fact["n"], fact["type"], fact["value"], fact["start"], fact["end"])


def _item_images(item: ReleaseItem, *, bare: bool = False) -> tuple[ItemImage, ...]:
    """The images, called as the document is: an id may have what no file's name may. `bare`: with
    nothing in the files but the picture.
    """
    if item.pinned is not None:
        pinned = item.pinned["images"]
    else:
        pinned = document_images(item.document) if item.pk else []
    return tuple(
        ItemImage(image["name"], _reader(image["path"], bare=bare), image["sha256"])
        for image in pinned
    )


def document_images(document: Document | None) -> list[dict[str, str]]:
    """The document's images as they are now, as a release pins them."""
    if document is None:
        return []
    return [
        {
            "name": image_name(document.name, image.number, image.suffix),
            "path": str(image.file.name),
            "sha256": image.sha256,
        }
        for image in document.images.all()
    ]


def missing_image() -> bytes:
    """In place of a reader, for an image that the release has and this site has not."""
    raise FileNotFoundError("the release was restored from an archive without its images")


def _reader(path: str, *, bare: bool) -> Callable[[], bytes]:
    if not path:
        return missing_image

    def read() -> bytes:
        with default_storage.open(path, "rb") as file:
            data: bytes = file.read()
        return bare_image(data) if bare else data

    return read


def _add_descriptions(writer: ZipWriter, release: Release, seen: frozenset[str] | None) -> None:
    """What describes the files before: citations, Croissant, and last the manifest."""
    row = published_release(release, seen=seen)
    files = [FileEntry(**file) for file in writer.files]
    for name, make in described_files(row, files).items():
        writer.add(name, make())
    hashes = release.items.order_by("position").values_list("name", "sha256", "split")
    entries = [
        ItemEntry(name, sha256 if seen is None or split in seen else "", split)
        for name, sha256, split in hashes
    ]
    content = _content(writer, release) if _is_covered(release, seen) else ()
    writer.add(MANIFEST, write_manifest(row, entries, writer.files, content))


def _content(writer: ZipWriter, release: Release) -> list[ContentEntry]:
    """What the release's hash covers: the files that were written, and all images."""
    written = [
        ContentEntry(file["path"], file["sha256"])
        for file in writer.files
        if file["path"] in _CONTENT
    ]
    items = release.items.defer("gold", "facts").order_by("position")
    pinned = (
        PublishedItem(item.name, images=_item_images(item))
        for item in items.iterator(chunk_size=AT_ONCE)
    )
    return written + image_entries(pinned)
