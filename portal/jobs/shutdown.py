"""How a worker learns that it is to stop, and how it breaks off the job at hand."""

import mmap
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

# One byte shared with the pool's processes, which are forked from the one that gets the signal.
# Plain memory rather than a multiprocessing.Event: a process killed while it holds an Event's lock
# would block all the others.
_stopping = mmap.mmap(-1, 1)


@dataclass
class _Process:
    """What this very process was told, and whether it may be broken off at this point."""

    told_to_end: bool = False
    breakable: bool = False


_process = _Process()


class Interrupted(BaseException):
    """This process is to end now: the job at hand is broken off and its row given back."""


def ask_to_stop() -> None:
    """No process of this worker shall begin another job."""
    _stopping[0] = 1


def stop_is_asked() -> bool:
    """Whether this process should begin no further job."""
    return _stopping[0] != 0 or _process.told_to_end


def hold_back(*signals: signal.Signals) -> None:
    """Keeps the signals waiting while this process of the pool is idle.

    It waits for work at a lock that the whole pool shares. A signal to the process group that ended
    it in the moment of getting that lock would leave the lock taken for ever, and the worker would
    hang in its shutdown. Nothing is lost by waiting: the worker's main process ends its idle
    processes itself.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)


@contextmanager
def heeding(*signals: signal.Signals) -> Iterator[None]:
    """Inside the block the signals ask to stop, and raise Interrupted where that is `breakable`.

    Signals that were held back until then (`hold_back`) come through when the block begins.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # Python handles signals in the main thread only
        return
    _process.told_to_end = False
    before = {number: signal.signal(number, _end) for number in signals}
    mask = signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def breakable() -> Iterator[None]:
    """A block that a signal may leave with Interrupted, also one that came just before it."""
    _process.breakable = True
    try:
        if _process.told_to_end:
            raise Interrupted
        yield
    finally:
        _process.breakable = False


def _end(*_: object) -> None:
    _process.told_to_end = True
    if _process.breakable:
        _process.breakable = False  # once is enough: what follows is tidying up
        raise Interrupted
