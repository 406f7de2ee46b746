"""Reads stored images, and checks that they are what was stored.

A release promises its images by their hashes, so a file that changed on disk is never served.
"""

import hashlib
import logging
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from django.core.cache import cache
from django.core.files.storage import default_storage

logger = logging.getLogger(__name__)

_AT_ONCE = 500
# A file is read again if its size or time changes, and after this time.
_KEEP = 7 * 24 * 60 * 60


class StoredFileError(OSError):
    """A stored file is missing, or is not the one that was stored."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"the stored image {path} {problem}; restore it from a backup")
        logger.error("stored image %s %s", path, problem)


class StoredFile(NamedTuple):
    """A path in the storage, and the hash of what was stored there."""

    path: str
    sha256: str


def read_stored(path: str, sha256: str) -> bytes:
    """The bytes of a stored file. Raises StoredFileError."""
    try:
        with default_storage.open(path, "rb") as file:
            data: bytes = file.read()
    except FileNotFoundError as error:
        raise StoredFileError(path, "is missing") from error
    if hashlib.sha256(data).hexdigest() != sha256:
        raise StoredFileError(path, "was changed")
    return data


def check_stored(files: Iterable[StoredFile]) -> None:
    """Check files before a download of them begins. Raises StoredFileError for the first fault.

    A file is read only if it is new to this check, or has another size or time than before.
    """
    for batch in _batches(files):
        keys = {file: _key(file) for file in batch}
        known = cache.get_many(keys.values())
        unknown = [file for file, key in keys.items() if known.get(key) != file.sha256]
        for file in unknown:
            read_stored(*file)
        cache.set_many({keys[file]: file.sha256 for file in unknown}, _KEEP)


def _batches(files: Iterable[StoredFile]) -> Iterator[list[StoredFile]]:
    rest = iter(files)
    while batch := list(islice(rest, _AT_ONCE)):
        yield batch


def _key(file: StoredFile) -> str:
    try:
        size = default_storage.size(file.path)
        changed = default_storage.get_modified_time(file.path).isoformat()
    except FileNotFoundError as error:
        raise StoredFileError(file.path, "is missing") from error
    about = f"{file.path}:{size}:{changed}"
    return f"stored-file:{hashlib.sha256(about.encode()).hexdigest()}"
