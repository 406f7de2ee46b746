"""Calls to an OpenAI-compatible endpoint, with limits of time, attempts, rate and cost.

Import this module only before asking, because its library takes a second to import.
"""

import json
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl

import httpx2
import openai
from openai.types.chat import ChatCompletion

from .endpoint import (
    Budget,
    Caller,
    Endpoint,
    Failed,
    FormRefused,
    Reply,
    Ticket,
    Unscored,
    Usage,
    reported_usage,
)
from .faults import connection_fault
from .questions import Answer, Message, estimated_tokens, response_format


class Client:
    """Asks for JSON by schema; if the endpoint refuses that, for any JSON; and otherwise only in
    words. Safe for many threads."""

    def __init__(
        self, endpoint: Endpoint, budget: Budget, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.model = endpoint.model
        self.budget = budget
        self._caller = Caller(endpoint, budget, sleep)
        self._form = 0
        # No retries in the library, because the budget must count each attempt.
        base_url, _, query = endpoint.base_url.partition("?")
        self._api = openai.OpenAI(
            base_url=base_url,
            api_key=endpoint.api_key,
            timeout=endpoint.timeout,
            max_retries=0,
            default_query=dict(parse_qsl(query, keep_blank_values=True)),
        )
        # Do not send values of OPENAI_… variables to another endpoint.
        self._api.organization = self._api.project = None
        self._api._custom_headers = {}
        self._headers: dict[str, Any] = dict(endpoint.headers)
        if endpoint.has_own_authorization and "authorization" not in map(str.lower, self._headers):
            self._headers["Authorization"] = openai.Omit()

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
                most = Usage(estimated_tokens(messages), most_output)
                reply = self._caller.ask(request, most, self._call)
            except FormRefused as refused:
                refusal = str(refused)
            else:
                # Start with this form from now on.
                self._form = max(self._form, number)
                return reply
        raise Unscored(f"the endpoint rejected the request: {refusal}")

    def _call(self, request: dict[str, Any], ticket: Ticket) -> Reply:
        try:
            completion = self._api.chat.completions.create(
                model=self.model, extra_headers=self._headers, **request
            )
        except openai.APIConnectionError as error:
            if not isinstance(error.__cause__, httpx2.ConnectError | httpx2.ConnectTimeout):
                ticket.broke_off()
            is_slow = isinstance(error, openai.APITimeoutError)
            reason = "timed out" if is_slow else connection_fault(error, str(self._api.base_url))
            raise Failed(reason) from error
        except openai.APIStatusError as error:
            raise self._status(error) from error
        except (openai.APIError, json.JSONDecodeError) as error:
            ticket.broke_off()
            raise Failed("the response is not a chat completion") from error
        return _read(completion, ticket)

    def _status(self, error: openai.APIStatusError) -> Exception:
        return self._caller.status(
            error.status_code,
            code=error.code or "",
            part=error.param or "",
            retry_after=error.response.headers.get("retry-after", ""),
        )


def _read(completion: ChatCompletion, ticket: Ticket) -> Reply:
    """The text of the first choice. A completion without a choice is a failure; one without usage
    counts with the most tokens it can have used."""
    try:
        choice = completion.choices[0]
        text = choice.message.content or ""
    except (AttributeError, IndexError, TypeError) as error:
        ticket.broke_off()
        raise Failed("the response is not a chat completion") from error
    reported = completion.to_dict(warnings=False).get("usage")
    ticket.answered(reported_usage(reported, text))
    return Reply(text, choice.finish_reason == "length")
