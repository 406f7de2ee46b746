"""Calls to an OpenAI-compatible endpoint, with limits of time, attempts, rate and cost.

Import this module only before asking, because its library takes a second to import.
"""

import json
import time
from collections.abc import Callable
from threading import Lock
from typing import Any

import httpx2
import openai
from openai.types.chat import ChatCompletion

from .endpoint import Budget, Endpoint, Pacer, Reply, Stopped, Ticket, Unscored, Usage
from .questions import Answer, Message, estimated_tokens, response_format

# After this number of questions in a row without an answer the endpoint counts as down.
_DEAD_AFTER = 5
_REFUSED = (openai.AuthenticationError, openai.PermissionDeniedError, openai.NotFoundError)
_BUSY = {408, 409, 429}
# Endpoints answer an unknown response format with 400, 422 or 501.
_UNKNOWN_FORM = {400, 422, 501}
# Parameters that some models refuse by name, and their replacements; an empty one is left out.
_INSTEAD = {"max_tokens": "max_completion_tokens", "temperature": ""}


class _Failed(Exception):
    """A failed attempt that can be repeated; `wait` is the endpoint's delay in seconds, if any."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


class _FormRefused(Exception):
    """The endpoint refuses the request, perhaps for its response format; `part` is the parameter
    that it names, if any."""

    def __init__(self, reason: str, part: str = "") -> None:
        super().__init__(reason)
        self.part = part


class Client:
    """Asks for JSON by schema; if the endpoint refuses that, for any JSON; and otherwise only in
    words. Safe for many threads."""

    def __init__(
        self, endpoint: Endpoint, budget: Budget, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.model = endpoint.model
        self.budget = budget
        self._backoff = endpoint.backoff
        self._pacer = Pacer(endpoint.calls_per_minute, sleep)
        self._sleep = sleep
        self._form = 0
        self._refused: frozenset[str] = frozenset()
        self._failures = 0
        self._stopped = ""
        self._lock = Lock()
        # No retries in the library, because the budget must count each attempt.
        self._api = openai.OpenAI(
            base_url=endpoint.base_url,
            api_key=endpoint.api_key,
            timeout=endpoint.timeout,
            max_retries=0,
        )
        # Do not send values of OPENAI_… variables to another endpoint.
        self._api.organization = self._api.project = None
        self._api._custom_headers = {}

    def close(self) -> None:
        self._api.close()

    def complete(self, messages: list[Message], schema: type[Answer], most_output: int) -> Reply:
        """The answer's text. Raises Unscored if every attempt failed, and Stopped if no other
        question can be answered either."""
        forms: list[dict[str, Any] | None] = [
            response_format(schema),
            {"type": "json_object"},
            None,
        ]
        refusal = ""
        for number in range(self._form, len(forms)):
            request = {"messages": messages, "temperature": 0, "max_tokens": most_output}
            if forms[number]:
                request["response_format"] = forms[number]
            try:
                reply = self._as_taken(request)
            except _FormRefused as refused:
                refusal = str(refused)
            else:
                # Start with this form from now on.
                self._form = max(self._form, number)
                return reply
        raise Unscored(f"the endpoint refuses the request: {refusal}")

    def _as_taken(self, request: dict[str, Any]) -> Reply:
        """Asks without the parameters that the endpoint has refused, or with replacements."""
        most = Usage(estimated_tokens(request["messages"]), request["max_tokens"])
        while True:
            refused = self._refused
            named = {_INSTEAD[key] if key in refused else key: request[key] for key in request}
            named.pop("", None)
            try:
                return self._attempts(named, most)
            except _FormRefused as refusal:
                if refusal.part not in _INSTEAD or refusal.part in refused:
                    raise
                with self._lock:
                    self._refused |= {refusal.part}

    def _attempts(self, request: dict[str, Any], most: Usage) -> Reply:
        attempts = self._backoff.attempts
        for attempt in range(attempts):
            if self._stopped:
                raise Stopped(self._stopped)
            self._pacer.wait()
            try:
                with self.budget.call(most) as ticket:
                    reply = self._call(request, ticket)
            except _Failed as failure:
                if attempt + 1 == attempts:
                    raise self._given_up(failure) from failure
                wait = self._backoff.wait(attempt, failure.wait)
                if failure.wait is not None:
                    self._pacer.hold(wait)
                self._sleep(wait)
            else:
                self._failures = 0
                return reply
        raise AssertionError("there is at least one attempt")

    def _given_up(self, failure: _Failed) -> Unscored | Stopped:
        with self._lock:
            self._failures += 1
            if self._failures < _DEAD_AFTER:
                return Unscored(f"no answer after {self._backoff.attempts} attempts: {failure}")
        return self._stop(f"the endpoint answered none of {_DEAD_AFTER} questions: {failure}")

    def _stop(self, reason: str) -> Stopped:
        self._stopped = reason
        return Stopped(reason)

    def _call(self, request: dict[str, Any], ticket: Ticket) -> Reply:
        try:
            completion = self._api.chat.completions.create(model=self.model, **request)
        except openai.APIConnectionError as error:
            if not isinstance(error.__cause__, httpx2.ConnectError | httpx2.ConnectTimeout):
                ticket.broke_off()
            is_slow = isinstance(error, openai.APITimeoutError)
            raise _Failed("timed out" if is_slow else "the connection broke") from error
        except openai.APIStatusError as error:
            raise self._status(error) from error
        except (openai.APIError, json.JSONDecodeError) as error:
            ticket.broke_off()
            raise _Failed("the response is not a chat completion") from error
        return _read(completion, ticket)

    def _status(self, error: openai.APIStatusError) -> Exception:
        reason = f"HTTP {error.status_code}"
        if isinstance(error, _REFUSED) or error.code == "insufficient_quota":
            return self._stop(f"the endpoint refuses all calls: {reason}; check URL, model and key")
        if error.status_code in _UNKNOWN_FORM:
            return _FormRefused(reason, error.param or "")
        if error.status_code in _BUSY or error.status_code >= 500:
            return _Failed(reason, _retry_after(error.response))
        return Unscored(f"the endpoint refuses the request: {reason}")


def _retry_after(response: httpx2.Response) -> float | None:
    """The seconds of the header, if any. Dates are ignored, because endpoints rarely send them."""
    try:
        return max(float(response.headers.get("retry-after", "")), 0.0)
    except ValueError:
        return None


def _read(completion: ChatCompletion, ticket: Ticket) -> Reply:
    """The text of the first choice. A completion without a choice is a failure; one without usage
    counts with the most tokens it can have used."""
    try:
        choice = completion.choices[0]
        text = choice.message.content or ""
        known = completion.usage
        usage = Usage(known.prompt_tokens, known.completion_tokens) if known else None
    except (AttributeError, IndexError, TypeError) as error:
        ticket.broke_off()
        raise _Failed("the response is not a chat completion") from error
    ticket.answered(usage)
    return Reply(text, choice.finish_reason == "length")
