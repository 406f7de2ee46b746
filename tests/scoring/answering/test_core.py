"""Asking about items: what is asked, kept and left when a run stops."""

import threading
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import pytest

from scoring.answering.core import (
    AnswerRecord,
    EngineAnswer,
    Progress,
    RunItem,
    run_items,
)
from scoring.judge.endpoint import Stopped, Usage

ITEMS = [RunItem(f"p{number}", "Read.") for number in range(20)]


class ListLog:
    def __init__(self) -> None:
        self.kept: list[AnswerRecord] = []

    def known_ids(self) -> Collection[str]:
        last = {record.id: record.answer.state for record in self.kept}
        return {item for item, state in last.items() if state != "failed"}

    def append(self, records: Sequence[AnswerRecord]) -> None:
        assert records
        self.kept += records

    def records(self) -> Iterator[AnswerRecord]:
        yield from self.kept


class Scripted:
    """Answers with the item's id, except for the given outcomes."""

    def __init__(self, **outcomes: EngineAnswer | Exception) -> None:
        self.outcomes = outcomes
        self.asked: list[str] = []
        self.is_stopped = False
        self.most = self._now = 0
        self._lock = threading.Lock()

    def answer(self, item: RunItem) -> EngineAnswer:
        with self._lock:
            self.asked.append(item.id)
            self._now += 1
            self.most = max(self.most, self._now)
        try:
            outcome = self.outcomes.get(item.id, EngineAnswer(item.id, usage=Usage(2, 1, 1, 1)))
            if isinstance(outcome, Exception):
                raise outcome
            return outcome
        finally:
            with self._lock:
                self._now -= 1

    def stop(self) -> None:
        self.is_stopped = True


def test_run_asks_every_item_once() -> None:
    engine, log = Scripted(), ListLog()

    totals = run_items(ITEMS, engine, log, concurrency=4)

    assert sorted(engine.asked) == sorted(item.id for item in ITEMS)
    assert {record.id: record.answer.text for record in log.kept} == {i.id: i.id for i in ITEMS}
    assert totals.is_complete
    assert totals.progress == Progress(answered=20, usage=Usage(40, 20, 20, 20))
    assert engine.most <= 4


def test_second_run_asks_only_failed_and_missing_items() -> None:
    log = ListLog()
    failing = {
        "p3": EngineAnswer(state="failed", reason="HTTP 500"),
        "p4": EngineAnswer("", "empty"),
    }
    first = run_items(ITEMS[:10], Scripted(**failing), log, concurrency=3)
    assert not first.is_complete
    engine = Scripted()

    totals = run_items(ITEMS[:12], engine, log, concurrency=3)

    assert sorted(engine.asked) == ["p10", "p11", "p3"]
    assert totals.progress.kept == 9
    assert totals.is_complete


def test_exception_of_an_engine_fails_only_its_item() -> None:
    log = ListLog()

    totals = run_items(ITEMS, Scripted(p5=ValueError("no text")), log, concurrency=2)

    assert totals.progress.failed == 1
    assert totals.progress.answered == 19
    (failed,) = (record for record in log.kept if record.answer.state == "failed")
    assert (failed.id, failed.answer.reason) == ("p5", "ValueError: no text")


def test_stopped_engine_ends_the_run_and_keeps_what_arrived() -> None:
    engine, log = Scripted(p5=Stopped("the budget of 1 is used up")), ListLog()

    totals = run_items(ITEMS, engine, log, concurrency=1)

    assert totals.stopped == "the budget of 1 is used up"
    assert engine.is_stopped
    assert [record.id for record in log.kept] == ["p0", "p1", "p2", "p3", "p4"]
    assert engine.asked[-1] == "p5"


def test_cancelled_run_keeps_answers_under_way() -> None:
    engine, log = Scripted(), ListLog()

    totals = run_items(ITEMS, engine, log, concurrency=2, go_on=lambda: len(log.kept) < 5)

    assert totals.stopped
    assert 5 <= len(log.kept) < 20
    assert sorted(engine.asked) == sorted(record.id for record in log.kept)


def test_cancelled_run_does_not_wait_longer_than_its_grace() -> None:
    released = threading.Event()

    class Hanging(Scripted):
        def answer(self, item: RunItem) -> EngineAnswer:
            released.wait(60)
            return super().answer(item)

    log = ListLog()
    calls = iter([True, False])
    totals = run_items(ITEMS, Hanging(), log, concurrency=2, go_on=lambda: next(calls), grace=0)
    released.set()

    assert totals.stopped
    assert log.kept == []


def test_items_are_taken_when_needed() -> None:
    taken: list[str] = []
    log = ListLog()

    def items() -> Iterator[RunItem]:
        for item in ITEMS:
            taken.append(item.id)
            yield item
            assert len(taken) - len(log.kept) <= 5

    assert run_items(items(), Scripted(), log, concurrency=2).is_complete


def test_fault_of_the_log_ends_the_run() -> None:
    class Full(ListLog):
        def append(self, records: Sequence[AnswerRecord]) -> None:
            raise OSError("no space left")

    engine = Scripted()

    with pytest.raises(OSError, match="no space"):
        run_items(ITEMS, engine, Full(), concurrency=2)
    assert engine.is_stopped


def test_progress_counts_each_state() -> None:
    seen: list[Progress] = []
    engine = Scripted(
        p0=EngineAnswer(state="refused"), p1=EngineAnswer(state="empty"), p2=Stopped("enough")
    )

    run_items(ITEMS[:3], engine, ListLog(), concurrency=1, progress=seen.append)

    assert replace(seen[-1], usage=Usage()) == Progress(refused=1, empty=1)
    assert seen[-1].asked == 2
