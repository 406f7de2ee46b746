"""Downloads of releases and starter kits: streamed, checked, and only then given their name."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from uuid import uuid4

import httpx2

from portal.datasets.releases.publishing.verify import verify_release
from portal.files.archives import ArchiveFault, ArchiveLimits, open_archive
from scoring.offline.terminal import Failure

from .connection import BadDownloadError

_MEGABYTE = 1 << 20
# A site that the user chose is trusted with disk space, not with memory.
LIMITS = ArchiveLimits(
    total=200 * 1024 * _MEGABYTE, member=256 * _MEGABYTE, ratio=2000, members=5_000_000
)
# The number of faults that an error names.
_NAMED = 10


@dataclass(frozen=True)
class Download:
    """A kept file. `is_whole`: the release's hash covers everything in it, which needs all gold;
    always false for a starter kit. `unread`: files that could not be compared with the items."""

    path: Path
    size: int
    files: int
    is_whole: bool = False
    hidden: int = 0
    unread: tuple[str, ...] = ()


def keep(response: httpx2.Response, path: Path, expected: str | None) -> Download:
    """Stores the body under `path` after checking it: against `expected`, the hash of a release, or
    as a plain ZIP if it is None. Raises BadDownloadError, and keeps nothing then."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _partial(path) as (partial, file):
            for piece in response.iter_bytes(_MEGABYTE):
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
            download = _checked(partial, path, expected)
            partial.replace(path)
    except OSError as error:
        raise Failure(f"{path}: cannot be written: {error.strerror}") from error
    return download


@contextmanager
def _partial(path: Path) -> Iterator[tuple[Path, IO[bytes]]]:
    """A file next to `path` that is removed unless it was renamed."""
    partial = path.with_name(f".{path.name}.{uuid4().hex}.partial")
    try:
        with partial.open("xb") as file:
            yield partial, file
    finally:
        with suppress(FileNotFoundError):
            partial.unlink()


def _checked(partial: Path, path: Path, expected: str | None) -> Download:
    size = partial.stat().st_size
    if expected is None:
        return Download(path, size, _read_members(partial))
    found = verify_release(partial, expected=expected, limits=LIMITS)
    if found.faults:
        messages = [str(fault).replace(partial.name, path.name) for fault in found.faults]
        more = len(messages) - _NAMED
        raise BadDownloadError(
            [f"{path.name} does not match its release, so it was not kept:"]
            + messages[:_NAMED]
            + ([f"and {more:,} more"] if more > 0 else [])
        )
    return Download(path, size, found.files, found.is_whole, found.hidden, tuple(found.unread))


def _read_members(partial: Path) -> int:
    """Reads every member, whose checksums show a damaged file; returns how many there are."""
    try:
        with open_archive(partial, LIMITS) as archive:
            members = list(archive.members())
            for member in members:
                for _ in archive.pieces(member.name):
                    pass
    except ArchiveFault as fault:
        raise BadDownloadError([f"The download is damaged, so it was not kept: {fault}"]) from fault
    return len(members)
