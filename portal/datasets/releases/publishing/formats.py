"""The items of a release as files: JSON Lines, Parquet, Label Studio tasks, and the starter kit.

`gold.jsonl` and `facts.jsonl` have one line per item in the same order. Gold lines have the
benchmark's own ids, which can differ from the item names in the manifest and `facts.jsonl`. Items
with hidden gold have no line.

The Parquet file follows the conventions of Hugging Face and can include the page images:

    id, split, prompt    strings
    images               [{bytes, path}], optional
    html                 a page's gold HTML
    record               the rest of the gold line, in canonical JSON
    facts                [{n, type, value, start, end}]
    text_chars, text_sha256, sha256

Where gold is hidden, `facts` is empty and the other gold columns are null. A file written without
gold lacks these columns. Gold that is hidden from the public has the release's canary in every
line, record and page; hashes leave it out, and readers of gold ignore it. pyarrow is imported on
first use because it loads slowly.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import zip_longest
from typing import IO, TYPE_CHECKING, Any

from portal.facts import Fact, FactSpan, FactValue, LabelledBy, read_tags, write_task
from portal.files.archives import DRAIN_AT, ZipSink

from .manifest import ItemEntry, canonical_json, gold_sha256
from .rows import ItemGold, ItemImage, PublishedItem, PublishingError

if TYPE_CHECKING:
    import pyarrow as pa


GOLD_LINES = "gold.jsonl"
FACT_LINES = "facts.jsonl"


def gold_lines(items: Iterable[PublishedItem]) -> Iterator[bytes]:
    """The gold lines in canonical JSON. An item's hash covers its line without the line break."""
    for item in items:
        if item.gold:
            yield (canonical_json(_marked(item, item.gold.line)) + "\n").encode()


CANARY_KEY = "canary"


def _marked(item: PublishedItem, line: Mapping[str, Any]) -> Mapping[str, Any]:
    """The line with the item's canary. A line that has such a field of its own keeps it."""
    return {CANARY_KEY: item.canary, **line} if item.canary else line


def _unmarked(line: dict[str, Any], sha256: str) -> tuple[dict[str, Any], str] | None:
    """The gold line with this hash and the canary it was written with; None for another line."""
    if isinstance(line.get(CANARY_KEY), str):
        bare = {key: value for key, value in line.items() if key != CANARY_KEY}
        if gold_sha256(bare) == sha256:
            return bare, line[CANARY_KEY]
    return (line, "") if gold_sha256(line) == sha256 else None


def gold_page(item: PublishedItem) -> bytes:
    """The gold HTML of an item that is a page, with the canary as a comment."""
    html: str = item.gold.line["html"] if item.gold else ""
    return (f"{html}\n<!-- {item.canary} -->\n" if item.canary else html).encode()


def fact_lines(items: Iterable[PublishedItem]) -> Iterator[bytes]:
    """The items' facts with offsets, and length and hash of the text the offsets count in."""
    for item in items:
        if item.gold:
            line = {
                "id": item.name,
                "text_chars": item.gold.text_chars,
                "text_sha256": item.gold.text_sha256,
                "facts": [asdict(fact) for fact in item.gold.facts],
            }
            yield (json.dumps(_marked(item, line), ensure_ascii=False) + "\n").encode()


def read_items(
    entries: Iterable[ItemEntry], gold: Iterable[bytes], facts: Iterable[bytes]
) -> Iterator[PublishedItem]:
    """Reads the items back, without their images, one at a time.

    `entries` are those of the manifest. Raises PublishingError, naming file and line, for a line
    that is missing, extra, unreadable, of another item, or different from its hash.
    """
    entries = list(entries)
    lines = zip_longest(
        (entry for entry in entries if entry.sha256), enumerate(gold, 1), enumerate(facts, 1)
    )
    for entry in entries:
        if entry.sha256:
            yield _read_item(*next(lines))
        else:
            yield PublishedItem(entry.name, entry.split)
    for _, gold_line, fact_line in lines:
        name, (number, _) = (GOLD_LINES, gold_line) if gold_line else (FACT_LINES, fact_line)
        raise PublishingError(f"{name}:{number}", "the line belongs to no item of the manifest")


def _read_item(
    entry: ItemEntry, gold: tuple[int, bytes] | None, facts: tuple[int, bytes] | None
) -> PublishedItem:
    for name, given in ((GOLD_LINES, gold), (FACT_LINES, facts)):
        if given is None:
            raise PublishingError(name, f"the line of {entry.name} is missing")
    assert gold is not None
    assert facts is not None
    unmarked = _unmarked(read_line(GOLD_LINES, *gold), entry.sha256)
    if unmarked is None:
        reason = f"its hash differs from that of {entry.name}"
        raise PublishingError(f"{GOLD_LINES}:{gold[0]}", reason)
    where = f"{FACT_LINES}:{facts[0]}"
    about = read_line(FACT_LINES, *facts)
    if about.get("id") != entry.name:
        raise PublishingError(where, f"id: must be {entry.name}, not {about.get('id')!r:.80}")
    return PublishedItem(
        name=entry.name,
        split=entry.split,
        gold=ItemGold(
            line=unmarked[0],
            sha256=entry.sha256,
            facts=read_facts(where, about.get("facts")),
            text_chars=_optional(where, about, "text_chars", int),
            text_sha256=_optional(where, about, "text_sha256", str),
        ),
        canary=unmarked[1],
    )


def read_line(name: str, number: int, line: bytes) -> dict[str, Any]:
    """The JSON object of a line; raises PublishingError."""
    try:
        value = json.loads(line.decode())
    except (ValueError, RecursionError) as error:
        raise PublishingError(f"{name}:{number}", f"not JSON: {error}") from error
    if not isinstance(value, dict):
        raise PublishingError(f"{name}:{number}", "must be a JSON object")
    return value


def read_facts(where: str, facts: object) -> tuple[Fact, ...]:
    """The facts of `[{n, type, value, start, end}, …]`; raises PublishingError with the field."""
    if not isinstance(facts, list):
        raise PublishingError(where, "facts: missing or not a list")
    return tuple(_fact(f"{where}: facts[{index}]", fact) for index, fact in enumerate(facts))


def _fact(where: str, fact: object) -> Fact:
    if not isinstance(fact, Mapping):
        raise PublishingError(where, "must be an object")
    for key in ("n", "start", "end"):
        if type(fact.get(key)) is not int:
            raise PublishingError(where, f"{key}: missing or not a whole number")
    for key in ("type", "value"):
        if not isinstance(fact.get(key), str):
            raise PublishingError(where, f"{key}: missing or not a string")
    return Fact(fact["n"], fact["type"], fact["value"], fact["start"], fact["end"])


def _optional(where: str, about: Mapping[str, Any], key: str, kind: type) -> Any:
    value = about.get(key)
    if value is not None and type(value) is not kind:
        raise PublishingError(where, f"{key}: must be of type {kind.__name__} or null")
    return value


PARQUET = "items.parquet"
GOLD_COLUMNS = ("html", "record", "facts", "text_chars", "text_sha256", "sha256")
IMAGES = "images"
# A group of rows is written when it reaches either limit.
GROUP_ROWS = 1000
GROUP_BYTES = 16 * 1024 * 1024


def parquet_pieces(
    items: Iterable[PublishedItem], *, gold: bool, images: bool = False
) -> Iterator[bytes]:
    """The bytes of the Parquet file, streamed; memory is bounded by a group of rows.

    Without `gold` no gold column is written, even if the items have gold.
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
    """Whether the installed version of pyarrow wrote the file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer: str = pq.ParquetFile(file).metadata.created_by
    return writer == f"parquet-cpp-arrow version {pa.cpp_version}"


def read_parquet(
    file: IO[bytes], name: str = PARQUET, *, strict: bool = False
) -> Iterator[PublishedItem]:
    """Reads the items back, one group of rows at a time. `strict` refuses other columns.

    Raises PublishingError for an invalid file and for a row that differs from its hash.
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
    """A sink with the attribute that pyarrow expects of a file."""

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
        # Not null: some readers take a null list of structs for one fact without values.
        row["facts"] = []
    elif gold and item.gold:
        line = dict(_marked(item, item.gold.line))
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
    """Checks that all columns of a known layout exist with their types, in any order."""
    names = set(schema.names)
    wanted = _schema(gold=bool(names & set(GOLD_COLUMNS)), images=IMAGES in names)
    if strict and (more := sorted(names - set(wanted.names))):
        raise PublishingError(name, f"{more[0]}: not a column of a release")
    for field in wanted:
        if field.name not in names:
            raise PublishingError(name, f"the column {field.name} is missing")
        if schema.field(field.name).type != field.type:
            kind = schema.field(field.name).type
            raise PublishingError(name, f"{field.name}: must be {field.type}, not {kind}")


def _rows(source: Any) -> Iterator[dict[str, Any]]:
    for group in range(source.num_row_groups):
        yield from source.read_row_group(group).to_pylist()


def _item(where: str, row: dict[str, Any]) -> PublishedItem:
    if not row["id"]:
        raise PublishingError(where, "id: missing")
    gold, canary = _gold(where, row) if row.get("sha256") else (None, "")
    return PublishedItem(
        name=row["id"],
        split=row["split"] or "",
        prompt=row["prompt"] or "",
        images=tuple(_image(where, image) for image in row.get(IMAGES) or ()),
        gold=gold,
        canary=canary,
    )


def _image(where: str, image: dict[str, Any] | None) -> ItemImage:
    if image is None or image["bytes"] is None or not image["path"]:
        raise PublishingError(where, "images: an image has no bytes or no path")
    return ItemImage(image["path"], partial(bytes, image["bytes"]))


def _gold(where: str, row: dict[str, Any]) -> tuple[ItemGold, str]:
    try:
        line = json.loads(row["record"])
    except (TypeError, ValueError, RecursionError) as error:
        raise PublishingError(where, f"record: not JSON: {error}") from error
    if not isinstance(line, dict):
        raise PublishingError(where, "record: must be a JSON object")
    if row["html"] is not None:
        line["html"] = row["html"]
    unmarked = _unmarked(line, row["sha256"])
    if unmarked is None:
        raise PublishingError(where, f"its hash differs from that of {row['id']}")
    gold = ItemGold(
        line=unmarked[0],
        sha256=row["sha256"],
        facts=read_facts(where, row["facts"]),
        text_chars=row["text_chars"],
        text_sha256=row["text_sha256"],
    )
    return gold, unmarked[1]


LABEL_STUDIO = "labelstudio.json"


def label_studio_pieces(items: Iterable[PublishedItem], labels: Sequence[str]) -> Iterator[bytes]:
    """The bytes of the Label Studio file, streamed. Items with hidden gold have no task.

    Values and signs are those that people settled. Gold without them has none, so that nothing
    derived from the text contradicts it.
    """
    separator = "[\n"
    number = 0
    for item in items:
        if item.gold is None:
            continue
        number += 1
        task = json.dumps(_task(number, item, item.gold, labels), ensure_ascii=False)
        yield f"{separator}{task}".encode()
        separator = ",\n"
    yield b"\n]\n" if number else b"[]\n"


def _task(
    number: int, item: PublishedItem, gold: ItemGold, labels: Sequence[str]
) -> dict[str, object]:
    data = {"name": item.name, "text_sha256": gold.text_sha256}
    if item.split:
        data["split"] = item.split
    if item.canary:
        data[CANARY_KEY] = item.canary
    html = read_tags(gold.line["html"], labels).canonical.html
    spans = [_span(fact, gold.meanings.get(fact.n)) for fact in gold.facts]
    unvalued = {_key(fact) for fact in gold.facts if fact.n not in gold.meanings}
    labelled = LabelledBy(number, None, spans, is_gold=True, unvalued=unvalued)
    return write_task(number, data, html, [labelled])


def _key(fact: Fact) -> str:
    return f"fact-{fact.n}"


def _span(fact: Fact, meaning: FactValue | None) -> FactSpan:
    place = fact.type, fact.start, fact.end, fact.value
    return FactSpan(_key(fact), *place, *(meaning or FactValue("", "")))
