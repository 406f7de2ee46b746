"""Exported releases checked offline: each kind of fault is found and named. No database."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from hypothesis import given, settings
from hypothesis import strategies as st

from portal.datasets.releases.publishing import verify as verify_module
from portal.datasets.releases.publishing.formats import PARQUET, parquet_pieces
from portal.datasets.releases.publishing.manifest import ItemEntry, write_manifest
from portal.datasets.releases.publishing.verify import Verification, VerifyFault, verify_release
from tests.datasets.releases.publishing.examples import (
    ITEMS,
    change_manifest,
    export,
    members,
    release,
    unpack,
)

WHOLE = export()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return unpack(WHOLE, tmp_path / "set")


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "set.zip"
    path.write_bytes(WHOLE)
    return path


def faults(found: Verification) -> list[tuple[str, str]]:
    return [(fault.code, fault.path) for fault in found.faults]


def rewrite(folder: Path, name: str, change: Callable[[bytes], bytes]) -> None:
    """Changes a file together with its entry in the manifest, as a careful forger would."""
    path = folder / name
    path.write_bytes(change(path.read_bytes()))
    manifest = json.loads((folder / "manifest.json").read_text())
    for file in manifest["files"]:
        if file["path"] == name:
            data = path.read_bytes()
            file |= {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    change_manifest(folder, files=manifest["files"])


def test_a_whole_export_is_sound(folder: Path, archive: Path) -> None:
    for path in (folder, archive):
        found = verify_release(path, expected=release().sha256)
        assert faults(found) == []
        assert (found.files, found.items, found.hidden) == (len(members(WHOLE)) - 1, 3, 0)
        assert found.manifest is not None
        assert found.manifest.sha256 == release().sha256


@pytest.mark.parametrize("name", sorted(members(WHOLE)))
def test_a_changed_missing_or_grown_file_is_named(folder: Path, name: str) -> None:
    path = folder / name
    data = path.read_bytes()
    is_manifest = name == "manifest.json"
    path.write_bytes(bytes([data[0] ^ 1]) + data[1:])
    assert faults(verify_release(folder)) == [("bad_manifest" if is_manifest else "sha256", name)]
    path.write_bytes(data + b"\n")
    assert faults(verify_release(folder)) == ([] if is_manifest else [("size", name)])
    path.unlink()
    assert faults(verify_release(folder)) == [("no_manifest" if is_manifest else "missing", name)]


def test_extra_files_are_named(folder: Path) -> None:
    (folder / "gold" / "more.html").write_text("<p>")
    (folder / "notes.txt").write_text("x")
    assert faults(verify_release(folder)) == [
        ("extra", "gold/more.html"),
        ("extra", "notes.txt"),
    ]


def test_a_link_is_no_file_of_the_release(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.jsonl"
    (folder / "gold.jsonl").rename(outside)
    (folder / "gold.jsonl").symlink_to(outside)
    assert faults(verify_release(folder)) == [("missing", "gold.jsonl")]


def test_all_faults_are_listed(folder: Path) -> None:
    (folder / "CITATION.cff").unlink()
    (folder / "gold" / "001.html").write_text("<p>else</p>")
    (folder / "extra").write_text("")
    assert {code for code, _ in faults(verify_release(folder))} == {"missing", "size", "extra"}


def test_a_forged_line_is_found_by_its_hash(folder: Path) -> None:
    rewrite(folder, "gold.jsonl", lambda data: data.replace(b"1,200", b"1,300"))
    (fault,) = verify_release(folder).faults
    assert str(fault) == "gold.jsonl:1: its hash differs from that of 001"


def test_a_forged_page_is_found(folder: Path) -> None:
    rewrite(folder, "gold/001.html", lambda data: data.replace(b"1,200", b"1,300"))
    assert faults(verify_release(folder)) == [("page", "gold/001.html")]


def test_a_page_of_no_item_is_named(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "gold" / "more.html").write_text("")
    more = {"path": "gold/more.html", "bytes": 0, "sha256": hashlib.sha256(b"").hexdigest()}
    change_manifest(folder, files=[*manifest["files"], more])
    assert faults(verify_release(folder)) == [("page", "gold/more.html")]


def test_names_are_shown_without_what_a_terminal_obeys() -> None:
    fault = VerifyFault("extra", "a\x1b[2J\n\udcff", "not in the manifest")
    assert str(fault) == r"a\x1b[2J\n\udcff: not in the manifest"


def test_forged_facts_are_found(folder: Path) -> None:
    rewrite(folder, "facts.jsonl", lambda data: data.replace(b'"id": "001"', b'"id": "002"'))
    assert faults(verify_release(folder)) == [("line", "facts.jsonl:1")]


def test_a_fact_too_few_is_counted(folder: Path) -> None:
    def without_facts(data: bytes) -> bytes:
        lines = [json.loads(line) | {"facts": []} for line in data.splitlines()]
        return "".join(json.dumps(line) + "\n" for line in lines).encode()

    rewrite(folder, "facts.jsonl", without_facts)
    assert faults(verify_release(folder)) == [("count", "manifest.json")]


def test_a_forged_table_is_found(folder: Path) -> None:
    other = [ITEMS[0], replace(ITEMS[1], gold=ITEMS[2].gold)]
    table = b"".join(parquet_pieces(other, gold=True))
    rewrite(folder, PARQUET, lambda _: table)
    found = verify_release(folder)
    assert [fault.message for fault in found.faults] == [
        "IC:x.jpg: the row has no item, or other gold",
        "no facts: has no row",
    ]
    rewrite(folder, PARQUET, lambda data: data[:-1])
    assert faults(verify_release(folder)) == [("parquet", PARQUET)]


def test_a_release_forged_as_a_whole_is_found_by_its_hash(tmp_path: Path) -> None:
    forged = unpack(export([replace(ITEMS[0], split="test"), *ITEMS[2:]]), tmp_path / "forged")
    assert faults(verify_release(forged)) == []
    found = verify_release(forged, expected=release().sha256)
    assert faults(found) == [("expected_sha256", "manifest.json")]


@pytest.mark.parametrize(
    ("fields", "code", "message"),
    [
        ({"sha256": "0" * 64}, "release_sha256", "sha256 is 000"),
        ({"item_count": 4}, "count", "item_count is 4, but there are 3 items"),
        ({"fact_count": 7}, "count", "fact_count is 7, but there are 2 facts"),
        ({"files": []}, "extra", "not in the manifest"),
        ({"items": None}, "bad_manifest", "items: missing or not a list of objects"),
        ({"items": [{"name": "a"}]}, "bad_manifest", "items[0].sha256: missing"),
        ({"items": [{"name": 1, "sha256": ""}]}, "bad_manifest", "items[0].name: missing"),
        ({"files": [{"path": "a", "bytes": -1}]}, "bad_manifest", "files[0].bytes: missing"),
        ({"files": [{"path": "a", "bytes": 1, "sha256": "x"}]}, "bad_manifest", "files[0].sha256"),
        ({"labels": "Number"}, "bad_manifest", "labels: missing or not a list of strings"),
        ({"version": None}, "bad_manifest", "version: missing or not a string"),
    ],
)
def test_a_manifest_with_a_fault_is_named_by_field(
    folder: Path, fields: dict[str, Any], code: str, message: str
) -> None:
    change_manifest(folder, **fields)
    found = verify_release(folder).faults
    assert any(fault.code == code and message in fault.message for fault in found)


def test_a_file_or_item_twice_is_named(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    change_manifest(
        folder,
        files=[*manifest["files"], manifest["files"][0]],
        items=[*manifest["items"], manifest["items"][0]],
        item_count=4,
    )
    found = faults(verify_release(folder))
    assert found[:2] == [("doubled", "gold/001.html"), ("doubled", "manifest.json")]


def test_files_that_a_release_needs_must_be_in_the_manifest(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "gold.jsonl").unlink()
    files = [file for file in manifest["files"] if file["path"] != "gold.jsonl"]
    change_manifest(folder, files=files)
    assert faults(verify_release(folder)) == [("missing", "gold.jsonl")]


def test_hidden_gold_cannot_be_checked_and_that_is_said(tmp_path: Path, capsys: Any) -> None:
    items = [ITEMS[0], replace(ITEMS[1], gold=None), ITEMS[2]]
    path = tmp_path / "set.zip"
    path.write_bytes(export(items))
    found = verify_release(path)
    assert (faults(found), found.hidden, found.items) == ([], 1, 3)
    call_command("verify_release", str(path))
    assert "items with hidden gold: 1; " in capsys.readouterr().out


def test_a_release_of_nothing_but_hidden_gold_needs_no_lines(tmp_path: Path) -> None:
    items = [replace(item, gold=None) for item in ITEMS]
    manifest = write_manifest(release(items), [ItemEntry(i.name, "") for i in items], [])
    (tmp_path / "manifest.json").write_bytes(manifest)
    assert faults(verify_release(tmp_path)) == []


def test_what_is_no_release_is_named(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert faults(verify_release(empty)) == [("no_manifest", "manifest.json")]
    text = tmp_path / "text.zip"
    text.write_text("no ZIP")
    assert faults(verify_release(text)) == [("not_a_zip", "text.zip")]
    nested = tmp_path / "deep"
    nested.mkdir()
    (nested / "manifest.json").write_text("[" * 100_000)
    assert faults(verify_release(nested)) == [("bad_manifest", "manifest.json")]


def test_a_path_out_of_the_folder_is_not_followed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    manifest = json.loads((folder / "manifest.json").read_text())
    outside = {"path": "../secret", "bytes": 6, "sha256": "0" * 64}
    change_manifest(folder, files=[*manifest["files"], outside])
    assert faults(verify_release(folder)) == [("missing", "../secret")]


def test_a_cut_archive_is_named(archive: Path) -> None:
    archive.write_bytes(WHOLE[:-30])
    assert faults(verify_release(archive)) == [("not_a_zip", "set.zip")]


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("changed") / "set.zip"


@settings(max_examples=80, deadline=None)
@given(at=st.integers(0, len(WHOLE) - 1), change=st.integers(1, 255))
def test_no_changed_byte_of_a_file_goes_unnoticed(changed: Path, at: int, change: int) -> None:
    """A changed byte of the ZIP is found, unless the content stays the same."""
    data = WHOLE[:at] + bytes([WHOLE[at] ^ change]) + WHOLE[at + 1 :]
    changed.write_bytes(data)
    if not verify_release(changed).faults:
        assert members(data) == members(WHOLE)


def test_a_line_too_long_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = replace(verify_module.LIMITS, member=4096)
    monkeypatch.setattr(verify_module, "LIMITS", limits)
    rewrite(folder, "gold.jsonl", lambda data: b'"' + b"x" * 5000)
    assert faults(verify_release(folder)) == [("line", "gold.jsonl:1")]


class TestCommand:
    """The command works without a database, which these tests do not have."""

    def test_tells_what_it_checked(self, archive: Path, capsys: pytest.CaptureFixture[str]) -> None:
        call_command("verify_release", str(archive), sha256=release().sha256.upper())
        output = capsys.readouterr().out
        assert "set 1.0.0 is valid: 6 files, 3 items" in output
        assert release().sha256 in output

    def test_ends_with_1_and_names_the_faults(
        self, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (folder / "gold.jsonl").unlink()
        (folder / "more").write_text("")
        with pytest.raises(CommandError, match="2 errors") as refused:
            call_command("verify_release", str(folder))
        assert refused.value.returncode == 1
        assert capsys.readouterr().err.splitlines() == [
            "gold.jsonl: missing [missing]",
            "more: not in the manifest [extra]",
        ]

    def test_counts_what_it_does_not_show(
        self, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        for number in range(60):
            (folder / f"more-{number}").write_text("")
        with pytest.raises(CommandError, match="60 errors, 10 not shown"):
            call_command("verify_release", str(folder))
        assert len(capsys.readouterr().err.splitlines()) == 50

    def test_refuses_a_path_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(CommandError, match="no such file or folder"):
            call_command("verify_release", str(tmp_path / "none"))
