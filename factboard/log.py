"""Answers in a folder: append-only JSON Lines, safe against a killed process and a full disk.

    run.json         the settings of the run; other settings are refused
    answers.jsonl    one line per outcome, as it arrives; the last one of an item counts
    lock             held by the process that writes

A kill can cut the last line off. It belongs to an answer that was not acknowledged: it is removed,
and its item is asked again.
"""

import fcntl
import json
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from scoring.answering.core import AnswerRecord, EngineAnswer
from scoring.answering.rendering import sync_folder, write_atomically
from scoring.judge.endpoint import Usage
from scoring.offline.terminal import BadInput

RUN, ANSWERS, LOCK = "run.json", "answers.jsonl", "lock"
_STATES = frozenset({"answered", "empty", "refused", "failed"})


class LogError(BadInput):
    """The folder cannot be used; the message names the file and says what to do."""


@contextmanager
def open_log(
    folder: Path, settings: Mapping[str, Any], *, is_new: bool = False
) -> Iterator["FileLog"]:
    """The log in a folder, for one process at a time.

    Raises LogError if another process has it, or if its run had other settings. With `is_new` the
    answers of earlier runs are set aside under other names.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / LOCK).open("a")
    except OSError as error:
        raise LogError(f"{folder}: cannot be written: {error.strerror}") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise LogError(f"{folder}: another run is writing to this folder") from error
        if is_new:
            _set_aside(folder)
        started = _check_settings(folder, settings)
        log = FileLog(folder / ANSWERS, started)
        try:
            yield log
        finally:
            log.close()


def _set_aside(folder: Path) -> None:
    if not (folder / RUN).exists() and not (folder / ANSWERS).exists():
        return
    number = 1
    while (folder / f"before-{number}").exists():
        number += 1
    earlier = folder / f"before-{number}"
    earlier.mkdir()
    for file in folder.iterdir():
        if file.is_file() and file.name != LOCK:
            file.rename(earlier / file.name)


def _check_settings(folder: Path, settings: Mapping[str, Any]) -> datetime:
    """Stores the settings of the first run, and compares those of later ones. Returns the time of
    the first."""
    path = folder / RUN
    if not path.exists():
        if (folder / ANSWERS).exists():
            raise LogError(
                f"{path}: is missing, but the folder contains answers; start over with --new"
            )
        now = datetime.now().astimezone()
        whole = {"started_at": now.isoformat(), "settings": settings}
        write_atomically(path, [(json.dumps(whole, indent=1) + "\n").encode()])
        return now
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
        started, before = datetime.fromisoformat(known["started_at"]), dict(known["settings"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LogError(f"{path}: cannot be read: {error}; start over with --new") from error
    given = json.loads(json.dumps(settings))
    different = [key for key in {**before, **given} if before.get(key) != given.get(key)]
    if different:
        changes = "; ".join(_change(key, before.get(key), given.get(key)) for key in different)
        raise LogError(
            f"{folder}: contains answers from a run with different settings: {changes}. "
            "Choose another folder with --out, or start over with --new"
        )
    return started


_HASH = re.compile("[0-9a-f]{64}")
_LONGEST = 300


def _change(key: str, before: object, now: object) -> str:
    """A hash replaces a long text or file, and is not readable."""
    if any(isinstance(value, str) and _HASH.fullmatch(value) for value in (before, now)):
        return f"{key} changed"
    return f"{key} was {_short(before)}, now {_short(now)}"


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


class FileLog:
    """An AnswerLog in a file. Texts stay in the file; ids, states and offsets are in memory."""

    def __init__(self, path: Path, started_at: datetime) -> None:
        self.started_at = started_at
        self.notice = ""
        """A sentence about a repair of the file; empty without one."""
        self._path = path
        self._last: dict[str, tuple[str, int]] = {}
        is_new = not path.exists()
        self._file = path.open("ab+", buffering=0)
        if is_new:
            sync_folder(path.parent)
        try:
            self._load()
        except BaseException:
            self._file.close()
            raise

    def close(self) -> None:
        self._file.close()

    def known_ids(self) -> Collection[str]:
        return {item for item, (state, _) in self._last.items() if state != "failed"}

    def append(self, records: Sequence[AnswerRecord]) -> None:
        """One write and one fsync for all of them. A partial write, on a full disk, is removed."""
        end = self._file.seek(0, os.SEEK_END)
        lines = [_line(record) for record in records]
        try:
            _write_all(self._file, b"".join(lines))
            os.fsync(self._file.fileno())
        except OSError:
            self._file.truncate(end)
            raise
        for record, line in zip(records, lines, strict=True):
            self._last[record.id] = record.answer.state, end
            end += len(line)

    def records(self) -> Iterator[AnswerRecord]:
        with self._path.open("rb") as file:
            for number, line in enumerate(file, 1):
                yield self._read(line, number)

    def last(self, ids: Sequence[str]) -> Iterator[AnswerRecord | None]:
        """The last outcome of each of these items, in their order; None without one."""
        with self._path.open("rb") as file:
            for item in ids:
                if item in self._last:
                    file.seek(self._last[item][1])
                    yield self._read(file.readline(), 0)
                else:
                    yield None

    def usage(self) -> Usage:
        """The usage of every attempt so far, also of failed items."""
        return sum((record.answer.usage for record in self.records()), Usage())

    def _load(self) -> None:
        at = 0
        with self._path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    self._file.truncate(at)
                    os.fsync(self._file.fileno())
                    self.notice = (
                        f"{self._path}: removed an incomplete last line; its item will be "
                        "requested again"
                    )
                    return
                record = self._read(line, number)
                self._last[record.id] = record.answer.state, at
                at += len(line)

    def _read(self, line: bytes, number: int) -> AnswerRecord:
        try:
            return _record(json.loads(line))
        except (ValueError, KeyError, TypeError) as error:
            raise LogError(
                f"{self._path}:{number}: not a valid answer: {error}. Remove the line, or "
                "start over with --new"
            ) from error


def _line(record: AnswerRecord) -> bytes:
    """ASCII, because an answer may contain half of a surrogate pair."""
    whole = {"id": record.id, **asdict(record.answer), "at": record.at.isoformat()}
    return (json.dumps(whole) + "\n").encode()


def _record(value: dict[str, Any]) -> AnswerRecord:
    item, at, usage = value.pop("id"), value.pop("at"), value.pop("usage")
    if not isinstance(item, str) or value["state"] not in _STATES:
        raise ValueError("invalid id or state")
    return AnswerRecord(
        item, EngineAnswer(**value, usage=Usage(**usage)), datetime.fromisoformat(at)
    )


def _write_all(file: IO[bytes], data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]
