"""Checks an exported release, a folder or a ZIP, against its own manifest. Works offline.

The archive must hold exactly the files of the manifest, with the same sizes and SHA-256, and every
gold line must match its item's hash. Only the release's hash, shown on its page, reveals a change
of files and manifest together. It covers everything under the schemes `release-v2` and
`release-v3` (see `manifest` and `covered`).
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile

from portal.files.archives import (
    MEGABYTE,
    ArchiveFault,
    ArchiveLimits,
    FolderArchive,
    ZipArchive,
    open_archive,
)

from .covered import GOLD_PAGES, content_faults, described_files, images_left_out, table_faults
from .croissant import BIBTEX, bibtex
from .formats import FACT_LINES, GOLD_LINES, PARQUET, gold_page, read_items, read_line, read_parquet
from .kits import ITEM_LINES, PROMPTS, read_prompts
from .manifest import MANIFEST, SCHEMES, FileEntry, Manifest, read_manifest, release_sha256
from .rows import PublishedItem, PublishedRelease, PublishingError

# Users check archives that they chose to download, so the limits only protect memory.
LIMITS = ArchiveLimits(
    total=1024 * 1024 * MEGABYTE, member=256 * MEGABYTE, ratio=2000, members=5_000_000
)

Archive = FolderArchive | ZipArchive


@dataclass(frozen=True)
class VerifyFault:
    """A fault of a file. `code` is stable for programs.

    Paths come from the archive, so `str` escapes control characters.
    """

    code: str
    path: str
    message: str

    def __str__(self) -> str:
        text = f"{self.path}: {self.message}"
        return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


@dataclass
class Verification:
    """The result; the archive is valid if there are no faults. `manifest` is None if unreadable."""

    manifest: Manifest | None = None
    files: int = 0
    items: int = 0
    hidden: int = 0
    images_left_out: int = 0
    # Files whose rows were not compared with the items, because a library is not installed.
    unread: list[str] = field(default_factory=list)
    faults: list[VerifyFault] = field(default_factory=list)

    def fault(self, code: str, path: str, message: str) -> None:
        self.faults.append(VerifyFault(code, path, message))

    @property
    def is_whole(self) -> bool:
        """Whether the archive's hash covers everything, which needs all gold."""
        return bool(self.manifest and self.manifest.covers_all and not self.hidden)


def verify_release(
    path: Path, *, expected: str = "", limits: ArchiveLimits = LIMITS
) -> Verification:
    """Checks everything and continues after a fault. Never raises for the content of the files.

    `expected` is the known hash of the release, optionally with its scheme (`release-v2:…`). Pass
    narrower `limits` for an untrusted archive.
    """
    result = Verification()
    try:
        with open_archive(path, limits) as archive:
            _verify(archive, result, expected)
    except ArchiveFault as fault:
        result.fault(fault.code, fault.member or path.name, str(fault))
    return result


def _verify(archive: Archive, result: Verification, expected: str) -> None:
    sizes = {member.name: member.size for member in archive.members()}
    if MANIFEST not in sizes:
        message = "missing: this is not an exported release, or it is incomplete"
        result.fault("no_manifest", MANIFEST, message)
        return
    try:
        manifest = read_manifest(archive.read(MANIFEST))
    except (PublishingError, ArchiveFault) as error:
        result.fault("bad_manifest", MANIFEST, _reason(error))
        return
    result.manifest = manifest
    sound = _check_files(archive, result, manifest.files, sizes)
    _check_hashes(result, manifest, expected)
    if result.is_whole:
        _check_content(archive, result, manifest, sound)
    _check_lines(archive, result, manifest, sound)


def _reason(error: PublishingError | ArchiveFault) -> str:
    return error.reason if isinstance(error, PublishingError) else str(error)


def _check_files(
    archive: Archive, result: Verification, files: Iterable[FileEntry], sizes: dict[str, int]
) -> set[str]:
    """Checks all files; returns the paths of those that match the manifest."""
    sound: set[str] = set()
    seen: set[str] = {MANIFEST}
    for file in files:
        if file.path in seen:
            result.fault("doubled", file.path, "listed twice, or the manifest itself")
            continue
        seen.add(file.path)
        if file.path not in sizes:
            result.fault("missing", file.path, "missing")
        elif sizes[file.path] != file.bytes:
            message = f"has {sizes[file.path]:,} bytes, the manifest says {file.bytes:,}"
            result.fault("size", file.path, message)
        elif _is_sound(archive, result, file):
            sound.add(file.path)
    result.files = len(sound)
    for name in sorted(sizes.keys() - seen):
        result.fault("extra", name, "not in the manifest")
    return sound


def _is_sound(archive: Archive, result: Verification, file: FileEntry) -> bool:
    digest = hashlib.sha256()
    try:
        for piece in archive.pieces(file.path):
            digest.update(piece)
    except ArchiveFault as fault:
        result.fault(fault.code, file.path, str(fault))
        return False
    if digest.hexdigest() != file.sha256:
        message = f"SHA-256 is {digest.hexdigest()}, the manifest says {file.sha256}"
        result.fault("sha256", file.path, message)
        return False
    return True


def _check_hashes(result: Verification, manifest: Manifest, expected: str) -> None:
    """Checks the release's hash and counts against the items of the manifest."""
    names = {item.name for item in manifest.items}
    if len(names) < len(manifest.items):
        result.fault("doubled", MANIFEST, "items: a name appears twice")
    if manifest.item_count != len(manifest.items):
        message = f"item_count is {manifest.item_count}, but there are {len(manifest.items)} items"
        result.fault("count", MANIFEST, message)
    result.hidden = sum(not item.sha256 for item in manifest.items)
    if result.hidden:
        # The release's hash needs all items' hashes; without them the manifest has none.
        computed = ""
    elif manifest.covers_all:
        computed = manifest.computed
    else:
        computed = release_sha256((item.name, item.sha256) for item in manifest.items)
    if manifest.sha256 != computed:
        given = manifest.sha256 or "empty"
        source = "the manifest" if manifest.covers_all else "its items"
        message = f"sha256 is {given}, but that of {source} is {computed or 'hidden'}"
        result.fault("release_sha256", MANIFEST, message)
    _check_expected(result, manifest.scheme, computed, expected)


def _check_expected(result: Verification, scheme: str, computed: str, expected: str) -> None:
    named, _, sha256 = expected.rpartition(":")
    if named and named not in SCHEMES:
        known = ", ".join(SCHEMES)
        message = f"the expected hash has the unknown scheme {named}; use {known}"
        result.fault("expected_sha256", MANIFEST, message)
    elif named and named != scheme:
        message = f"the expected hash has the scheme {named}, but the archive's has {scheme}"
        result.fault("expected_sha256", MANIFEST, message)
    elif sha256 and sha256 != computed:
        message = (
            f"the release's SHA-256 is {computed or 'hidden'}, but {sha256} was expected ({scheme}"
            f" covers {SCHEMES[scheme]})"
        )
        result.fault("expected_sha256", MANIFEST, message)


def _check_content(
    archive: Archive, result: Verification, manifest: Manifest, sound: set[str]
) -> None:
    """Checks that the files are the content that the hash covers, or derived from it."""
    for fault in content_faults(manifest):
        result.fault(*fault)
    result.images_left_out = images_left_out(manifest)
    if PROMPTS in sound:
        try:
            read_prompts(archive_lines(archive, PROMPTS))
        except PublishingError as error:
            result.fault("line", error.where, error.reason)
    assert manifest.release is not None
    former = partial(_former_bibtex, manifest.release)
    for path, make in described_files(manifest.release, manifest.files).items():
        if path in sound and not _is_made_of(archive, path, make):
            if path == BIBTEX and _is_made_of(archive, path, former):
                continue
            result.fault("described", path, "differs from the file written for this release")


def _former_bibtex(release: PublishedRelease) -> bytes:
    return bibtex(replace(release, page=""), has_former_key=True).encode()


def _is_made_of(archive: Archive, path: str, make: Callable[[], bytes]) -> bool:
    try:
        return archive.read(path) == make()
    except (ArchiveFault, ValueError):
        return False


def _check_lines(
    archive: Archive, result: Verification, manifest: Manifest, sound: set[str]
) -> None:
    """Checks gold lines, facts and pages against the items' hashes; skips damaged files."""
    needed = {GOLD_LINES, FACT_LINES}
    listed = {file.path for file in manifest.files}
    if result.hidden == len(manifest.items) and not needed & listed:
        return
    for name in sorted(needed - listed):
        result.fault("missing", name, "missing, also from the manifest")
    if not needed <= sound:
        return
    try:
        _check_items(archive, result, manifest, sound)
    except PublishingError as error:
        result.fault("line", error.where, error.reason)
        return
    except ArchiveFault as fault:
        result.fault(fault.code, fault.member or GOLD_LINES, str(fault))
        return
    if PARQUET in sound and find_spec("pyarrow") is None:
        result.unread.append(PARQUET)
    elif PARQUET in sound and result.is_whole:
        _check_whole_parquet(archive, result, manifest, sound)
    elif PARQUET in sound:
        _check_parquet(archive, result, manifest)


def _check_items(
    archive: Archive, result: Verification, manifest: Manifest, sound: set[str]
) -> None:
    """Raises PublishingError for a line that does not belong to its item, and ArchiveFault."""
    facts = 0
    pages = {file.path for file in manifest.files if file.path.startswith(f"{GOLD_PAGES}/")}
    gold = archive_lines(archive, GOLD_LINES), archive_lines(archive, FACT_LINES)
    for item in read_items(manifest.items, *gold):
        result.items += 1
        facts += len(item.gold.facts) if item.gold else 0
        pages.discard(_page_path(item))
        _check_page(archive, result, item, sound)
    for path in sorted(pages):
        result.fault("page", path, "belongs to no item of the release")
    if manifest.fact_count is not None and not result.hidden and facts != manifest.fact_count:
        message = f"fact_count is {manifest.fact_count}, but there are {facts} facts"
        result.fault("count", MANIFEST, message)


def _check_whole_parquet(
    archive: Archive, result: Verification, manifest: Manifest, sound: set[str]
) -> None:
    """Checks that the Parquet file is the one written for the release's content."""
    if ITEM_LINES not in sound:
        return

    def items() -> Iterator[PublishedItem]:
        return _whole_items(archive, manifest)

    with TemporaryFile() as file:
        file.writelines(archive.pieces(PARQUET))
        file.seek(0)
        try:
            for message in table_faults(file, items):
                result.fault("parquet", PARQUET, message)
        except PublishingError as error:
            result.fault("parquet", error.where, error.reason)


def _whole_items(archive: Archive, manifest: Manifest) -> Iterator[PublishedItem]:
    """The items with their gold and their prompts; raises PublishingError."""
    lines = enumerate(archive_lines(archive, ITEM_LINES), 1)
    gold = archive_lines(archive, GOLD_LINES), archive_lines(archive, FACT_LINES)
    for item in read_items(manifest.items, *gold):
        number, line = next(lines, (0, b""))
        about = read_line(ITEM_LINES, number, line)
        prompt = about.get("prompt")
        if about.get("id") != item.name or not isinstance(prompt, str):
            raise PublishingError(f"{ITEM_LINES}:{number}", f"must be the line of {item.name}")
        yield replace(item, prompt=prompt)


def _page_path(item: PublishedItem) -> str:
    return f"{GOLD_PAGES}/{item.name}.html"


def _check_page(
    archive: Archive, result: Verification, item: PublishedItem, sound: set[str]
) -> None:
    """Checks that the gold page, if there is one, has the HTML of the gold line."""
    path = _page_path(item)
    if path not in sound or item.gold is None:
        return
    html = item.gold.line.get("html")
    if not isinstance(html, str) or archive.read(path) != gold_page(item):
        result.fault("page", path, "differs from the HTML of the item's gold line")


def _check_parquet(archive: Archive, result: Verification, manifest: Manifest) -> None:
    """Checks that the rows are the manifest's items, with gold that matches their hashes."""
    hashes = {item.name: item.sha256 for item in manifest.items}
    with TemporaryFile() as file:
        file.writelines(archive.pieces(PARQUET))
        file.seek(0)
        try:
            for item in read_parquet(file):
                sha256 = item.gold.sha256 if item.gold else ""
                if hashes.pop(item.name, None) != sha256:
                    message = f"{item.name}: the row has no item, or other gold"
                    result.fault("parquet", PARQUET, message)
        except PublishingError as error:
            result.fault("parquet", error.where, error.reason)
            return
    for name in hashes:
        result.fault("parquet", PARQUET, f"{name}: has no row")


def archive_lines(archive: Archive, name: str) -> Iterator[bytes]:
    """The lines of a file in bounded memory; raises PublishingError for one that is too long."""
    rest, number = b"", 0
    for piece in archive.pieces(name):
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            number += 1
            yield line
        if len(rest) > LIMITS.member:
            reason = f"longer than {LIMITS.member // MEGABYTE} MB"
            raise PublishingError(f"{name}:{number + 1}", reason)
    if rest:
        yield rest
