"""Reads gold and submissions from untrusted files: JSON Lines, plain or gzipped, ZIP archives and
folders.

A reader yields a record for whatever can be used and a fault, with file and line, for whatever
cannot, and goes on after a fault; so one pass finds all of them. Nothing is written to disk, and
every size is bounded.
"""

import gzip
import io
import json
import math
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Any, NoReturn

from portal.common.archives import MEGABYTE, Archive, ArchiveFault, ArchiveLimits, open_archive

# A path of this machine (commands), or an open binary file (uploads), which is not closed here.
Source = Path | IO[bytes]

_BOM = b"\xef\xbb\xbf"
_ZIP_MAGIC = b"PK"
_GZIP_MAGIC = b"\x1f\x8b"
# Up to this many bytes any ratio of compression is taken; repetitive text compresses well.
_HARMLESS = 10 * MEGABYTE
_PAGE_SUFFIXES = frozenset({".html", ".htm", ".txt"})


@dataclass(frozen=True)
class ReadLimits:
    """Bounds on what is read; bytes but for `characters`, the length of one page of HTML or
    text."""

    line: int = 16 * MEGABYTE
    characters: int = 2_000_000
    archive: ArchiveLimits = field(default_factory=ArchiveLimits)


DEFAULT_LIMITS = ReadLimits()


@dataclass(frozen=True)
class ReadFault:
    """Something in a file that cannot be used. `line` counts from 1; 0 means the file as a
    whole."""

    file: str
    line: int
    id: str | None
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


@dataclass(frozen=True)
class Record:
    """A JSON object and where it stands, or a page file as the object `{"id", "html"}`."""

    file: str
    line: int
    value: dict[str, Any]
    is_page: bool = False

    def fault(self, message: str, *, line: int | None = None) -> ReadFault:
        item = self.value.get("id")
        known = item if isinstance(item, str) else None
        return ReadFault(self.file, self.line if line is None else line, known, message)


class _UnusableError(Exception):
    """A line that is not a JSON object; the message says why."""


def read_records(
    source: Source, limits: ReadLimits, *, prefix: str = ""
) -> Iterator[Record | ReadFault]:
    """The records of a JSON Lines file (also gzipped), or of the pages or JSON Lines files in a
    folder or ZIP.

    What a file is is told by its first bytes, not by its name. A page file is named after its id,
    after `prefix` if it is a text file and has it.
    """
    name = _name_of(source)
    if isinstance(source, Path) and source.is_dir():
        yield from _read_archive(source, name, limits, prefix)
        return
    try:
        with _opened(source) as file:
            magic = file.read(len(_BOM))
            file.seek(0)
            if magic.startswith(_ZIP_MAGIC) or name.lower().endswith(".zip"):
                yield from _read_archive(file, name, limits, prefix)
            else:
                yield from _read_stream(file, name, limits)
    except OSError as error:
        yield ReadFault(name, 0, None, f"cannot be read: {error.strerror or error}")


def _name_of(source: Source) -> str:
    """How a source is called in messages: a path as it was given, an upload by its name alone."""
    if isinstance(source, Path):
        return str(source)
    return PurePosixPath(str(getattr(source, "name", "") or "upload")).name


@contextmanager
def _opened(source: Source) -> Iterator[IO[bytes]]:
    if isinstance(source, Path):
        with source.open("rb") as file:
            yield file
    else:
        source.seek(0)
        yield source


def _read_stream(file: IO[bytes], name: str, limits: ReadLimits) -> Iterator[Record | ReadFault]:
    """JSON Lines, gunzipped on the fly if need be."""
    zipped = file.read(2) == _GZIP_MAGIC
    file.seek(0)
    stream = gzip.GzipFile(fileobj=file) if zipped else file
    try:
        yield from _read_lines(stream, file, name, limits)
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        yield ReadFault(name, 0, None, f"not a readable gzip file: {error}")


def _read_lines(
    stream: IO[bytes] | gzip.GzipFile, packed: IO[bytes], name: str, limits: ReadLimits
) -> Iterator[Record | ReadFault]:
    """The lines of `stream`, which is `packed` itself or what it unpacks to."""
    number = total = 0
    while line := stream.readline(limits.line + 1):
        number += 1
        total += len(line)
        if reason := _over_limit(len(line), total, packed, limits):
            yield ReadFault(name, number, None, f"{reason}; nothing from here on was read")
            return
        if number == 1:
            line = line.removeprefix(_BOM)
        if line.strip():
            try:
                yield Record(name, number, parse_object(line))
            except _UnusableError as error:
                yield ReadFault(name, number, None, str(error))


def _over_limit(line: int, total: int, packed: IO[bytes], limits: ReadLimits) -> str:
    if line > limits.line:
        return f"the line is longer than {limits.line // MEGABYTE} MB"
    if total > limits.archive.total:
        return f"the file unpacks to more than {limits.archive.total // MEGABYTE} MB"
    if total > _HARMLESS and total > packed.tell() * limits.archive.ratio:
        return f"compressed more than {limits.archive.ratio} times, refused as a bomb"
    return ""


def _read_archive(
    source: Source, name: str, limits: ReadLimits, prefix: str
) -> Iterator[Record | ReadFault]:
    try:
        with open_archive(source, limits.archive) as archive:
            yield from _read_members(archive, name, limits, prefix)
    except ArchiveFault as error:
        yield ReadFault(name, 0, None, str(error))


def _read_members(
    archive: Archive, name: str, limits: ReadLimits, prefix: str
) -> Iterator[Record | ReadFault]:
    names = sorted(member.name for member in archive.members())
    has_pages = any(_is_page(member) for member in names)
    if not names:
        yield ReadFault(name, 0, None, "holds no files")
    for member in names:
        shown = f"{name}/{member}"
        if _is_page(member):
            yield _read_page(archive, member, shown, prefix)
        elif has_pages or not member.lower().endswith((".jsonl", ".jsonl.gz")):
            yield ReadFault(shown, 0, None, "not expected here; pages are ID.html or ID.txt")
        else:
            yield from _read_packed_lines(archive, member, shown, limits)


def _is_page(member: str) -> bool:
    return PurePosixPath(member).suffix.lower() in _PAGE_SUFFIXES


def _read_page(archive: Archive, member: str, shown: str, prefix: str) -> Record | ReadFault:
    path = PurePosixPath(member)
    item = path.stem.removeprefix(prefix) if path.suffix.lower() == ".txt" else path.stem
    try:
        data = archive.read(member).removeprefix(_BOM)
        return Record(shown, 1, {"id": item, "html": data.decode("utf-8")}, is_page=True)
    except ArchiveFault as error:
        return ReadFault(shown, 0, item, str(error))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return ReadFault(shown, line, item, _utf8_message(error))


def _read_packed_lines(
    archive: Archive, member: str, shown: str, limits: ReadLimits
) -> Iterator[Record | ReadFault]:
    try:
        data = archive.read(member)
    except ArchiveFault as error:
        yield ReadFault(shown, 0, None, str(error))
        return
    yield from _read_stream(io.BytesIO(data), shown, limits)


def parse_object(line: bytes) -> dict[str, Any]:
    """The JSON object on a line.

    Strict where Python's own reader is not: no NaN or Infinity, no number too large for a float,
    no key twice, no invalid UTF-8, no half of a surrogate pair. Raises _UnusableError.
    """
    try:
        text = line.decode("utf-8")
        value = json.loads(
            text,
            parse_constant=_refuse_constant,
            parse_float=_finite,
            object_pairs_hook=_distinct,
        )
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeDecodeError as error:
        raise _UnusableError(_utf8_message(error)) from error
    except UnicodeEncodeError as error:
        raise _UnusableError("half of a surrogate pair is not a character") from error
    except json.JSONDecodeError as error:
        raise _UnusableError(f"not valid JSON: {error.msg} at column {error.colno}") from error
    except RecursionError as error:
        raise _UnusableError("nested too deeply") from error
    except ValueError as error:
        # Python refuses whole numbers of more than 4,300 digits.
        raise _UnusableError("holds a number with too many digits") from error
    if not isinstance(value, dict):
        raise _UnusableError("not a JSON object")
    return value


def _utf8_message(error: UnicodeDecodeError) -> str:
    return f"not valid UTF-8 (byte 0x{error.object[error.start]:02x})"


def _refuse_constant(name: str) -> NoReturn:
    raise _UnusableError(f"{name} is not a JSON value")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise _UnusableError(f"the number {digits[:20]} is too large")
    return number


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        twice = counts.most_common(1)[0][0]
        raise _UnusableError(f"the key {twice!r} stands twice in one object")
    return value
