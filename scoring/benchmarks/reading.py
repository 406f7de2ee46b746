"""Reads gold and submissions from untrusted files: JSON Lines, plain or gzipped, ZIP archives and
folders, including folders of JSON files.

A reader yields a record for every usable line or file and a fault with file and line for every
other, so one pass finds all faults. Nothing is written to disk, and every size is bounded.
"""

import gzip
import io
import json
import math
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Any, NoReturn

from portal.facts.file_reading import (
    GZIP,
    OFFICE,
    TEXT,
    kind_of_file,
    mistaken,
    not_lines,
    sentence,
)
from portal.files.archives import MEGABYTE, Archive, ArchiveFault, ArchiveLimits, open_archive
from portal.files.member_names import plain_name
from scoring.metrics import is_deeper

# A local path (commands), or an open binary file (uploads), which is not closed here.
Source = Path | IO[bytes]

# Nesting depth of a line; benchmarks may require flatter ones.
DEEPEST = 200
LONGEST_ID = 160

BOM = b"\xef\xbb\xbf"
ZIP_MAGIC = b"PK"
_GZIP_MAGIC = b"\x1f\x8b"
# Up to this many bytes any compression ratio is allowed; repetitive text compresses well.
_HARMLESS = 10 * MEGABYTE
_ACCEPTED = (
    "accepted are JSON Lines in UTF-8, gzipped or not, and a ZIP of the files of a layout of this"
    " benchmark"
)
_PAGE_SUFFIXES = frozenset({".html", ".htm", ".txt"})
_LONGEST_QUOTE = 60
_TOO_DEEP = f"nested more than {DEEPEST} deep"


@dataclass(frozen=True)
class ReadLimits:
    """Limits on input, in bytes, except `characters`: the length of one page of HTML or text."""

    line: int = 16 * MEGABYTE
    characters: int = 2_000_000
    archive: ArchiveLimits = field(default_factory=ArchiveLimits)


DEFAULT_LIMITS = ReadLimits()


@dataclass(frozen=True)
class ReadFault:
    """An unusable part of a file. `line` counts from 1; 0 means the file as a whole."""

    file: str
    line: int
    id: str | None
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


@dataclass(frozen=True)
class Record:
    """A JSON object and its source, or a page file as the object `{"id", "html"}`.

    Its `id` is brought to Unicode form NFC, as ids of documents are.
    """

    file: str
    line: int
    value: dict[str, Any]
    is_page: bool = False

    def __post_init__(self) -> None:
        item = self.value.get("id")
        if isinstance(item, str) and not item.isascii():
            self.value["id"] = plain_name(item)

    def fault(self, message: str, *, line: int | None = None) -> ReadFault:
        item = self.value.get("id")
        is_shown = isinstance(item, str) and len(item) <= LONGEST_ID and item.isprintable()
        where = self.line if line is None else line
        return ReadFault(self.file, where, item if is_shown else None, message)


class UnusableError(ValueError):
    """Bytes that are not the expected JSON. The message gives the reason; `line` counts from 1, or
    is 0 if unknown."""

    def __init__(self, reason: str, line: int = 0) -> None:
        super().__init__(reason)
        self.line = line


def read_records(
    source: Source, limits: ReadLimits, *, prefix: str = ""
) -> Iterator[Record | ReadFault]:
    """Read the records of a JSON Lines file (plain or gzipped), or of the pages or JSON Lines files
    in a folder or ZIP.

    The type of a file is detected from its first bytes, not its name. The id of a page is the name
    of its file, without `prefix` if it is a text file and has it.
    """
    name = name_of(source)
    if isinstance(source, Path) and source.is_dir():
        yield from _read_archive(source, name, limits, prefix)
        return
    try:
        with _opened(source) as file:
            magic = file.read(len(ZIP_MAGIC))
            file.seek(0)
            if kind_of_file(file) == OFFICE:
                yield ReadFault(name, 0, None, sentence(OFFICE, _ACCEPTED))
            elif magic == ZIP_MAGIC or name.lower().endswith(".zip"):
                yield from _read_archive(file, name, limits, prefix)
            else:
                yield from _read_stream(file, name, limits)
    except OSError as error:
        yield ReadFault(name, 0, None, f"cannot be read: {error.strerror or error}")


def name_of(source: Source) -> str:
    """Return the name of a source in messages: a path as it was given, an upload by its name
    alone."""
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
    """Read JSON Lines, decompressing if needed. For anything else, yield one fault."""
    if reason := mistaken(file, {TEXT, GZIP}, _ACCEPTED):
        yield ReadFault(name, 0, None, reason)
        return
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
    """Yield the lines of `stream`, which is `packed` itself or its decompressed form."""
    number = total = 0
    while line := stream.readline(limits.line + 1):
        number += 1
        total += len(line)
        if reason := _over_limit(len(line), total, packed, limits):
            yield ReadFault(name, number, None, f"{reason}; the rest was not read")
            return
        if number == 1:
            line = line.removeprefix(BOM)
            if reason := not_lines(line):
                yield ReadFault(name, 1, None, reason)
                return
        if line.strip():
            try:
                # Without its end: an error there would be in column 1 of the next line.
                yield Record(name, number, parse_object(line.rstrip(b"\r\n")))
            except UnusableError as error:
                yield ReadFault(name, number, None, str(error))


def _over_limit(line: int, total: int, packed: IO[bytes], limits: ReadLimits) -> str:
    if line > limits.line:
        return f"the line is longer than {limits.line // MEGABYTE} MB"
    if total > limits.archive.total:
        return f"the file unpacks to more than {limits.archive.total // MEGABYTE} MB"
    if total > _HARMLESS and total > packed.tell() * limits.archive.ratio:
        return f"compression ratio above {limits.archive.ratio}; it may be a gzip bomb"
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
        yield ReadFault(name, 0, None, "contains no files")
    for member in names:
        shown = f"{name}/{member}"
        if _is_page(member):
            yield _read_page(archive, member, shown, prefix)
        elif has_pages or not member.lower().endswith((".jsonl", ".jsonl.gz")):
            yield ReadFault(
                shown, 0, None, "unexpected file; pages must be named ID.html or ID.txt"
            )
        else:
            yield from _read_packed_lines(archive, member, shown, limits)


def _is_page(member: str) -> bool:
    return PurePosixPath(member).suffix.lower() in _PAGE_SUFFIXES


def _read_page(archive: Archive, member: str, shown: str, prefix: str) -> Record | ReadFault:
    path = PurePosixPath(member)
    item = path.stem.removeprefix(prefix) if path.suffix.lower() == ".txt" else path.stem
    try:
        data = archive.read(member).removeprefix(BOM)
        return Record(shown, 1, {"id": item, "html": data.decode("utf-8")}, is_page=True)
    except ArchiveFault as error:
        return ReadFault(shown, 0, item, str(error))
    except UnicodeDecodeError as error:
        return ReadFault(shown, _line_of(error), item, _utf8_message(error))


def _read_packed_lines(
    archive: Archive, member: str, shown: str, limits: ReadLimits
) -> Iterator[Record | ReadFault]:
    try:
        data = archive.read(member)
    except ArchiveFault as error:
        yield ReadFault(shown, 0, None, str(error))
        return
    yield from _read_stream(io.BytesIO(data), shown, limits)


def parse_object(data: bytes) -> dict[str, Any]:
    """Parse bytes as a JSON object, with `parse_json`. Raises UnusableError."""
    value = parse_json(data)
    if not isinstance(value, dict):
        raise UnusableError("not a JSON object", 1)
    return value


def parse_json(data: bytes) -> Any:
    """Parse bytes as a JSON value.

    Stricter than Python's parser: no NaN or Infinity, no number too large for a float, no repeated
    key, no invalid UTF-8, no lone surrogate, at most DEEPEST levels. Raises UnusableError.
    """
    try:
        value = json.loads(
            data.decode("utf-8"),
            parse_constant=_refuse_constant,
            parse_float=_finite,
            object_pairs_hook=_distinct,
        )
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnusableError:
        raise
    except UnicodeDecodeError as error:
        raise UnusableError(_utf8_message(error), _line_of(error)) from error
    except UnicodeEncodeError as error:
        raise UnusableError(
            "contains half of a surrogate pair, which is not a character"
        ) from error
    except json.JSONDecodeError as error:
        # Some of Python's messages end with "at".
        reason = f"not valid JSON: {error.msg.removesuffix(' at')} at column {error.colno}"
        raise UnusableError(reason, error.lineno) from error
    except RecursionError as error:
        raise UnusableError(_TOO_DEEP) from error
    except ValueError as error:
        # Python refuses integers of more than 4,300 digits.
        raise UnusableError("contains a number with too many digits") from error
    if data.count(b"[") + data.count(b"{") > DEEPEST and is_deeper(value, DEEPEST):
        raise UnusableError(_TOO_DEEP)
    return value


def _line_of(error: UnicodeDecodeError) -> int:
    return error.object.count(b"\n", 0, error.start) + 1


def _utf8_message(error: UnicodeDecodeError) -> str:
    return f"not valid UTF-8 (byte 0x{error.object[error.start]:02x})"


def _refuse_constant(name: str) -> NoReturn:
    raise UnusableError(f"{name} is not a JSON value")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise UnusableError(f"the number {digits[:20]} is too large")
    return number


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        twice = counts.most_common(1)[0][0]
        raise UnusableError(f"the key {quoted(twice)} occurs twice in one object")
    return value


def quoted(text: str) -> str:
    """Shorten a text of a file for messages, and put it on one line.

    >>> quoted("Net\\n"), quoted("9" * 100)
    ("'Net\\\\n'", "'999999999999999999999999999999999999999999999999999999999999'…")
    """
    return repr(text) if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]!r}…"


def holds_json_files(source: Source, limits: ReadLimits) -> bool:
    """Whether this is a folder or ZIP with files named `*.json`, rather than JSON Lines or pages.

    Sources that cannot be opened give False; the record reader reports the reason.
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
    source: Source, limits: ReadLimits, read: ReadFile, *, ignored: str = ""
) -> Iterator[Record | ReadFault]:
    """Yield the result of `read(archive, member, shown)` for each file, in the order of their
    names.

    `shown` is the file's name in messages. Files named in `ignored` are skipped; a file that is
    not `*.json` is a fault.
    """
    name = name_of(source)
    try:
        with open_archive(source, limits.archive) as archive:
            for member in sorted(member.name for member in archive.members()):
                shown = f"{name}/{member}"
                if not is_json(member):
                    yield ReadFault(shown, 0, None, "unexpected file among JSON files")
                elif PurePosixPath(member).name != ignored:
                    yield read(archive, member, shown)
    except ArchiveFault as error:
        yield ReadFault(name, 0, None, str(error))


def read_json_object(
    archive: Archive, member: str, shown: str, limits: ReadLimits
) -> Record | ReadFault:
    """Read a file that is one item, no longer than a line may be."""
    return _read(archive, member, shown, parse_object, limits.line)


def read_json_value(archive: Archive, member: str, shown: str) -> Record | ReadFault:
    """Read any JSON from a file, under the key `value`, no longer than a member may be."""
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
