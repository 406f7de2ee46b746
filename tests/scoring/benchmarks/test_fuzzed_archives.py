"""The published layouts of every benchmark, as folders and ZIPs, damaged in every known way."""

import gzip
import io
import json
import os
import zipfile
from collections.abc import Callable
from itertools import chain
from pathlib import Path, PurePath

import pytest

from tests.many import together
from tests.scoring.benchmarks.fuzzing import each_layout, each_side, lines_of, put_before
from tests.scoring.benchmarks.hostile import (
    BAD_VALUES,
    ENCODINGS,
    WRONG_VALUES,
    changed,
    fifty_megabytes,
)
from tests.scoring.benchmarks.samples import SAMPLES, Files, Side, as_json, as_zip

# Testing every cut would be redundant. A prime step covers all kinds of positions.
STEP = 7


def one_of_each(files: Files) -> Files:
    """One file of each name: others of that name are read in the same way."""
    return {name: files[name] for name in {PurePath(name).name: name for name in files}.values()}


def write_files(root: Path, files: Files) -> None:
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)


@each_layout
def test_the_published_layout_has_the_same_items(key: str, side: Side, tmp_path: Path) -> None:
    files = SAMPLES[key].files[side]
    found = put_before(key, side, as_zip(files), "x.zip")
    assert found.faults == []
    assert set(found.ids) <= set(put_before(key, side, lines_of(key, side)).ids)
    folder = tmp_path / f"{key}-{side}"
    write_files(folder, files)
    assert put_before(key, side, folder) == found


@each_side
def test_an_archive_cut_anywhere_is_a_fault(key: str, side: Side) -> None:
    files = SAMPLES[key].files.get(side, {"lines.jsonl": lines_of(key, side)})
    packed = as_zip(files)
    for cut in range(0, len(packed), STEP):
        found = put_before(key, side, packed[:cut], "x.zip")
        assert (found.ids, len(found.faults)) == ([], 1)
        assert "not a readable ZIP archive" in found.faults[0]


@each_layout
def test_a_file_in_an_archive_cut_anywhere_is_named(key: str, side: Side) -> None:
    files = SAMPLES[key].files[side]
    for name, data in one_of_each(files).items():
        for cut in range(0, len(data), 1 + len(data) // 40):
            found = put_before(key, side, as_zip({**files, name: data[:cut]}), "x.zip")
            is_text = not name.endswith(".json")
            assert is_text or any(fault.startswith(f"x.zip/{name}:") for fault in found.faults)


@each_layout
@together("name", ENCODINGS)
def test_files_in_a_wrong_encoding_are_faults(key: str, side: Side, name: str) -> None:
    files = SAMPLES[key].files[side]
    damaged = {member: ENCODINGS[name](data.decode()) for member, data in files.items()}
    found = put_before(key, side, as_zip(damaged), "x.zip")
    # Text may contain `\u0000`; only in JSON is it a NUL.
    assert found.faults or "escaped" in name


@each_layout
@together("name", BAD_VALUES)
def test_no_file_takes_what_is_not_strict_json(key: str, side: Side, name: str) -> None:
    files = SAMPLES[key].files[side]
    for member in one_of_each(files):
        if member.endswith(".json"):
            damaged = {**files, member: b'{"response":\n%s}' % BAD_VALUES[name]}
            found = put_before(key, side, as_zip(damaged), "x.zip")
            assert any(fault.startswith(f"x.zip/{member}:") for fault in found.faults)


@pytest.mark.parametrize(
    "step",
    # Some of each type of value; all of them are put into lines at every change.
    [pytest.param(4, id="some"), pytest.param(1, id="all", marks=pytest.mark.slow)],
)
@each_layout
def test_any_part_of_a_file_may_be_of_another_kind(key: str, side: Side, step: int) -> None:
    files = SAMPLES[key].files[side]
    for member, data in one_of_each(files).items():
        if member.endswith(".json"):
            for other in chain(
                *(changed(json.loads(data), value) for value in WRONG_VALUES[::step])
            ):
                damaged = {**files, member: as_json(other)}
                found = put_before(key, side, as_zip(damaged, zipfile.ZIP_STORED), "x.zip")
                assert found.ids or found.faults or not other


@each_layout
def test_fifty_megabytes_in_one_file_are_a_fault(key: str, side: Side) -> None:
    files = SAMPLES[key].files[side]
    name = sorted(files)[-1]
    found = put_before(
        key, side, as_zip({**files, name: fifty_megabytes()}, zipfile.ZIP_STORED), "x.zip"
    )
    assert any(fault.startswith(f"x.zip/{name}:") for fault in found.faults)


# --- nasty archives -----------------------------------------------------------------------


def _with_flag(data: bytes) -> bytes:
    """The archive with its first member marked as encrypted, in its directory."""
    at = data.index(b"PK\x01\x02") + 8
    return data[:at] + b"\x01" + data[at + 1 :]


def _linked(files: Files) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as bundle:
        for name in files:
            info = zipfile.ZipInfo(name)
            info.external_attr = 0o120777 << 16
            bundle.writestr(info, "/etc/passwd")
    return buffer.getvalue()


def _renamed(files: Files, form: str) -> bytes:
    return as_zip({form.format(name): data for name, data in files.items()})


NASTY: dict[str, Callable[[Files], bytes]] = {
    "names that climb": lambda files: _renamed(files, "../{}"),
    "absolute names": lambda files: _renamed(files, "/{}"),
    "names of a drive": lambda files: _renamed(files, "C:\\{}"),
    "names with a line end": lambda files: _renamed(files, "a\n{}"),
    "very long names": lambda files: _renamed(files, "a" * 400 + "{}"),
    "links": _linked,
    "encrypted": lambda files: _with_flag(as_zip(files)),
    "a damaged member": lambda files: as_zip(files).replace(
        next(iter(files)).encode(), b"\xff" * len(next(iter(files)).encode()), 1
    ),
    "an unknown compression": lambda files: as_zip(files).replace(
        b"PK\x01\x02\x14\x03\x14\x00\x00\x00\x08\x00", b"PK\x01\x02\x14\x03\x14\x00\x00\x00\x63\x00"
    ),
    "an archive in it": lambda files: as_zip(dict.fromkeys(files, as_zip(files))),
    "gzip in it": lambda files: as_zip(dict.fromkeys(files, gzip.compress(b"{}", mtime=0))),
    "a bomb": lambda files: as_zip({**files, "z.txt": b"0" * 30_000_000}),
    "a stranger": lambda files: as_zip({**files, "more.json": b"MZ"}),
    "nothing": lambda _: as_zip({}),
    "only clutter": lambda _: as_zip({"__MACOSX/a.json": b"{}", "b/.DS_Store": b""}),
    "only a folder": lambda _: as_zip({"a/": b""}),
}


@each_layout
@together("name", NASTY)
def test_nasty_archives_are_faults(key: str, side: Side, name: str) -> None:
    found = put_before(key, side, NASTY[name](dict(SAMPLES[key].files[side])), "x.zip")
    assert found.faults


@each_layout
def test_names_with_double_slashes_are_read(key: str, side: Side) -> None:
    found = put_before(key, side, _renamed(dict(SAMPLES[key].files[side]), "a//{}"), "x.zip")
    assert found.ids or found.faults


@each_layout
def test_a_pipe_or_a_link_in_a_folder_is_not_waited_for(
    key: str, side: Side, tmp_path: Path
) -> None:
    files = SAMPLES[key].files[side]
    name = sorted(files)[-1]
    folder = tmp_path / f"{key}-{side}"
    write_files(folder, files)
    (folder / name).unlink()
    os.mkfifo(folder / name)
    (folder / "link.json").symlink_to("/etc/passwd")
    found = put_before(key, side, folder)
    assert any(fault.endswith(f"{name}: not a file") for fault in found.faults)
