"""Parquet with embedded pictures, and FinCriticalED's Parquet table."""

import io
import math
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

from portal.datasets.imports.items import SourceItem, SourceItems
from portal.datasets.imports.labelled_pages import read_fincriticaled
from portal.datasets.imports.tables import read_parquet
from portal.files.archives import ArchiveFault, ArchiveLimits
from tests.counting import LINEAR, growth
from tests.datasets.imports.reading import LIMITS, items, names, picture, pictures, refusals, zipped


def table(rows: list[dict[str, Any]], **options: Any) -> bytes:
    data = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(rows), data, **options)
    return data.getvalue()


def read(data: bytes, *, benchmark: str = "", limits: ArchiveLimits = LIMITS) -> SourceItems:
    return read_parquet(io.BytesIO(data), "train.parquet", limits, benchmark=benchmark)


def embedded(colour: int, path: str | None = None) -> dict[str, Any]:
    return {"bytes": picture(colour), "path": path}


def test_row_is_a_picture_with_its_prompt_and_record() -> None:
    rows = [
        {"id": "a", "image": embedded(1), "question": "What?", "answer": {"total": "9"}},
        {"id": "b", "image": embedded(2), "question": "And?", "answer": {"total": None}},
    ]
    first, second = items(read(table(rows), benchmark="receiptbench"))
    assert (first.where, first.name, first.html) == ("train.parquet:row 1", "a", None)
    assert (first.prompt, first.benchmark) == ("What?", "receiptbench")
    assert first.record == {"id": "a", "answer": {"total": "9"}}
    assert second.record == {"id": "b", "answer": {"total": None}}
    assert pictures(read(table(rows))) == {"a": [picture(1)], "b": [picture(2)]}


def test_without_a_benchmark_the_rest_is_metadata() -> None:
    row = {"id": "a", "html": "<p>x</p>", "licence": "MIT", "note": "n", "language": "en"}
    (one,) = items(read(table([row])))
    assert (one.html, one.record, one.language) == ("<p>x</p>", None, "en")
    assert (one.meta.licence, one.meta.metadata) == ("MIT", {"note": "n"})


def test_several_pictures_stay_in_their_order() -> None:
    rows = [{"id": "a", "images": [embedded(1), embedded(2)], "cover": embedded(3)}]
    assert pictures(read(table(rows))) == {"a": [picture(1), picture(2), picture(3)]}


def test_bytes_that_are_a_picture_are_one() -> None:
    assert pictures(read(table([{"id": "a", "scan": picture(4, "JPEG")}]))) == {
        "a": [picture(4, "JPEG")]
    }


def test_picture_beside_the_table_is_found_by_its_path() -> None:
    rows = [{"image": {"bytes": None, "path": "images/x.png"}}]
    source = {"data/train.parquet": table(rows), "data/images/x.png": picture(5)}
    assert pictures(read_parquet(zipped(source), "a.zip", LIMITS)) == {"x": [picture(5)]}


@pytest.mark.parametrize(
    ("row", "name"),
    [
        ({"id": 7, "image": embedded(1)}, "7"),
        ({"image_id": "i", "image": embedded(1)}, "i"),
        ({"image": embedded(1, "x/scan 1.png")}, "scan 1"),
        ({"image": embedded(1)}, "train_r000001"),
    ],
)
def test_name_is_the_id_else_the_pictures_else_the_row(row: dict[str, Any], name: str) -> None:
    assert names(read(table([row]))) == [name]


def test_values_become_plain_json() -> None:
    row = {
        "id": "a",
        "html": "x",
        "day": date(2024, 3, 31),
        "at": datetime(2024, 3, 31, 12, tzinfo=UTC),
        "sum": Decimal("1.20"),
        "nan": math.nan,
        "list": [1.5, math.inf],
    }
    (one,) = items(read(table([row]), benchmark="x"))
    assert one.record == {
        "id": "a",
        "day": "2024-03-31",
        "at": "2024-03-31T12:00:00+00:00",
        "sum": "1.20",
        "list": [1.5, None],
    }


def test_rows_that_cannot_be_taken_are_refused_one_by_one() -> None:
    rows: list[dict[str, Any]] = [
        {"id": "a"},
        {"id": "b", "html": "x", "blob": b"\x01"},
        {"id": "c", "html": "x", "note": "nu\x00l"},
        {"id": "d/e", "html": "x"},
        {"id": "f", "html": "x", "doc_type": "novel"},
        {"id": "g", "image": {"bytes": None, "path": "gone.png"}},
        {"id": "h", "image": {"bytes": b"x" * 2000, "path": None}},
        {"id": "i", "html": "fine"},
    ]
    columns = {key for row in rows for key in row}
    full = [{key: row.get(key) for key in sorted(columns)} for row in rows]
    found = list(read(table(full), limits=ArchiveLimits(member=1000)))
    assert refusals(found) == [
        ("train.parquet:row 1", "empty"),
        ("train.parquet:row 2", "bad_value"),
        ("train.parquet:row 3", "bad_value"),
        ("train.parquet:row 4", "bad_name"),
        ("train.parquet:row 5", "bad_meta"),
        ("train.parquet:row 6", "no_image"),
        ("train.parquet:row 7", "too_large"),
    ]
    assert names(found) == ["i"]


@pytest.mark.parametrize("cut", [4, 100, -20])
def test_damaged_table_is_refused_by_name(cut: int) -> None:
    data = table([{"id": "a", "html": "x"}])
    found = list(read(data[:cut]))
    assert [code for _, code in refusals(found)] == ["damaged"]
    assert names(found) == []


def test_damage_inside_keeps_what_came_before() -> None:
    rows = [{"id": str(n), "html": "word " * 50 + str(n)} for n in range(40)]
    data = bytearray(table(rows, row_group_size=20, use_dictionary=False, compression="gzip"))
    footer = parquet.ParquetFile(io.BytesIO(bytes(data))).metadata
    place = footer.row_group(1).column(1).data_page_offset
    data[place : place + 200] = b"\xff" * 200
    found = list(read(bytes(data)))
    assert names(found) == [str(n) for n in range(20)]
    assert refusals(found) == [("train.parquet:row 21", "damaged")]


def test_table_that_unpacks_to_too_much_is_refused() -> None:
    row = {"id": "a", "html": "x" * 20_000_000}
    (only,) = read(table([row], use_dictionary=False, compression="gzip"))
    assert not isinstance(only, SourceItem)
    assert (only.name, only.code) == ("train.parquet", "bomb")
    ((_, code),) = refusals(
        read(table([{"id": "a", "html": "word"}]), limits=ArchiveLimits(total=5))
    )
    assert code == "bomb"


def test_a_large_table_that_compresses_as_usual_is_read() -> None:
    digits = "".join(map(str, range(2_000_000)))
    assert len(digits) > 12_000_000
    data = table([{"id": "a", "html": digits}], use_dictionary=False, compression="gzip")
    assert names(read(data)) == ["a"]


def test_one_value_repeated_for_nothing_is_read_row_by_row() -> None:
    rows = [{"id": str(n), "html": "x" * 100_000} for n in range(300)]
    data = table(rows)
    assert len(data) < 200_000
    pool = pyarrow.default_memory_pool()
    before = pool.bytes_allocated()
    for one in read(data):
        assert isinstance(one, SourceItem)
        assert pool.bytes_allocated() - before < 5_000_000


def test_tables_of_a_folder_are_read_in_order(tmp_path: Path) -> None:
    for number in (2, 1):
        path = tmp_path / f"train-{number}.parquet"
        path.write_bytes(table([{"id": f"p{number}", "html": "x"}]))
    assert names(read_parquet(tmp_path, "set", LIMITS)) == ["p1", "p2"]


def test_source_without_a_table_is_unfit() -> None:
    with pytest.raises(ArchiveFault, match=r"no \.parquet"):
        list(read_parquet(zipped({"a.txt": b""}), "a.zip", LIMITS))


def test_fincriticaled_in_parquet_has_page_and_picture() -> None:
    rows = [{"image": embedded(1), "matched_html": "<p>one</p>"}]
    files = {"a.parquet": table(rows), "gold/gold_0.txt": b"<p><Number>1</Number></p>"}
    (one,) = items(read_fincriticaled(zipped(files), "a.zip", LIMITS))
    assert (one.where, one.name, one.html) == ("a.parquet:row 1", "0", "<p>one</p>")
    assert (one.record or {})["html"] == "<p><Number>1</Number></p>"
    assert one.pictures[0].read() == picture(1)


def test_reading_grows_with_the_table() -> None:
    def run(size: int) -> None:
        rows = [{"id": str(n), "image": embedded(n % 9)} for n in range(size)]
        assert len(items(read(table(rows)))) == size

    assert growth(run, 100) <= LINEAR
