"""The endpoint of a judge: replies, retries, pacing and cost.

No call can exceed the budget. A question without a verdict raises Unscored or Stopped, and never
counts as a score of zero.
"""

import random
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Condition, Lock
from typing import Any, NamedTuple, Protocol, TypeGuard, TypeVar


class Unscored(Exception):
    """This question has no usable answer; others may have one."""


class Filtered(Unscored):
    """A content filter refuses this question, and would refuse it again."""


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


# Local endpoints take it as a key. It is no secret.
NO_KEY = "none"
KEY = "{key}"
"""Replaced by the key in the value of a header."""
# The client sets them, or the HTTP library does.
_OWN_HEADERS = frozenset(
    "accept accept-encoding connection content-length content-type host transfer-encoding".split()
)
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
SECRET_NAME = re.compile("auth|key|token|secret|passw|credential|cookie|sig", re.IGNORECASE)
"""Names of headers and parameters whose values are secrets."""


def read_header(text: str) -> tuple[str, str]:
    """Name and value of a request header. Raises ValueError without the value, which may be a
    secret.

    >>> read_header("api-key: {key}")
    ('api-key', '{key}')
    """
    name, colon, value = (part.strip() for part in text.partition(":"))
    if not colon or not _HEADER_NAME.fullmatch(name):
        raise ValueError("expected NAME: VALUE, such as 'api-key: {key}'")
    if name.lower() in _OWN_HEADERS:
        raise ValueError(f"the header {name} cannot be set")
    if not value.isascii() or not value.isprintable():
        raise ValueError(f"the value of {name} contains invalid characters")
    return name, value


@dataclass(frozen=True)
class Endpoint:
    """An endpoint. Local ones accept any key."""

    base_url: str = field(repr=False)
    model: str
    api_key: str = field(default=NO_KEY, repr=False)
    timeout: float = 120.0
    calls_per_minute: int = 0
    backoff: Backoff = field(default_factory=Backoff)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Additional headers of every request, by name."""

    @property
    def has_own_authorization(self) -> bool:
        """Whether a header carries the key: some endpoints refuse a second one."""
        return any(
            name.lower() == "authorization"
            or value.endswith(self.api_key)
            or (self.api_key == NO_KEY and bool(SECRET_NAME.search(name)))
            for name, value in self.headers.items()
        )


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


# A response with more is not believed.
_MOST_TOKENS = 10**9
_NAMES = ("prompt_tokens", "completion_tokens"), ("input_tokens", "output_tokens")


def reported_usage(value: object, text: str) -> Usage | None:
    """The tokens in the `usage` of a response with this text; None if it reports none that can be
    true. A question has tokens, and so has a text.

    >>> reported_usage({"input_tokens": 100, "output_tokens": 50}, "1,200")
    Usage(input=100, output=50, calls=0, attempts=0, uncertain=0)
    >>> reported_usage({"prompt_tokens": 0, "completion_tokens": 0}, "1,200")
    """
    found = value if isinstance(value, Mapping) else {}
    for names in _NAMES:
        asked, answered = (found.get(name) for name in names)
        if _is_count(asked, 1) and _is_count(answered, 1 if text else 0):
            return Usage(asked, answered)
    return None


def _is_count(value: object, least: int) -> TypeGuard[int]:
    return type(value) is int and least <= value <= _MOST_TOKENS


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
        """At most what was spent: calls that did not report their tokens count at the maximum."""
        return self.prices.cost(self.usage)

    def spent_text(self, unit: str = "") -> str:
        """`at most` if tokens are missing; empty if nothing was spent."""
        usage = self.usage
        if not (cost := self.prices.cost(usage)):
            return ""
        return f"{'at most ' if usage.uncertain else ''}{cost:.4f}{unit}"

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


# After this number of questions in a row without an answer the endpoint counts as down.
_DEAD_AFTER = 5
# Unauthorised, forbidden, not found: every call gets the same response.
_REFUSED = {401, 403, 404}
_NO_MONEY = "insufficient_quota"
_PROXY_LOGIN = 407
_BUSY = {408, 409, 429}
# The codes of content filters, without separators: Azure, OpenAI, DashScope.
_FILTERS = frozenset(
    "contentfilter contentpolicyviolation responsibleaipolicyviolation datainspectionfailed "
    "invalidprompt".split()
)
# Gateways pass on only the message.
_FILTER_WORDS = re.compile(
    "content.?filter|content management policy|content.?policy|responsible.?ai", re.IGNORECASE
)


def is_filter(status: int, code: str, message: str) -> bool:
    """Whether an error says that a content filter refused the request.

    >>> is_filter(400, "content_filter", ""), is_filter(400, "", "unknown parameter")
    (True, False)
    """
    name = re.sub("[^a-z]", "", code.lower())
    return status < 500 and (name in _FILTERS or bool(_FILTER_WORDS.search(message)))


# Endpoints answer an unknown response format or parameter with 400, 422 or 501.
_UNKNOWN_FORM = {400, 422, 501}
# Parameters that some models refuse by name, and their replacements; an empty one is left out.
INSTEAD: Mapping[str, str] = {"max_tokens": "max_completion_tokens", "temperature": ""}

T = TypeVar("T")


class Failed(Exception):
    """A failed attempt that can be repeated; `wait` is the endpoint's delay in seconds, if any."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


class FormRefused(Exception):
    """The endpoint refuses the request, perhaps for its response format; `part` is the parameter
    that it names, if any."""

    def __init__(self, reason: str, part: str = "") -> None:
        super().__init__(reason)
        self.part = part


class Caller:
    """Repeats failed calls. Safe for many threads."""

    def __init__(
        self,
        endpoint: Endpoint,
        budget: Budget,
        sleep: Callable[[float], None] = time.sleep,
        instead: Mapping[str, str] = INSTEAD,
    ) -> None:
        self.budget = budget
        self.refused: frozenset[str] = frozenset()
        """The parameters that the endpoint has refused and that are replaced or left out."""
        self._backoff = endpoint.backoff
        self._pacer = Pacer(endpoint.calls_per_minute, sleep)
        self._sleep = sleep
        self._instead = instead
        self._failures = 0
        self._stopped = ""
        self._lock = Lock()

    def ask(
        self, request: dict[str, Any], most: Usage, call: Callable[[dict[str, Any], Ticket], T]
    ) -> T:
        """The result of `call` for the request without the parameters that the endpoint has
        refused, or with their replacements. Raises FormRefused, Unscored or Stopped."""
        while True:
            refused = self.refused
            named = {self._instead[key] if key in refused else key: request[key] for key in request}
            named.pop("", None)
            try:
                return self._attempts(named, most, call)
            except FormRefused as refusal:
                if refusal.part not in self._instead or refusal.part in refused:
                    raise
                with self._lock:
                    self.refused |= {refusal.part}

    def stop(self, reason: str) -> Stopped:
        """Make no other attempt."""
        self._stopped = self._stopped or reason
        return Stopped(reason)

    def status(
        self,
        status: int,
        *,
        code: str = "",
        part: str = "",
        retry_after: str = "",
        message: str = "",
    ) -> Exception:
        """The exception for a response that is not 200, with the code, the parameter and the
        message of its error, and its header."""
        reason = f"HTTP {status}: {message}" if message else f"HTTP {status}"
        if is_filter(status, code, message):
            return Filtered(f"refused by the provider's content filter: {reason}")
        if status == _PROXY_LOGIN:
            return self.stop("the proxy requires a user and a password (HTTP 407)")
        if status in _REFUSED or code == _NO_MONEY:
            return self.stop(f"the endpoint rejects all calls: {reason}; check URL, model and key")
        if status in _UNKNOWN_FORM:
            return FormRefused(reason, part)
        if status in _BUSY or status >= 500:
            return Failed(reason, _seconds(retry_after))
        return Unscored(f"the endpoint rejected the request: {reason}")

    def _attempts(
        self, request: dict[str, Any], most: Usage, call: Callable[[dict[str, Any], Ticket], T]
    ) -> T:
        attempts = self._backoff.attempts
        for attempt in range(attempts):
            if self._stopped:
                raise Stopped(self._stopped)
            self._pacer.wait()
            try:
                with self.budget.call(most) as ticket:
                    reply = call(request, ticket)
            except Failed as failure:
                if attempt + 1 == attempts:
                    raise self._given_up(failure) from failure
                wait = self._backoff.wait(attempt, failure.wait)
                if failure.wait is not None:
                    # The others wait only as long as the endpoint asks for.
                    self._pacer.hold(min(wait, failure.wait))
                self._sleep(wait)
            else:
                self._failures = 0
                return reply
        raise AssertionError("there is at least one attempt")

    def _given_up(self, failure: Failed) -> Unscored | Stopped:
        with self._lock:
            self._failures += 1
            if self._failures < _DEAD_AFTER:
                return Unscored(f"no answer after {self._backoff.attempts} attempts: {failure}")
        return self.stop(f"the endpoint answered none of {_DEAD_AFTER} questions: {failure}")


def _seconds(retry_after: str) -> float | None:
    """The seconds of the header, if any. Dates are ignored, because endpoints rarely send them."""
    try:
        return max(float(retry_after), 0.0)
    except ValueError:
        return None
