"""Asks an engine about every item that has no answer yet, many at a time.

Knows neither files nor endpoints: the command keeps answers in a file, the site in its database.
Answers are kept in the order in which they arrive. A killed run loses only the answers of calls
that have not returned.
"""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Protocol

from scoring.judge.endpoint import Stopped, Usage

from .manifest import CUT_OFF, State

# A reason can quote an endpoint or a program; the manifest takes at most 1,000 characters.
LONGEST_REASON = 500
# How often `go_on` is asked while no answer arrives.
_LOOK_SECONDS = 0.5


@dataclass(frozen=True)
class ImageSource:
    """A page image: its file name, its bytes on demand, and its size in bytes if known."""

    name: str
    read: Callable[[], bytes]
    size: int | None = None


@dataclass(frozen=True)
class RunItem:
    """The input of a model for one item.

    `prompt` is the whole text of the request. `question` is the item's own part of it. `kind` is
    the kind of item where a benchmark has several (`kie`, `table`), else empty.
    """

    id: str
    prompt: str
    images: tuple[ImageSource, ...] = ()
    kind: str = ""
    question: str = ""


@dataclass(frozen=True)
class EngineAnswer:
    """The outcome of an item.

    Tokens and seconds are those of the answer itself, None if unknown. `usage` covers every
    attempt, including failed ones that may be charged for.
    """

    text: str = ""
    state: State = "answered"
    reason: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    seconds: float | None = None
    attempts: int = 1
    usage: Usage = field(default_factory=Usage)

    @property
    def is_cut_off(self) -> bool:
        return CUT_OFF in self.reason


class Engine(Protocol):
    """A model or a program that answers items. Many threads call it at the same time."""

    def answer(self, item: RunItem) -> EngineAnswer:
        """Raises Stopped if no other item can be answered either."""
        ...

    def stop(self) -> None:
        """The run ends: begin no other attempt, and end waits between attempts."""
        ...


@dataclass(frozen=True)
class AnswerRecord:
    """An item's outcome as it is kept."""

    id: str
    answer: EngineAnswer
    at: datetime


class AnswerLog(Protocol):
    """Keeps outcomes. Only one thread calls it."""

    def known_ids(self) -> Collection[str]:
        """The items that are not asked again: those whose last outcome is not `failed`."""
        ...

    def append(self, records: Sequence[AnswerRecord]) -> None:
        """Once it returns, the records survive a crash of the machine."""
        ...

    def records(self) -> Iterator[AnswerRecord]:
        """Every outcome, oldest first. The last one of an item counts."""
        ...


@dataclass(frozen=True)
class Progress:
    """The state of a run. `kept` items had an answer before; the others are of this run."""

    kept: int = 0
    answered: int = 0
    empty: int = 0
    refused: int = 0
    failed: int = 0
    usage: Usage = field(default_factory=Usage)

    @property
    def asked(self) -> int:
        return self.answered + self.empty + self.refused + self.failed

    def plus(self, answer: EngineAnswer) -> "Progress":
        counted = {answer.state: getattr(self, answer.state) + 1}
        return replace(self, usage=self.usage + answer.usage, **counted)


@dataclass(frozen=True)
class RunTotals:
    """The end of a run. `stopped` is the reason why items were not asked; empty if all were."""

    progress: Progress
    stopped: str = ""

    @property
    def is_complete(self) -> bool:
        return not self.stopped and not self.progress.failed


def always() -> bool:
    return True


def silent(progress: Progress) -> None:
    """Shows nothing."""


def run_items(
    items: Iterable[RunItem],
    engine: Engine,
    log: AnswerLog,
    *,
    concurrency: int,
    go_on: Callable[[], bool] = always,
    progress: Callable[[Progress], None] = silent,
    grace: float | None = None,
) -> RunTotals:
    """Asks about the items without an answer, at most `concurrency` at the same time.

    Items are taken from the iterable when they are needed. When `go_on` returns False or the
    engine raises Stopped, no other item begins, and answers under way are still kept: all of them,
    or those that arrive within `grace` seconds. An exception of the log ends the run at once.
    """
    crew = _Crew(engine, concurrency)
    run = _Run(items, crew, log, progress)
    try:
        while run.feed(go_on):
            run.keep(crew.finished())
        deadline = None if grace is None else time.monotonic() + grace
        while crew.under_way and (deadline is None or time.monotonic() < deadline):
            run.keep(crew.finished())
    finally:
        crew.dismiss()
    return RunTotals(run.state, run.stopped)


class _Crew:
    """Threads that take items from one queue and put outcomes into another.

    They are daemons: one that waits for a slow endpoint does not keep the process alive.
    """

    def __init__(self, engine: Engine, size: int) -> None:
        self.size = size
        self.under_way = 0
        self._engine = engine
        self._items: SimpleQueue[RunItem | None] = SimpleQueue()
        self._outcomes: SimpleQueue[AnswerRecord | Stopped | None] = SimpleQueue()
        self._is_stopped = Event()
        for number in range(size):
            Thread(target=self._work, name=f"run-{number}", daemon=True).start()

    def ask(self, item: RunItem) -> None:
        self.under_way += 1
        self._items.put(item)

    def finished(self) -> list[AnswerRecord | Stopped]:
        """The outcomes that have arrived; waits a moment for the first one."""
        outcomes: list[AnswerRecord | Stopped] = []
        try:
            outcome = self._outcomes.get(timeout=_LOOK_SECONDS)
            while True:
                self.under_way -= 1
                if outcome is not None:
                    outcomes.append(outcome)
                outcome = self._outcomes.get_nowait()
        except Empty:
            return outcomes

    def stop(self) -> None:
        """Begin no other item."""
        if not self._is_stopped.is_set():
            self._is_stopped.set()
            self._engine.stop()

    def dismiss(self) -> None:
        self.stop()
        for _ in range(self.size):
            self._items.put(None)

    def _work(self) -> None:
        while (item := self._items.get()) is not None:
            self._outcomes.put(None if self._is_stopped.is_set() else self._outcome(item))

    def _outcome(self, item: RunItem) -> AnswerRecord | Stopped:
        try:
            answer = self._engine.answer(item)
        except Stopped as stopped:
            return stopped
        except Exception as error:
            # One item must not end the run of all others.
            reason = f"{type(error).__name__}: {error}"[:LONGEST_REASON]
            answer = EngineAnswer(state="failed", reason=reason)
        return AnswerRecord(item.id, answer, datetime.now(UTC))


class _Run:
    """The items still to ask, and the outcomes so far."""

    def __init__(
        self,
        items: Iterable[RunItem],
        crew: _Crew,
        log: AnswerLog,
        progress: Callable[[Progress], None],
    ) -> None:
        self.state = Progress()
        self.stopped = ""
        self._crew = crew
        self._log = log
        self._progress = progress
        self._waiting = self._unknown(items, frozenset(log.known_ids()))

    def _unknown(self, items: Iterable[RunItem], known: frozenset[str]) -> Iterator[RunItem]:
        for item in items:
            if item.id in known:
                self.state = replace(self.state, kept=self.state.kept + 1)
            else:
                yield item

    def feed(self, go_on: Callable[[], bool]) -> bool:
        """Gives the crew more items. False at the end of the run, or once it is stopped."""
        if not self.stopped and not go_on():
            self._stop("stopped before the end")
        if self.stopped:
            return False
        # Some items ahead, so that no thread waits while answers are kept.
        while self._crew.under_way < 2 * self._crew.size:
            item = next(self._waiting, None)
            if item is None:
                break
            self._crew.ask(item)
        return self._crew.under_way > 0

    def keep(self, outcomes: Sequence[AnswerRecord | Stopped]) -> None:
        records = [outcome for outcome in outcomes if isinstance(outcome, AnswerRecord)]
        if records:
            self._log.append(records)
        for record in records:
            self.state = self.state.plus(record.answer)
        for outcome in outcomes:
            if isinstance(outcome, Stopped):
                self._stop(str(outcome))
        self._progress(self.state)

    def _stop(self, reason: str) -> None:
        self.stopped = self.stopped or reason
        self._crew.stop()
