"""The files of a release as separate downloads, and the download responses.

`gold_splits` names the splits whose gold the reader may see, as in `exports`. Items with hidden
gold are left out of the files, except for Parquet, where their gold is empty.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version as version_of
from typing import Any, NamedTuple, TypeAlias

from django.core.cache import cache
from django.http import Http404, HttpResponse, StreamingHttpResponse

from portal.datasets.access import (
    GoldSplits,
    get_downloadable_release,
    get_release,
    gold_splits_for,
)
from portal.datasets.models import Release
from portal.datasets.releases.publishing import croissant, formats, kits, rows
from portal.datasets.responses import keep_private
from portal.files.archives import ZipWriter, streamed_zip

from .exports import (
    archive_name,
    check_images,
    kit_items,
    published_items,
    published_release,
    release_archive,
)
from .gold import empty_line_of, prompts_of

GOLD_PAGES = "gold.zip"
CROISSANT_TYPE = "application/ld+json"
# The files of frozen gold change only with the code that writes them.
_KEEP_HASHES = 24 * 60 * 60


Pieces: TypeAlias = Callable[[Release, GoldSplits], Iterator[bytes]]


@dataclass(frozen=True)
class ReleaseFile:
    """A downloadable file.

    `holds_gold`: only for users who may see gold and have accepted the licence.
    `of_pages`: exists only where gold is pages with fact tags.
    """

    name: str
    title: str
    media_type: str
    pieces: Pieces
    holds_gold: bool = True
    of_pages: bool = False


@streamed_zip
def _gold_pages(writer: ZipWriter, release: Release, gold_splits: GoldSplits) -> Iterator[None]:
    for item in published_items(release, gold_splits):
        if item.gold:
            writer.add(f"gold/{item.name}.html", formats.gold_page(item))
            yield


def _of_items(write: Callable[[Iterator[rows.PublishedItem]], Iterator[bytes]]) -> Pieces:
    return lambda release, splits: write(published_items(release, splits))


def _of_release(write: Callable[[rows.PublishedRelease], str]) -> Pieces:
    return lambda release, splits: iter([write(published_release(release, splits)).encode()])


def _tasks(release: Release, gold_splits: GoldSplits) -> Iterator[bytes]:
    return formats.label_studio_pieces(published_items(release, gold_splits), release.labels)


def _prompts(release: Release, _: GoldSplits) -> Iterator[bytes]:
    yield kits.prompt_lines(release_prompts(release))


_LINES, _ZIP = "application/x-ndjson", "application/zip"
_PARQUET = "application/vnd.apache.parquet"
_FILES = (
    ReleaseFile(formats.GOLD_LINES, "Gold (JSONL)", _LINES, _of_items(formats.gold_lines)),
    ReleaseFile(
        formats.FACT_LINES,
        "Facts with offsets (JSONL)",
        _LINES,
        _of_items(formats.fact_lines),
        of_pages=True,
    ),
    ReleaseFile(GOLD_PAGES, "Gold HTML with fact tags (ZIP)", _ZIP, _gold_pages, of_pages=True),
    ReleaseFile(
        formats.PARQUET, "Parquet", _PARQUET, _of_items(partial(formats.parquet_pieces, gold=True))
    ),
    ReleaseFile(
        formats.LABEL_STUDIO, "Label Studio JSON", "application/json", _tasks, of_pages=True
    ),
    ReleaseFile(kits.PROMPTS, "Prompts (JSONL)", _LINES, _prompts, holds_gold=False),
    ReleaseFile(
        croissant.BIBTEX,
        "BibTeX",
        "application/x-bibtex",
        _of_release(croissant.bibtex),
        holds_gold=False,
    ),
    ReleaseFile(
        croissant.CFF,
        "CITATION.cff",
        "application/yaml",
        _of_release(croissant.citation_cff),
        holds_gold=False,
    ),
)
FILES = {file.name: file for file in _FILES}


def release_prompts(release: Release) -> list[dict[str, str]]:
    """The prompts of the benchmark as the release pinned them; for an older release those of
    now."""
    pinned: list[dict[str, str]] | None = (release.about or {}).get("prompts")
    return prompts_of(release.benchmark) if pinned is None else pinned


def gold_files(release: Release) -> list[ReleaseFile]:
    """The files of the release that hold gold."""
    return [
        file
        for file in FILES.values()
        if file.holds_gold and (release.has_pages or not file.of_pages)
    ]


class RequestedFile(NamedTuple):
    """A file that the user may download; `file` is None for the Croissant file."""

    release: Release
    file: ReleaseFile | None
    gold_splits: GoldSplits


def get_release_file(user: Any, slug: str, version: str, name: str) -> RequestedFile:
    """404 for an unknown file, and if the file holds gold of which the user may see none."""
    release = get_release(user, slug, version)
    file = FILES.get(name)
    if file is not None and not file.holds_gold:
        return RequestedFile(release, file, frozenset())
    release = get_downloadable_release(user, slug, version)
    if name != croissant.CROISSANT and file not in gold_files(release):
        raise Http404("this release has no such file")
    return RequestedFile(release, file, gold_splits_for(user, release))


def croissant_response(
    release: Release, gold_splits: GoldSplits, *, page: str, file_url: Callable[[str], str]
) -> HttpResponse:
    """The Croissant description of the release and its files, as readers of `gold_splits` get them.

    `page` is the release's absolute URL; `file_url` returns that of a file by its name.
    """
    files = [
        croissant.DistributedFile(
            file.name, file_url(file.name), *_measured(release, file, gold_splits), file.title
        )
        for file in gold_files(release)
    ]
    row = published_release(release, gold_splits, page=page)
    content = croissant.croissant_bytes(
        row, files, croissant.ItemFile(formats.PARQUET, gold=True, images=False)
    )
    response = HttpResponse(content, content_type=CROISSANT_TYPE)
    response["Cache-Control"] = "private"
    return response


def _measured(release: Release, file: ReleaseFile, gold_splits: GoldSplits) -> tuple[int, str]:
    """Size in bytes and SHA-256 of a file, found by generating it; cached."""
    part = "all" if gold_splits is None else "-".join(sorted(gold_splits))
    key = f"release-file:{release.pk}:{release.sha256}:{file.name}:{part}:{version_of('pyarrow')}"
    known: tuple[int, str] | None = cache.get(key)
    if known is not None:
        return known
    digest, size = hashlib.sha256(), 0
    for piece in file.pieces(release, gold_splits):
        digest.update(piece)
        size += len(piece)
    measured = size, digest.hexdigest()
    cache.set(key, measured, _KEEP_HASHES)
    return measured


def release_response(
    release: Release, gold_splits: GoldSplits, *, images: bool
) -> StreamingHttpResponse:
    """The release's archive as a streamed download. Raises StoredFileError."""
    if images:
        check_images(release)
    pieces = release_archive(release, gold_splits, images=images)
    return _download(pieces, "application/zip", archive_name(release))


def release_file_response(
    release: Release, file: ReleaseFile, gold_splits: GoldSplits
) -> StreamingHttpResponse:
    """One file of a release as a streamed download."""
    return _download(file.pieces(release, gold_splits), file.media_type, file.name)


def starter_kit_response(release: Release, page: str) -> StreamingHttpResponse:
    """The starter kit as a streamed download; `page` is the absolute URL of the release.

    Raises StoredFileError.
    """
    check_images(release, kit=True)
    # A starter kit never contains gold, even for users who may see it.
    row = published_release(release, frozenset(), page=page)
    empty_line = empty_line_of(release.benchmark)
    pieces = kits.starter_kit(row, lambda: kit_items(release), empty_line, release_prompts(release))
    return _download(pieces, "application/zip", kits.kit_name(row))


def _download(pieces: Iterator[bytes], media_type: str, name: str) -> StreamingHttpResponse:
    response = StreamingHttpResponse(pieces, content_type=media_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    keep_private(response)
    return response
