"""Reading ZIP archives and folders under limits, and streaming ZIP archives.

Nothing is extracted to disk: members are read into memory one by one, so that names in an archive
never become paths. Archives are written in bounded memory, and are reproducible byte by byte.
"""

import hashlib
import lzma
import os
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path, PurePosixPath
from typing import IO, Any, Concatenate, ParamSpec, Protocol
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from portal.facts.file_reading import BINARY, TEXT, ZIP, kind_of_file, sentence

from .member_names import is_clutter, member_names, plain_name

_MAY_BE_ZIP = frozenset({ZIP, TEXT, BINARY})
MEGABYTE = 1024 * 1024
LONGEST_MESSAGE = 350

# Errors of the standard library for damaged or unsupported archives.
_UNREADABLE = (
    *(zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, lzma.LZMAError),
    *(NotImplementedError, ValueError, EOFError, OSError),
)


class ArchiveFault(Exception):
    """An invalid archive or member. The message names the member and the reason.

    Names and reasons may quote the archive, so both are truncated.
    """

    def __init__(self, code: str, message: str, member: str = "") -> None:
        is_short = len(message) <= LONGEST_MESSAGE
        super().__init__(message if is_short else f"{message[:LONGEST_MESSAGE]}…")
        self.code = code
        self.member = member


@dataclass(frozen=True)
class ArchiveLimits:
    """Limits of an archive's unpacked content, in bytes, except `ratio` and `members`."""

    total: int = 2048 * MEGABYTE
    member: int = 50 * MEGABYTE
    ratio: int = 200
    members: int = 100_000


@dataclass(frozen=True)
class Member:
    """A file in the archive: its name with forward slashes, and its size in bytes."""

    name: str
    size: int


class Archive(Protocol):
    """The common interface of ZIP files and folders."""

    def members(self) -> list[Member]: ...

    def read(self, name: str) -> bytes: ...


@contextmanager
def open_archive(
    source: Path | IO[bytes], limits: ArchiveLimits
) -> Iterator["FolderArchive | ZipArchive"]:
    """Open a folder, a ZIP file or a ZIP stream.

    Raises ArchiveFault if it is not a ZIP or exceeds a limit.
    """
    if isinstance(source, Path) and source.is_dir():
        yield FolderArchive(source, limits)
        return
    if reason := _no_zip(source):
        raise ArchiveFault("not_a_zip", reason)
    try:
        bundle = zipfile.ZipFile(source)
    except _UNREADABLE as error:
        raise ArchiveFault("not_a_zip", f"not a readable ZIP archive: {error}") from error
    with bundle:
        yield ZipArchive(bundle, limits)


def kind_of_source(source: Path | IO[bytes]) -> str:
    """The detected kind of a file or stream; empty if it cannot be read."""
    try:
        if isinstance(source, Path):
            with source.open("rb") as file:
                return kind_of_file(file)
        return kind_of_file(source)
    except OSError:
        return ""


def _no_zip(source: Path | IO[bytes]) -> str:
    """The detected kind of a file that is not a ZIP; empty if it may be one.

    Unknown bytes or text may be a damaged ZIP or follow other data: the reader decides.
    """
    kind = kind_of_source(source)
    return "" if not kind or kind in _MAY_BE_ZIP else sentence(kind, "a ZIP archive is required")


class FolderArchive:
    """A folder on the server, read by a command. Links out of it are rejected."""

    def __init__(self, root: Path, limits: ArchiveLimits) -> None:
        self._root = root.resolve()
        self._limits = limits
        # Names on disk that are not in Unicode form NFC, by their name as a member.
        self._on_disk: dict[str, str] = {}

    def members(self) -> list[Member]:
        found: dict[str, Member] = {}
        for folder, subfolders, files in os.walk(self._root):
            subfolders.sort()
            for file in sorted(files):
                path = Path(folder) / file
                on_disk = path.relative_to(self._root).as_posix()
                name = plain_name(on_disk)
                if path.is_symlink() or is_clutter(name):
                    continue
                if name in found:
                    raise _duplicate(name)
                found[name] = Member(name, path.stat().st_size)
                if name != on_disk:
                    self._on_disk[name] = on_disk
        return list(found.values())

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        """Open a file whose reader bounds what it reads."""
        path = (self._root / self._on_disk.get(name, name)).resolve()
        if not path.is_relative_to(self._root):
            raise ArchiveFault("traversal", f"{name}: the path is outside the folder", name)
        try:
            # Reading a pipe or a device might never end.
            if not path.is_file():
                raise ArchiveFault("not_a_file", f"{name}: not a file", name)
            with path.open("rb") as file:
                yield file
        except OSError as error:
            reason = error.strerror or error
            raise ArchiveFault("unreadable", f"{name}: cannot be read: {reason}", name) from error

    def read(self, name: str) -> bytes:
        with self.open(name) as file:
            data = file.read(self._limits.member + 1)
        if len(data) > self._limits.member:
            raise _too_large(name, self._limits)
        return data

    def pieces(self, name: str) -> Iterator[bytes]:
        """Yield the file in pieces of a megabyte, for files larger than memory."""
        with self.open(name) as file:
            yield from iter(lambda: file.read(MEGABYTE), b"")


class ZipArchive:
    """A ZIP whose directory is checked before members are read."""

    def __init__(self, bundle: zipfile.ZipFile, limits: ArchiveLimits) -> None:
        self._bundle = bundle
        self._limits = limits
        self._infos = _checked_directory(bundle, limits)
        self._unpacked = 0

    def members(self) -> list[Member]:
        return [Member(name, info.file_size) for name, info in self._infos.items()]

    def read(self, name: str) -> bytes:
        info = self._infos[name]
        if info.file_size > self._limits.member:
            raise _too_large(name, self._limits)
        try:
            with self._bundle.open(info) as file:
                # The sizes in the directory may be false, so unpacking is limited too.
                data = file.read(self._limits.member + 1)
        except _UNREADABLE as error:
            raise ArchiveFault("damaged", f"{name}: cannot be unpacked: {error}", name) from error
        if len(data) > self._limits.member:
            raise _too_large(name, self._limits)
        self._unpacked += len(data)
        if self._unpacked > self._limits.total:
            raise ArchiveFault("bomb", "the archive unpacks to more than it declares")
        return data

    def pieces(self, name: str) -> Iterator[bytes]:
        """Yield the member in pieces of a megabyte, for members larger than memory.

        Unpacks no more than the directory entry declares.
        """
        info = self._infos[name]
        left = info.file_size
        try:
            with self._bundle.open(info) as file:
                while piece := file.read(MEGABYTE):
                    left -= len(piece)
                    if left < 0:
                        raise ArchiveFault("bomb", f"{name}: unpacks to more than it declares")
                    yield piece
        except _UNREADABLE as error:
            raise ArchiveFault("damaged", f"{name}: cannot be unpacked: {error}", name) from error


def _too_large(name: str, limits: ArchiveLimits) -> ArchiveFault:
    return ArchiveFault(
        "too_large", f"{name}: larger than {limits.member // MEGABYTE} MB unpacked", name
    )


def _checked_directory(
    bundle: zipfile.ZipFile, limits: ArchiveLimits
) -> dict[str, zipfile.ZipInfo]:
    """Return files by name. Raises ArchiveFault for invalid names, links, encryption or sizes."""
    infos: dict[str, zipfile.ZipInfo] = {}
    listed = bundle.infolist()
    try:
        names = member_names(listed)
    except ValueError as error:
        raise ArchiveFault("file_names", str(error)) from error
    for name, info in zip(names, listed, strict=True):
        if name.endswith("/") or is_clutter(name):
            continue
        _check_entry(name, info)
        if name in infos:
            raise _duplicate(name)
        infos[name] = info
    _check_sizes(infos, limits)
    return infos


def _duplicate(name: str) -> ArchiveFault:
    return ArchiveFault("duplicate", f"{name}: appears more than once in the archive", name)


def _check_entry(name: str, info: zipfile.ZipInfo) -> None:
    if not is_safe_name(name):
        raise ArchiveFault("traversal", f"{name!r}: file name not accepted in an archive", name)
    if stat.S_ISLNK(info.external_attr >> 16):
        raise ArchiveFault("link", f"{name}: links are not accepted", name)
    if info.flag_bits & 0x1:
        raise ArchiveFault("encrypted", f"{name}: encrypted archives are not accepted", name)


def _check_sizes(infos: dict[str, zipfile.ZipInfo], limits: ArchiveLimits) -> None:
    if len(infos) > limits.members:
        raise ArchiveFault("bomb", f"more than {limits.members} files in the archive")
    total = sum(info.file_size for info in infos.values())
    packed = sum(info.compress_size for info in infos.values())
    if total > limits.total:
        raise ArchiveFault(
            "bomb", f"unpacks to {total // MEGABYTE} MB; at most {limits.total // MEGABYTE} MB"
        )
    # Small archives of repetitive text exceed the ratio without harm.
    if total > 10 * MEGABYTE and total > packed * limits.ratio:
        reason = f"compression ratio above {limits.ratio}; it may be a ZIP bomb"
        raise ArchiveFault("bomb", reason)


def is_safe_name(name: str) -> bool:
    """Whether a name is relative and short, without drives, dots or control characters."""
    path = PurePosixPath(name)
    return (
        0 < len(name) <= 300
        and "\\" not in name
        and ":" not in name
        and not path.is_absolute()
        and not any(part in {"..", "."} for part in name.split("/"))
        and name.isprintable()
    )


# The earliest time a ZIP can store, so that the archive depends only on its content.
TIMESTAMP = (1980, 1, 1, 0, 0, 0)
DRAIN_AT = 64 * 1024


class ZipSink:
    """A write-only stream that collects the ZIP's output until it is taken."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0

    def write(self, data: bytes) -> int:
        self._pieces.append(bytes(data))
        self._size += len(data)
        return len(data)

    def flush(self) -> None:
        """Does nothing: output is not buffered elsewhere."""

    def close(self) -> None:
        """Does nothing: output can still be taken."""

    def drain(self, at_least: int) -> Iterator[bytes]:
        """Return the output, once it is large enough for a piece."""
        if self._size > at_least:
            yield b"".join(self._pieces)
            self._pieces.clear()
            self._size = 0


class ZipWriter:
    """Adds files to the ZIP, and records their hashes for a manifest."""

    def __init__(self, sink: ZipSink) -> None:
        self._zip = ZipFile(sink, "w")
        self.files: list[dict[str, Any]] = []

    def close(self) -> None:
        self._zip.close()

    def add(self, name: str, data: bytes, *, method: int = ZIP_DEFLATED) -> None:
        self._zip.writestr(_info(name, method), data)
        self._note(name, len(data), hashlib.sha256(data).hexdigest())

    def adding(self, name: str, lines: Iterable[bytes]) -> Iterator[None]:
        """Write a file of unknown length. Yields after every line, so that output can be taken."""
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


P = ParamSpec("P")


def streamed_zip(
    write: Callable[Concatenate[ZipWriter, P], Iterator[None]],
) -> Callable[P, Iterator[bytes]]:
    """Make a function that adds files to a ZIP return its bytes in pieces.

    The function yields wherever output can be taken, so that memory is bounded.
    """

    @wraps(write)
    def pieces(*args: P.args, **kwargs: P.kwargs) -> Iterator[bytes]:
        sink = ZipSink()
        writer = ZipWriter(sink)
        for _ in write(writer, *args, **kwargs):
            yield from sink.drain(DRAIN_AT)
        writer.close()
        yield from sink.drain(0)

    return pieces


def _info(name: str, method: int) -> ZipInfo:
    """A directory entry without machine-dependent metadata."""
    info = ZipInfo(name, TIMESTAMP)
    info.compress_type = method
    info.create_system = 3
    info.external_attr = 0o644 << 16
    return info
