"""An endpoint that judges: what it replies, when to call it again, what calls cost.

No call goes beyond a limit of money. Why there is no verdict is one of two faults, and neither is
ever a score of zero.
"""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Condition, Lock
from typing import NamedTuple, Protocol


class Unscored(Exception):
    """This question has no answer that can be used; others may."""


class Stopped(Exception):
    """No further call is made: the budget is spent, or the endpoint refuses us altogether."""


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


@dataclass(frozen=True)
class Endpoint:
    """Where the judge answers. Local ones take any key."""

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
    """Tokens of answered calls. `calls` counts them, `attempts` with those that failed.

    `uncertain` calls broke off without telling their tokens, or left them out: they are counted
    as what they may have cost at most.
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
    """Money per million tokens, in whatever currency."""

    input: float = 0.0
    output: float = 0.0

    def cost(self, usage: Usage) -> float:
        return (usage.input * self.input + usage.output * self.output) / _MILLION


class Ticket:
    """A call under way; what it used is nothing until it is known."""

    def __init__(self, most: Usage) -> None:
        self.most = most
        self.used = Usage(attempts=1)

    def answered(self, usage: Usage | None) -> None:
        """The call was answered, with these tokens if the endpoint tells them."""
        told = usage or Usage(self.most.input, self.most.output, uncertain=1)
        self.used = told + Usage(calls=1, attempts=1)

    def broke_off(self) -> None:
        """Nothing came back, and the endpoint may charge for it nevertheless."""
        self.used = Usage(self.most.input, self.most.output, attempts=1, uncertain=1)


class Allowance(Protocol):
    """Money that others spend of, too, such as a month's; asked by one thread at a time."""

    refusal: str
    """Why the last answer was no."""

    def covers(self, used: float, cost: float) -> bool:
        """Whether, beyond what is used or set aside already, as much may be spent."""
        ...


class Budget:
    """Adds up what is used and lets a call begin only if it cannot go beyond the limit.

    What calls under way may cost at most is set aside; a call that would not fit beside them waits
    until they have ended. For use by many threads.
    """

    def __init__(
        self,
        prices: Prices | None = None,
        limit: float | None = None,
        allowance: Allowance | None = None,
    ) -> None:
        """Within its own limit every call is put to the allowance, too."""
        self.prices = prices or Prices()
        self.limit = limit
        self._allowance = allowance
        self._usage = Usage()
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
        """A call that uses `most` tokens at most; raises Stopped if it does not fit."""
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
        """Why a call of this cost cannot begin now; empty if it can."""
        used = self.prices.cost(self._usage) + sum(self._set_aside)
        if self.limit is not None and used + cost > self.limit:
            return f"the budget of {self.limit:g} is used up"
        if self._allowance is not None and not self._allowance.covers(used, cost):
            return self._allowance.refusal
        return ""
