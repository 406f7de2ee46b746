"""The single files of a release, each as a download of its own, and the downloads as responses.

`seen` is what someone may see of the gold, as in `exports`: items whose gold is hidden have no
line, page or task, and rows without gold in the Parquet file.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version as version_of

from django.core.cache import cache
from django.http import StreamingHttpResponse

from portal.datasets.models import Release
from portal.datasets.releases.publishing.croissant import (
    BIBTEX,
    CFF,
    DistributedFile,
    ItemFile,
    bibtex,
    citation_cff,
    croissant_bytes,
)
from portal.datasets.releases.publishing.formats import (
    FACT_LINES,
    GOLD_LINES,
    LABEL_STUDIO,
    PARQUET,
    fact_lines,
    gold_lines,
    kit_name,
    label_studio_pieces,
    parquet_pieces,
    starter_kit,
)
from portal.datasets.responses import keep_private
from portal.files.archives import DRAIN_AT, ZipSink, ZipWriter

from .exports import archive_name, kit_items, published_items, published_release, release_archive
from .gold import empty_line_of

GOLD_PAGES = "gold.zip"
Seen = frozenset[str] | None
# Frozen gold gives the same file again; a change of the writers is seen within a day.
_KEEP_HASHES = 24 * 60 * 60


@dataclass(frozen=True)
class ReleaseFile:
    """A file by its name, with its title for people.

    `holds_gold`: it is only for those who may see gold, and the licence stands before it.
    `of_pages`: there is one only where gold is pages with fact tags.
    """

    name: str
    title: str
    media_type: str
    pieces: Callable[[Release, Seen], Iterator[bytes]]
    holds_gold: bool = True
    of_pages: bool = False


def _gold_pages(release: Release, seen: Seen) -> Iterator[bytes]:
    sink = ZipSink()
    writer = ZipWriter(sink)
    for item in published_items(release, seen=seen):
        if item.gold:
            writer.add(f"gold/{item.name}.html", item.gold.line["html"].encode())
            yield from sink.drain(DRAIN_AT)
    writer.close()
    yield from sink.drain(0)


FILES = {
    file.name: file
    for file in (
        ReleaseFile(
            GOLD_LINES,
            "Gold, JSON Lines",
            "application/x-ndjson",
            lambda release, seen: gold_lines(published_items(release, seen=seen)),
        ),
        ReleaseFile(
            FACT_LINES,
            "Facts with offsets, JSON Lines",
            "application/x-ndjson",
            lambda release, seen: fact_lines(published_items(release, seen=seen)),
            of_pages=True,
        ),
        ReleaseFile(
            GOLD_PAGES, "Gold HTML with fact tags, ZIP", "application/zip", _gold_pages,
            of_pages=True,
        ),
        ReleaseFile(
            PARQUET,
            "Parquet",
            "application/vnd.apache.parquet",
            lambda release, seen: parquet_pieces(published_items(release, seen=seen), gold=True),
        ),
        ReleaseFile(
            LABEL_STUDIO,
            "Label Studio JSON",
            "application/json",
            lambda release, seen: label_studio_pieces(
                published_items(release, seen=seen), release.labels
            ),
            of_pages=True,
        ),
        ReleaseFile(
            BIBTEX,
            "BibTeX",
            "application/x-bibtex",
            lambda release, seen: iter([bibtex(published_release(release, seen=seen)).encode()]),
            holds_gold=False,
        ),
        ReleaseFile(
            CFF,
            "CITATION.cff",
            "application/yaml",
            lambda release, seen: iter(
                [citation_cff(published_release(release, seen=seen)).encode()]
            ),
            holds_gold=False,
        ),
    )
}  # fmt: skip


def gold_files(release: Release) -> list[ReleaseFile]:
    """The files with gold that there are of the release."""
    return [
        file
        for file in FILES.values()
        if file.holds_gold and (release.has_pages or not file.of_pages)
    ]


def file_of(release: Release, name: str) -> ReleaseFile | None:
    """The file of this name; None where the release has none."""
    file = FILES.get(name)
    return file if file and (release.has_pages or not file.of_pages) else None


def croissant_file(
    release: Release, seen: Seen, *, page: str, address: Callable[[str], str]
) -> bytes:
    """The release in the terms of Croissant, with the files that a reader who may see `seen` gets.

    `page` is the release's absolute address, `address` gives that of a file by its name.
    """
    files = [
        DistributedFile(file.name, address(file.name), *_measured(release, file, seen), file.title)
        for file in gold_files(release)
    ]
    row = published_release(release, page=page, seen=seen)
    return croissant_bytes(row, files, ItemFile(PARQUET, gold=True, images=False))


def _measured(release: Release, file: ReleaseFile, seen: Seen) -> tuple[int, str]:
    """Size and SHA-256 of a file, by making it; kept for the next who asks."""
    part = "all" if seen is None else "-".join(sorted(seen))
    key = f"release-file:{release.pk}:{release.sha256}:{file.name}:{part}:{version_of('pyarrow')}"
    known: tuple[int, str] | None = cache.get(key)
    if known is not None:
        return known
    digest, size = hashlib.sha256(), 0
    for piece in file.pieces(release, seen):
        digest.update(piece)
        size += len(piece)
    measured = size, digest.hexdigest()
    cache.set(key, measured, _KEEP_HASHES)
    return measured


def release_response(
    release: Release, *, images: bool, seen: frozenset[str] | None = None
) -> StreamingHttpResponse:
    """The release's archive as a download, sent while it is made, with the gold that is `seen`."""
    pieces = release_archive(release, images=images, seen=seen)
    return _download(pieces, "application/zip", archive_name(release))


def release_file_response(
    release: Release, file: ReleaseFile, seen: frozenset[str] | None
) -> StreamingHttpResponse:
    """One file of a release, sent while it is made."""
    return _download(file.pieces(release, seen), file.media_type, file.name)


def starter_kit_response(release: Release, page: str) -> StreamingHttpResponse:
    """The starter kit; `page` is the absolute address of the release."""
    # Whoever downloads it is told nothing that only some may see.
    row = published_release(release, page=page, seen=frozenset())
    empty_line = empty_line_of(release.benchmark)
    pieces = starter_kit(row, lambda: kit_items(release), empty_line)
    return _download(pieces, "application/zip", kit_name(row))


def _download(pieces: Iterator[bytes], media_type: str, name: str) -> StreamingHttpResponse:
    response = StreamingHttpResponse(pieces, content_type=media_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    keep_private(response)
    return response
