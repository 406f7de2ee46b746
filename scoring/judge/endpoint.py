"""The endpoint of a judge: replies, retries, pacing and cost.

No call can exceed the budget. A question without a verdict raises Unscored or Stopped, and never
counts as a score of zero.
"""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Condition, Lock
from typing import NamedTuple, Protocol


class Unscored(Exception):
    """This question has no usable answer; others may have one."""


class Stopped(Exception):
    """No more calls are possible: the budget is used up, or the endpoint refuses all calls."""


@dataclass(frozen=True)
class Backoff:
    """Seconds to wait before the next attempt: doubled each time, then reduced by a random part of
    up to half, so that concurrent failures do not retry together."""

    attempts: int = 5
    first: float = 1.0
    most: float = 60.0

    def wait(self, attempt: int, asked: float | None = None) -> float:
        """The wait after attempt `attempt`, counted from 0; at least the endpoint's delay."""
        wait = min(self.first * 2.0**attempt, self.most) * random.uniform(0.5, 1)  # noqa: S311
        return min(max(wait, asked or 0.0), self.most)


class Pacer:
    """Spaces out the starts of calls of many threads."""

    def __init__(
        self, calls_per_minute: int = 0, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        """0 calls per minute means no limit."""
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
        """Delays all calls, because a busy endpoint is busy for all threads."""
        with self._lock:
            self._next = max(self._next, time.monotonic() + seconds)


@dataclass(frozen=True)
class Endpoint:
    """An endpoint. Local ones accept any key."""

    base_url: str
    model: str
    api_key: str = field(default="none", repr=False)
    timeout: float = 120.0
    calls_per_minute: int = 0
    backoff: Backoff = field(default_factory=Backoff)


class Reply(NamedTuple):
    text: str
    is_cut_off: bool


_MILLION = 1_000_000


@dataclass(frozen=True)
class Usage:
    """Tokens of calls. `calls` counts answered calls, `attempts` also failed ones.

    `uncertain` calls did not report their tokens: they count with the most they can have used.
    """

    input: int = 0
    output: int = 0
    calls: int = 0
    attempts: int = 0
    uncertain: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(*(getattr(self, name) + getattr(other, name) for name in vars(self)))


@dataclass(frozen=True)
class Prices:
    """Money per million tokens, in any currency."""

    input: float = 0.0
    output: float = 0.0

    def cost(self, usage: Usage) -> float:
        return (usage.input * self.input + usage.output * self.output) / _MILLION


class Ticket:
    """A running call and the tokens it has used."""

    def __init__(self, most: Usage) -> None:
        self.most = most
        self.used = Usage(attempts=1)

    def answered(self, usage: Usage | None) -> None:
        """The call was answered, with this usage if the endpoint reported it."""
        used = usage or Usage(self.most.input, self.most.output, uncertain=1)
        self.used = used + Usage(calls=1, attempts=1)

    def broke_off(self) -> None:
        """The call was not answered, but the endpoint may charge for it."""
        self.used = Usage(self.most.input, self.most.output, attempts=1, uncertain=1)


class Allowance(Protocol):
    """A shared budget, such as a month's. Only one thread at a time calls it."""

    refusal: str
    """The reason of the last refusal."""

    def covers(self, used: float, cost: float) -> bool:
        """Whether `cost` can be spent in addition to `used`, which includes reserved money."""
        ...


class Budget:
    """Adds up the usage and starts a call only if it cannot exceed the limit.

    The highest possible cost of running calls is reserved. A call that does not fit waits until
    they have ended. Safe for many threads.
    """

    def __init__(
        self,
        prices: Prices | None = None,
        limit: float | None = None,
        allowance: Allowance | None = None,
        used: Usage | None = None,
    ) -> None:
        """Every call within `limit` must also be covered by the allowance. `used` is what earlier
        calls have used, which counts too."""
        self.prices = prices or Prices()
        self.limit = limit
        self._allowance = allowance
        self._usage = used or Usage()
        self._set_aside: list[float] = []
        self._changed = Condition()

    @property
    def usage(self) -> Usage:
        with self._changed:
            return self._usage

    @property
    def spent(self) -> float:
        return self.prices.cost(self.usage)

    @contextmanager
    def call(self, most: Usage) -> Iterator[Ticket]:
        """Runs a call that uses at most `most` tokens. Raises Stopped if it does not fit."""
        cost = self.prices.cost(most)
        ticket = Ticket(most)
        self._begin(cost)
        try:
            yield ticket
        finally:
            with self._changed:
                self._set_aside.remove(cost)
                self._usage += ticket.used
                self._changed.notify_all()

    def _begin(self, cost: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: not self._refusal(cost) or not self._set_aside)
            if refusal := self._refusal(cost):
                raise Stopped(refusal)
            self._set_aside.append(cost)

    def _refusal(self, cost: float) -> str:
        """Why a call of this cost cannot start now; empty if it can."""
        used = self.prices.cost(self._usage) + sum(self._set_aside)
        if self.limit is not None and used + cost > self.limit:
            return f"the budget of {self.limit:g} is used up"
        if self._allowance is not None and not self._allowance.covers(used, cost):
            return self._allowance.refusal
        return ""
