"""Reads folders and ZIPs with one JSON file per image, named after it."""

import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from portal.common.archives import Archive, ArchiveFault, open_archive
from scoring.benchmarks.reading import ReadFault, ReadLimits, Record, Source, read_records
from scoring.metrics.receipts import FIELDS

_ZIP_MAGIC = b"PK"
_BOM = b"\xef\xbb\xbf"
_NAMES = frozenset(rule.name for rule in FIELDS)
# What tells a canonical object from one that is the fields themselves.
_WRAPPED = ("fields", "response")
_ABOUT = ("id", "language", "category", "balanced")


def read_any(source: Source, limits: ReadLimits) -> Iterator[Record | ReadFault]:
    """The records of JSON Lines, or of a folder or ZIP of `IMAGE.json`.

    The object in such a file is either a canonical line or the fields themselves; its id is its
    own, else the file's name.
    """
    if _is_published(source, limits):
        yield from _read_files(source, limits)
    else:
        yield from read_records(source, limits)


def _is_published(source: Source, limits: ReadLimits) -> bool:
    try:
        if not _may_be_archive(source):
            return False
        with open_archive(source, limits.archive) as archive:
            return any(_is_json(member.name) for member in archive.members())
    except (ArchiveFault, OSError):
        return False  # What is wrong with it the reader of records says.


def _may_be_archive(source: Source) -> bool:
    if not isinstance(source, Path):
        source.seek(0)
        magic = source.read(len(_ZIP_MAGIC))
        source.seek(0)
        return magic == _ZIP_MAGIC
    if source.is_dir():
        return True
    with source.open("rb") as file:
        return file.read(len(_ZIP_MAGIC)) == _ZIP_MAGIC


def _is_json(name: str) -> bool:
    return name.lower().endswith(".json")


def _read_files(source: Source, limits: ReadLimits) -> Iterator[Record | ReadFault]:
    shown = _shown(source)
    try:
        with open_archive(source, limits.archive) as archive:
            for name in sorted(member.name for member in archive.members()):
                if _is_json(name):
                    yield _read_file(archive, name, f"{shown}/{name}", limits)
                else:
                    yield ReadFault(f"{shown}/{name}", 0, None, "not expected among JSON files")
    except ArchiveFault as error:
        yield ReadFault(shown, 0, None, str(error))


def _read_file(archive: Archive, name: str, shown: str, limits: ReadLimits) -> Record | ReadFault:
    """The object in a file, read as strictly as a line.

    Line feeds can only stand between the parts of a JSON text, so that without them it is one
    line.
    """
    item = PurePosixPath(name).stem
    try:
        data = archive.read(name).removeprefix(_BOM).replace(b"\n", b" ")
    except ArchiveFault as error:
        return ReadFault(shown, 0, item, str(error))
    if len(data) > limits.line:
        return ReadFault(shown, 0, item, f"longer than {limits.line:,} bytes")
    record = next(read_records(io.BytesIO(data), limits), None)
    if record is None:
        return ReadFault(shown, 0, item, "is empty")
    if isinstance(record, ReadFault):
        return replace(record, file=shown, id=item)
    return replace(record, file=shown, value={"id": item, **_wrapped(record.value)})


def _wrapped(value: dict[str, Any]) -> dict[str, Any]:
    """The object as a canonical line; bare fields without what is none of the 19."""
    if any(key in value for key in _WRAPPED) or not _NAMES & value.keys():
        return value
    about = {key: value[key] for key in _ABOUT if key in value}
    return {**about, "fields": {key: value[key] for key in value if key in _NAMES}}


def _shown(source: Source) -> str:
    """How a source is called in messages: a path as it was given, an upload by its name alone."""
    if isinstance(source, Path):
        return str(source)
    return PurePosixPath(str(getattr(source, "name", "") or "upload")).name
