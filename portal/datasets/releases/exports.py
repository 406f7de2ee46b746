"""A release as a ZIP: streamed, and byte-identical every time.

gold/ID.html     canonical HTML with inline fact tags, where the benchmark is of pages
gold.jsonl       the gold lines of the benchmark in canonical JSON; an item's hash covers its line
facts.jsonl      {"id", "text_chars", "text_sha256", "facts": [{n, type, value, start, end}]}
items.jsonl      {"id", "document", "prompt", "images"} per item; in splits {…, "split"} too
meta.jsonl       {"id", "company", "source_url", …} per document with visible gold, as frozen
prompts.jsonl    the benchmark's prompts as pinned; not in releases of older schemes
items.parquet    ids, prompts, gold and facts in one table
images/ID.png    on request, named by the document
citation.bib, CITATION.cff
croissant.json   the Croissant description of these files
manifest.json    the release, its items' hashes, and the SHA-256 of every file before it

A release shows the state of its documents and dataset at the time it was frozen. Releases without
pinned data, from before that was introduced, show the current state.

`gold_splits` names the splits whose gold the reader may see; None means all gold. For the other
splits the archive holds only ids, prompts and images. Gold that is hidden from the public carries
the release's canary in every line and page; hashes of items leave it out.

This module turns database rows into the plain values that `publishing` writes.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Any
from zipfile import ZIP_STORED

from django.db.models import QuerySet

from portal.datasets.access import GoldSplits
from portal.datasets.imaging.pictures import bare_image
from portal.datasets.imaging.stored import StoredFile, check_stored, read_stored
from portal.datasets.imports.items import DESCRIBED
from portal.datasets.models import Document, Release, ReleaseItem
from portal.datasets.releases.publishing import covered, formats, kits, manifest, rows
from portal.datasets.releases.publishing.croissant import read_citation
from portal.facts import Fact, FactValue
from portal.files.archives import ZipWriter, streamed_zip

AT_ONCE = 100
_META_FIELDS = (*DESCRIBED, rows.LANGUAGE)
# The texts that a release pins of its own description.
ABOUT = ("dataset", "title", "description", "licence", "notes")
# The files that make up a release's content, apart from its images.
_CONTENT = frozenset(
    {formats.GOLD_LINES, formats.FACT_LINES, kits.ITEM_LINES, rows.META_LINES, kits.PROMPTS}
)


def archive_name(release: Release) -> str:
    return f"{release.dataset.slug}-{release.version}.zip"


@streamed_zip
def release_archive(
    writer: ZipWriter, release: Release, gold_splits: GoldSplits, *, images: bool = False
) -> Iterator[None]:
    """The archive's bytes in pieces. Memory is bounded: one item at a time."""

    def items() -> Iterator[rows.PublishedItem]:
        return published_items(release, gold_splits)

    for item in items() if release.has_pages else ():
        if item.gold:
            writer.add(f"gold/{item.name}.html", formats.gold_page(item))
        yield
    for name, pieces in (
        (formats.GOLD_LINES, formats.gold_lines(items())),
        (formats.FACT_LINES, formats.fact_lines(items())),
        (kits.ITEM_LINES, _item_lines(release, gold_splits, images=images)),
        (rows.META_LINES, _meta_lines(release, gold_splits)),
        (formats.PARQUET, formats.parquet_pieces(items(), gold=True)),
    ):
        yield from writer.adding(name, pieces)
    if (prompts := covered_prompts(release)) is not None:
        writer.add(kits.PROMPTS, kits.prompt_lines(prompts))
    added: set[str] = set()
    for bare in _bare_items(release, gold_splits) if images else ():
        for image in bare.images:
            # Two items can share a document. An image that was not restored has no file.
            if image.name in added or image.read is missing_image:
                continue
            added.add(image.name)
            writer.add(f"images/{image.name}", image.read(), method=ZIP_STORED)
            yield
    _add_descriptions(writer, release, gold_splits)


def published_release(
    release: Release, gold_splits: GoldSplits, *, page: str = ""
) -> rows.PublishedRelease:
    """The release as readers of `gold_splits` see it; `page` is its absolute URL."""
    about = release.about or release_about(release)
    return rows.PublishedRelease(
        **{key: about[key] for key in ABOUT},
        version=release.version,
        frozen_at=datetime.fromisoformat(about["frozen_at"]),
        must_accept=bool(release.licence),
        benchmark=release.benchmark,
        labels=tuple(release.labels),
        visibility=release.visibility,
        scheme=release.scheme,
        sha256=release.sha256 if gold_splits is None else "",
        item_count=release.item_count,
        fact_count=release.fact_count if gold_splits is None else None,
        citation=read_citation(release.citation),
        draw=rows.read_draw(release.draw),
        keywords=tuple(about["keywords"]),
        page=page,
        canary=about.get("canary", ""),
    )


def release_about(release: Release) -> dict[str, Any]:
    """The description of the release from its dataset's current state; pinned when frozen."""
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
    gold_splits: GoldSplits,
    *,
    names: Collection[str] | None = None,
) -> Iterator[rows.PublishedItem]:
    """The items in order, with their images and the gold of `gold_splits`.

    Hidden gold is never read from the database. `names` restricts the items; pass at most as many
    as one query can take.
    """
    items = _items(release)
    if names is not None:
        items = items.filter(name__in=names)
    if gold_splits is None:
        for item in items.iterator(chunk_size=AT_ONCE):
            yield published_item(item, canary_of(release, item.split))
        return
    without_gold = items.defer("gold", "facts", "sha256", "document__record__gold")
    rest = without_gold.iterator(chunk_size=AT_ONCE)
    while chunk := list(islice(rest, AT_ONCE)):
        yield from _with_gold(release, chunk, gold_splits)


def canary_of(release: Release, split: str) -> str:
    """The canary in gold lines of this split; empty where the gold is public, and for older
    schemes."""
    if release.scheme != manifest.MARKED or release.opens(split):
        return ""
    return str((release.about or {}).get("canary", ""))


def covered_prompts(release: Release) -> list[dict[str, str]] | None:
    """The benchmark's prompts that the release's hash covers; None for older schemes."""
    return (release.about or {}).get("prompts", []) if release.scheme == manifest.MARKED else None


def _with_gold(
    release: Release, items: list[ReleaseItem], gold_splits: frozenset[str]
) -> Iterator[rows.PublishedItem]:
    opened = [item.pk for item in items if item.split in gold_splits]
    columns = ("gold", "facts", "sha256")
    golds = ReleaseItem.objects.filter(pk__in=opened).values("pk", *columns) if opened else ()
    by_item = {row["pk"]: row for row in golds}
    for item in items:
        if row := by_item.get(item.pk):
            for column in columns:
                setattr(item, column, row[column])
            yield published_item(item, canary_of(release, item.split))
        else:
            yield rows.PublishedItem(
                item.name, item.split, _prompt(item), _item_images(item, bare=True)
            )


def published_item(item: ReleaseItem, canary: str = "") -> rows.PublishedItem:
    """An item with its gold. An item that is not pinned yet has no prompt and no images."""
    text = document_text(item.document) if item.pinned is None else item.pinned
    return rows.PublishedItem(
        name=item.name,
        split=item.split,
        prompt=_prompt(item),
        images=_item_images(item),
        gold=rows.ItemGold(
            line=item.gold,
            sha256=item.sha256,
            facts=tuple(_fact(fact) for fact in item.facts),
            text_chars=text["text_chars"],
            text_sha256=text["text_sha256"],
            meanings={
                fact["n"]: FactValue(*fact["meaning"]) for fact in item.facts if "meaning" in fact
            },
        ),
        canary=canary,
    )


def document_text(document: Document | None) -> dict[str, Any]:
    """Length and hash of the text that the facts' offsets count in; None without a document."""
    return {
        "text_chars": document.text_chars if document else None,
        "text_sha256": document.text_sha256 if document else None,
    }


def kit_items(release: Release) -> Iterator[kits.KitItem]:
    """The items of a starter kit: all items except those of the open split, without their gold.

    The gold is never read from the database.
    """
    items = _items(release).exclude(split=ReleaseItem.Split.DEV)
    for item in _kit_items(items, frozenset()):
        here = tuple(image for image in item.images if image.read is not missing_image)
        yield replace(item, images=here)


def asked_items(release: Release, names: Collection[str]) -> list[kits.KitItem]:
    """These items, in order, with what a model is asked: prompt and images, without gold.

    The gold is never read from the database.
    """
    return list(_kit_items(_items(release).filter(name__in=names), frozenset()))


def _bare_items(release: Release, gold_splits: GoldSplits) -> Iterator[kits.KitItem]:
    return _kit_items(_items(release), gold_splits)


def _kit_items(items: QuerySet[ReleaseItem], gold_splits: GoldSplits) -> Iterator[kits.KitItem]:
    for item in items.defer("gold", "facts", "sha256").iterator(chunk_size=AT_ONCE):
        is_hidden = gold_splits is not None and item.split not in gold_splits
        yield kits.KitItem(
            item.name,
            item.split,
            _prompt(item),
            _item_images(item, bare=is_hidden),
            document=_document_name(item),
        )


def _item_lines(release: Release, gold_splits: GoldSplits, *, images: bool) -> Iterator[bytes]:
    with_names = images or _is_covered(release, gold_splits)
    return (kits.item_line(item, images=with_names) for item in _bare_items(release, gold_splits))


def _is_covered(release: Release, gold_splits: GoldSplits) -> bool:
    """Whether the hash covers the archive: its lines are then the same with and without images."""
    return gold_splits is None and release.scheme != manifest.GOLD_ONLY


def _meta_lines(release: Release, gold_splits: GoldSplits) -> Iterator[bytes]:
    """One line per document with visible gold, in the order of the items."""
    items = release.items.select_related("document").defer("gold", "facts").order_by("position")
    if gold_splits is not None:
        items = items.filter(split__in=gold_splits)
    found = items.filter(document__isnull=False).iterator(chunk_size=AT_ONCE)
    return covered.unique_lines(
        item.pinned["meta"].encode() if item.pinned else document_meta(item.document)
        for item in found
    )


def document_meta(document: Document | None) -> bytes:
    """The document's current line of `meta.jsonl`; empty without a document."""
    if document is None:
        return b""
    fields = {name: getattr(document, name) for name in _META_FIELDS}
    return rows.meta_line(document.name, fields, document.metadata)


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
    """The prompt of a document that was loaded with its record; empty if there is none."""
    record = getattr(document, "record", None)
    return record.prompt if record else ""


def _fact(fact: dict[str, Any]) -> Fact:
    return Fact(fact["n"], fact["type"], fact["value"], fact["start"], fact["end"])


def _item_images(item: ReleaseItem, *, bare: bool = False) -> tuple[rows.ItemImage, ...]:
    """The images, named after the document because an item id may not be a valid file name.

    `bare` strips the metadata from the image files.
    """
    return tuple(
        rows.ItemImage(
            image["name"], _reader(image["path"], image["sha256"], bare=bare), image["sha256"]
        )
        for image in _pinned_images(item)
    )


def _pinned_images(item: ReleaseItem) -> list[dict[str, str]]:
    if item.pinned is not None:
        pinned: list[dict[str, str]] = item.pinned["images"]
        return pinned
    return document_images(item.document) if item.pk else []


def document_images(document: Document | None) -> list[dict[str, str]]:
    """The document's current images, in the form that a release pins."""
    if document is None:
        return []
    return [
        {
            "name": rows.image_name(document.name, image.number, image.suffix),
            "path": str(image.file.name),
            "sha256": image.sha256,
        }
        for image in document.images.all()
    ]


def check_images(release: Release, *, kit: bool = False) -> None:
    """Check the image files of a release, or of its starter kit, before a download begins.

    Raises StoredFileError if one is missing or was changed.
    """
    items = _items(release).defer("gold", "facts", "sha256")
    items = items.exclude(split=ReleaseItem.Split.DEV) if kit else items
    check_stored(
        StoredFile(image["path"], image["sha256"])
        for item in items.iterator(chunk_size=AT_ONCE)
        for image in _pinned_images(item)
        if image["path"]
    )


def missing_image() -> bytes:
    """The reader of an image that belongs to the release but is missing on this site."""
    raise FileNotFoundError("the release was restored from an archive without its images")


def _reader(path: str, sha256: str, *, bare: bool) -> Callable[[], bytes]:
    if not path:
        return missing_image

    def read() -> bytes:
        data = read_stored(path, sha256)
        return bare_image(data) if bare else data

    return read


def _add_descriptions(writer: ZipWriter, release: Release, gold_splits: GoldSplits) -> None:
    """Adds the citations, the Croissant file and, last, the manifest."""
    row = published_release(release, gold_splits)
    files = [manifest.FileEntry(**file) for file in writer.files]
    for name, make in covered.described_files(row, files).items():
        writer.add(name, make())
    hashes = release.items.order_by("position").values_list("name", "sha256", "split")
    entries = [
        manifest.ItemEntry(
            name, sha256 if gold_splits is None or split in gold_splits else "", split
        )
        for name, sha256, split in hashes
    ]
    content = _content(writer, release) if _is_covered(release, gold_splits) else ()
    writer.add(manifest.MANIFEST, manifest.write_manifest(row, entries, writer.files, content))


def _content(writer: ZipWriter, release: Release) -> list[manifest.ContentEntry]:
    """The content that the release's hash covers: the files written so far and all images."""
    written = [
        manifest.ContentEntry(file["path"], file["sha256"])
        for file in writer.files
        if file["path"] in _CONTENT
    ]
    items = release.items.defer("gold", "facts").order_by("position")
    pinned = (
        rows.PublishedItem(item.name, images=_item_images(item))
        for item in items.iterator(chunk_size=AT_ONCE)
    )
    return written + covered.image_entries(pinned)
