"""A release as one Parquet file, with page images in it if wanted, in the manner of Hugging Face.

id, split, prompt     texts
images                [{bytes, path}], if wanted
html                  a page's gold HTML
record                the rest of the gold line, in canonical JSON
facts                 [{n, type, value, start, end}]
text_chars, text_sha256, sha256

Where gold is hidden these are null, and there are no facts; written without gold, the file has no
such columns at all. pyarrow is imported when it is needed: it takes a while.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from functools import partial
from typing import IO, TYPE_CHECKING, Any

from portal.files.archives import DRAIN_AT, ZipSink

from .jsonl import read_facts
from .manifest import canonical_json, gold_sha256
from .rows import ItemGold, ItemImage, PublishedItem, PublishingError

if TYPE_CHECKING:
    import pyarrow as pa

PARQUET = "items.parquet"
GOLD_COLUMNS = ("html", "record", "facts", "text_chars", "text_sha256", "sha256")
IMAGES = "images"
# What is held in memory before it is written, by whichever comes first.
GROUP_ROWS = 1000
GROUP_BYTES = 16 * 1024 * 1024


def parquet_pieces(
    items: Iterable[PublishedItem], *, gold: bool, images: bool = False
) -> Iterator[bytes]:
    """The file's bytes while it is made; memory is bounded by a group of rows.

    Without `gold` no column of gold is written, whatever the items have.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = _schema(gold=gold, images=images)
    sink = _Sink()
    with pq.ParquetWriter(pa.PythonFile(sink, mode="w"), schema, compression="zstd") as writer:
        for rows in _groups(_row(item, gold=gold, images=images) for item in items):
            writer.write_table(pa.Table.from_pylist(rows, schema=schema))
            yield from sink.drain(DRAIN_AT)
    yield from sink.drain(0)


def is_written_here(file: IO[bytes]) -> bool:
    """Whether the file says that the version of pyarrow at hand wrote it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer: str = pq.ParquetFile(file).metadata.created_by
    return writer == f"parquet-cpp-arrow version {pa.cpp_version}"


def read_parquet(
    file: IO[bytes], name: str = PARQUET, *, strict: bool = False
) -> Iterator[PublishedItem]:
    """The items again, one group of rows at a time. `strict`: there is no other column.

    Raises PublishingError for what is no such file, and for a row that is not what its hash says.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        source = pq.ParquetFile(file)
        _check_columns(source.schema_arrow, name, strict=strict)
        for number, row in enumerate(_rows(source)):
            yield _item(f"{name}: row {number}", row)
    except (pa.ArrowException, OSError) as error:
        raise PublishingError(name, f"cannot be read as Parquet: {error}") from error


class _Sink(ZipSink):
    """What pyarrow asks of a file beside being written to."""

    closed = False


def _schema(*, gold: bool, images: bool) -> "pa.Schema":
    import pyarrow as pa

    columns: list[Any] = [pa.field(key, pa.string()) for key in ("id", "split", "prompt")]
    if images:
        image = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
        columns.append(pa.field(IMAGES, pa.list_(image)))
    if gold:
        fact = [("n", pa.int32()), ("type", pa.string()), ("value", pa.string())]
        places = [("start", pa.int32()), ("end", pa.int32())]
        columns += [
            pa.field("html", pa.string()),
            pa.field("record", pa.string()),
            pa.field("facts", pa.list_(pa.struct(fact + places))),
            pa.field("text_chars", pa.int32()),
            pa.field("text_sha256", pa.string()),
            pa.field("sha256", pa.string()),
        ]
    return pa.schema(columns)


def _row(item: PublishedItem, *, gold: bool, images: bool) -> dict[str, Any]:
    row: dict[str, Any] = {"id": item.name, "split": item.split, "prompt": item.prompt}
    if images:
        row[IMAGES] = [{"bytes": image.read(), "path": image.name} for image in item.images]
    if gold and item.gold is None:
        # Not null, which readers of nested fields take for one fact without values.
        row["facts"] = []
    elif gold and item.gold:
        line = dict(item.gold.line)
        row["html"] = line.pop("html") if isinstance(line.get("html"), str) else None
        row["record"] = canonical_json(line)
        row["facts"] = [asdict(fact) for fact in item.gold.facts]
        row["text_chars"] = item.gold.text_chars
        row["text_sha256"] = item.gold.text_sha256
        row["sha256"] = item.gold.sha256
    return row


def _groups(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    group: list[dict[str, Any]] = []
    size = 0
    for row in rows:
        group.append(row)
        size += len(row.get("html") or "") + len(row.get("record") or "")
        size += sum(len(image["bytes"]) for image in row.get(IMAGES, ()))
        if len(group) == GROUP_ROWS or size >= GROUP_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


def _check_columns(schema: "pa.Schema", name: str, *, strict: bool = False) -> None:
    """All columns of one of the forms that are written, with their types, in any order."""
    found = set(schema.names)
    wanted = _schema(gold=bool(found & set(GOLD_COLUMNS)), images=IMAGES in found)
    if strict and (more := sorted(found - set(wanted.names))):
        raise PublishingError(name, f"{more[0]}: no column of a release")
    for field in wanted:
        if field.name not in found:
            raise PublishingError(name, f"the column {field.name} is missing")
        if schema.field(field.name).type != field.type:
            kind = schema.field(field.name).type
            raise PublishingError(name, f"{field.name}: must be {field.type}, is {kind}")


def _rows(source: Any) -> Iterator[dict[str, Any]]:
    for group in range(source.num_row_groups):
        yield from source.read_row_group(group).to_pylist()


def _item(where: str, row: dict[str, Any]) -> PublishedItem:
    if not row["id"]:
        raise PublishingError(where, "id: missing")
    return PublishedItem(
        name=row["id"],
        split=row["split"] or "",
        prompt=row["prompt"] or "",
        images=tuple(_image(where, image) for image in row.get(IMAGES) or ()),
        gold=_gold(where, row) if row.get("sha256") else None,
    )


def _image(where: str, image: dict[str, Any] | None) -> ItemImage:
    if image is None or image["bytes"] is None or not image["path"]:
        raise PublishingError(where, "images: one without its bytes or its path")
    return ItemImage(image["path"], partial(bytes, image["bytes"]))


def _gold(where: str, row: dict[str, Any]) -> ItemGold:
    try:
        line = json.loads(row["record"])
    except (TypeError, ValueError, RecursionError) as error:
        raise PublishingError(where, f"record: not JSON: {error}") from error
    if not isinstance(line, dict):
        raise PublishingError(where, "record: must be a JSON object")
    if row["html"] is not None:
        line["html"] = row["html"]
    if gold_sha256(line) != row["sha256"]:
        raise PublishingError(where, f"not the gold of {row['id']}, by hash")
    return ItemGold(
        line=line,
        sha256=row["sha256"],
        facts=read_facts(where, row["facts"]),
        text_chars=row["text_chars"],
        text_sha256=row["text_sha256"],
    )
