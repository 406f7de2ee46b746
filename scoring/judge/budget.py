"""What calls cost, and a limit that no call goes beyond."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Condition
from typing import Protocol

from .faults import Stopped

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
