"""Opening the source of an import: a folder, a ZIP, or one file alone, all read the same way.

The layout of pages has these files. The same may be one folder deeper, as archives of a folder
have it:

    pages/ID.html   required, one per document (.htm as well)
    images/ID.png   optional (.jpg and .jpeg as well)
    meta.jsonl      optional, one JSON object per document

Everything else is counted, not read.
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
from portal.facts.file_reading import GZIP, TEXT, mistaken
from portal.files.archives import (
    Archive,
    ArchiveFault,
    ArchiveLimits,
    Member,
    ZipArchive,
    open_archive,
)

META = "meta.jsonl"
PAGE_SUFFIXES = frozenset({".html", ".htm"})
IMAGE_SUFFIXES = frozenset({".png", ".jpg", ".jpeg"})
# So many folders are named in the count of what is no part of an import; the rest is summed up.
IGNORED_SHOWN = 20


@dataclass(frozen=True)
class Refusal:
    """A file, or `meta.jsonl:LINE`, that was not taken, and why."""

    name: str
    code: str
    reason: str


@dataclass(frozen=True)
class SourceFile:
    """A member under its full name `path`; `shown` is its name relative to the import's root."""

    path: str
    shown: str


@dataclass(frozen=True)
class PageFile:
    """A page and the image that goes with it."""

    name: str
    file: SourceFile
    image: SourceFile | None


@dataclass(frozen=True)
class Layout:
    """Pages by name; `page_files` counts all files in pages/, refused ones included."""

    pages: list[PageFile]
    page_files: int
    meta: SourceFile | None
    refusals: list[Refusal]
    ignored: dict[str, int]


@dataclass
class _Sorting:
    """Where files go while the listing is read."""

    pages: dict[str, SourceFile] = field(default_factory=dict)
    images: dict[str, SourceFile] = field(default_factory=dict)
    refusals: list[Refusal] = field(default_factory=list)
    ignored: Counter[str] = field(default_factory=Counter)
    page_files: int = 0
    meta: SourceFile | None = None


def read_layout(members: Sequence[Member]) -> Layout:
    """Sorts the files of a source; raises ArchiveFault if there is no page among them."""
    root = _root(members)
    sorting = _Sorting()
    for member in sorted(members, key=lambda member: member.name):
        if member.name.startswith(root):
            _sort_file(sorting, SourceFile(member.name, printable(member.name[len(root) :])))
        else:
            sorting.ignored[_folder(member.name)] += 1
    return _layout(sorting)


def _root(members: Sequence[Member]) -> str:
    """The prefix under which `pages/` lies: none, or one folder."""
    roots = set()
    for member in members:
        parts = member.name.split("/")
        if parts[0] == "pages" and len(parts) == 2:
            return ""
        if len(parts) == 3 and parts[1] == "pages":
            roots.add(f"{parts[0]}/")
    if not roots:
        raise ArchiveFault("no_pages", "there is no page in it: pages must be named pages/ID.html")
    if len(roots) > 1:
        names = ", ".join(printable(name) for name in sorted(roots)[:5])
        raise ArchiveFault(
            "several_roots", f"pages lie in several folders ({names}); import one after the other"
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
    """Files a page or image under its document's name, or refuses it."""
    path = PurePosixPath(file.path)
    if path.suffix.lower() not in suffixes:
        reason = f"only {', '.join(sorted(suffixes))} files are taken from this folder"
        sorting.refusals.append(Refusal(file.shown, suffix_code, reason))
        return
    try:
        name = document_name(path.stem)
    except ValueError as error:
        sorting.refusals.append(Refusal(file.shown, "bad_name", str(error)))
        return
    if name in taken:
        reason = f"the same id as {taken[name].shown}"
        sorting.refusals.append(Refusal(file.shown, "name_taken", reason))
        return
    taken[name] = file


def _layout(sorting: _Sorting) -> Layout:
    pages = [
        PageFile(name, file, sorting.images.pop(name, None))
        for name, file in sorted(sorting.pages.items())
    ]
    orphans = [
        Refusal(image.shown, "image_without_page", f"there is no page pages/{name}.html")
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
    """`predictions/a/b.html` counts under `predictions/`, a file at the top under its own name."""
    head, slash, _ = name.partition("/")
    return printable(head + slash)


def counted_by_folder(names: Iterable[str], among: Sequence[str] = ()) -> dict[str, int]:
    """Files that are no part of an import, as `ignored` of an import has them.

    `among` are all files of the source: where they lie in one folder, its folders count.

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
    """A file's name fit for the database and the page, whatever bytes the file system had."""
    if name.isprintable():
        return name
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in name)


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


_ACCEPTED = "text in UTF-8 is accepted, gzipped if the file's name ends in .gz"


def bounded_lines(
    source: IO[bytes], name: str, limits: ArchiveLimits, *, taken: Collection[str] = (TEXT,)
) -> Iterator[tuple[int, bytes]]:
    """Lines of a file, unpacked if its name ends in `.gz`, with their numbers from 1. `taken` are
    the kinds of files that are no mistake.

    Raises ArchiveFault beyond the limits of line and file, and for a file that is no text.
    """
    total = 0
    is_packed = name.lower().endswith(".gz")
    if reason := mistaken(source, {*taken, GZIP} if is_packed else {*taken}, _ACCEPTED):
        raise ArchiveFault("file_kind", f"{name}: {reason}")
    file = gzip.open(source) if is_packed else source  # noqa: SIM115
    try:
        number = 0
        while line := file.readline(limits.member + 1):
            number += 1
            total += len(line)
            if len(line) > limits.member or total > limits.total:
                raise ArchiveFault("too_large", f"{name}:{number}: larger than allowed")
            yield number, line
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise ArchiveFault("damaged", f"{name}: cannot be unpacked: {error}") from error
