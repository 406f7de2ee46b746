"""The hash of a release covers its whole archive: any edited, removed or added file is found."""

import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from portal.datasets.access import ALL_GOLD
from portal.datasets.models import Release
from portal.datasets.releases.exports import release_archive
from portal.datasets.releases.publishing.manifest import canonical_json, release_sha256, sha256_of
from portal.datasets.releases.publishing.verify import verify_release
from tests.datasets.releases.worlds import split_world

pytestmark = pytest.mark.django_db

Members = dict[str, bytes]

NAMES = [
    "gold/open.html", "gold/secret.html", "gold.jsonl", "facts.jsonl", "items.jsonl", "meta.jsonl",
    "prompts.jsonl", "items.parquet", "images/open.png", "images/secret.png", "citation.bib",
    "CITATION.cff", "croissant.json",
]  # fmt: skip


def frozen() -> Release:
    terms: dict[str, Any] = {
        "citation": {"authors": ["Doe, Jane"]},
        "notes": "N.",
        "licence": "MIT",
    }
    return split_world(**terms)


def members_of(release: Release, *, images: bool = True) -> Members:
    data = b"".join(release_archive(release, ALL_GOLD, images=images))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(members: Members, folder: Path) -> Path:
    path = folder / "release.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def corrected(members: Members, **fields: Any) -> Members:
    """The members with a manifest that says what they are now, as a careful forger would write."""
    manifest = json.loads(members["manifest.json"]) | fields
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in members.items()}
    manifest["files"] = [
        {"path": name, "bytes": len(data), "sha256": hashes[name]}
        for name, data in members.items()
        if name != "manifest.json"
    ]
    for entry in manifest.get("content", []):
        entry["sha256"] = hashes.get(entry["path"], entry["sha256"])
    for item, line in zip(manifest["items"], members["gold.jsonl"].splitlines(), strict=False):
        item["sha256"] = _item_sha256(line)
    covered = {key: manifest[key] for key in manifest if key not in ("sha256", "files")}
    manifest["sha256"] = sha256_of(canonical_json(covered))
    return members | {"manifest.json": json.dumps(manifest).encode()}


def _item_sha256(line: bytes) -> str:
    """The hash of a gold line, which leaves the canary out; of the bytes if it is not JSON."""
    try:
        gold = json.loads(line)
        del gold["canary"]
        return sha256_of(canonical_json(gold))
    except (ValueError, KeyError):
        return hashlib.sha256(line).hexdigest()


def is_found(members: Members, published: str, folder: Path) -> bool:
    return bool(verify_release(write(members, folder), expected=published).faults)


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def test_the_archive_holds_what_is_mutated_here(tmp_path: Path) -> None:
    release = frozen()
    members = members_of(release)
    assert sorted(members) == sorted([*NAMES, "manifest.json"])
    assert corrected(members)["manifest.json"] != b""
    for published in (release.sha256, f"release-v3:{release.sha256}"):
        assert not is_found(members, published, tmp_path)
        assert not is_found(corrected(members), published, tmp_path)


def test_an_edit_of_any_member_is_found(tmp_path: Path) -> None:
    """At the beginning, in the middle and at the end of each file, and anywhere in some."""
    release = frozen()
    members = members_of(release)
    for name in NAMES:
        data = members[name]
        places = {0, len(data) // 3, len(data) // 2, len(data) - 1}
        for at in places:
            edited = corrected(members | {name: flipped(data, at)})
            assert is_found(edited, release.sha256, tmp_path), (name, at)


def test_a_removed_emptied_or_added_member_is_found(tmp_path: Path) -> None:
    release = frozen()
    members = members_of(release)
    for name in NAMES:
        without = {key: data for key, data in members.items() if key != name}
        if name != "gold.jsonl":
            assert is_found(corrected(without), release.sha256, tmp_path), name
        assert is_found(corrected(members | {name: b""}), release.sha256, tmp_path), name
    for more in ("notes.txt", "gold/more.html", "images/more.png"):
        assert is_found(corrected(members | {more: b"x"}), release.sha256, tmp_path), more


@pytest.mark.parametrize("name", ["gold.jsonl", "facts.jsonl"])
def test_another_figure_is_found(name: str, tmp_path: Path) -> None:
    release = frozen()
    members = members_of(release)
    edited = corrected(members | {name: members[name].replace(b"1,200", b"1,300")})
    assert is_found(edited, release.sha256, tmp_path)


EDITS: dict[str, Any] = {
    "licence": "CC0-1.0", "title": "Another", "notes": "", "version": "2.0.0",
    "visibility": "public", "must_accept": False, "frozen_at": "2020-01-01T00:00:00+00:00",
    "citation": {"authors": ["Roe, Richard"], "year": None, "doi": "", "url": ""},
    "labels": ["Number"], "description": "x", "keywords": [], "benchmark": "findoc",
    "dataset": "other", "more": 1, "fact_count": 5, "content": [],
}  # fmt: skip


@pytest.mark.parametrize("field", sorted(EDITS))
def test_an_edit_of_the_manifest_is_found(field: str, tmp_path: Path) -> None:
    release = frozen()
    edited = corrected(members_of(release), **{field: EDITS[field]})
    assert is_found(edited, release.sha256, tmp_path)


def test_swapped_splits_are_found(tmp_path: Path) -> None:
    release = frozen()
    members = members_of(release)
    items = json.loads(members["manifest.json"])["items"]
    for item in items:
        item["split"] = {"dev": "test", "test": "dev"}[item["split"]]
    assert is_found(corrected(members, items=items), release.sha256, tmp_path)


def test_a_manifest_of_the_older_scheme_is_not_taken_for_it(tmp_path: Path) -> None:
    release = frozen()
    members = members_of(release)
    manifest = json.loads(members["manifest.json"])
    for key in ("scheme", "content", "description", "keywords"):
        del manifest[key]
    manifest["sha256"] = release_sha256((i["name"], i["sha256"]) for i in manifest["items"])
    older = members | {"manifest.json": json.dumps(manifest).encode()}
    assert not verify_release(write(older, tmp_path)).faults
    (fault,) = verify_release(write(older, tmp_path), expected=release.sha256).faults
    assert fault.code == "expected_sha256"
    assert "release-v1 covers the ids and gold lines" in fault.message
    (fault,) = verify_release(
        write(older, tmp_path), expected=f"release-v3:{release.sha256}"
    ).faults
    assert "has the scheme release-v3, but the archive's has release-v1" in fault.message


def test_a_copy_without_images_has_the_same_hash(tmp_path: Path) -> None:
    release = frozen()
    found = verify_release(
        write(members_of(release, images=False), tmp_path), expected=release.sha256
    )
    assert (found.faults, found.images_left_out) == ([], 2)


def test_one_image_missing_among_others_is_found(tmp_path: Path) -> None:
    release = frozen()
    members = members_of(release)
    del members["images/open.png"]
    (fault,) = verify_release(write(corrected(members), tmp_path)).faults
    assert (fault.code, fault.path) == ("missing", "images/open.png")


def _report(path: Path, *options: str) -> str:
    out = io.StringIO()
    call_command("verify_release", str(path), *options, stdout=out)
    return out.getvalue()


def test_the_command_names_the_scheme_and_what_it_covers(tmp_path: Path) -> None:
    release = frozen()
    path = write(members_of(release, images=False), tmp_path)
    output = _report(path, "--sha256", release.sha256)
    assert f"sha256 {release.sha256}\nrelease-v3: covers gold, facts, splits" in output
    assert "page images covered by the hash but not in this copy: 2" in output
    assert "compare the hash" not in output
    assert "compare the hash" in _report(path)
    with pytest.raises(CommandError):
        _report(path, "--sha256", release.gold_sha256)


def test_the_same_release_gives_the_same_bytes() -> None:
    release = frozen()
    first, second = (b"".join(release_archive(release, ALL_GOLD, images=True)) for _ in range(2))
    assert first == second


def test_the_citation_key_of_earlier_versions_is_accepted(tmp_path: Path) -> None:
    """It turned underscores into hyphens, so that two datasets shared a key."""
    release = split_world(slug="my_set")
    members = members_of(release)
    citation = members["citation.bib"]
    assert citation.startswith(b"@misc{my_set-")
    for key, is_right in ((b"my-set", True), (b"my+set", False)):
        former = citation.replace(b"{my_set-", b"{" + key + b"-")
        edited = corrected(members | {"citation.bib": former})
        assert is_found(edited, release.sha256, tmp_path) is not is_right, key
