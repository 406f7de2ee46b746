"""The hashes of a release and its manifest.

An item's hash is the SHA-256 of its gold line in canonical JSON. The release's own hash depends on
its scheme:

release-v1   one line `sha256  name` per item, sorted by name
release-v2   the manifest in canonical JSON, without `sha256` and without `files`, which lists the
             files of one copy. `content` lists every source file: gold.jsonl, facts.jsonl,
             items.jsonl, meta.jsonl and all page images.
release-v3   the same. `content` also lists prompts.jsonl, and the gold lines of items with hidden
             gold have the release's canary. Hashes of items leave the canary out.

`verify` writes the derived files (gold/, items.parquet, the citations, croissant.json) again and
compares them. A change to the content of these files therefore needs a new scheme.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

from .croissant import read_citation
from .rows import PublishedRelease, PublishingError, read_draw

MANIFEST = "manifest.json"
GOLD_ONLY, WHOLE, MARKED = "release-v1", "release-v2", "release-v3"
NEWEST = MARKED
SCHEMES = {
    GOLD_ONLY: "the ids and gold lines of the items, and nothing else",
    WHOLE: "gold, facts, splits, the items' prompts, page images, metadata, licence, citation and"
    " notes",
    MARKED: "gold, facts, splits, the items' prompts, the benchmark's prompts, page images,"
    " metadata, licence, citation and notes",
}
_SHA256 = re.compile("[0-9a-f]{64}")
# It is written into HTML comments too, which end at two hyphens.
_CANARY = re.compile(r"(?!.*--)[\w .:/-]{0,200}")
_RELEASE_TEXTS = (
    "dataset", "title", "description", "licence", "version", "benchmark", "visibility", "notes",
)  # fmt: skip
_ABOUT = (
    "visibility", "notes", "licence", "must_accept", "citation", "draw", "canary", "frozen_at",
)  # fmt: skip
# The hash of the manifest leaves out itself and the files, which differ between copies.
_UNCOVERED = frozenset({"sha256", "files"})


def canonical_json(value: Any) -> str:
    """JSON with sorted keys, no spaces and unescaped characters."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def sha256_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def gold_sha256(line: Mapping[str, Any]) -> str:
    """The hash of an item, from its gold line."""
    return sha256_of(canonical_json(line))


def release_sha256(hashes: Iterable[tuple[str, str]]) -> str:
    """The hash of a release by `release-v1`, from its items' (name, sha256) in any order."""
    return sha256_of("".join(f"{sha256}  {name}\n" for name, sha256 in sorted(hashes)))


@dataclass(frozen=True)
class FileEntry:
    """A file: its path inside the archive, its size in bytes and its SHA-256."""

    path: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class ContentEntry:
    """A file of the release's content, whether or not it is in this copy."""

    path: str
    sha256: str


@dataclass(frozen=True)
class ItemEntry:
    """An item; `sha256` is empty if its gold is hidden."""

    name: str
    sha256: str
    split: str = ""


@dataclass(frozen=True)
class Manifest:
    """The content of `manifest.json`; `sha256` is empty if gold is hidden."""

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
    """Used for restoring only, unchecked: visibility, notes, licence, must_accept, citation, draw
    and frozen_at."""
    scheme: str = GOLD_ONLY
    content: tuple[ContentEntry, ...] = ()
    release: PublishedRelease | None = None
    """The description of the release; None in manifests of `release-v1`."""
    computed: str = ""
    """The SHA-256 of the manifest by `release-v2` or `release-v3`."""

    @property
    def covers_all(self) -> bool:
        """Whether the hash of the release covers more than gold."""
        return self.scheme != GOLD_ONLY


def manifest_sha256(
    release: PublishedRelease, items: Iterable[ItemEntry], content: Iterable[ContentEntry]
) -> str:
    """The hash of a release by `release-v2` or `release-v3`."""
    return _covered_sha256(_described(release, items, content))


def write_manifest(
    release: PublishedRelease,
    items: Iterable[ItemEntry],
    files: Sequence[Mapping[str, Any]],
    content: Iterable[ContentEntry] = (),
) -> bytes:
    """The manifest's bytes; `files` are {path, bytes, sha256} of all other files."""
    described = _described(release, items, content)
    written = described | {"sha256": release.sha256, "files": list(files)}
    return (json.dumps(written, ensure_ascii=False, indent=1) + "\n").encode()


def _covered_sha256(manifest: Mapping[str, Any]) -> str:
    covered = {key: value for key, value in manifest.items() if key not in _UNCOVERED}
    return sha256_of(canonical_json(covered))


def _described(
    release: PublishedRelease, items: Iterable[ItemEntry], content: Iterable[ContentEntry]
) -> dict[str, Any]:
    def given(*names: str) -> dict[str, Any]:
        return {name: getattr(release, name) for name in names}

    described = {
        **given("dataset", "title", "licence", "version", "benchmark"),
        "labels": list(release.labels),
        **given("visibility", "notes", "must_accept"),
        "citation": asdict(release.citation),
        **({"draw": dict(release.draw)} if release.draw else {}),
        **({"canary": release.canary} if release.canary else {}),
        "frozen_at": release.frozen_at.isoformat(),
        **given("sha256", "item_count", "fact_count"),
        "items": [
            {"name": item.name, "sha256": item.sha256}
            | ({"split": item.split} if item.split else {})
            for item in items
        ],
    }
    if release.scheme == GOLD_ONLY:
        return described
    return described | {
        "scheme": release.scheme,
        "description": release.description,
        "keywords": list(release.keywords),
        "content": [asdict(entry) for entry in sorted(content, key=lambda entry: entry.path)],
    }


def read_manifest(data: bytes) -> Manifest:
    """Raises PublishingError, naming the field that is missing or wrong."""
    try:
        content = json.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise PublishingError(MANIFEST, f"not JSON: {error}") from error
    if not isinstance(content, dict):
        raise PublishingError(MANIFEST, "must be a JSON object")
    scheme = _scheme(content)
    manifest = Manifest(
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
        scheme=scheme,
    )
    if scheme == GOLD_ONLY:
        return manifest
    return replace(
        manifest,
        content=tuple(
            ContentEntry(_text(entry, "path", where), _sha256(entry, "sha256", where))
            for where, entry in _objects(content, "content")
        ),
        release=_release(manifest, content),
        computed=_computed(content),
    )


def _scheme(content: Mapping[str, Any]) -> str:
    scheme = _text({"scheme": GOLD_ONLY, **content}, "scheme")
    if scheme not in SCHEMES:
        raise _fault("scheme", f"{scheme!r:.40} is unknown; use {' or '.join(SCHEMES)}")
    return scheme


def _computed(content: Mapping[str, Any]) -> str:
    try:
        return _covered_sha256(content)
    except UnicodeEncodeError as error:
        raise PublishingError(MANIFEST, f"invalid Unicode: {error}") from error


def _release(manifest: Manifest, content: Mapping[str, Any]) -> PublishedRelease:
    """The description of the release, from which an archive's citations are written."""
    if not isinstance(content.get("must_accept"), bool):
        raise _fault("must_accept", "missing or not true or false")
    citation = content.get("citation")
    given = citation if isinstance(citation, Mapping) else {"": citation}
    try:
        cited = read_citation({key: value for key, value in given.items() if value})
        frozen_at = datetime.fromisoformat(_text(content, "frozen_at"))
    except ValueError as error:
        raise _fault("citation or frozen_at", str(error)) from error
    return PublishedRelease(
        **{key: _text(content, key) for key in _RELEASE_TEXTS},
        frozen_at=frozen_at,
        must_accept=content["must_accept"],
        labels=manifest.labels,
        scheme=manifest.scheme,
        sha256=manifest.sha256,
        item_count=manifest.item_count,
        fact_count=manifest.fact_count,
        citation=cited,
        draw=read_draw(content.get("draw")),
        keywords=tuple(_texts(content, "keywords")),
        canary=_canary(content),
    )


def _canary(content: Mapping[str, Any]) -> str:
    canary = _text({"canary": "", **content}, "canary")
    if not _CANARY.fullmatch(canary):
        raise _fault("canary", "must be plain text of up to 200 characters, without --")
    return canary


def _fault(field: str, reason: str) -> PublishingError:
    return PublishingError(MANIFEST, f"{field}: {reason}")


def _text(content: Mapping[str, Any], key: str, where: str = "") -> str:
    value = content.get(key)
    if not isinstance(value, str):
        raise _fault(where + key, "missing or not a string")
    return value


def _texts(content: Mapping[str, Any], key: str) -> list[str]:
    value = content.get(key)
    if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
        raise _fault(key, "missing or not a list of strings")
    return value


def _count(content: Mapping[str, Any], key: str, where: str = "") -> int:
    value = content.get(key)
    if type(value) is not int or value < 0:
        raise _fault(where + key, "missing or not a whole number from 0")
    return value


def _sha256(
    content: Mapping[str, Any], key: str, where: str = "", *, may_be_empty: bool = False
) -> str:
    value = _text(content, key, where)
    if not (_SHA256.fullmatch(value) or (may_be_empty and not value)):
        raise _fault(where + key, "not a SHA-256 of 64 hexadecimal digits")
    return value


def _objects(content: Mapping[str, Any], key: str) -> list[tuple[str, dict[str, Any]]]:
    """The objects of a list, each with its prefix in fault messages, such as `items[3].`."""
    value = content.get(key)
    if not isinstance(value, list) or not all(isinstance(part, dict) for part in value):
        raise _fault(key, "missing or not a list of objects")
    return [(f"{key}[{number}].", part) for number, part in enumerate(value)]
