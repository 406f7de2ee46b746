"""Opening the source of an import: a folder, a ZIP, or one file alone, all read the same way."""

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from portal.files.archives import (
    Archive,
    ArchiveFault,
    ArchiveLimits,
    Member,
    ZipArchive,
    open_archive,
)

from .layout import counted_by_folder

# A path of this machine (commands), or an open binary file (uploads), which is not closed here.
GivenSource = Path | IO[bytes]


@dataclass
class WatchedSource:
    """A source that remembers which of its files were read or named by something that was read."""

    source: GivenSource
    files: "SourceFiles | None" = None

    def left_out(self) -> dict[str, int]:
        """The files that nothing read, counted by folder; known once all items were read."""
        if self.files is None:
            return {}
        return counted_by_folder(self.files.unread(), among=self.files.names)


# What readers open: the source as it was given, or one that is watched.
Source = GivenSource | WatchedSource
_ZIP_MAGIC = b"PK\x03\x04", b"PK\x05\x06"


class SourceFiles:
    """The files of a source by name.

    `read` gives small ones whole and is bounded by the limit of a member; `open` gives large ones
    as a seekable stream, whose reader bounds what it reads. Both raise ArchiveFault.
    """

    def __init__(self, archive: Archive, limits: ArchiveLimits) -> None:
        self.limits = limits
        self._archive = archive
        self._sizes = {member.name: member.size for member in archive.members()}
        self._used: set[str] = set()

    @property
    def names(self) -> list[str]:
        """All files in the order of their names."""
        return sorted(self._sizes)

    def named(self, *suffixes: str) -> list[str]:
        """The files whose names end in one of `suffixes`, whatever their case; no hidden ones."""
        return [
            name
            for name in self.names
            if name.lower().endswith(suffixes) and not PurePosixPath(name).name.startswith(".")
        ]

    def use(self, name: str) -> None:
        """Notes that a file is a part of the import, whether or not it will be read."""
        self._used.add(name)

    def unread(self) -> list[str]:
        """The files that were neither read nor noted as used so far."""
        return [name for name in self.names if name not in self._used]

    def read(self, name: str) -> bytes:
        self.use(name)
        return self._archive.read(name)

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        """A file of a folder, or the source itself, as it lies; of a ZIP, unpacked in memory."""
        self.use(name)
        opened = getattr(self._archive, "open", None)
        if opened is None:
            yield io.BytesIO(self._archive.read(name))
            return
        with opened(name) as file:
            yield file


class _Folder:
    """A folder, of which large files can be opened. Links out of it are refused."""

    def __init__(self, root: Path, archive: Archive) -> None:
        self._root = root.resolve()
        self._archive = archive

    def members(self) -> list[Member]:
        return self._archive.members()

    def read(self, name: str) -> bytes:
        return self._archive.read(name)

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        path = (self._root / name).resolve()
        if not path.is_relative_to(self._root) or not path.is_file():
            raise ArchiveFault("not_a_file", f"{name}: not a file of the folder", name)
        with path.open("rb") as file:
            yield file


class _SingleFile:
    """One file as an archive of itself."""

    def __init__(self, file: IO[bytes], name: str, limits: ArchiveLimits) -> None:
        self._file = file
        self._name = name
        self._limits = limits

    def members(self) -> list[Member]:
        return [Member(self._name, self._file.seek(0, os.SEEK_END))]

    def read(self, name: str) -> bytes:
        self._file.seek(0)
        data = self._file.read(self._limits.member + 1)
        if len(data) > self._limits.member:
            raise ArchiveFault("too_large", f"{name}: larger than allowed", name)
        return data

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        self._file.seek(0)
        yield self._file


@contextmanager
def open_source(source: Source, name: str, limits: ArchiveLimits) -> Iterator[SourceFiles]:
    """Opens a source. `name` is what it was called, which a lone file goes by; only its last part
    counts. What is a ZIP its first bytes say. Raises ArchiveFault.
    """
    if isinstance(source, WatchedSource):
        with open_source(source.source, name, limits) as files:
            source.files = files
            yield files
        return
    if isinstance(source, Path) and source.is_dir():
        with open_archive(source, limits) as archive:
            yield SourceFiles(_Folder(source, archive), limits)
        return
    if isinstance(source, Path):
        try:
            file = source.open("rb")
        except OSError as error:
            reason = f"{source.name}: cannot be read: {error.strerror or error}"
            raise ArchiveFault("unreadable", reason) from error
        with file, _open_file(file, name, limits) as files:
            yield files
        return
    with _open_file(source, name, limits) as files:
        yield files


@contextmanager
def _open_file(file: IO[bytes], name: str, limits: ArchiveLimits) -> Iterator[SourceFiles]:
    file.seek(0)
    magic = file.read(4)
    file.seek(0)
    if magic in _ZIP_MAGIC or name.lower().endswith(".zip"):
        with open_archive(file, limits) as archive:
            assert isinstance(archive, ZipArchive)
            yield SourceFiles(archive, limits)
    else:
        last = PurePosixPath(name.replace("\\", "/")).name
        yield SourceFiles(_SingleFile(file, last or "upload", limits), limits)
