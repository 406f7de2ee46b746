"""Attempts at calls of an endpoint: retries, rate, cost, refused parameters and dead endpoints.

Knows no library for requests: a caller gives the function that makes one call.
"""

import time
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any, TypeVar

from .endpoint import Budget, Endpoint, Pacer, Stopped, Ticket, Unscored, Usage

# After this number of questions in a row without an answer the endpoint counts as down.
_DEAD_AFTER = 5
# Unauthorised, forbidden, not found: every call gets the same response.
_REFUSED = {401, 403, 404}
_NO_MONEY = "insufficient_quota"
_BUSY = {408, 409, 429}
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
        if status in _REFUSED or code == _NO_MONEY:
            return self.stop(f"the endpoint refuses all calls: {reason}; check URL, model and key")
        if status in _UNKNOWN_FORM:
            return FormRefused(reason, part)
        if status in _BUSY or status >= 500:
            return Failed(reason, _seconds(retry_after))
        return Unscored(f"the endpoint refuses the request: {reason}")

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
