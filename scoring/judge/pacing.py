"""When to call again: after failures later and later, and never more often than is allowed."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock


@dataclass(frozen=True)
class Backoff:
    """Seconds to wait before another attempt: doubled each time, then cut by a random half, so that
    those who failed together do not come back together."""

    attempts: int = 5
    first: float = 1.0
    most: float = 60.0

    def wait(self, attempt: int, asked: float | None = None) -> float:
        """After attempt number `attempt`, counted from 0; at least what the endpoint asked for."""
        wait = min(self.first * 2.0**attempt, self.most) * random.uniform(0.5, 1)  # noqa: S311
        return min(max(wait, asked or 0.0), self.most)


class Pacer:
    """Spaces out the beginnings of calls of many threads."""

    def __init__(
        self, calls_per_minute: int = 0, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        """0 calls per minute stand for as many as there are."""
        self._interval = 60 / calls_per_minute if calls_per_minute else 0.0
        self._sleep = sleep
        self._next = 0.0
        self._lock = Lock()

    def wait(self) -> None:
        with self._lock:
            now = time.monotonic()
            begin = max(now, self._next)
            self._next = begin + self._interval
        if begin > now:
            self._sleep(begin - now)

    def hold(self, seconds: float) -> None:
        """Lets no call begin for so long: an endpoint that is busy is busy for all."""
        with self._lock:
            self._next = max(self._next, time.monotonic() + seconds)
