"""A release as a ZIP: written while it is sent, and the same bytes every time.

gold/ID.html     canonical HTML with inline fact tags, where the benchmark is of pages
gold.jsonl       the gold lines as the benchmark has them, in canonical JSON; an item's hash is of
                 its line
facts.jsonl      {"id", "text_chars", "text_sha256", "facts": [{n, type, value, start, end}]}
images/ID.png    on request
manifest.json    the release, its items' hashes, and the SHA-256 of every file before it
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from .models import Release, ReleaseItem
from .services.releases import canonical_json

# The earliest time a ZIP can hold, for all: the archive depends on nothing but the release.
TIMESTAMP = (1980, 1, 1, 0, 0, 0)
AT_ONCE = 100
DRAIN_AT = 64 * 1024


def archive_name(release: Release) -> str:
    return f"{release.dataset.slug}-{release.version}.zip"


def release_archive(release: Release, *, images: bool = False) -> Iterator[bytes]:
    """The archive's bytes, in pieces. Bounded memory: one item at a time."""
    sink = _Sink()
    writer = _Writer(sink)
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


class _Sink:
    """The end of a pipe that cannot be rewound: collects what the ZIP writes until it is taken."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0

    def write(self, data: bytes) -> int:
        self._pieces.append(bytes(data))
        self._size += len(data)
        return len(data)

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        """What was written stays to be taken."""

    def drain(self, at_least: int) -> Iterator[bytes]:
        """All that was written, once it is worth a piece of its own."""
        if self._size > at_least:
            yield b"".join(self._pieces)
            self._pieces.clear()
            self._size = 0


class _Writer:
    """Adds files to the ZIP and keeps their hashes for the manifest."""

    def __init__(self, sink: _Sink) -> None:
        self._zip = ZipFile(sink, "w")
        self.files: list[dict[str, Any]] = []

    def close(self) -> None:
        self._zip.close()

    def add(self, name: str, data: bytes, *, method: int = ZIP_DEFLATED) -> None:
        self._zip.writestr(_info(name, method), data)
        self._note(name, len(data), hashlib.sha256(data).hexdigest())

    def adding(self, name: str, lines: Iterable[bytes]) -> Iterator[None]:
        """Writes a file of unknown length; comes back after every line, to let the sink drain."""
        digest, size = hashlib.sha256(), 0
        with self._zip.open(_info(name, ZIP_DEFLATED), "w", force_zip64=True) as file:
            for line in lines:
                file.write(line)
                digest.update(line)
                size += len(line)
                yield
        self._note(name, size, digest.hexdigest())

    def _note(self, name: str, size: int, sha256: str) -> None:
        self.files.append({"path": name, "bytes": size, "sha256": sha256})


def _info(name: str, method: int) -> ZipInfo:
    """A file's entry without anything of the machine that writes it."""
    info = ZipInfo(name, TIMESTAMP)
    info.compress_type = method
    info.create_system = 3
    info.external_attr = 0o644 << 16
    return info


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
