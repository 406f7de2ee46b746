"""Hashes of a release, and the manifest that holds them with all else there is to know of it.

An item's hash is the SHA-256 of its gold line in canonical JSON. The release's is of one line
`sha256  name` per item, sorted by name.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from .rows import PublishedRelease, PublishingError

MANIFEST = "manifest.json"
_SHA256 = re.compile("[0-9a-f]{64}")
_ABOUT = ("visibility", "notes", "licence", "must_accept", "citation", "draw", "frozen_at")


def canonical_json(value: Any) -> str:
    """JSON in one spelling: keys sorted, no spaces, characters as themselves."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def sha256_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def gold_sha256(line: Mapping[str, Any]) -> str:
    """The hash of an item, by its gold line."""
    return sha256_of(canonical_json(line))


def release_sha256(hashes: Iterable[tuple[str, str]]) -> str:
    """The release's own hash, by its items' (name, sha256) in any order."""
    return sha256_of("".join(f"{sha256}  {name}\n" for name, sha256 in sorted(hashes)))


@dataclass(frozen=True)
class FileEntry:
    """A file: its path inside the export, its size and the SHA-256 of its bytes."""

    path: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class ItemEntry:
    """An item by name; `sha256` is empty where its gold is hidden."""

    name: str
    sha256: str
    split: str = ""


@dataclass(frozen=True)
class Manifest:
    """What `manifest.json` says; `sha256` is empty where gold is hidden."""

    dataset: str
    version: str
    benchmark: str
    labels: tuple[str, ...]
    sha256: str
    item_count: int
    fact_count: int | None
    items: tuple[ItemEntry, ...]
    files: tuple[FileEntry, ...]
    about: Mapping[str, Any] = field(default_factory=dict)
    """What restoring needs and no check: visibility, notes, licence, must_accept, citation,
    draw and frozen_at, as they stand there and unchecked."""


def write_manifest(
    release: PublishedRelease, items: Iterable[ItemEntry], files: Sequence[Mapping[str, Any]]
) -> bytes:
    """The manifest's bytes; `files` are {path, bytes, sha256} of every file but itself."""
    content = {
        "dataset": release.dataset,
        "title": release.title,
        "licence": release.licence,
        "version": release.version,
        "benchmark": release.benchmark,
        "labels": list(release.labels),
        "visibility": release.visibility,
        "notes": release.notes,
        "must_accept": release.must_accept,
        "citation": asdict(release.citation),
        **({"draw": dict(release.draw)} if release.draw else {}),
        "frozen_at": release.frozen_at.isoformat(),
        "sha256": release.sha256,
        "item_count": release.item_count,
        "fact_count": release.fact_count,
        "items": [
            {"name": item.name, "sha256": item.sha256}
            | ({"split": item.split} if item.split else {})
            for item in items
        ],
        "files": list(files),
    }
    return (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode()


def read_manifest(data: bytes) -> Manifest:
    """Raises PublishingError, which names the field that is missing or wrong."""
    try:
        content = json.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise PublishingError(MANIFEST, f"not JSON: {error}") from error
    if not isinstance(content, dict):
        raise PublishingError(MANIFEST, "must be a JSON object")
    return Manifest(
        dataset=_text(content, "dataset"),
        version=_text(content, "version"),
        benchmark=_text(content, "benchmark"),
        labels=tuple(_texts(content, "labels")),
        sha256=_sha256(content, "sha256", may_be_empty=True),
        item_count=_count(content, "item_count"),
        fact_count=None if content.get("fact_count") is None else _count(content, "fact_count"),
        items=tuple(
            ItemEntry(
                _text(item, "name", where),
                _sha256(item, "sha256", where, may_be_empty=True),
                _text({"split": "", **item}, "split", where),
            )
            for where, item in _objects(content, "items")
        ),
        files=tuple(
            FileEntry(
                _text(file, "path", where),
                _count(file, "bytes", where),
                _sha256(file, "sha256", where),
            )
            for where, file in _objects(content, "files")
        ),
        about={key: content[key] for key in _ABOUT if key in content},
    )


def _fault(field: str, reason: str) -> PublishingError:
    return PublishingError(MANIFEST, f"{field}: {reason}")


def _text(content: Mapping[str, Any], key: str, where: str = "") -> str:
    value = content.get(key)
    if not isinstance(value, str):
        raise _fault(where + key, "missing, or not a text")
    return value


def _texts(content: Mapping[str, Any], key: str) -> list[str]:
    value = content.get(key)
    if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
        raise _fault(key, "missing, or not a list of texts")
    return value


def _count(content: Mapping[str, Any], key: str, where: str = "") -> int:
    value = content.get(key)
    if type(value) is not int or value < 0:
        raise _fault(where + key, "missing, or not a count")
    return value


def _sha256(
    content: Mapping[str, Any], key: str, where: str = "", *, may_be_empty: bool = False
) -> str:
    value = _text(content, key, where)
    if not (_SHA256.fullmatch(value) or (may_be_empty and not value)):
        raise _fault(where + key, "not a SHA-256 of 64 hexadecimal digits")
    return value


def _objects(content: Mapping[str, Any], key: str) -> list[tuple[str, dict[str, Any]]]:
    """The objects of a list, each with how to name it in a fault: `items[3].`."""
    value = content.get(key)
    if not isinstance(value, list) or not all(isinstance(part, dict) for part in value):
        raise _fault(key, "missing, or not a list of objects")
    return [(f"{key}[{number}].", part) for number, part in enumerate(value)]
