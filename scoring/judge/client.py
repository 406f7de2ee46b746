"""Calls to an OpenAI-compatible endpoint: bounded in time, attempts, rate and cost.

The library behind it takes a second to import: only who is about to ask imports this module.
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

# So many questions in a row without any answer: the endpoint is down, others need not be tried.
_DEAD_AFTER = 5
_REFUSED = (openai.AuthenticationError, openai.PermissionDeniedError, openai.NotFoundError)
_BUSY = {408, 409, 429}
# Of a form that an endpoint does not know it says 400, 422 or, honestly, 501.
_UNKNOWN_FORM = {400, 422, 501}
# What some models refuse by name, and what they take instead; nothing: it is left out.
_INSTEAD = {"max_tokens": "max_completion_tokens", "temperature": ""}


class _Failed(Exception):
    """An attempt that is worth another one; `wait` is what the endpoint asked for, in seconds."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


class _FormRefused(Exception):
    """The endpoint does not take the request as it is, perhaps for the form it asks for; `part` is
    what it names as the reason, if it does."""

    def __init__(self, reason: str, part: str = "") -> None:
        super().__init__(reason)
        self.part = part


class Client:
    """Asks for JSON by schema; of endpoints that know no schemas for any JSON, and of the rest in
    words alone. For use by many threads."""

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
        # Attempts are counted and waited for here, where the budget knows of each.
        self._api = openai.OpenAI(
            base_url=endpoint.base_url,
            api_key=endpoint.api_key,
            timeout=endpoint.timeout,
            max_retries=0,
        )
        # The library adds what OPENAI_… variables say; the address may be none of who set them.
        self._api.organization = self._api.project = None
        self._api._custom_headers = {}

    def close(self) -> None:
        self._api.close()

    def complete(self, messages: list[Message], schema: type[Answer], most_output: int) -> Reply:
        """The answer's text. Raises Unscored where every attempt failed, and Stopped where no
        other question would fare better."""
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
                # Others need not find out once more what this endpoint takes.
                self._form = max(self._form, number)
                return reply
        raise Unscored(f"the endpoint does not take the request: {refusal}")

    def _as_taken(self, request: dict[str, Any]) -> Reply:
        """Asks without what the endpoint has refused by name, or with what stands for it."""
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
            raise _Failed("what came back is no chat completion") from error
        return _read(completion, ticket)

    def _status(self, error: openai.APIStatusError) -> Exception:
        reason = f"HTTP {error.status_code}"
        if isinstance(error, _REFUSED) or error.code == "insufficient_quota":
            return self._stop(
                f"the endpoint refuses all calls: {reason}; check address, model and key"
            )
        if error.status_code in _UNKNOWN_FORM:
            return _FormRefused(reason, error.param or "")
        if error.status_code in _BUSY or error.status_code >= 500:
            return _Failed(reason, _retry_after(error.response))
        return Unscored(f"the endpoint does not take the request: {reason}")


def _retry_after(response: httpx2.Response) -> float | None:
    """Seconds, if the header tells them; dates, which hardly any endpoint sends, are left aside."""
    try:
        return max(float(response.headers.get("retry-after", "")), 0.0)
    except ValueError:
        return None


def _read(completion: ChatCompletion, ticket: Ticket) -> Reply:
    """The text of the first choice. Endpoints leave out what the protocol promises: a completion
    without a choice is none, one without usage is counted at its most."""
    try:
        choice = completion.choices[0]
        text = choice.message.content or ""
        told = completion.usage
        usage = Usage(told.prompt_tokens, told.completion_tokens) if told else None
    except (AttributeError, IndexError, TypeError) as error:
        ticket.broke_off()
        raise _Failed("what came back is no chat completion") from error
    ticket.answered(usage)
    return Reply(text, choice.finish_reason == "length")
