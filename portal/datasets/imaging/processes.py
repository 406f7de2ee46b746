"""A process and all that it started: how much memory they have, and ending them.

What Linux tells under /proc; elsewhere no memory is measured, and the time limit is the only one.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")
_MEGABYTE = 1024 * 1024


def family(pid: int) -> list[int]:
    """The process and its descendants, parents first."""
    children: dict[int, list[int]] = {}
    for child, parent in _parents():
        children.setdefault(parent, []).append(child)
    found = [pid]
    for member in found:
        found.extend(children.get(member, []))
    return found


def megabytes(pid: int) -> int:
    """Resident memory of the family that is not shared with files; 0 where it cannot be told."""
    pages = 0
    for member in family(pid):
        with suppress(OSError, ValueError, IndexError):
            fields = (_PROC / str(member) / "statm").read_text().split()
            pages += int(fields[1]) - int(fields[2])
    return pages * os.sysconf("SC_PAGE_SIZE") // _MEGABYTE


def end_family(pid: int) -> None:
    for member in family(pid):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(member, signal.SIGKILL)


def _parents() -> Iterator[tuple[int, int]]:
    """(process, its parent) of all there are."""
    for entry in _PROC.glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            # The name stands in brackets and may hold anything.
            parent = entry.read_text().rpartition(")")[2].split()[1]
            yield int(entry.parent.name), int(parent)
