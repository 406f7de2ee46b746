"""The pages that a model is asked about: canonical text, cut into pieces that fit into a request.

A folder or a ZIP holds ID.html. Inline tags of the labels, as in a campaign's export, are removed.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path, PurePosixPath

from portal.facts import RefusedHtml, TagError, decode_html, read_tags, text_borders
from portal.files.archives import ArchiveFault, ArchiveLimits, open_archive
from scoring.offline.terminal import BadInput

SUFFIXES = frozenset({".html", ".htm"})
_LIMITS = ArchiveLimits(total=2**50)


class PagesError(BadInput):
    """The pages cannot be read. The message names the file."""


@dataclass(frozen=True)
class Page:
    """A page; `name` is the name of its document in the campaign."""

    name: str
    text: str
    text_sha256: str
    borders: tuple[int, ...]


@dataclass(frozen=True)
class Piece:
    """A part of a page as a model reads it: a table cell or block begins with a new line, which
    the page's text does not have. `places[i]` is the offset in the page of `shown[i]`."""

    id: str
    page: Page
    start: int
    end: int

    @property
    def shown(self) -> str:
        return "".join(self.page.text[a:b] + after for a, b, after in self._stretches())

    @property
    def places(self) -> list[int]:
        found: list[int] = []
        for start, end, after in self._stretches():
            found.extend(range(start, end))
            found.extend([end] * len(after))
        return found

    def _stretches(self) -> Iterator[tuple[int, int, str]]:
        borders = self.page.borders
        inside = borders[bisect_right(borders, self.start) : bisect_right(borders, self.end - 1)]
        edges = [self.start, *inside, self.end]
        for start, end in pairwise(edges):
            yield start, end, "\n" if end < self.end else ""


def read_pages(path: Path, labels: Sequence[str]) -> list[Page]:
    """Every page of a folder or ZIP by name. Raises PagesError."""
    if not path.exists():
        raise PagesError(f"{path}: there is no such file or folder")
    pages: dict[str, Page] = {}
    try:
        with open_archive(path, _LIMITS) as archive:
            for member in sorted(each.name for each in archive.members()):
                name = PurePosixPath(member)
                if name.suffix.lower() not in SUFFIXES:
                    continue
                where = f"{path}/{member}"
                if name.stem in pages:
                    raise PagesError(f"{where}: another page has the name {name.stem}")
                pages[name.stem] = _page(name.stem, archive.read(member), labels, where)
    except ArchiveFault as fault:
        raise PagesError(f"{path}: {fault}") from fault
    if not pages:
        raise PagesError(f"{path}: holds no ID.html")
    return list(pages.values())


def _page(name: str, data: bytes, labels: Sequence[str], where: str) -> Page:
    try:
        canonical = read_tags(decode_html(data), labels).canonical
    except (RefusedHtml, TagError, ValueError) as error:
        raise PagesError(f"{where}: {error}") from error
    return Page(name, canonical.text, canonical.text_sha256, text_borders(canonical.html))


def cut(page: Page, most: int) -> list[Piece]:
    """Pieces of at most `most` characters, which end at borders where that is possible."""
    pieces: list[Piece] = []
    start = 0
    while start < len(page.text):
        end = min(start + most, len(page.text))
        if end < len(page.text):
            before = bisect_right(page.borders, end)
            last = page.borders[before - 1] if before else 0
            end = last if last > start else end
        if page.text[start:end].strip():
            pieces.append(Piece(f"{page.name}#{len(pieces) + 1}", page, start, end))
        start = end
    return pieces
