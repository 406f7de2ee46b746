"""What every reader of an import gives: items, and what it had to refuse, one by one."""

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from portal.datasets.models.documents import NAME_LENGTH, document_name
from portal.facts.xbrl import XbrlResources

from .layout import Refusal, printable
from .meta import DocumentMeta


@dataclass(frozen=True)
class PictureFile:
    """A picture of an item that is not read before it is asked for.

    `shown` is how reports call it. `read` gives the bytes as they came, unchecked, as long as the
    iterator its item came from is not at its end, and raises ArchiveFault.
    """

    shown: str
    read: Callable[[], bytes] = field(repr=False)


@dataclass(frozen=True)
class SourceItem:
    """Something that can become a document.

    `where` is its place in the source, which no other item or refusal of an import has: `FILE`,
    `FILE:LINE`, `FILE:row N` or `FILE:page N`. `html` is the page as it came, not canonical, or
    None for a picture. `record` is the line of gold of the benchmark with the key `benchmark`, as
    it came, and `prompt` what a model is asked. `language` is a tag of BCP 47 or empty. `faults`
    are what was wrong about it and refuses nothing. `xbrl` is what the whole filing of a page
    keeps apart from it, for `read_xbrl_details`; None if it has no inline XBRL.
    """

    where: str
    name: str
    html: str | None = None
    pictures: tuple[PictureFile, ...] = ()
    record: dict[str, Any] | None = None
    benchmark: str = ""
    prompt: str = ""
    language: str = ""
    meta: DocumentMeta = field(default_factory=DocumentMeta)
    faults: tuple[Refusal, ...] = ()
    xbrl: XbrlResources | None = None


# A generator, so that who stops early can close what it has open.
SourceItems = Generator[SourceItem | Refusal, None, None]


def place_of(item: SourceItem | Refusal) -> str:
    """Where an item or a refusal stands in its source, unlike any other of the same import."""
    return item.name if isinstance(item, Refusal) else item.where


class ItemError(ValueError):
    """Why one item cannot be taken, with a code for programs. Its reader names the place."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code


def item_name(text: str) -> str:
    """The document's name that an id of the source spells; raises ItemError."""
    try:
        return document_name(text)
    except ValueError as error:
        raise ItemError("bad_name", str(error)) from error


def name_from_path(path: str) -> str:
    """A name from a file's: what no name may hold becomes `_`, and it is cut to length.

    >>> name_from_path("2024/a:b?.htm")
    'a_b_'
    """
    stem = printable(PurePosixPath(path).stem)
    plain = "".join("_" if c in '\\/:*?"<>|' else c for c in stem).strip(". ")
    return document_name(plain[:NAME_LENGTH].rstrip(". ") or "unnamed")
