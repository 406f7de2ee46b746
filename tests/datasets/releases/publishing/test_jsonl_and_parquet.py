"""JSON Lines and Parquet files are read back unchanged, or refused with a reason."""

import io
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from portal.datasets.releases.publishing import formats as parquet
from portal.datasets.releases.publishing.formats import (
    GOLD_COLUMNS,
    fact_lines,
    gold_lines,
    parquet_pieces,
    read_items,
    read_parquet,
)
from portal.datasets.releases.publishing.manifest import ItemEntry, release_sha256
from portal.datasets.releases.publishing.rows import PublishedItem, PublishingError
from tests.datasets.releases.publishing.examples import ITEMS, PNG, item, lines, published, release
from tests.many import drawn


def entries(items: Any) -> list[ItemEntry]:
    return [ItemEntry(i.name, i.gold.sha256 if i.gold else "", i.split) for i in items]


def through_lines(items: Any) -> list[PublishedItem]:
    return list(read_items(entries(items), lines(gold_lines(items)), lines(fact_lines(items))))


def through_parquet(items: Any, **options: bool) -> list[PublishedItem]:
    data = b"".join(parquet_pieces(items, **{"gold": True, **options}))
    return list(read_parquet(io.BytesIO(data)))


def values_of(items: Any) -> list[tuple[Any, ...]]:
    return [(item.name, item.split, item.gold) for item in items]


@pytest.mark.parametrize("through", [through_lines, through_parquet])
def test_items_come_back_with_the_same_hash(through: Callable[[Any], list[PublishedItem]]) -> None:
    back = through(ITEMS)
    assert values_of(back) == values_of(ITEMS)
    hashes = [(item.name, item.gold.sha256) for item in back if item.gold]
    assert release_sha256(hashes) == release().sha256


@drawn(published(), examples=60)
def test_items_of_any_gold_come_back(items: list[PublishedItem]) -> None:
    assert values_of(through_lines(items)) == values_of(items)
    assert values_of(through_parquet(items)) == values_of(items)


def test_parquet_holds_prompts_and_images_on_request() -> None:
    back = through_parquet(ITEMS, images=True)
    assert [item.prompt for item in back] == ["", "What?", ""]
    assert [image.name for image in back[0].images] == ["001-0.png", "001-1.png"]
    assert {image.read() for image in back[0].images} == {PNG}
    assert not any(item.images for item in through_parquet(ITEMS))


def test_parquet_without_gold_has_no_column_of_it() -> None:
    data = b"".join(parquet_pieces(ITEMS, gold=False, images=True))
    assert pq.ParquetFile(io.BytesIO(data)).schema_arrow.names == [
        "id",
        "split",
        "prompt",
        "images",
    ]
    assert b"1,200" not in data
    assert all(item.gold is None for item in read_parquet(io.BytesIO(data)))


def test_parquet_is_the_same_every_time() -> None:
    first, again = (b"".join(parquet_pieces(ITEMS, gold=True, images=True)) for _ in range(2))
    assert first == again


def test_parquet_is_written_in_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "GROUP_ROWS", 2)
    items = [item(f"{n:03}") for n in range(5)]
    data = b"".join(parquet_pieces(items, gold=True))
    assert pq.ParquetFile(io.BytesIO(data)).num_row_groups == 3
    assert values_of(read_parquet(io.BytesIO(data))) == values_of(items)
    monkeypatch.setattr(parquet, "GROUP_BYTES", 1)
    data = b"".join(parquet_pieces(items, gold=True))
    assert pq.ParquetFile(io.BytesIO(data)).num_row_groups == 5


def test_parquet_of_no_items_is_read() -> None:
    assert through_parquet([]) == []


def parquet_of(**columns: Any) -> bytes:
    """The file of one item with some columns replaced, or left out if None."""
    data = b"".join(parquet_pieces([ITEMS[0]], gold=True))
    table = pq.read_table(io.BytesIO(data))
    for name, values in columns.items():
        at = table.schema.get_field_index(name)
        table = table.remove_column(at)
        if values is not None:
            table = table.add_column(at, name, values)
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


@pytest.mark.parametrize(
    ("columns", "fault"),
    [
        *(({name: None}, f"the column {name} is missing") for name in ("id", *GOLD_COLUMNS)),
        ({"split": [[1]]}, "split: must be string, not int64"),
        ({"html": [["<p>else</p>"]]}, "row 0: its hash differs from that of 001"),
        ({"record": [["{"]]}, "row 0: record: not JSON"),
        ({"record": [["[]"]]}, "row 0: record: must be a JSON object"),
        ({"record": [pa.array([None], pa.string())]}, "row 0: record: not JSON"),
        ({"id": [pa.array([None], pa.string())]}, "row 0: id: missing"),
    ],
)
def test_parquet_with_a_fault_is_refused_by_name(columns: dict[str, Any], fault: str) -> None:
    with pytest.raises(PublishingError) as refused:
        list(read_parquet(io.BytesIO(parquet_of(**columns))))
    assert fault in str(refused.value)


def test_parquet_with_an_image_without_bytes_is_refused() -> None:
    table = pq.read_table(io.BytesIO(b"".join(parquet_pieces(ITEMS[:1], gold=True, images=True))))
    at = table.schema.get_field_index("images")
    empty = pa.array([[{"bytes": None, "path": "a.png"}]], table.schema.field(at).type)
    sink = io.BytesIO()
    pq.write_table(table.set_column(at, "images", empty), sink)
    with pytest.raises(PublishingError, match="row 0: images: an image has no bytes"):
        list(read_parquet(sink))


def test_what_is_no_parquet_is_refused() -> None:
    whole = b"".join(parquet_pieces(ITEMS, gold=True))
    for data in (b"", b"PK\3\4", whole[:-9], whole[:40] + b"\0" * 40 + whole[80:]):
        with pytest.raises(PublishingError, match=r"^items\.parquet: "):
            list(read_parquet(io.BytesIO(data)))


def faulty_lines(change: Callable[[list[bytes], list[bytes]], Any]) -> str:
    gold, facts = lines(gold_lines(ITEMS)), lines(fact_lines(ITEMS))
    change(gold, facts)
    with pytest.raises(PublishingError) as refused:
        list(read_items(entries(ITEMS), gold, facts))
    return str(refused.value)


def test_lines_with_a_fault_are_refused_with_file_and_line() -> None:
    assert "gold.jsonl: the line of no facts is missing" in faulty_lines(lambda g, _: g.pop())
    assert "facts.jsonl: the line of no facts" in faulty_lines(lambda _, f: f.pop())
    assert "gold.jsonl:4: the line belongs to no item" in faulty_lines(lambda g, _: g.append(b"{}"))
    assert "facts.jsonl:4: the line belongs to no item" in faulty_lines(
        lambda _, f: f.append(b"{}")
    )
    assert "gold.jsonl:1: its hash differs from that of 001" in faulty_lines(
        lambda g, _: g.reverse()
    )
    assert "facts.jsonl:1: id: must be 001" in faulty_lines(lambda _, f: f.reverse())
    assert "gold.jsonl:2: not JSON" in faulty_lines(lambda g, _: g.__setitem__(1, b"\xff"))
    assert "facts.jsonl:2: must be a JSON object" in faulty_lines(
        lambda _, f: f.__setitem__(1, b"[]")
    )


@pytest.mark.parametrize(
    ("about", "fault"),
    [
        ({"facts": None}, "facts: missing"),
        ({"facts": [1]}, "facts[0]: must be an object"),
        ({"facts": [{"n": True}]}, "facts[0]: n: missing or not a whole number"),
        ({"facts": [{"n": 0, "start": 0, "end": 1, "type": 1}]}, "facts[0]: type: missing"),
        ({"facts": [], "text_chars": "9"}, "text_chars: must be of type int"),
    ],
)
def test_facts_with_a_fault_are_refused_by_field(about: dict[str, Any], fault: str) -> None:
    line = json.dumps({"id": "001", **about}).encode()
    message = faulty_lines(lambda _, facts: facts.__setitem__(0, line))
    assert message.startswith("facts.jsonl:1: ")
    assert fault in message


def test_hidden_items_have_no_line() -> None:
    items = [ITEMS[0], replace(ITEMS[1], gold=None), ITEMS[2]]
    assert len(lines(gold_lines(items))) == len(lines(fact_lines(items))) == 2
    assert [item.gold is None for item in through_lines(items)] == [False, True, False]
