"""Reading gold and submissions from untrusted files."""

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.files.archives import ArchiveLimits
from scoring.benchmarks.reading import ReadFault, ReadLimits, Record, Source, read_records

SMALL = ReadLimits(line=1000, archive=ArchiveLimits(total=5000, member=2000, ratio=50, members=10))


def read(source: Source, limits: ReadLimits = SMALL) -> list[Record | ReadFault]:
    return list(read_records(source, limits, prefix="pred_"))


def values(source: Source) -> list[dict[str, object]]:
    records = read(source)
    assert all(isinstance(record, Record) for record in records), records
    return [record.value for record in records if isinstance(record, Record)]


def faults(source: Source, limits: ReadLimits = SMALL) -> list[str]:
    return [str(record) for record in read(source, limits) if isinstance(record, ReadFault)]


def lines(*items: object) -> bytes:
    return b"".join(json.dumps(item).encode() + b"\n" for item in items)


def zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, data in members.items():
            bundle.writestr(name, data)
    return buffer.getvalue()


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, bytes], Path]:
    def _write(name: str, data: bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    return _write


Write = Callable[[str, bytes], Path]
A, B = {"id": "a", "html": "<p>1"}, {"id": "b", "html": ""}


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("x.jsonl", lines(A, B)),
        ("x.jsonl.gz", gzip.compress(lines(A, B), mtime=0)),
        ("x.jsonl", b"\xef\xbb\xbf" + lines(A) + b"\n  \n" + lines(B).rstrip()),
        ("x.jsonl", lines(A, B).replace(b"\n", b"\r\n")),
        ("x", gzip.compress(lines(A, B), mtime=0)),
        ("x.zip", zipped({"a.html": b"<p>1", "b.txt": b""})),
        ("x.zip", zipped({"out/a.htm": b"<p>1", "out/pred_b.txt": b""})),
        ("x.zip", zipped({"lines.jsonl": lines(A, B)})),
        ("x.zip", zipped({"1.jsonl": lines(A), "2.jsonl.gz": gzip.compress(lines(B), mtime=0)})),
    ],
    ids=[
        "lines",
        "gzip",
        "byte order mark and blank lines",
        "Windows line ends",
        "gzip without suffix",
        "pages",
        "the benchmark's own names",
        "lines in a ZIP",
        "several files of lines in a ZIP",
    ],
)
def test_all_layouts_hold_the_same_records(write: Write, name: str, data: bytes) -> None:
    path = write(name, data)
    assert values(path) == [A, B]
    upload = io.BytesIO(data)
    upload.name = f"/somewhere/{name}"
    assert values(upload) == [A, B]
    assert not upload.closed


def test_a_folder_of_pages(write: Write) -> None:
    write("pages/pred_b.txt", b"")
    folder = write("pages/a.html", b"<p>1").parent
    assert values(folder) == [A, B]


def test_the_prefix_belongs_to_text_files_only(write: Write) -> None:
    folder = write("pages/pred_a.html", b"").parent
    assert values(folder) == [{"id": "pred_a", "html": ""}]


def test_a_fault_stops_nothing(write: Write) -> None:
    path = write("x.jsonl", lines(A) + b"nonsense\n" + b"[1]\n" + lines(B))
    found = read(path)
    assert [type(record) for record in found] == [Record, ReadFault, ReadFault, Record]
    assert [record.line for record in found] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"id": "\xff"}', "not valid UTF-8 (byte 0xff)"),
        (b'{"id": 1,}', "not valid JSON: Illegal trailing comma"),
        (b'{"id": "a"', "not valid JSON: Expecting ',' delimiter at column 11"),
        (b'{"score": NaN}', "NaN is not a JSON value"),
        (b'{"score": -Infinity}', "-Infinity is not a JSON value"),
        (b'{"score": 1e999}', "the number 1e999 is too large"),
        (b'{"n": ' + b"9" * 5000 + b"}", "contains a number with too many digits"),
        (b'{"id": "a", "id": "b"}', "the key 'id' occurs twice in one object"),
        (b'{"id": "\\ud800"}', "contains half of a surrogate pair, which is not a character"),
        (b'{"a": ' + b"[" * 50_000 + b"]" * 50_000 + b"}", "nested more than 200 deep"),
        (b'"text"', "not a JSON object"),
        (b'{"id": "a\nb"}', "not valid JSON"),
    ],
)
def test_lines_that_are_no_strict_json(write: Write, line: bytes, message: str) -> None:
    path = write("x.jsonl", lines(A) + line + b"\r\n")
    first = next(fault for fault in faults(path, ReadLimits()))
    if "trailing comma" in message:
        message = "not valid JSON"
    assert first.startswith(f"{path}:2: {message}")


def test_a_line_that_is_too_long_ends_the_reading(write: Write) -> None:
    path = write("x.jsonl", lines(A) + b"x" * 2000 + b"\n" + lines(B))
    assert faults(path) == [f"{path}:2: the line is longer than 0 MB; the rest was not read"]
    assert len(read(path)) == 2


def test_a_file_that_unpacks_to_too_much(write: Write) -> None:
    path = write(
        "x.jsonl.gz", gzip.compress(b" " * 900 + b"\n" + (b" " * 900 + b"\n") * 9, mtime=0)
    )
    assert "unpacks to more than" in faults(path)[0]


def test_a_gzip_bomb(write: Write) -> None:
    path = write("x.jsonl.gz", gzip.compress((b" " * 1023 + b"\n") * 30_000, mtime=0))
    assert "may be a gzip bomb" in faults(path, ReadLimits())[0]


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("x.jsonl.gz", gzip.compress(lines(A, B), mtime=0)[:-12], "not a readable gzip file"),
        ("x.jsonl.gz", b"\x1f\x8bnonsense", "not a readable gzip file"),
        ("x.zip", b"PK nonsense", "not a readable ZIP archive"),
        ("x.zip", lines(A), "not a readable ZIP archive"),
        ("x.zip", zipped({}), "x.zip:0: contains no files"),
        ("x.zip", zipped({"../a.html": b""}), "file name not accepted"),
        ("x.zip", zipped({"a.html": b"", "notes.md": b""}), "x.zip/notes.md:0: unexpected file"),
        ("x.zip", zipped({"a.html": b"", "b.jsonl": b""}), "x.zip/b.jsonl:0: unexpected file"),
        ("x.zip", zipped({"a.html": b"x" * 3000}), "a.html:0: a.html: larger than"),
        ("x.zip", zipped({"a.html": b"1\n2\n\xff"}), "x.zip/a.html:3: not valid UTF-8 (byte 0xff)"),
        ("x.zip", zipped({f"{i}.html": b"" for i in range(11)}), "more than 10 files"),
    ],
)
def test_archives_that_cannot_be_taken(write: Write, name: str, data: bytes, message: str) -> None:
    (fault,) = faults(write(name, data))
    assert message in fault


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "none.jsonl"
    assert faults(path) == [f"{path}:0: cannot be read: No such file or directory"]


@given(st.binary(max_size=300))
def test_reading_any_bytes_never_raises(data: bytes) -> None:
    for start in (b"", b"PK", b"\x1f\x8b", b'{"id": '):
        upload = io.BytesIO(start + data)
        for record in read(upload):
            assert isinstance(record, Record | ReadFault)


@pytest.mark.parametrize(("levels", "is_read"), [(200, True), (201, False)])
def test_lines_are_nested_up_to_a_limit(write: Write, levels: int, is_read: bool) -> None:
    inner = levels - 1  # The object itself is a level.
    path = write("x.jsonl", b'{"a": ' + b"[" * inner + b"]" * inner + b"}")
    found = faults(path, ReadLimits())
    assert found == ([] if is_read else [f"{path}:1: nested more than 200 deep"])


def test_faults_show_little_of_a_file(write: Write) -> None:
    key = b"k" * 400
    long = write("x.jsonl", b'{"%s": 1, "%s": 2}' % (key, key))
    assert faults(long) == [f"{long}:1: the key '{'k' * 60}'… occurs twice in one object"]
    for item in ("i" * 161, "a\nb", 7):
        assert Record("x", 1, {"id": item}).fault("wrong").id is None
    assert Record("x", 1, {"id": "i" * 160}).fault("wrong").id == "i" * 160


def test_a_file_that_is_gone_once_it_is_read_is_a_fault(write: Write) -> None:
    folder = write("pages/a.html", b"<p>1").parent
    write("pages/b.html", b"<p>2")
    found = read_records(folder, SMALL)
    assert isinstance(next(found), Record)
    (folder / "b.html").unlink()
    assert [str(fault) for fault in found] == [f"{folder}/b.html:0: b.html: not a file"]


def test_ids_are_composed(write: Write) -> None:
    split, whole = "cafe\u0301", "caf\u00e9"
    assert values(write("p.jsonl", lines({"id": split, "html": "1"})))[0]["id"] == whole
    assert values(write(f"pages/pred_{split}.txt", b"1").parent)[0]["id"] == whole


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b'[{"id": "a"}]', "this is a JSON array"),
        (b'[\n {"id": "a"},\n {"id": "b"}\n]', "this is a JSON array"),
        (b'\xef\xbb\xbf{\n"id": "a",\n"html": ""\n}', "this is a JSON object on several lines"),
    ],
)
def test_other_json_is_one_fault(write: Write, data: bytes, fault: str) -> None:
    path = write("p.jsonl", data)
    rule = "JSON Lines has one object per line, without brackets or commas"
    assert faults(path) == [f"{path}:1: {fault}; {rule}"]
