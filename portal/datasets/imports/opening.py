"""Opens the source of an import, a folder, a ZIP or a single file, behind one interface.

The layout `pages` has these files, at the top or in one folder:

    pages/ID.html   required, one per document (also .htm)
    images/ID.png   optional (also .jpg and .jpeg)
    meta.jsonl      optional, one JSON object per document

Other files are counted but not read.
"""

import gzip
import io
import os
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO

from portal.datasets.models.documents import document_name
from portal.facts.file_reading import GZIP, TEXT, mistaken, not_lines
from portal.files.archives import (
    Archive,
    ArchiveFault,
    ArchiveLimits,
    Member,
    open_archive,
)

META = "meta.jsonl"
PAGE_SUFFIXES = frozenset({".html", ".htm"})
IMAGE_SUFFIXES = frozenset({".png", ".jpg", ".jpeg"})
# Folders listed in the counts of ignored files; the rest are summed up.
IGNORED_SHOWN = 20


@dataclass(frozen=True)
class Refusal:
    """A refused file, or line `meta.jsonl:LINE`, with the reason."""

    name: str
    code: str
    reason: str


@dataclass(frozen=True)
class SourceFile:
    """A file of the source: its full name `path`, and `shown`, relative to the import's root."""

    path: str
    shown: str


@dataclass(frozen=True)
class PageFile:
    """A page and its image."""

    name: str
    file: SourceFile
    image: SourceFile | None


@dataclass(frozen=True)
class Layout:
    """The pages, sorted by name; `page_files` counts all files in pages/, also refused ones."""

    pages: list[PageFile]
    page_files: int
    meta: SourceFile | None
    refusals: list[Refusal]
    ignored: dict[str, int]


@dataclass
class _Sorting:
    """The files sorted so far."""

    pages: dict[str, SourceFile] = field(default_factory=dict)
    images: dict[str, SourceFile] = field(default_factory=dict)
    refusals: list[Refusal] = field(default_factory=list)
    ignored: Counter[str] = field(default_factory=Counter)
    page_files: int = 0
    meta: SourceFile | None = None


def read_layout(members: Sequence[Member]) -> Layout:
    """Sorts the files of a source; raises ArchiveFault if it has no pages."""
    root = _root(members)
    sorting = _Sorting()
    for member in sorted(members, key=lambda member: member.name):
        if member.name.startswith(root):
            _sort_file(sorting, SourceFile(member.name, printable(member.name[len(root) :])))
        else:
            sorting.ignored[_folder(member.name)] += 1
    return _layout(sorting)


def _root(members: Sequence[Member]) -> str:
    """The prefix of `pages/`: empty or one folder."""
    roots = set()
    for member in members:
        parts = member.name.split("/")
        if parts[0] == "pages" and len(parts) == 2:
            return ""
        if len(parts) == 3 and parts[1] == "pages":
            roots.add(f"{parts[0]}/")
    if not roots:
        raise ArchiveFault("no_pages", "the source has no files named pages/ID.html")
    if len(roots) > 1:
        names = ", ".join(printable(name) for name in sorted(roots)[:5])
        raise ArchiveFault(
            "several_roots", f"pages are in several folders ({names}); import them separately"
        )
    return roots.pop()


def _sort_file(sorting: _Sorting, file: SourceFile) -> None:
    parts = file.shown.split("/")
    if len(parts) == 2 and not parts[1].startswith("."):
        if parts[0] == "pages":
            sorting.page_files += 1
            _sort_named(sorting, file, sorting.pages, PAGE_SUFFIXES, "not_html")
            return
        if parts[0] == "images":
            _sort_named(sorting, file, sorting.images, IMAGE_SUFFIXES, "image_format")
            return
    if file.shown == META:
        sorting.meta = file
    else:
        sorting.ignored[_folder(file.shown)] += 1


def _sort_named(
    sorting: _Sorting,
    file: SourceFile,
    taken: dict[str, SourceFile],
    suffixes: frozenset[str],
    suffix_code: str,
) -> None:
    """Adds a page or image under its document's name, or refuses it."""
    path = PurePosixPath(file.path)
    if path.suffix.lower() not in suffixes:
        reason = f"only {', '.join(sorted(suffixes))} files are read in this folder"
        sorting.refusals.append(Refusal(file.shown, suffix_code, reason))
        return
    try:
        name = document_name(path.stem)
    except ValueError as error:
        sorting.refusals.append(Refusal(file.shown, "bad_name", str(error)))
        return
    if name in taken:
        reason = f"has the same id as {taken[name].shown}"
        sorting.refusals.append(Refusal(file.shown, "name_taken", reason))
        return
    taken[name] = file


def _layout(sorting: _Sorting) -> Layout:
    pages = [
        PageFile(name, file, sorting.images.pop(name, None))
        for name, file in sorted(sorting.pages.items())
    ]
    orphans = [
        Refusal(image.shown, "image_without_page", f"there is no file pages/{name}.html")
        for name, image in sorting.images.items()
    ]
    return Layout(
        pages=pages,
        page_files=sorting.page_files,
        meta=sorting.meta,
        refusals=sorting.refusals + orphans,
        ignored=_summed(sorting.ignored),
    )


def _folder(name: str) -> str:
    """The top-level folder of a file, such as `predictions/`, or the name of a top-level file."""
    head, slash, _ = name.partition("/")
    return printable(head + slash)


def counted_by_folder(names: Iterable[str], among: Sequence[str] = ()) -> dict[str, int]:
    """Counts files by folder, for `ignored` of an import.

    `among` are all files of the source; if all are in one folder, its subfolders are counted.

    >>> counted_by_folder(["set/gold/a", "set/gold/b"], ["set/gold/a", "set/gold/b", "set/x.csv"])
    {'set/gold/': 2}
    """
    roots = {name.partition("/")[0] for name in among}
    root = f"{roots.pop()}/" if len(roots) == 1 and all("/" in name for name in among) else ""
    return _summed(Counter(printable(root) + _folder(name[len(root) :]) for name in names))


def _summed(counts: Counter[str]) -> dict[str, int]:
    shown = dict(counts.most_common(IGNORED_SHOWN))
    rest = counts.total() - sum(shown.values())
    return dict(sorted(shown.items())) | ({"others": rest} if rest else {})


def printable(name: str) -> str:
    """A file name with unprintable characters escaped, safe to store and show."""
    if name.isprintable():
        return name
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in name)


# A local path (commands) or an open binary file (uploads), which the caller closes.
GivenSource = Path | IO[bytes]


@dataclass
class WatchedSource:
    """A source that records which of its files were read or referred to."""

    source: GivenSource
    files: "SourceFiles | None" = None

    def left_out(self) -> dict[str, int]:
        """Counts by folder of the unread files; call it after all items were read."""
        if self.files is None:
            return {}
        return counted_by_folder(self.files.unread(), among=self.files.names)


# The source that readers open.
Source = GivenSource | WatchedSource
_ZIP_MAGIC = b"PK\x03\x04", b"PK\x05\x06"


class SourceFiles:
    """The files of a source by name.

    `read` returns a whole file, up to the limit of a member. `open` returns a seekable stream for
    large files; its reader must bound what it reads. Both raise ArchiveFault.
    """

    def __init__(self, archive: Archive, limits: ArchiveLimits) -> None:
        self.limits = limits
        self._archive = archive
        self._sizes = {member.name: member.size for member in archive.members()}
        self._used: set[str] = set()

    @property
    def names(self) -> list[str]:
        """All files, sorted by name."""
        return sorted(self._sizes)

    def named(self, *suffixes: str) -> list[str]:
        """The files with one of the extensions, ignoring case, without hidden files."""
        return [
            name
            for name in self.names
            if name.lower().endswith(suffixes) and not PurePosixPath(name).name.startswith(".")
        ]

    def needed(self, code: str, wanted: str, *suffixes: str) -> list[str]:
        """The files with one of the extensions. Raises ArchiveFault if there are none."""
        if found := self.named(*suffixes):
            return found
        raise ArchiveFault(code, f"the source has no {wanted} file")

    def use(self, name: str) -> None:
        """Marks a file as used by the import, whether or not it is read later."""
        self._used.add(name)

    def unread(self) -> list[str]:
        """The files that were not read or marked as used so far."""
        return [name for name in self.names if name not in self._used]

    def read(self, name: str) -> bytes:
        self.use(name)
        return self._archive.read(name)

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        """Opens a file on disk directly; a ZIP member is unpacked in memory."""
        self.use(name)
        opened = getattr(self._archive, "open", None)
        if opened is None:
            yield io.BytesIO(self._archive.read(name))
            return
        with opened(name) as file:
            yield file


class _SingleFile:
    """A single file with the interface of an archive."""

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
    """Opens a source; its first bytes decide whether it is a ZIP. Raises ArchiveFault.

    `name` is the original name or path; a single file is known by its last part.
    """
    if isinstance(source, WatchedSource):
        with open_source(source.source, name, limits) as files:
            source.files = files
            yield files
        return
    if isinstance(source, Path) and source.is_dir():
        with open_archive(source, limits) as archive:
            yield SourceFiles(archive, limits)
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
            yield SourceFiles(archive, limits)
    else:
        last = PurePosixPath(name.replace("\\", "/")).name
        yield SourceFiles(_SingleFile(file, last or "upload", limits), limits)


_ACCEPTED = "use UTF-8 text, gzipped if the file name ends in .gz"


def bounded_lines(
    source: IO[bytes],
    name: str,
    limits: ArchiveLimits,
    *,
    taken: Collection[str] = (TEXT,),
    are_objects: bool = True,
) -> Iterator[tuple[int, bytes]]:
    """Numbered lines of a file, from 1; unpacked if its name ends in `.gz`.

    `taken` are the accepted kinds of files. Raises ArchiveFault if a line or the file exceeds the
    limits, for a file of another kind, and for other JSON if the lines `are_objects`.
    """
    total = 0
    is_packed = name.lower().endswith(".gz")
    if reason := mistaken(source, {*taken, GZIP} if is_packed else {*taken}, _ACCEPTED):
        raise ArchiveFault("file_kind", f"{name}: {reason}")
    file = gzip.open(source) if is_packed else source  # noqa: SIM115
    try:
        number = 0
        is_first = are_objects
        while line := file.readline(limits.member + 1):
            number += 1
            total += len(line)
            if len(line) > limits.member or total > limits.total:
                raise ArchiveFault("too_large", f"{name}:{number}: larger than allowed")
            if is_first and line.strip():
                is_first = False
                if reason := not_lines(line):
                    raise ArchiveFault("not_lines", f"{name}: {reason}")
            yield number, line
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise ArchiveFault("damaged", f"{name}: cannot be unpacked: {error}") from error
