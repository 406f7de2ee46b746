"""Answers that were paid for, kept by the hash of their question."""

import contextlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any, Protocol

Record = dict[str, Any]


class AnswerCache(Protocol):
    """For use by many threads and processes at once."""

    def get(self, key: str) -> Record | None: ...

    def put(self, key: str, record: Record) -> None: ...


class FolderCache:
    """A file per answer, which appears under its name only when all of it is written: whoever is
    killed leaves whole answers, and goes on from them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, key: str) -> Record | None:
        try:
            record = json.loads(self._path(key).read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return None
        return record if isinstance(record, dict) else None

    def put(self, key: str, record: Record) -> None:
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, partial = tempfile.mkstemp(dir=path.parent, suffix=".partial")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(record, file)
            Path(partial).replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(partial).unlink(missing_ok=True)
            raise

    def _path(self, key: str) -> Path:
        """Two letters make a folder: a million files in one are slow to list."""
        return self._folder / key[:2] / f"{key}.json"
