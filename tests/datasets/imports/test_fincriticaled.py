"""FinCriticalED's tables and their gold."""

import base64
import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.datasets.imports.items import SourceItem
from portal.datasets.imports.labelled_pages import read_fincriticaled
from portal.datasets.imports.opening import Refusal
from portal.datasets.imports.tables import TableRow, read_csv
from portal.files.archives import ArchiveFault, ArchiveLimits
from scoring.benchmarks.fincriticaled.readers import read_gold
from tests.counting import LINEAR, growth
from tests.datasets.imports.reading import LIMITS, items, names, picture, pictures, refusals, zipped

HTML = '<p>Sales,\n"net": 12</p>'
GOLD = '<p>Sales,\n"net": <Number>12</Number></p>'


def table(*rows: dict[str, Any]) -> bytes:
    """A CSV with the columns of the first row."""
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def read(files: dict[str, bytes], limits: ArchiveLimits = LIMITS) -> list[Any]:
    return list(read_fincriticaled(zipped(files), "set.zip", limits))


def test_row_is_a_page_with_picture_and_gold_named_by_its_number() -> None:
    files = {
        "data/input.csv": table(
            {"image": "images/p0.png", "matched_html": HTML},
            {"image": "images/p1.png", "matched_html": "<p>two</p>"},
        ),
        "data/images/p0.png": picture(0),
        "data/images/p1.png": picture(9),
        "data/gold_annotation_html/gold_0.txt": GOLD.encode(),
    }
    first, second = items(read(files))
    assert (first.where, first.name, first.html) == ("data/input.csv:2", "0", HTML)
    assert pictures(read_fincriticaled(zipped(files), "x", LIMITS)) == {
        "0": [picture(0)],
        "1": [picture(9)],
    }
    assert first.record == {"id": "0", "html": GOLD}
    assert first.benchmark == "fincriticaled"
    assert (second.where, second.name, second.record) == ("data/input.csv:4", "1", None)


def test_lone_table_is_read_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "raw.csv"
    path.write_bytes(b"\xef\xbb\xbf" + table({"matched_html": HTML}))
    (one,) = items(read_fincriticaled(path, path.name, LIMITS))
    assert (one.html, one.pictures) == (HTML, ())


@pytest.mark.parametrize("column", ["id", "", "Unnamed: 0"])
def test_row_is_called_by_its_own_id(column: str) -> None:
    files = {"a.csv": table({column: "page 7", "matched_html": HTML})}
    assert names(read(files)) == ["page 7"]


def test_columns_describe_the_document() -> None:
    row = {"matched_html": HTML, "doc_type": "tax_form", "fiscal_year": "2023", "note": "n"}
    (one,) = items(read({"a.csv": table(row)}))
    assert (one.meta.doc_type, one.meta.fiscal_year) == ("tax_form", 2023)
    assert one.meta.metadata == {"note": "n"}


@pytest.mark.parametrize("prefix", ["", "data:image/png;base64,"])
def test_picture_in_base64_is_read(prefix: str) -> None:
    packed = base64.b64encode(picture() + b" " * 300).decode()
    (one,) = items(read({"a.csv": table({"image": prefix + packed, "matched_html": HTML})}))
    assert one.pictures[0].read().startswith(picture())


def test_missing_picture_is_a_fault_of_the_page() -> None:
    (one,) = items(read({"a.csv": table({"image": "gone.png", "matched_html": HTML})}))
    assert [(fault.name, fault.code) for fault in one.faults] == [("a.csv:2 image", "no_image")]


def test_rows_that_cannot_be_read_are_refused_one_by_one() -> None:
    data = (
        b"id,matched_html,doc_type\n"
        b"a,,\n"
        b"b,<p>x</p>\n"
        b"c,caf\xe9,\n"
        b"d,nu\x00l,\n"
        b"a/b,<p>x</p>,\n"
        b"e,<p>x</p>,novel\n"
        b"\n"
        b"f,<p>fine</p>,\n"
    )
    found = read({"a.csv": data})
    assert refusals(found) == [
        ("a.csv:2", "no_html"),
        ("a.csv:3", "bad_csv"),
        ("a.csv:4", "encoding"),
        ("a.csv:5", "encoding"),
        ("a.csv:6", "bad_name"),
        ("a.csv:7", "bad_meta"),
    ]
    assert names(found) == ["f"]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b'id,matched_html\na,"never closed\n', "bad_csv"),
        (b'id,matched_html\na,"x"y\n', "bad_csv"),
        (b"id,id\na,b\n", "bad_csv"),
        (b"\xff\xfei\x00d\x00\n", "file_kind"),
        (b",".join(b"%d" % n for n in range(2000)), "bad_csv"),
    ],
)
def test_table_that_is_none_is_refused_with_its_line(data: bytes, code: str) -> None:
    ((where, found),) = refusals(read({"a.csv": data}))
    assert where.startswith("a.csv:")
    assert found == code


def test_line_larger_than_allowed_ends_the_table() -> None:
    data = b"id,matched_html\na,x\nb," + b"x" * 3000
    first, rest = read_csv(io.BytesIO(data), "a.csv", ArchiveLimits(member=1000))
    assert isinstance(first, TableRow)
    assert isinstance(rest, Refusal)
    assert (rest.name, rest.code) == ("a.csv:3", "too_large")


def test_gold_in_lines_and_gold_that_fits_nothing() -> None:
    lines = [
        json.dumps({"id": 0, "html": GOLD}),
        "not json",
        json.dumps({"id": "0", "html": "again"}),
        json.dumps({"id": "9", "html": "nothing"}),
        json.dumps({"id": "1"}),
    ]
    found = read({"a.csv": table({"matched_html": HTML}), "gold.jsonl": "\n".join(lines).encode()})
    (one,) = [one for one in found if isinstance(one, SourceItem)]
    assert one.record == {"id": "0", "html": GOLD}
    assert refusals(found) == [
        ("gold.jsonl:2", "bad_gold"),
        ("gold.jsonl:3", "doubled_gold"),
        ("gold.jsonl:5", "bad_gold"),
        ("gold.jsonl:4", "gold_without_page"),
    ]


def test_gold_that_cannot_be_read_is_a_fault_of_its_page() -> None:
    files = {"a.csv": table({"matched_html": HTML}), "gold/0.html": b"caf\xe9"}
    (one,) = items(read(files))
    assert one.record is None
    assert [(fault.name, fault.code) for fault in one.faults] == [("gold/0.html", "encoding")]


def test_source_without_a_table_is_unfit() -> None:
    with pytest.raises(ArchiveFault, match=r"the source has no \.csv"):
        read({"gold/0.html": b"<p>x</p>"})


def test_records_are_what_the_benchmark_reads(tmp_path: Path) -> None:
    files = {"a.csv": table({"matched_html": HTML}), "gold/0.html": GOLD.encode()}
    lines = "".join(json.dumps(one.record) + "\n" for one in items(read(files)))
    (line,) = read_gold(io.BytesIO(lines.encode()))
    assert line.id == "0"


_TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))


@given(st.lists(st.tuples(_TEXT, _TEXT), min_size=1, max_size=5))
def test_csv_comes_back_as_it_was_written(rows: list[tuple[str, str]]) -> None:
    data = table(*({"a": a, "b": b} for a, b in rows))
    found = list(read_csv(io.BytesIO(data), "x", LIMITS))
    assert all(isinstance(row, TableRow) for row in found)
    assert [
        (row.values.get("a", ""), row.values.get("b", ""))
        for row in found
        if isinstance(row, TableRow)
    ] == [(a if a.strip() else "", b if b.strip() else "") for a, b in rows]


def test_reading_grows_with_the_table() -> None:
    def run(size: int) -> None:
        assert len(read({"a.csv": table(*[{"matched_html": HTML}] * size)})) == size

    assert growth(run, 50) <= LINEAR
