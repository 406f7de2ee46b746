"""Every reader of every benchmark with JSON Lines damaged in every known way.

A file gives lines and faults, never an exception; every line can be graded.
"""

import gzip
import zipfile
from typing import Any

from hypothesis import strategies as st

from scoring.benchmarks import BENCHMARKS
from tests.many import drawn, together
from tests.scoring.benchmarks.fuzzing import checked, each_side, lines_of, put_before
from tests.scoring.benchmarks.hostile import (
    BAD_VALUES,
    ENCODINGS,
    HALF,
    WRONG_VALUES,
    changed,
    fifty_megabytes,
)
from tests.scoring.benchmarks.samples import SAMPLES, Side, as_json, as_zip

# Testing every cut would be redundant. A prime step covers all kinds of positions.
STEP = 7


def test_every_benchmark_has_a_sample() -> None:
    assert SAMPLES.keys() == BENCHMARKS.keys(), "a new benchmark needs a sample of its files"


@each_side
def test_the_sample_has_no_faults(key: str, side: Side) -> None:
    found = put_before(key, side, lines_of(key, side))
    assert (len(found.ids), found.faults) == (len(SAMPLES[key].lines(side)), [])
    zipped = as_zip({"lines.jsonl": lines_of(key, side)})
    packed = gzip.compress(lines_of(key, side), mtime=0)
    assert found == put_before(key, side, zipped, "x.zip") == put_before(key, side, packed)


@each_side
def test_lines_cut_anywhere_keep_what_is_whole(key: str, side: Side) -> None:
    data = lines_of(key, side)
    for cut in range(0, len(data), STEP):
        found = put_before(key, side, data[:cut])
        whole = data[: cut + 1].count(b"\n")
        assert len(found.ids) == whole
        is_between = cut == 0 or data[cut - 1 : cut] == b"\n" or data[cut : cut + 1] == b"\n"
        assert [fault[: len("x.jsonl:1")] for fault in found.faults] == (
            [] if is_between else [f"x.jsonl:{whole + 1}"]
        )


@each_side
def test_gzip_cut_anywhere_is_a_fault(key: str, side: Side) -> None:
    packed = gzip.compress(lines_of(key, side), mtime=0)
    for cut in range(1, len(packed), STEP):
        assert put_before(key, side, packed[:cut]).faults[-1].startswith("x.jsonl:")


@each_side
@together("name", ENCODINGS)
def test_lines_in_a_wrong_encoding_are_faults(key: str, side: Side, name: str) -> None:
    text = lines_of(key, side).decode()
    found = put_before(key, side, ENCODINGS[name](text))
    if "UTF-" in name:
        # Another encoding of the whole file is one fault, not one of each line.
        (fault,) = found.faults
        # Without its byte order mark it is recognised by its zero bytes.
        kind = "a binary file" if "without mark" in name else f"text in {name}"
        assert fault.startswith(f"x.jsonl:0: looks like {kind}; accepted are JSON Lines")
        return
    assert found.faults[0].startswith("x.jsonl:1:")
    damaged = [number for number, line in enumerate(text.splitlines(), 1) if "é" in line]
    if "latin" not in name:
        assert [int(fault.split(":")[1]) for fault in found.faults] == damaged


@each_side
@together("data", [b"", b"\n", b" \n\t\n", b"\r\n", b"\xef\xbb\xbf"])
def test_files_without_anything_hold_no_items(key: str, side: Side, data: bytes) -> None:
    assert put_before(key, side, data) == ([], [])
    (fault,) = checked(key, side, data)
    assert fault.startswith("x:0: contains no ")


@each_side
def test_a_byte_order_mark_is_no_part_of_the_line(key: str, side: Side) -> None:
    plain = put_before(key, side, lines_of(key, side))
    assert put_before(key, side, b"\xef\xbb\xbf" + lines_of(key, side)) == plain


@each_side
@together("name", BAD_VALUES)
def test_no_key_takes_what_is_not_strict_json(key: str, side: Side, name: str) -> None:
    sample = SAMPLES[key].lines(side)[0]
    for wrong in sample:
        parts = [
            b'"%s": %s' % (part.encode(), BAD_VALUES[name] if part == wrong else as_json(value))
            for part, value in sample.items()
        ]
        found = put_before(key, side, b"{%s}" % b", ".join(parts))
        assert found.ids == []
        assert [fault[:10] for fault in found.faults] == ["x.jsonl:1:"]


@each_side
def test_a_key_of_a_line_that_comes_twice_is_a_fault(key: str, side: Side) -> None:
    for line in SAMPLES[key].lines(side):
        for part, value in line.items():
            again = b"{%s: %s, %s" % (as_json(part), as_json(value), as_json(line)[1:])
            assert f"the key {part!r} occurs twice" in put_before(key, side, again).faults[0]


@each_side
@together("wrong", WRONG_VALUES)
def test_any_part_of_a_line_may_be_of_another_kind(key: str, side: Side, wrong: Any) -> None:
    for line in SAMPLES[key].lines(side):
        for other in changed(line, wrong):
            found = put_before(key, side, as_json(other) + b"\n")
            assert len(found.ids) + len(found.faults) == 1


@each_side
def test_a_text_that_is_too_long_is_a_fault(key: str, side: Side) -> None:
    line = SAMPLES[key].lines(side)[0]
    for part, value in line.items():
        if isinstance(value, str):
            found = put_before(key, side, as_json({**line, part: "x" * 2_000_001}))
            assert found.faults[0].startswith("x.jsonl:1:")


@each_side
def test_an_id_that_comes_again_is_a_fault_with_both_lines(key: str, side: Side) -> None:
    data = lines_of(key, side)
    faults = checked(key, side, data + data)
    number = len(SAMPLES[key].lines(side))
    assert len(faults) == number
    assert faults[0].startswith(f"x.jsonl:{number + 1}: the id ")
    assert faults[0].endswith("was already used at x.jsonl:1")


@each_side
def test_fifty_megabytes_in_one_line_are_a_fault(key: str, side: Side) -> None:
    found = put_before(key, side, lines_of(key, side) + fifty_megabytes())
    (fault,) = found.faults
    assert fault.startswith(f"x.jsonl:{len(found.ids) + 1}: the line is longer than 16 MB")


MAGIC = st.sampled_from([b"", b"PK", b"PK\x03\x04", b"\x1f\x8b", b"\xef\xbb\xbf", HALF])


@drawn(magic=MAGIC, data=st.binary(max_size=300), examples=25)
@each_side
def test_any_bytes(key: str, side: Side, magic: bytes, data: bytes) -> None:
    put_before(key, side, magic + data)
    put_before(key, side, magic + data, "x.zip")


@drawn(data=st.data(), examples=40)
@each_side
def test_any_change_of_a_good_file(key: str, side: Side, data: st.DataObject) -> None:
    files = SAMPLES[key].files.get(side, {"lines.jsonl": lines_of(key, side)})
    original, name = data.draw(
        st.sampled_from(
            [
                (lines_of(key, side), "x.jsonl"),
                (gzip.compress(lines_of(key, side), mtime=0), "x.jsonl"),
                (as_zip(files), "x.zip"),
                (as_zip(files, zipfile.ZIP_STORED), "x.zip"),
            ]
        )
    )
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(original)))
        end = data.draw(st.integers(start, min(len(original), start + 8)))
        original = original[:start] + data.draw(st.binary(max_size=8)) + original[end:]
    put_before(key, side, original, name)
