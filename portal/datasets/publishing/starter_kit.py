"""The starter kit of a release: all that a model is given, and an empty submission.

README.md          what is in here
items.jsonl        {"id", "prompt", "images"} per item; of a release in splits {…, "split"} too
images/ID.png      the page images
submission.jsonl   a line per item as the benchmark wants it, with nothing in it

Whatever could tell of the gold has no place in `KitItem`: no text, HTML, hash, source or fact.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from zipfile import ZIP_STORED

from portal.files.archives import DRAIN_AT, ZipSink, ZipWriter

from .rows import ItemImage, PublishedItem, PublishedRelease

ITEM_LINES = "items.jsonl"
SUBMISSION = "submission.jsonl"
README = "README.md"
IMAGES = "images"

# From an item's name the empty line of a submission, as the benchmark's reader wants it.
EmptyLine = Callable[[str], Mapping[str, Any]]


@dataclass(frozen=True)
class KitItem:
    """An item as somebody sees it who is to solve it."""

    name: str
    split: str
    prompt: str
    images: tuple[ItemImage, ...]
    document: str = ""
    """The document's name, where the item has one of its own."""


def kit_item(item: PublishedItem) -> KitItem:
    """The item without its gold."""
    return KitItem(item.name, item.split, item.prompt, item.images)


def kit_name(release: PublishedRelease) -> str:
    return f"{release.dataset}-{release.version}-starter-kit.zip"


def starter_kit(
    release: PublishedRelease,
    items: Callable[[], Iterable[KitItem]],
    empty_line: EmptyLine,
) -> Iterator[bytes]:
    """The ZIP's bytes while it is made, the same every time: one item at a time in memory.

    `items` is called for each part of the kit, and gives those whose gold is hidden.
    """
    sink = ZipSink()
    writer = ZipWriter(sink)
    writer.add(README, _readme(release).encode())
    for name, lines in (
        (ITEM_LINES, map(item_line, items())),
        (SUBMISSION, (_line(empty_line(item.name)) for item in items())),
    ):
        for _ in writer.adding(name, lines):
            yield from sink.drain(DRAIN_AT)
    for item in items():
        for image in item.images:
            writer.add(f"{IMAGES}/{image.name}", image.read(), method=ZIP_STORED)
            yield from sink.drain(DRAIN_AT)
    writer.close()
    yield from sink.drain(0)


def empty_line_like(example: str) -> EmptyLine:
    """Lines with the keys of a benchmark's example: its id, and nothing of the same kind in each
    other key.

    >>> empty_line_like('{"id": "p1", "html": "<p>…"}')("p7")
    {'id': 'p7', 'html': ''}
    """
    keys = json.loads(example)
    emptied = {key: type(value)() for key, value in keys.items() if key != "id"}
    return lambda name: {"id": name, **emptied}


def item_line(item: KitItem, *, images: bool = True) -> bytes:
    """An item without its gold, as a line of JSON; `images`: whether they are beside it."""
    document = {} if item.document in {"", item.name} else {"document": item.document}
    split = {"split": item.split} if item.split else {}
    paths = [f"{IMAGES}/{image.name}" for image in item.images] if images else []
    return _line({"id": item.name, **document, **split, "prompt": item.prompt, "images": paths})


def _line(value: Mapping[str, Any]) -> bytes:
    return (json.dumps(value, ensure_ascii=False) + "\n").encode()


def _readme(release: PublishedRelease) -> str:
    """Neither notes nor description: they may speak of what the gold holds."""
    licence = f"\nLicence: {release.licence}\n" if release.licence else ""
    page = f"\nWhere it comes from: {release.page}\n" if release.page else ""
    return f"""# {release.title} {release.version}: starter kit

The items whose gold is hidden, and an empty submission.
{licence}{page}
- `{ITEM_LINES}`: one item per line, with its id, its prompt and the paths of its images
- `{IMAGES}/`: the images
- `{SUBMISSION}`: one line per item, to be filled in; the ids stay as they are
"""
