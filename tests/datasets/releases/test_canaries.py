"""The canary in hidden gold, the prompts in an archive, and releases from before both."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from portal.datasets.access import ALL_GOLD
from portal.datasets.models import Release, ReleaseItem
from portal.datasets.releases.exports import published_items, release_archive
from portal.datasets.releases.files import FILES, release_prompts
from portal.datasets.releases.publishing.manifest import WHOLE, gold_sha256
from portal.datasets.releases.publishing.verify import verify_release
from portal.datasets.releases.restoring import restore_release
from portal.datasets.releases.services import Restored
from portal.facts import read_tags
from scoring.benchmarks import BENCHMARKS, GoldLine
from tests.datasets.factories import LABELS
from tests.datasets.releases.test_covered import Members, corrected, is_found, members_of, write
from tests.datasets.releases.worlds import RECORDS, freeze_split, split_world, unzipped
from tests.factories import empty_dataset

pytestmark = pytest.mark.django_db


def canary_of(release: Release) -> str:
    return str((release.about or {})["canary"])


def lines_of(members: Members, name: str) -> dict[str, dict[str, Any]]:
    return {line["id"]: line for line in map(json.loads, members[name].splitlines())}


def test_every_written_line_of_hidden_gold_has_the_canary() -> None:
    release = split_world()
    canary, members = canary_of(release), members_of(release)
    for name in ("gold.jsonl", "facts.jsonl"):
        lines = lines_of(members, name)
        assert lines["secret"]["canary"] == canary
        assert "canary" not in lines["open"]
    assert f"<!-- {canary} -->".encode() in members["gold/secret.html"]
    assert canary.encode() not in members["gold/open.html"]
    records = {row["id"]: row["record"] for row in _rows(members["items.parquet"])}
    assert canary in records["secret"]
    assert canary not in records["open"]
    tasks = b"".join(FILES["labelstudio.json"].pieces(release, ALL_GOLD))
    assert [task["data"].get("canary", "") for task in json.loads(tasks)] == ["", canary]
    pages = unzipped(b"".join(FILES["gold.zip"].pieces(release, ALL_GOLD)))
    assert canary.encode() in pages["gold/secret.html"]


def _rows(data: bytes) -> Any:
    return pq.read_table(io.BytesIO(data)).to_pylist()


def test_public_gold_has_none_and_private_gold_has_it_everywhere() -> None:
    public = split_world("public")
    assert b"canary" not in members_of(public)["gold.jsonl"]
    private = freeze_split(public.dataset, version="2.0.0", visibility="private")
    assert all("canary" in line for line in lines_of(members_of(private), "gold.jsonl").values())


def test_the_hash_of_an_item_leaves_the_canary_out(tmp_path: Path) -> None:
    """The same gold in two releases has two canaries and one hash."""
    release = split_world()
    other = freeze_split(release.dataset, version="2.0.0")
    assert canary_of(release) != canary_of(other)
    assert release.gold_sha256 == other.gold_sha256
    line = lines_of(members_of(release), "gold.jsonl")["secret"]
    del line["canary"]
    assert gold_sha256(line) == ReleaseItem.objects.get(release=release, name="secret").sha256
    members = members_of(release)
    assert verify_release(write(members, tmp_path), expected=release.sha256).faults == []


def test_a_removed_or_changed_canary_is_found(tmp_path: Path) -> None:
    release = split_world()
    members, canary = members_of(release), canary_of(release)
    without = members["gold.jsonl"].replace(f'"canary":"{canary}",'.encode(), b"")
    assert canary.encode() not in without
    for edited in (without, members["gold.jsonl"].replace(canary[-4:].encode(), b"0000")):
        assert is_found(corrected(members | {"gold.jsonl": edited}), release.sha256, tmp_path)
    page = members["gold/secret.html"].partition(b"\n<!--")[0]
    assert is_found(corrected(members | {"gold/secret.html": page}), release.sha256, tmp_path)


def test_a_page_with_a_canary_is_read_as_the_same_gold() -> None:
    release = split_world()
    [item] = [item for item in published_items(release, ALL_GOLD) if item.name == "secret"]
    assert item.gold is not None
    page = members_of(release)["gold/secret.html"].decode()
    read, plain = read_tags(page, LABELS), read_tags(item.gold.line["html"], LABELS)
    assert read.canonical.text.strip() == plain.canonical.text
    assert read.spans == plain.spans


RECORD_LINES = RECORDS | {
    "fincriticaled": [{"id": "q1", "html": "<p><Number>1,200</Number></p>"}],
}


@pytest.mark.parametrize("benchmark", sorted(RECORD_LINES))
def test_readers_of_gold_ignore_the_canary(benchmark: str) -> None:
    def read(canary: dict[str, str]) -> Iterator[Any]:
        lines = "\n".join(json.dumps(canary | line) for line in RECORD_LINES[benchmark])
        for line in BENCHMARKS[benchmark].read_gold(io.BytesIO(lines.encode())):
            assert isinstance(line, GoldLine), line
            yield line.payload

    assert list(read({"canary": "factboard canary 1"})) == list(read({}))


def test_the_archive_has_the_prompts_and_its_hash_covers_them(tmp_path: Path) -> None:
    release = split_world()
    members = members_of(release)
    prompts = [json.loads(line) for line in members["prompts.jsonl"].splitlines()]
    assert prompts == release_prompts(release) != []
    assert "prompts.jsonl" in _content(members)
    other = json.dumps(prompts[0] | {"version": "paper-9"}).encode() + b"\n"
    assert is_found(corrected(members | {"prompts.jsonl": other}), release.sha256, tmp_path)
    wrong = json.dumps(prompts[0] | {"text": "Another."}).encode() + b"\n"
    found = verify_release(write(corrected(members | {"prompts.jsonl": wrong}), tmp_path))
    assert "sha256: differs from that of the text" in [fault.message for fault in found.faults]


def _content(members: Members) -> list[str]:
    manifest = json.loads(members["manifest.json"])
    return [entry["path"] for entry in manifest["content"]]


def test_a_copy_for_readers_without_gold_has_the_prompts() -> None:
    release = split_world()
    members = unzipped(b"".join(release_archive(release, frozenset({"dev"}))))
    assert members["prompts.jsonl"] == members_of(release)["prompts.jsonl"]
    assert canary_of(release).encode() not in members["gold.jsonl"]


@pytest.mark.django_db(transaction=True)
def test_a_restored_release_keeps_canary_prompts_and_hash(tmp_path: Path) -> None:
    release = split_world()
    members, about = members_of(release), release.about or {}
    path = write(members, tmp_path)
    restored = restore_release(dataset=empty_dataset(slug="there"), path=path)
    assert restored.sha256 == release.sha256
    assert {key: (restored.about or {})[key] for key in ("canary", "prompts")} == {
        key: about[key] for key in ("canary", "prompts")
    }
    assert members_of(restored)["gold.jsonl"] == members["gold.jsonl"]


def test_a_release_of_the_scheme_before_is_written_and_verified_as_before(tmp_path: Path) -> None:
    release = split_world(restored=Restored(WHOLE, {"canary": "factboard canary 1"}))
    assert release.scheme == "release-v2"
    members = members_of(release)
    assert "prompts.jsonl" not in members
    assert b"canary" not in members["gold.jsonl"] + members["facts.jsonl"]
    assert b"canary" not in members["gold/secret.html"]
    found = verify_release(write(members, tmp_path), expected=f"release-v2:{release.sha256}")
    assert found.faults == []
    assert release_prompts(release) != []


def test_a_canary_that_could_end_a_comment_is_refused(tmp_path: Path) -> None:
    members = members_of(split_world())
    edited = corrected(members, canary="--><script>")
    [fault] = verify_release(write(edited, tmp_path)).faults
    assert (fault.code, "canary" in fault.message) == ("bad_manifest", True)
