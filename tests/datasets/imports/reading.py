"""Helpers for tests of the readers: sources in memory, and results sorted by kind."""

import io
from collections.abc import Iterable

from PIL import Image

from portal.datasets.imports.items import SourceItem
from portal.datasets.imports.opening import Refusal
from portal.files.archives import ArchiveLimits
from tests.datasets.factories import zip_bytes

LIMITS = ArchiveLimits()


def zipped(files: dict[str, bytes]) -> io.BytesIO:
    """A ZIP of these files."""
    return io.BytesIO(zip_bytes(files))


def picture(colour: int = 0, kind: str = "PNG") -> bytes:
    """A small picture of one grey."""
    data = io.BytesIO()
    Image.new("L", (4, 3), colour).save(data, kind)
    return data.getvalue()


def items(read: Iterable[SourceItem | Refusal]) -> list[SourceItem]:
    """The items; fails if any is refused."""
    found = list(read)
    assert [one for one in found if isinstance(one, Refusal)] == []
    return [one for one in found if isinstance(one, SourceItem)]


def refusals(read: Iterable[SourceItem | Refusal]) -> list[tuple[str, str]]:
    """Place and code of each refusal."""
    return [(one.name, one.code) for one in read if isinstance(one, Refusal)]


def names(read: Iterable[SourceItem | Refusal]) -> list[str]:
    return [one.name for one in read if isinstance(one, SourceItem)]


def pictures(read: Iterable[SourceItem | Refusal]) -> dict[str, list[bytes]]:
    """The pictures of each item, by its name, read while the source is open."""
    return {
        one.name: [file.read() for file in one.pictures]
        for one in read
        if isinstance(one, SourceItem)
    }
