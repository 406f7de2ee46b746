"""Reading gold HTML with inline fact tags: a folder or ZIP of `ID.html`, or `{"id", "html"}` lines.

A ZIP or folder may keep the pages under `gold/` or one folder deep, as exported releases do.
"""

import gzip
import json
import zlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from portal.facts import KNOWN_LABELS, Canonical, RefusedHtml, TagError, decode_html, read_tags
from portal.facts.file_reading import GZIP, TEXT, mistaken
from portal.files.archives import ArchiveFault, ArchiveLimits, Member, open_archive

from .layout import PAGE_SUFFIXES, printable

# Characters shown of each side where two texts part.
EXCERPT = 30
_ACCEPTED = "text in UTF-8 is accepted, gzipped if the file's name ends in .gz"


@dataclass(frozen=True)
class GoldPage:
    """One page as it came; `where` is its file, or file and line."""

    where: str
    name: str
    html: str


@dataclass(frozen=True)
class GoldFault:
    """What could not be read, with the file and line."""

    message: str


def read_gold_pages(path: Path, limits: ArchiveLimits) -> Iterator[GoldPage | GoldFault]:
    """Yields the pages one by one, and a fault for each that cannot be read.

    Raises ArchiveFault when the source as a whole is unusable.
    """
    if path.is_dir() or path.suffix.lower() == ".zip":
        yield from _from_archive(path, limits)
    elif path.name.lower().endswith((".jsonl", ".jsonl.gz")):
        yield from _from_lines(path, limits)
    else:
        message = f"{path.name}: gold is a folder, a .zip, a .jsonl or a .jsonl.gz"
        raise ArchiveFault("not_gold", message)


def _from_archive(path: Path, limits: ArchiveLimits) -> Iterator[GoldPage | GoldFault]:
    with open_archive(path, limits) as archive:
        for member in _gold_members(archive.members()):
            where = printable(member)
            try:
                html = decode_html(archive.read(member))
            except ArchiveFault as fault:
                yield GoldFault(str(fault))
            except RefusedHtml as fault:
                yield GoldFault(f"{where}: {fault.reason}")
            else:
                yield GoldPage(where, PurePosixPath(member).stem, html)


def _gold_members(members: Sequence[Member]) -> list[str]:
    """The pages of the one folder that holds them: `gold/` if there is one, else the only one."""
    by_folder: dict[str, list[str]] = {}
    for member in members:
        path = PurePosixPath(member.name)
        if path.suffix.lower() in PAGE_SUFFIXES and len(path.parts) <= 3:
            by_folder.setdefault(str(path.parent), []).append(member.name)
    gold = [folder for folder in by_folder if PurePosixPath(folder).name == "gold"]
    folders = gold or (["."] if "." in by_folder else list(by_folder))
    if len(folders) != 1:
        found = ", ".join(printable(folder) for folder in sorted(folders)[:5]) or "none"
        message = f"the gold pages ID.html must lie in one folder; found {found}"
        raise ArchiveFault("no_gold", message)
    return sorted(by_folder[folders[0]])


def _from_lines(path: Path, limits: ArchiveLimits) -> Iterator[GoldPage | GoldFault]:
    with path.open("rb") as file:
        for number, line in bounded_lines(file, path.name, limits):
            if line.strip():
                yield _read_line(f"{path.name}:{number}", line)


def _read_line(where: str, line: bytes) -> GoldPage | GoldFault:
    try:
        return _page(where, json.loads(line.decode("utf-8")))
    except UnicodeDecodeError as error:
        return GoldFault(f"{where}: not UTF-8 at byte {error.start + 1} of the line")
    except (ValueError, RecursionError) as error:
        return GoldFault(f"{where}: not a line of gold: {error}")


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


def _page(where: str, line: object) -> GoldPage:
    if not isinstance(line, dict):
        raise ValueError("it must be a JSON object")
    for key in ("id", "html"):
        if not isinstance(line.get(key), str):
            raise ValueError(f"{key} is missing or not a text")
    return GoldPage(where, line["id"], line["html"])


def gold_difference(html: str, page: Canonical) -> str:
    """Why gold with tags is not the page `page` and tags, in a sentence; empty when it is.

    Where the text is the same, markup that differs does no harm: offsets live in the text.
    """
    try:
        tagged = read_tags(html, KNOWN_LABELS)
    except (TagError, RefusedHtml) as error:
        return str(error)
    if tagged.canonical.text_sha256 == page.text_sha256:
        return ""
    place = where_texts_part(tagged.canonical.text, page.text)
    return f"without its tags the gold is not the page: {place}"


def where_texts_part(text: str, other: str) -> str:
    """The first place where two texts that differ do, for people: `text` is what came."""
    shorter = min(len(text), len(other))
    at = next((i for i in range(shorter) if text[i] != other[i]), shorter)
    return (
        f"at character {at} it reads {text[at : at + EXCERPT]!r}, the document"
        f" {other[at : at + EXCERPT]!r}"
    )
