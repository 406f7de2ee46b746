"""The items of a benchmark with their images: from a starter kit, a release, or gold with images.

Images are read one by one when they are needed. Nothing of the gold gets into a request.
"""

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from portal.files.archives import Archive, ArchiveFault, ArchiveLimits, open_archive
from portal.files.member_names import plain_name
from scoring.benchmarks import ItemPrompt, ReadFault, UnknownBenchmarkError, get_benchmark
from scoring.benchmarks.answers import kinds_of
from scoring.benchmarks.reading import LONGEST_ID, UnusableError, parse_object, read_records
from scoring.offline.terminal import BadInput

from .core import ImageSource

ITEM_LINES, PROMPT_LINES = "items.jsonl", "prompts.jsonl"
KIT, MANIFEST = "kit.json", "manifest.json"
IMAGES = "images"
SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".webp", ".gif"})
# Images are read again when a request is repeated, so there is no limit on the total.
_LIMITS = ArchiveLimits(total=2**50)
_GOLD_NAMES = ("gold", "gold.jsonl", "gold.zip")
# Where the questions of published CC-OCR folders are.
_QUESTIONS = "qa.jsonl"


class KitError(BadInput):
    """The items cannot be read. The message names file, line and field."""


@dataclass(frozen=True)
class KitItem:
    """An item before it gets a prompt."""

    id: str
    question: str = ""
    images: tuple[ImageSource, ...] = ()
    kind: str = ""
    split: str = ""


@dataclass(frozen=True)
class Kit:
    """The items of a benchmark in order. `fingerprint` is a hash of ids, questions and the names of
    images; `release_sha256` that of a whole release, which only those who see its gold know."""

    benchmark: str
    items: tuple[KitItem, ...]
    dataset: str = ""
    version: str = ""
    release_sha256: str = ""
    prompts: tuple[ItemPrompt, ...] = ()
    fingerprint: str = field(init=False, default="")

    def __post_init__(self) -> None:
        digest = hashlib.sha256(f"{self.benchmark}\n".encode())
        for item in self.items:
            names = [image.name for image in item.images]
            line = json.dumps([item.id, item.question, names, item.kind])
            digest.update(f"{line}\n".encode())
        object.__setattr__(self, "fingerprint", digest.hexdigest())

    def part(self, split: str = "", limit: int | None = None) -> "Kit":
        """The items of a split, or the first ones."""
        items = [item for item in self.items if not split or item.split == split]
        if not items:
            raise KitError(f"the split {split!r} contains no items")
        return replace(self, items=tuple(items[:limit]))


@contextmanager
def open_kit(path: Path, *, benchmark: str = "", images: Path | None = None) -> Iterator[Kit]:
    """The kit in a folder or file. `benchmark` is needed where the files do not name it, `images`
    where they are not in a folder `images` next to the gold. Raises KitError."""
    if not path.exists():
        raise KitError(f"{path}: no such file or folder")
    with ExitStack() as stack:
        try:
            archive = _archive(path, stack)
            if archive is not None:
                yield _read_kit(archive, str(path), benchmark)
            else:
                yield _read_gold(path, _known(benchmark, path), images)
        except ArchiveFault as fault:
            raise KitError(f"{path}: {fault}") from fault


def _archive(path: Path, stack: ExitStack) -> Archive | None:
    """The archive, if it is one with a list of items; else the path is gold."""
    if path.is_dir():
        has_items = (path / ITEM_LINES).is_file()
        return stack.enter_context(open_archive(path, _LIMITS)) if has_items else None
    with path.open("rb") as file:
        if file.read(2) != b"PK":
            return None
    archive = stack.enter_context(open_archive(path, _LIMITS))
    return archive if any(member.name == ITEM_LINES for member in archive.members()) else None


def _known(benchmark: str, path: Path) -> str:
    if not benchmark:
        raise KitError(f"{path}: specify its benchmark with --benchmark")
    try:
        return get_benchmark(benchmark).key
    except UnknownBenchmarkError as error:
        raise KitError(str(error)) from error


# --- starter kits and releases ---------------------------------------------------------------


def _read_kit(archive: Archive, name: str, benchmark: str) -> Kit:
    members = {member.name: member.size for member in archive.members()}
    about: Mapping[str, Any] = {}
    for file in (KIT, MANIFEST):
        if file in members:
            about = _object(archive.read(file), f"{name}/{file}")
            break
    key = _known(benchmark or str(about.get("benchmark") or ""), Path(name))
    prompts: tuple[ItemPrompt, ...] = ()
    if PROMPT_LINES in members:
        prompts = tuple(
            ItemPrompt(line["version"], line["name"], line["text"], line["source"])
            for _, line in _lines(archive, PROMPT_LINES, name)
        )
    kind = kinds_of(key)
    items = tuple(
        _item(line, f"{name}/{ITEM_LINES}:{number}", archive, members, kind)
        for number, line in _lines(archive, ITEM_LINES, name)
    )
    if not items:
        raise KitError(f"{name}/{ITEM_LINES}: contains no items")
    _refuse_twice(items, f"{name}/{ITEM_LINES}")
    return Kit(
        key,
        items,
        dataset=_text(about, "dataset"),
        version=_text(about, "version"),
        release_sha256=_text(about, "sha256"),
        prompts=prompts,
    )


def _text(about: Mapping[str, Any], key: str) -> str:
    value = about.get(key)
    return value if isinstance(value, str) else ""


def _lines(archive: Archive, file: str, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(archive.read(file).splitlines(), 1):
        if line.strip():
            yield number, _object(line, f"{name}/{file}:{number}")


def _object(data: bytes, where: str) -> dict[str, Any]:
    try:
        return parse_object(data)
    except UnusableError as error:
        raise KitError(f"{where}: {error}") from error


def _item(
    line: Mapping[str, Any],
    where: str,
    archive: Archive,
    members: Mapping[str, int],
    kind: Callable[[str], str],
) -> KitItem:
    for key in ("id", "prompt", "split"):
        if not isinstance(line.get(key, ""), str):
            raise KitError(f"{where}: {key}: must be a string")
    item = line.get("id", "")
    if not item or len(item) > LONGEST_ID:
        raise KitError(f"{where}: id: must have 1 to {LONGEST_ID} characters")
    paths = line.get("images", [])
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        raise KitError(f"{where}: images: must be a list of paths")
    for path in paths:
        if path not in members:
            raise KitError(
                f"{where}: images: {path} is missing; download the release with its images"
            )
    images = tuple(
        ImageSource(PurePosixPath(path).name, partial(archive.read, path), members[path])
        for path in paths
    )
    return KitItem(item, line.get("prompt", ""), images, kind(item), line.get("split", ""))


def _refuse_twice(items: Collection[KitItem], where: str) -> None:
    seen: set[str] = set()
    for item in items:
        if item.id in seen:
            raise KitError(f"{where}: duplicate ID {item.id!r}")
        seen.add(item.id)


# --- gold with images ------------------------------------------------------------------------


def _read_gold(path: Path, benchmark: str, images: Path | None) -> Kit:
    gold = path
    if path.is_dir():
        inside = [path / name for name in _GOLD_NAMES if (path / name).exists()]
        gold = inside[0] if inside else path
    folders = (path / IMAGES, path.parent / IMAGES)
    folder = images or next((folder for folder in folders if folder.is_dir()), None)
    if folder is None or not folder.is_dir():
        raise KitError(
            f"{path}: there is no folder “images” next to it; specify the folder with --images"
        )
    files = _Images(folder)
    asked = _asked(gold)
    items = []
    for line in get_benchmark(benchmark).read_gold(gold):
        if isinstance(line, ReadFault):
            raise KitError(str(line))
        about = asked.get(line.id.rpartition(":")[2] if benchmark == "ccocr" else line.id, {})
        named = about.get("images")
        pictures = files.named(named) if named else files.of(line.payload)
        if not pictures:
            raise KitError(f"{line.file}:{line.line}: {line.id}: no image found in {folder}")
        question = about.get("question") or about.get("prompt") or files.question(pictures[0])
        sources = tuple(
            ImageSource(picture.name, picture.read_bytes, picture.stat().st_size)
            for picture in pictures
        )
        items.append(KitItem(line.id, str(question), sources, line.payload.get("op", "")))
    if not items:
        raise KitError(f"{gold}: contains no items")
    _refuse_twice(items, str(gold))
    return Kit(benchmark, tuple(items))


def _asked(gold: Path) -> dict[str, dict[str, Any]]:
    """The questions and images that gold lines name, by id. Readers of gold leave them out."""
    if gold.is_dir() or gold.suffix not in {".jsonl", ".json"}:
        return {}
    from scoring.benchmarks.reading import DEFAULT_LIMITS

    asked = {}
    for record in read_records(gold, DEFAULT_LIMITS):
        if not isinstance(record, ReadFault) and isinstance(record.value.get("id"), str):
            keys = ("question", "prompt", "images")
            asked[record.value["id"]] = {k: record.value[k] for k in keys if k in record.value}
    return asked


class _Images:
    """The images below a folder, by the names of their items."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._by_name: dict[str, list[Path]] = {}
        for path in sorted(folder.rglob("*")):
            if path.suffix.lower() in SUFFIXES and path.is_file() and not path.is_symlink():
                for name in {plain_name(path.name), plain_name(path.stem)}:
                    self._by_name.setdefault(name, []).append(path)
        self._questions: dict[Path, dict[str, str]] = {}

    def named(self, paths: Any) -> list[Path]:
        """The files of these paths, of which the last part counts."""
        names = [plain_name(PurePosixPath(path).name) for path in paths if isinstance(path, str)]
        matches = [self._by_name.get(name, [])[:1] for name in names]
        return [path for paths_of_name in matches for path in paths_of_name] if all(matches) else []

    def of(self, gold: Mapping[str, Any]) -> list[Path]:
        """`ID.png`, and then `ID-2.png` and so on; with a subset those below a folder of it."""
        item, subset = str(gold["id"]), gold.get("subset")
        pages: list[Path] = []
        while True:
            name = item if not pages else f"{item}-{len(pages) + 1}"
            matches = [
                path
                for path in self._by_name.get(name, [])
                if subset is None or subset in path.relative_to(self._folder).parts
            ]
            if not matches:
                return pages
            pages.append(matches[0])

    def question(self, picture: Path) -> str:
        """The question of a published CC-OCR folder; empty if there is none."""
        file = picture.parent.parent / _QUESTIONS
        if file not in self._questions:
            lines = file.read_bytes().splitlines() if file.is_file() else []
            records = [_object(line, f"{file}:{n}") for n, line in enumerate(lines, 1)]
            self._questions[file] = {str(r.get("url")): str(r.get("prompt")) for r in records}
        return self._questions[file].get(picture.name, "")
