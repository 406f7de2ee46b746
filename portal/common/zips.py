"""ZIP archives written while they are sent: bounded memory, and the same bytes every time."""

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

# The earliest time a ZIP can hold, for all: the archive depends on nothing but its content.
TIMESTAMP = (1980, 1, 1, 0, 0, 0)
DRAIN_AT = 64 * 1024


class ZipSink:
    """The end of a pipe that cannot be rewound: collects what the ZIP writes until it is taken."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0

    def write(self, data: bytes) -> int:
        self._pieces.append(bytes(data))
        self._size += len(data)
        return len(data)

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        """What was written stays to be taken."""

    def drain(self, at_least: int) -> Iterator[bytes]:
        """All that was written, once it is worth a piece of its own."""
        if self._size > at_least:
            yield b"".join(self._pieces)
            self._pieces.clear()
            self._size = 0


class ZipWriter:
    """Adds files to the ZIP and keeps their hashes for a manifest."""

    def __init__(self, sink: ZipSink) -> None:
        self._zip = ZipFile(sink, "w")
        self.files: list[dict[str, Any]] = []

    def close(self) -> None:
        self._zip.close()

    def add(self, name: str, data: bytes, *, method: int = ZIP_DEFLATED) -> None:
        self._zip.writestr(_info(name, method), data)
        self._note(name, len(data), hashlib.sha256(data).hexdigest())

    def adding(self, name: str, lines: Iterable[bytes]) -> Iterator[None]:
        """Writes a file of unknown length; comes back after every line, to let the sink drain."""
        digest, size = hashlib.sha256(), 0
        with self._zip.open(_info(name, ZIP_DEFLATED), "w", force_zip64=True) as file:
            for line in lines:
                file.write(line)
                digest.update(line)
                size += len(line)
                yield
        self._note(name, size, digest.hexdigest())

    def _note(self, name: str, size: int, sha256: str) -> None:
        self.files.append({"path": name, "bytes": size, "sha256": sha256})


def _info(name: str, method: int) -> ZipInfo:
    """A file's entry without anything of the machine that writes it."""
    info = ZipInfo(name, TIMESTAMP)
    info.compress_type = method
    info.create_system = 3
    info.external_attr = 0o644 << 16
    return info
