"""Answers in a folder survive kills, and are never mixed with those of other settings."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from factboard.log import ANSWERS, FileLog, LogError, open_log
from scoring.answering.core import AnswerRecord, EngineAnswer
from scoring.judge.endpoint import Usage

AT = datetime(2026, 11, 23, 12, tzinfo=UTC)
SETTINGS = {"model": "m", "decoding": {"temperature": 0}}


def record(item: str, text: str = "Net loss", **changes: object) -> AnswerRecord:
    answer = EngineAnswer(text, usage=Usage(10, 2, 1, 1), seconds=0.5, **changes)  # type: ignore[arg-type]
    return AnswerRecord(item, answer, AT)


@contextmanager
def log_in(folder: Path, **options: bool) -> Iterator[FileLog]:
    with open_log(folder, SETTINGS, **options) as log:
        yield log


def test_answers_are_read_back_as_they_were_kept(tmp_path: Path) -> None:
    kept = [record("a", "ü\n\ud83d"), record("b", "", state="empty"), record("c", state="failed")]
    with log_in(tmp_path) as log:
        log.append(kept[:1])
        log.append(kept[1:])
    with log_in(tmp_path) as log:
        assert list(log.records()) == kept
        assert set(log.known_ids()) == {"a", "b"}
        assert log.usage() == Usage(30, 6, 3, 3)
        assert log.notice == ""


def test_last_outcome_of_an_item_counts(tmp_path: Path) -> None:
    with log_in(tmp_path) as log:
        log.append([record("a", "", state="failed"), record("b")])
        log.append([record("a", "again")])
        last = list(log.last(["b", "a", "c"]))
    assert [each and each.answer.text for each in last] == ["Net loss", "again", None]


@pytest.mark.parametrize("cut", [1, 5, 40])
def test_half_a_line_is_removed_with_a_notice(tmp_path: Path, cut: int) -> None:
    with log_in(tmp_path) as log:
        log.append([record("a"), record("b")])
    path = tmp_path / ANSWERS
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    with log_in(tmp_path) as log:
        assert "incomplete last line" in log.notice
        assert set(log.known_ids()) == {"a"}
        log.append([record("b")])
    assert path.read_bytes() == whole


def test_damaged_line_in_the_middle_is_refused_by_its_number(tmp_path: Path) -> None:
    with log_in(tmp_path) as log:
        log.append([record("a"), record("b")])
    path = tmp_path / ANSWERS
    path.write_bytes(path.read_bytes().replace(b'"id": "a"', b'"id": 7'))
    with pytest.raises(LogError, match=r"answers.jsonl:1: .*--new"), log_in(tmp_path):
        pass


def test_other_settings_are_refused_and_named(tmp_path: Path) -> None:
    with log_in(tmp_path):
        pass
    other = {**SETTINGS, "model": "other"}
    with pytest.raises(LogError, match='model was "m", now "other"'), open_log(tmp_path, other):
        pass


def test_hashes_of_settings_are_not_shown(tmp_path: Path) -> None:
    texts = {"prompt": "a" * 64, "command": "python3 one.py {image}"}
    with open_log(tmp_path, {**SETTINGS, **texts}):
        pass
    other = {**SETTINGS, "prompt": "b" * 64, "command": "python3 two.py {image}"}
    with pytest.raises(LogError) as refused, open_log(tmp_path, other):
        pass
    assert (
        'prompt changed; command was "python3 one.py {image}", now "python3 two.py {image}".'
        in str(refused.value)
    )


def test_new_run_sets_earlier_answers_aside(tmp_path: Path) -> None:
    with log_in(tmp_path) as log:
        log.append([record("a")])
    before = (tmp_path / ANSWERS).read_bytes()
    with open_log(tmp_path, {**SETTINGS, "model": "other"}, is_new=True) as log:
        assert not log.known_ids()
    assert (tmp_path / "before-1" / ANSWERS).read_bytes() == before


def test_two_processes_do_not_share_a_folder(tmp_path: Path) -> None:
    with (
        log_in(tmp_path),
        pytest.raises(LogError, match="another run"),
        log_in(tmp_path),
    ):
        pass


def test_full_disk_leaves_no_half_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with log_in(tmp_path) as log:
        log.append([record("a")])
        before = (tmp_path / ANSWERS).read_bytes()
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space"):
            log.append([record("b")])
        monkeypatch.undo()
    assert (tmp_path / ANSWERS).read_bytes() == before
