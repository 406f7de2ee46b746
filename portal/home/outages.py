"""Answers when the database, the cache, the file storage or the disk does not work.

The parts around the site fail in their own ways. Users get a sentence and a time to try again,
instead of an error that sounds like a fault of the site.
"""

import errno
from collections.abc import Iterator
from typing import NamedTuple

from botocore.exceptions import BotoCoreError, ClientError
from django.db import InterfaceError, OperationalError
from redis.exceptions import RedisError

# Seconds until a client should ask again.
RETRY_AFTER = 10

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_UNWRITABLE = frozenset({errno.EROFS, errno.EACCES, errno.EIO, errno.ESTALE})
# SQLite reports faults of a query with the same class as faults of the file.
_SQLITE_FULL = "database or disk is full"
_SQLITE_FAULTS = ("database is locked", "disk i/o error", "unable to open", "readonly database")
# PostgreSQL's classes of errors: connections, resources, and operators who stop the server.
_AWAY_STATES = ("08", "53", "57", "58")


class Outage(NamedTuple):
    """The HTTP status and a sentence for users."""

    status: int
    message: str


_DATABASE = Outage(503, "The database does not answer at the moment. Please try again.")
_CACHE = Outage(503, "The cache does not answer at the moment. Please try again.")
_STORAGE = Outage(503, "The file storage does not answer at the moment. Please try again.")
_MISSING = Outage(503, "A stored file cannot be found. The operators of this site can see which.")
_TEMPORARY = Outage(503, "The server has no folder for temporary files. The operators must act.")
_DISK = Outage(507, "The server's disk is full. The operators must act.")
_UNWRITTEN = Outage(503, "The server cannot use its disk. The operators must act.")


def outage(error: BaseException | None) -> Outage | None:
    """Return the outage that raised the error, or None if it is a fault of the site.

    >>> outage(OSError(errno.ENOSPC, "No space left on device")).status
    507
    """
    return next(filter(None, map(_of, _chain(error))), None)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen = 0
    while error is not None and seen < 20:
        yield error
        error, seen = error.__cause__, seen + 1


def _of(error: BaseException) -> Outage | None:
    if isinstance(error, (OperationalError, InterfaceError)):
        return _of_database(error)
    if isinstance(error, RedisError):
        return _CACHE
    if isinstance(error, ClientError):
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 500)
        return _STORAGE if status >= 500 or status in (401, 403) else None
    if isinstance(error, BotoCoreError):
        return _STORAGE
    return _of_files(error) if isinstance(error, OSError) else None


def _of_database(error: OperationalError | InterfaceError) -> Outage | None:
    cause, said = error.__cause__, str(error).lower()
    if type(cause).__module__.startswith("sqlite3"):
        if _SQLITE_FULL in said:
            return _DISK
        return _DATABASE if any(fault in said for fault in _SQLITE_FAULTS) else None
    state = getattr(cause, "sqlstate", None)
    return _DATABASE if not state or state.startswith(_AWAY_STATES) else None


def _of_files(error: OSError) -> Outage | None:
    if error.errno in _FULL:
        return _DISK
    if error.errno in _UNWRITABLE:
        return _UNWRITTEN
    if isinstance(error, FileNotFoundError):
        is_temporary = "temporary directory" in str(error)
        return _TEMPORARY if is_temporary else _MISSING
    return None
