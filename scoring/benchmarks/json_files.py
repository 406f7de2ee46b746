"""Folders and ZIPs of JSON files, read as strictly as JSON Lines."""

from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from portal.files.archives import Archive, ArchiveFault, open_archive
from scoring.benchmarks.reading import (
    BOM,
    ZIP_MAGIC,
    ReadFault,
    ReadLimits,
    Record,
    Source,
    UnusableError,
    name_of,
    parse_json,
    parse_object,
)


def holds_json_files(source: Source, limits: ReadLimits) -> bool:
    """Whether this is a folder or ZIP with files called `*.json`, rather than JSON Lines or pages.

    What is wrong with a source that cannot be opened the reader of records says.
    """
    try:
        if not _may_be_archive(source):
            return False
        with open_archive(source, limits.archive) as archive:
            return any(is_json(member.name) for member in archive.members())
    except (ArchiveFault, OSError):
        return False


def _may_be_archive(source: Source) -> bool:
    if not isinstance(source, Path):
        source.seek(0)
        magic = source.read(len(ZIP_MAGIC))
        source.seek(0)
        return magic == ZIP_MAGIC
    if source.is_dir():
        return True
    with source.open("rb") as file:
        return file.read(len(ZIP_MAGIC)) == ZIP_MAGIC


def is_json(name: str) -> bool:
    return name.lower().endswith(".json")


ReadFile = Callable[[Archive, str, str], Record | ReadFault]


def read_json_files(
    source: Source, limits: ReadLimits, read: ReadFile, *, left_aside: str = ""
) -> Iterator[Record | ReadFault]:
    """What `read(archive, member, shown)` makes of each file, in the order of their names.

    `shown` is how messages call the file. Files called `left_aside` are passed over; one that is
    no `*.json` is a fault.
    """
    name = name_of(source)
    try:
        with open_archive(source, limits.archive) as archive:
            for member in sorted(member.name for member in archive.members()):
                shown = f"{name}/{member}"
                if not is_json(member):
                    yield ReadFault(shown, 0, None, "not expected among JSON files")
                elif PurePosixPath(member).name != left_aside:
                    yield read(archive, member, shown)
    except ArchiveFault as error:
        yield ReadFault(name, 0, None, str(error))


def read_json_object(
    archive: Archive, member: str, shown: str, limits: ReadLimits
) -> Record | ReadFault:
    """The object in a file that is one item; as long as a line at the most."""
    return _read(archive, member, shown, parse_object, limits.line)


def read_json_value(archive: Archive, member: str, shown: str) -> Record | ReadFault:
    """Whatever is in a file, under the key `value`; as long as a member at the most."""
    return _read(archive, member, shown, lambda data: {"value": parse_json(data)})


def _read(
    archive: Archive,
    member: str,
    shown: str,
    parse: Callable[[bytes], dict[str, Any]],
    longest: int | None = None,
) -> Record | ReadFault:
    try:
        data = archive.read(member).removeprefix(BOM)
        if longest is not None and len(data) > longest:
            return ReadFault(shown, 0, None, f"longer than {longest:,} bytes")
        if not data.strip():
            return ReadFault(shown, 0, None, "is empty")
        return Record(shown, 1, parse(data))
    except ArchiveFault as error:
        return ReadFault(shown, 0, None, str(error))
    except UnusableError as error:
        return ReadFault(shown, error.line, None, str(error))
