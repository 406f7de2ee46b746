"""Messages as files: whole or not there."""

import logging
from collections.abc import Iterator
from pathlib import Path
from queue import Empty
from typing import Any

import pytest

from portal.celery import app
from portal.jobs.services import TASK, _Pause, wake


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any) -> Path:
    options = {"folder": str(tmp_path), "polling_interval": 0.01}
    monkeypatch.setitem(app.conf, "broker_transport_options", options)
    monkeypatch.setattr("portal.jobs.services._pause", _Pause())
    settings.CELERY_BROKER_URL = "filesystem://"
    return tmp_path


@pytest.fixture
def queue(folder: Path) -> Iterator[Any]:
    with app.connection_for_read("filesystem://") as connection:
        reader = connection.SimpleQueue("celery")
        yield reader
        reader.close()


def test_a_wake_up_goes_through(queue: Any, folder: Path) -> None:
    wake()
    assert queue.qsize() == 1
    message = queue.get(timeout=1)
    assert message.headers["task"] == TASK
    assert list(folder.iterdir()) == []


def test_messages_keep_their_order(queue: Any) -> None:
    for number in range(5):
        queue.put({"number": number})
    assert [queue.get(timeout=1).payload["number"] for _ in range(5)] == [0, 1, 2, 3, 4]


def test_half_a_message_is_dropped_and_the_next_one_read(
    queue: Any, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (folder / "0-a.celery.msg").write_bytes(b"")
    (folder / "0-b.celery.msg").write_bytes(b'{"body": "\xff')
    queue.put({"number": 1})
    assert queue.get(timeout=1).payload == {"number": 1}
    assert [r.levelno for r in caplog.records] == [logging.WARNING] * 2
    assert "0-a.celery.msg" in caplog.text
    assert list(folder.iterdir()) == []


def test_a_message_being_written_is_not_seen(queue: Any, folder: Path) -> None:
    (folder / "0-a.draft").write_text("{")
    with pytest.raises(Empty):
        queue.get(timeout=0.05)


def test_a_message_another_worker_took_is_passed_over(
    queue: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue.put({"number": 1})
    queue.put({"number": 2})
    read = Path.read_bytes

    def taken_meanwhile(path: Path) -> bytes:
        data = read(path)
        if b"taken" not in seen:
            seen.append(b"taken")
            path.unlink()
        return data

    seen: list[bytes] = []
    monkeypatch.setattr(Path, "read_bytes", taken_meanwhile)
    assert queue.get(timeout=1).payload == {"number": 2}


def test_clearing_counts(queue: Any, folder: Path) -> None:
    for _ in range(3):
        queue.put({})
    assert queue.clear() == 3
    assert list(folder.iterdir()) == []
