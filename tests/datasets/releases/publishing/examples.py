"""Items and releases as plain values for tests of publishing."""

import io
import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from portal.datasets.releases.publishing.croissant import CFF, citation_cff
from portal.datasets.releases.publishing.formats import (
    FACT_LINES,
    GOLD_LINES,
    PARQUET,
    fact_lines,
    gold_lines,
    parquet_pieces,
)
from portal.datasets.releases.publishing.manifest import (
    MANIFEST,
    ItemEntry,
    gold_sha256,
    release_sha256,
    write_manifest,
)
from portal.datasets.releases.publishing.rows import (
    ItemGold,
    ItemImage,
    PublishedItem,
    PublishedRelease,
)
from portal.facts import Fact
from portal.files.archives import ZipSink, ZipWriter
from tests.datasets.factories import png

PNG = png()
FROZEN_AT = datetime(2024, 5, 6, 7, 8, tzinfo=UTC)


def number(value: str, start: int, n: int = 0, label: str = "Number") -> Fact:
    return Fact(n, label, value, start, start + len(value))


def item(
    name: str = "a",
    facts: Sequence[Fact] = (),
    *,
    split: str = "",
    prompt: str = "",
    images: int = 0,
    text_sha256: str | None = "5" * 64,
    **line: Any,
) -> PublishedItem:
    """An item with gold; its line has the facts' values in its HTML unless it is given."""
    line = line or {"html": "".join(f"<{f.type}>{f.value}</{f.type}>" for f in facts)}
    line = {"id": name, **line}
    return PublishedItem(
        name=name,
        split=split,
        prompt=prompt,
        images=tuple(ItemImage(f"{name}-{n}.png", partial(bytes, PNG)) for n in range(images)),
        gold=ItemGold(line, gold_sha256(line), tuple(facts), 9, text_sha256),
    )


ITEMS = (
    item("001", [number("1,200", 4), number("2025", 12, 1, "Date")], split="dev", images=2),
    item("IC:x.jpg", split="dev", prompt="What?", text_sha256=None, response="ü 𝟙\n", order=[1.5]),
    item("no facts", split="test", html="<p>&amp;</p>", doc_type="tax_form"),
)


def release(items: Sequence[PublishedItem] = ITEMS, **fields: Any) -> PublishedRelease:
    hashes = [(item.name, item.gold.sha256 if item.gold else "") for item in items]
    return PublishedRelease(
        **{
            "dataset": "set",
            "title": "A set",
            "version": "1.0.0",
            "frozen_at": FROZEN_AT,
            "sha256": release_sha256(hashes) if all(sha for _, sha in hashes) else "",
            "item_count": len(items),
            "fact_count": sum(len(item.gold.facts) for item in items if item.gold),
            **fields,
        }
    )


def export(items: Sequence[PublishedItem] = ITEMS, **fields: Any) -> bytes:
    """A ZIP like an exported release."""
    row = release(items, **fields)
    sink = ZipSink()
    writer = ZipWriter(sink)
    for one in items:
        if one.gold and "html" in one.gold.line:
            writer.add(f"gold/{one.name}.html", one.gold.line["html"].encode())
    for name, pieces in (
        (GOLD_LINES, gold_lines(items)),
        (FACT_LINES, fact_lines(items)),
        (PARQUET, parquet_pieces(items, gold=True)),
    ):
        list(writer.adding(name, pieces))
    writer.add(CFF, citation_cff(row).encode())
    entries = [ItemEntry(i.name, i.gold.sha256 if i.gold else "", i.split) for i in items]
    writer.add(MANIFEST, write_manifest(row, entries, writer.files))
    writer.close()
    return b"".join(sink.drain(0))


def unpack(data: bytes, folder: Path) -> Path:
    with zipfile.ZipFile(io.BytesIO(data)) as bundle:
        bundle.extractall(folder)
    return folder


def members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as bundle:
        return {name: bundle.read(name) for name in bundle.namelist()}


def change_manifest(folder: Path, **fields: Any) -> None:
    path = folder / MANIFEST
    content: Mapping[str, Any] = json.loads(path.read_text())
    path.write_text(json.dumps({**content, **fields}))


# Any text and JSON in gold lines and facts: no surrogates, no NUL.
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
FACTS = st.builds(
    Fact,
    st.integers(0, 9),
    TEXTS,
    TEXTS,
    st.integers(0, 2**31 - 1),
    st.integers(0, 2**31 - 1),
)


@st.composite
def published(draw: st.DrawFn) -> list[PublishedItem]:
    """Items with any gold, sorted by name; the gold of some is hidden."""
    names = sorted(draw(st.sets(TEXTS.filter(bool), max_size=4)))
    return [_drawn(draw, name) for name in names]


def _drawn(draw: st.DrawFn, name: str) -> PublishedItem:
    line: dict[str, Any] = draw(st.dictionaries(TEXTS, JSON, max_size=3))
    line |= draw(st.fixed_dictionaries({}, optional={"id": TEXTS, "html": TEXTS | st.none()}))
    gold = ItemGold(
        line,
        gold_sha256(line),
        tuple(draw(st.lists(FACTS, max_size=3))),
        draw(st.none() | st.integers(0, 2**31 - 1)),
        draw(st.none() | st.just("a" * 64)),
    )
    split = draw(st.sampled_from(["", "dev", "test"]))
    return PublishedItem(name, split, gold=draw(st.sampled_from([gold, None])))


def lines(pieces: Iterator[bytes]) -> list[bytes]:
    return b"".join(pieces).split(b"\n")[:-1]
