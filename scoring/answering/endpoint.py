"""The engine `openai`: a model behind an OpenAI-compatible endpoint, asked with images.

The endpoint is not trusted. A response has a deadline for all of it, a limit of bytes and no
compression, and redirects are not followed. Keys never get into answers, reasons or exceptions.
"""

import asyncio
import json
import time
from collections.abc import Collection, Mapping
from concurrent.futures import CancelledError
from dataclasses import replace
from threading import Event, Lock, Thread
from typing import Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

import httpx2

from portal.files.archives import MEGABYTE
from scoring.judge.endpoint import (
    INSTEAD,
    SECRET_NAME,
    Budget,
    Caller,
    Endpoint,
    Failed,
    Filtered,
    FormRefused,
    Stopped,
    Ticket,
    Unscored,
    Usage,
    is_filter,
)
from scoring.judge.faults import connection_fault, is_lasting
from scoring.offline.terminal import BadInput

from .core import LONGEST_REASON, EngineAnswer, RunItem
from .manifest import CUT_OFF, State
from .pictures import ImageError, input_tokens, messages_of, pictures_of
from .responses import Reply, Response, error_of, has_error, read_reply

# Far above any answer: a page of two million characters is refused by the benchmarks.
MOST_BYTES = 16 * MEGABYTE
# After so many refused requests without an answer there is no use in more.
_MOST_REFUSALS = 5
_MOST_ERROR_BYTES = 64 * 1024
_LONGEST_MESSAGE = 200
# A shorter key, such as EMPTY, is no secret, and can be a word of an answer.
_SHORTEST_KEY = 8
_MASK = "[key]"
_BEARER = "Bearer "
_PATH = "/chat/completions"
_NO_COMPLETION = "the response is not a chat completion"

Decoding = Mapping[str, Any]


class EndpointError(BadInput):
    """A URL that is not used; the message does not quote it, because it may contain a secret."""


def checked_url(base_url: str) -> str:
    """The URL of chat completions, with the query of the base URL. Raises EndpointError.

    >>> checked_url("https://h.example/openai/deployments/gpt?api-version=2024-10-21")
    'https://h.example/openai/deployments/gpt/chat/completions?api-version=2024-10-21'
    """
    try:
        parts = urlsplit(base_url)
        has_host = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        has_host = False
    if not has_host:
        raise EndpointError("--base-url must be a URL such as http://127.0.0.1:8000/v1")
    if parts.username or parts.password or parts.fragment:
        raise EndpointError("--base-url must not contain a user, password or fragment")
    path = parts.path.rstrip("/").removesuffix(_PATH)
    return urlunsplit(parts._replace(path=f"{path}{_PATH}"))


def masked(text: str, secrets: Collection[str]) -> str:
    """The text without secrets.

    >>> masked("Incorrect API key provided: sk-1234567", ["sk-1234567"])
    'Incorrect API key provided: [key]'
    """
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST_KEY:
            text = text.replace(secret, _MASK)
    return text


def secrets_of(endpoint: Endpoint) -> frozenset[str]:
    """The key, and values of headers and of the query that have the name of a secret. Others, such
    as the version of the API, can be words of an answer."""
    values = [*endpoint.headers.items(), *parse_qsl(urlsplit(endpoint.base_url).query)]
    secrets = {value.removeprefix(_BEARER) for name, value in values if SECRET_NAME.search(name)}
    return frozenset({endpoint.api_key, *secrets})


def _headers_of(endpoint: Endpoint) -> dict[str, str]:
    """Those of every request. The key has one header only."""
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json",
        "Accept-Encoding": "identity",
        **endpoint.headers,
    }
    if endpoint.has_own_authorization:
        return headers
    return {"Authorization": _BEARER + endpoint.api_key, **headers}


class _Hostile(Exception):
    """A response that is not read to its end, and not asked for again."""


class ChatEngine:
    """Asks one model. Requests run in one thread of their own, so that each has a deadline for all
    of it; the threads that call `answer` wait."""

    def __init__(
        self,
        endpoint: Endpoint,
        budget: Budget,
        *,
        decoding: Decoding,
        system: str = "",
        image_tokens: int = 0,
        optional: frozenset[str] = frozenset({"temperature"}),
    ) -> None:
        """`decoding` has at least `max_tokens`. `optional` are those of its parameters that are
        left out for models that refuse them."""
        self._url = checked_url(endpoint.base_url)
        self._endpoint = endpoint
        self._secrets = secrets_of(endpoint)
        # Reasons quote nothing that a header or the query holds.
        query = dict(parse_qsl(urlsplit(self._url).query))
        self._private = self._secrets.union(endpoint.headers.values(), query.values())
        self._decoding = dict(decoding)
        self._system = system
        self._image_tokens = image_tokens
        self._is_stopped = Event()
        replaced = {"max_tokens": INSTEAD["max_tokens"], **dict.fromkeys(optional, "")}
        self._caller = Caller(endpoint, budget, self._sleep, replaced)
        self._worst = 1.0
        self._refusals = 0
        self._has_answered = False
        self._lock = Lock()
        self._loop = asyncio.new_event_loop()
        # One client per call under way: a shared one looks at all its idle connections for each
        # call. Only the thread of requests uses them.
        self._clients: list[httpx2.AsyncClient] = []
        self._idle: list[httpx2.AsyncClient] = []
        self._tls = httpx2.create_ssl_context()
        self._thread = Thread(target=self._loop.run_forever, name="requests", daemon=True)
        self._thread.start()

    @property
    def decoding(self) -> dict[str, Any]:
        """The parameters as the endpoint has taken them."""
        refused = self._caller.refused
        return {
            key: v for key, v in self._decoding.items() if INSTEAD.get(key) or key not in refused
        }

    def stop(self) -> None:
        self._caller.stop("stopped before the end")
        self._is_stopped.set()

    def close(self) -> None:
        """Breaks off requests that are under way."""
        self.stop()
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(timeout=10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _close(self) -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for client in self._clients:
            await client.aclose()

    def _new_client(self) -> httpx2.AsyncClient:
        client = httpx2.AsyncClient(
            verify=self._tls,
            timeout=self._endpoint.timeout,
            follow_redirects=False,
            headers=_headers_of(self._endpoint),
        )
        self._clients.append(client)
        return client

    def answer(self, item: RunItem) -> EngineAnswer:
        try:
            pictures = pictures_of(item)
        except (ImageError, OSError, ValueError) as error:
            return EngineAnswer(state="failed", reason=self._clean(str(error)), attempts=0)
        sizes = [picture.size for picture in pictures]
        estimated = input_tokens(item.prompt, self._system, sizes, self._image_tokens)
        most = Usage(int(estimated * self._worst) + 1, self._decoding["max_tokens"])
        messages = messages_of(item.prompt, pictures, self._system)
        tickets: list[Ticket] = []

        def call(request: dict[str, Any], ticket: Ticket) -> Reply:
            tickets.append(ticket)
            return self._call(request, ticket)

        try:
            reply = self._caller.ask({"messages": messages, **self._decoding}, most, call)
        except Stopped as stopped:
            usage = _used(tickets)
            if not usage.attempts:
                raise
            # Its cost is kept; the next item is stopped before it begins.
            return self._failed(str(stopped), tickets)
        except FormRefused as refused:
            part = f" (about {refused.part})" if refused.part else ""
            reason = f"the endpoint rejected the request: {refused}{part}"
            self._count_refusal(reason)
            return self._failed(reason, tickets)
        except Filtered as filtered:
            return self._failed(str(filtered), tickets, "refused")
        except Unscored as unscored:
            return self._failed(str(unscored), tickets)
        return self._answered(reply, most, tickets)

    def _answered(self, reply: Reply, most: Usage, tickets: list[Ticket]) -> EngineAnswer:
        text = masked(reply.text, self._secrets)
        reasons = [
            reply.refusal,
            CUT_OFF if reply.is_cut_off else "",
            reply.note,
            "the API key was in the answer and was removed" if text != reply.text else "",
        ]
        state = "refused" if reply.refusal else "answered" if text.strip() else "empty"
        known = reply.usage
        self._has_answered = True
        if known is not None and most.input:
            with self._lock:
                # Images of some models have many more tokens than estimated.
                self._worst = max(self._worst, self._worst * known.input / most.input)
        return EngineAnswer(
            text=text,
            state=state,  # type: ignore[arg-type]
            reason="; ".join(filter(None, reasons)),
            input_tokens=known.input if known else None,
            output_tokens=known.output if known else None,
            seconds=round(reply.seconds, 4),
            attempts=len(tickets),
            usage=_used(tickets),
        )

    def _count_refusal(self, reason: str) -> None:
        """Stops the run if the endpoint has refused every request so far, perhaps because its model
        takes no images."""
        with self._lock:
            self._refusals += 1
            if self._refusals >= _MOST_REFUSALS and not self._has_answered:
                self._caller.stop(self._clean(reason))

    def _failed(self, reason: str, tickets: list[Ticket], state: State = "failed") -> EngineAnswer:
        return EngineAnswer(
            state=state,
            reason=self._clean(reason),
            attempts=len(tickets),
            usage=_used(tickets),
        )

    def _clean(self, text: str) -> str:
        return masked(text, self._private)[:LONGEST_REASON]

    def _sleep(self, seconds: float) -> None:
        self._is_stopped.wait(seconds)

    # --- one call ----------------------------------------------------------------------------

    def _call(self, request: dict[str, Any], ticket: Ticket) -> Reply:
        began = time.monotonic()
        response = self._send(request, ticket)
        if response.status != 200:
            raise self._fault(response)
        try:
            reply = read_reply(response)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            if has_error(response):
                raise self._fault(response) from error
            ticket.broke_off()
            media = response.headers.get("content-type", "").partition(";")[0][:60]
            is_json = not media or "json" in media
            raise Failed(_NO_COMPLETION if is_json else f"{_NO_COMPLETION} but {media}") from error
        ticket.answered(reply.usage)
        return replace(reply, seconds=time.monotonic() - began)

    def _send(self, request: dict[str, Any], ticket: Ticket) -> Response:
        body = json.dumps({"model": self._endpoint.model, **request}).encode()
        try:
            return asyncio.run_coroutine_threadsafe(self._post(body), self._loop).result()
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError) as error:
            reason = f"no connection to the endpoint: {connection_fault(error, self._url)}"
            raise (self._caller.stop(reason) if is_lasting(error) else Failed(reason)) from None
        except (TimeoutError, httpx2.TimeoutException):
            ticket.broke_off()
            raise Failed(
                f"no complete response within {self._endpoint.timeout:g} seconds"
            ) from None
        except _Hostile as hostile:
            ticket.broke_off()
            raise Unscored(str(hostile)) from None
        except httpx2.HTTPError as error:
            # Its message can quote the request.
            ticket.broke_off()
            raise Failed(connection_fault(error, self._url)) from None
        except CancelledError:
            ticket.broke_off()
            raise Stopped("stopped before the end") from None

    async def _post(self, body: bytes) -> Response:
        client = self._idle.pop() if self._idle else self._new_client()
        try:
            async with asyncio.timeout(self._endpoint.timeout):
                return await self._exchange(client, body)
        finally:
            self._idle.append(client)

    async def _exchange(self, client: httpx2.AsyncClient, body: bytes) -> Response:
        async with client.stream("POST", self._url, content=body) as response:
            if response.is_redirect:
                return Response(response.status_code, {}, b"")
            coding = response.headers.get("content-encoding", "identity").strip().lower()
            if coding not in {"", "identity"}:
                raise _Hostile("the response is compressed, although that was not requested")
            is_error = response.status_code != 200
            data = bytearray()
            async for piece in response.aiter_raw():
                data += piece
                if is_error and len(data) > _MOST_ERROR_BYTES:
                    data.clear()
                    break
                if len(data) > MOST_BYTES:
                    raise _Hostile(f"the response is longer than {MOST_BYTES // MEGABYTE} MB")
            return Response(response.status_code, response.headers, bytes(data))

    def _fault(self, response: Response) -> Exception:
        if 300 <= response.status < 400:
            return self._caller.stop(
                "the endpoint sent a redirect, which is not followed; check --base-url"
            )
        error = error_of(response)
        message = self._clean(error.message)[:_LONGEST_MESSAGE]
        if error.status == 200 and not is_filter(200, error.code, error.message):
            return Failed(f"the endpoint reported an error: {message or error.code}")
        return self._caller.status(
            error.status,
            code=error.code,
            part=error.part,
            retry_after=response.headers.get("retry-after", ""),
            message=message,
        )


def _used(tickets: list[Ticket]) -> Usage:
    return sum((ticket.used for ticket in tickets), Usage())
