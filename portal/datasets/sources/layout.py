"""Which files of a folder or archive are pages, images and metadata.

    pages/ID.html     required, one per document (.htm as well)
    images/ID.png     optional (.jpg and .jpeg as well)
    meta.jsonl        optional, one JSON object per document

The same may stand one folder deeper, as archives of a folder have it. Everything else is counted,
not read.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from portal.datasets.models.documents import document_name
from portal.files.archives import ArchiveFault, Member

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
