"""Asks an engine about every item of a run, where a person can watch and stop it."""

import re
import signal
import sys
import threading
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tqdm import tqdm

from factboard.engines import Choice
from factboard.log import FileLog
from scoring.answering.core import Progress, RunItem, RunTotals, run_items
from scoring.judge.endpoint import Budget, Prices

# How long Ctrl-C waits for answers that are under way.
GRACE = 5.0


def ask(
    items: Iterable[RunItem],
    ids: Sequence[str],
    choice: Choice,
    log: FileLog,
    budget: Budget,
    *,
    unit: str,
) -> tuple[RunTotals, dict[str, Any] | None]:
    """Asks about the items without an answer; `ids` are those of all items. Returns also the
    decoding as the endpoint has taken it, None for engines without any.

    Raises KeyboardInterrupt after Ctrl-C, when the answers under way are kept.
    """
    if log.notice:
        say(log.notice)
    engine = choice.start(budget)
    try:
        with _interruptible() as is_stopped, _bar(ids, log, budget, unit) as show:
            totals = run_items(
                items,
                engine,
                log,
                concurrency=choice.concurrency,
                go_on=lambda: not is_stopped(),
                progress=show,
                grace=GRACE,
            )
            if is_stopped():
                raise KeyboardInterrupt
    finally:
        engine.close()
    return totals, getattr(engine, "decoding", None)


def prices_of(args: Namespace) -> Prices:
    return Prices(args.price_in or 0.0, args.price_out or 0.0)


def budget_of(args: Namespace, log: FileLog) -> Budget:
    """The budget of all parts of a run."""
    return Budget(prices_of(args), args.budget, used=log.usage())


def plain_name(name: str) -> str:
    """A name for a folder."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "run"


def say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


@contextmanager
def _interruptible() -> Iterator[Callable[[], bool]]:
    """Ctrl-C ends the run in order: answers under way are kept. A second one ends it at once."""
    stopped = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stopped.is_set
        return

    def stop(number: int, frame: object) -> None:  # noqa: ARG001 - as signals call it
        if stopped.is_set():
            raise KeyboardInterrupt
        stopped.set()

    before = {each: signal.signal(each, stop) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped.is_set
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


@contextmanager
def _bar(
    ids: Sequence[str], log: FileLog, budget: Budget, unit: str
) -> Iterator[Callable[[Progress], None]]:
    """Items done, rate, time left, tokens and money, where a person can see them."""
    known = frozenset(log.known_ids())
    kept = sum(each in known for each in ids)
    # Earlier answers must not count for the rate.
    with tqdm(total=len(ids), initial=kept, unit=unit, leave=False, disable=None) as bar:
        shown = 0

        def show(progress: Progress) -> None:
            nonlocal shown
            used = budget.usage
            words = {"tokens": f"{used.input + used.output:,}"}
            if spent := budget.spent_text(" USD"):
                words["cost"] = spent
            if progress.failed:
                words["failed"] = str(progress.failed)
            bar.set_postfix(words, refresh=False)
            bar.update(progress.asked - shown)
            shown = progress.asked

        yield show
