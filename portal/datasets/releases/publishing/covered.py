"""The files of an archive that the hash of a release covers, and the files derived from them.

The hash covers the manifest and thereby the files listed there as the release's content. All other
files of an archive must equal what their writers produce from the content.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest
from typing import IO

from .croissant import (
    BIBTEX,
    CFF,
    CROISSANT,
    DistributedFile,
    ItemFile,
    bibtex,
    citation_cff,
    croissant_bytes,
)
from .formats import (
    FACT_LINES,
    GOLD_LINES,
    IMAGES,
    PARQUET,
    fact_lines,
    gold_lines,
    is_written_here,
    parquet_pieces,
    read_parquet,
)
from .kits import ITEM_LINES, PROMPTS, KitItem, item_line, prompt_lines
from .manifest import ContentEntry, FileEntry, Manifest
from .rows import META_LINES, PublishedItem, PublishedRelease

# The files that the Croissant file lists one by one.
DISTRIBUTED = frozenset({GOLD_LINES, FACT_LINES, PARQUET})
GOLD_PAGES = "gold"


@dataclass(frozen=True)
class Content:
    """The content of one item; `meta` is its document's line of `meta.jsonl`."""

    item: PublishedItem
    document: str = ""
    meta: bytes = b""


def content_entries(
    parts: Callable[[], Iterable[Content]], prompts: Sequence[Mapping[str, str]] | None = None
) -> list[ContentEntry]:
    """The content of a release with all gold. `parts` is called once per file.

    `prompts` are those of the benchmark, None for schemes that do not cover them.
    """
    files: list[tuple[str, Iterator[bytes]]] = [
        (GOLD_LINES, gold_lines(part.item for part in parts())),
        (FACT_LINES, fact_lines(part.item for part in parts())),
        (ITEM_LINES, (item_line(bare_item(part.item, part.document)) for part in parts())),
        (META_LINES, unique_lines(part.meta for part in parts())),
    ]
    if prompts is not None:
        files.append((PROMPTS, iter([prompt_lines(prompts)])))
    entries = [ContentEntry(name, sha256_of_pieces(pieces)) for name, pieces in files]
    return entries + image_entries(part.item for part in parts())


def image_entries(items: Iterable[PublishedItem]) -> list[ContentEntry]:
    """The page images with their stored hashes, without repeats: items can share a document."""
    images = {(image.name, image.sha256): image for item in items for image in item.images}
    return [ContentEntry(f"{IMAGES}/{name}", sha256) for name, sha256 in images]


def unique_lines(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The lines without empty lines and repeats."""
    seen: set[bytes] = set()
    for line in lines:
        if line and line not in seen:
            seen.add(line)
            yield line


def bare_item(item: PublishedItem, document: str = "") -> KitItem:
    """The item without its gold."""
    return KitItem(item.name, item.split, item.prompt, item.images, document=document)


def sha256_of_pieces(pieces: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()


def described_files(
    release: PublishedRelease, files: Iterable[FileEntry]
) -> dict[str, Callable[[], bytes]]:
    """The files of an archive that describe the others, each with the function that writes it."""
    distributed = [
        DistributedFile(file.path, file.path, file.bytes, file.sha256)
        for file in files
        if file.path in DISTRIBUTED
    ]
    # The URL of the release's page depends on the site, so archives leave it out.
    row = replace(release, page="")
    items = ItemFile(PARQUET, gold=True, images=False)
    return {
        BIBTEX: lambda: bibtex(row).encode(),
        CFF: lambda: citation_cff(row).encode(),
        CROISSANT: partial(croissant_bytes, row, distributed, items),
    }


def made_of_content(manifest: Manifest) -> set[str]:
    """The paths of the files derived from the content that an archive must have."""
    pages = {f"{GOLD_PAGES}/{item.name}.html" for item in manifest.items if manifest.labels}
    return {PARQUET, BIBTEX, CFF, CROISSANT, *pages}


def content_faults(manifest: Manifest) -> Iterator[tuple[str, str, str]]:
    """The files of an archive that differ from the release's content: (code, path, message).

    An archive holds either all page images or none.
    """
    files: Mapping[str, str] = {file.path: file.sha256 for file in manifest.files}
    content = {entry.path: entry.sha256 for entry in manifest.content}
    has_images = any(path in files for path in content if is_image(path))
    for path, sha256 in content.items():
        if path in files and files[path] != sha256:
            yield "content", path, f"SHA-256 is {files[path]}, the release's content has {sha256}"
        elif path not in files and (has_images or not is_image(path)):
            yield "missing", path, "missing, also from the manifest's files"
    made = made_of_content(manifest)
    for path in sorted(made - files.keys()):
        yield "missing", path, "missing, also from the manifest's files"
    for path in sorted(files.keys() - content.keys() - made):
        yield "extra", path, "is not a file of the release"


def images_left_out(manifest: Manifest) -> int:
    """The number of page images of the release that this copy lacks."""
    files = {file.path for file in manifest.files}
    return sum(is_image(entry.path) and entry.path not in files for entry in manifest.content)


def is_image(path: str) -> bool:
    return path.startswith(f"{IMAGES}/")


def table_faults(file: IO[bytes], items: Callable[[], Iterable[PublishedItem]]) -> Iterator[str]:
    """The differences between a Parquet file and the one written for these items.

    Another version of pyarrow may write the same rows as other bytes. Raises PublishingError for
    any other kind of file.
    """
    digest = sha256_of_pieces(iter(partial(file.read, 1 << 20), b""))
    file.seek(0)
    if digest == sha256_of_pieces(parquet_pieces(items(), gold=True)):
        return
    is_other = False
    for found, wanted in zip_longest(read_parquet(file, strict=True), items()):
        if found != wanted:
            is_other = True
            yield f"{(wanted or found).name}: the row is missing, extra or different"
    file.seek(0)
    if not is_other and is_written_here(file):
        yield "has the right rows but differs from the file written for this release"
