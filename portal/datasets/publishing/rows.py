"""What is published of a release and its items, as plain values."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


class PublishingError(ValueError):
    """A file of a release that cannot be read; `where` names the file, or file and line."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"{where}: {reason}")
        self.where = where
        self.reason = reason


@dataclass(frozen=True)
class Citation:
    """How a release wants to be cited. A person is “Family, Given”; other names stay as they
    are.
    """

    authors: tuple[str, ...] = ()
    year: int | None = None
    doi: str = ""
    url: str = ""


@dataclass(frozen=True)
class PublishedRelease:
    """A release without its items.

    `licence` is an SPDX identifier, an address or words; `must_accept` says that it stands before a
    download. `draw` says how its splits were drawn. `page` is the absolute address of the release's
    page. `sha256`, made as `scheme` says, is empty where gold is hidden, as is `fact_count`.
    """

    dataset: str
    title: str
    version: str
    frozen_at: datetime
    description: str = ""
    licence: str = ""
    must_accept: bool = False
    benchmark: str = "fincriticaled"
    labels: tuple[str, ...] = ()
    visibility: str = "public"
    notes: str = ""
    scheme: str = "release-v1"
    sha256: str = ""
    item_count: int = 0
    fact_count: int | None = None
    citation: Citation = Citation()
    draw: Mapping[str, Any] = field(default_factory=dict)
    keywords: tuple[str, ...] = ()
    page: str = ""


@dataclass(frozen=True)
class Fact:
    """The n-th fact of an item: `[start, end)` in code points of the canonical text."""

    n: int
    type: str
    value: str
    start: int
    end: int


@dataclass(frozen=True)
class ItemGold:
    """The canonical gold line of an item, its hash and its facts; the text the facts count in."""

    line: Mapping[str, Any]
    sha256: str
    facts: tuple[Fact, ...] = ()
    text_chars: int | None = None
    text_sha256: str | None = None


@dataclass(frozen=True)
class ItemImage:
    """A page image: its file's name, such as `ID.png`, and how to get at its bytes.

    `sha256` is that of the stored file, which the release covers; empty where nobody needs it.
    """

    name: str
    read: Callable[[], bytes]
    sha256: str = ""


@dataclass(frozen=True)
class PublishedItem:
    """One item; `gold` is None where it is hidden. What is left then may be told to anybody."""

    name: str
    split: str = ""
    prompt: str = ""
    images: tuple[ItemImage, ...] = ()
    gold: ItemGold | None = None


def image_name(document: str, number: int, suffix: str) -> str:
    """The file of a document's image: `ID.png` for the first, `ID-2.png` for the second."""
    return f"{document}{'' if number == 1 else f'-{number}'}{suffix}"
