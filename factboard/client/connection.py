"""Requests to one site: the token, time limits, retries, redirects, and clear errors.

The token is sent to the site's own origin only, and never appears in errors or `repr`.
"""

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote, urljoin

import httpx2

from scoring.judge.endpoint import Backoff
from scoring.judge.faults import connection_fault
from scoring.offline.terminal import BAD_INPUT, CommandFault

# --- errors -------------------------------------------------------------------------------------


class SiteError(CommandFault):
    """A request to a site failed. `status` is None if no answer came."""

    def __init__(self, messages: Sequence[str], status: int | None = None) -> None:
        super().__init__(messages)
        self.status = status


class UnreachableError(SiteError):
    """No usable answer: the connection failed, timed out or broke, or the answer is no JSON."""


class NotAllowedError(SiteError):
    """401 or 403: the token is missing, wrong, expired or read only, or may not do this."""


class NotFoundError(SiteError):
    """404: it does not exist, or this token may not see it."""

    code = BAD_INPUT


class RefusedError(SiteError):
    """400, 409, 413, 415 or 422: the site refuses what was sent. `answer` is the site's answer."""

    code = BAD_INPUT

    def __init__(
        self, messages: Sequence[str], status: int, answer: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(messages, status)
        self.answer = dict(answer or {})


class BadDownloadError(SiteError):
    """A downloaded file is incomplete or does not match its hash. Nothing was kept."""


_KINDS = {401: NotAllowedError, 403: NotAllowedError, 404: NotFoundError}
_REFUSED = {400, 409, 413, 415, 422}


# The answer of Django if no row matches.
_NO_ROW = re.compile(r"No (\w+) matches the given query\.")


def not_found(detail: str, path: str) -> str:
    """
    >>> not_found("No Board matches the given query.", "/api/v1/boards/b-1/leaderboard/")
    'The board “b-1” does not exist, or you do not have access.'
    """
    row = _NO_ROW.fullmatch(detail)
    if row is None:
        return detail
    noun, parts = row[1].lower(), path.split("/")
    place = parts.index(f"{noun}s") + 1 if f"{noun}s" in parts else len(parts)
    name = f" “{unquote(parts[place])}”" if place < len(parts) and parts[place] else ""
    return f"The {noun}{name} does not exist, or you do not have access."


def error_of(status: int, answer: Any, path: str = "") -> SiteError:
    """The error for a site's answer, with the site's own sentences. `path` was requested."""
    found = answer if isinstance(answer, dict) else {}
    if status == 404 and found.get("detail"):
        found = {**found, "detail": not_found(str(found["detail"]), path)}
    messages = list(_messages(found)) or [f"The site responded with HTTP {status}."]
    if status in _REFUSED:
        return RefusedError(messages, status, found)
    return _KINDS.get(status, SiteError)(messages, status)


def _messages(answer: Mapping[str, Any]) -> Sequence[str]:
    """The detail, the faults of a file with their lines, and what is wrong with each field."""
    messages = [str(answer["detail"])] if answer.get("detail") else []
    faults = answer.get("faults")
    if isinstance(faults, list):
        messages += [fault_line(fault) for fault in faults if isinstance(fault, dict)]
        more = int(answer.get("fault_count") or 0) - len(faults)
        if more > 0:
            messages.append(f"and {more:,} more")
        return messages
    for name, value in answer.items():
        if name != "detail":
            messages += [f"{name}: {text}" for text in _texts(value)]
    return messages


def fault_line(fault: Mapping[str, Any]) -> str:
    return f"{fault.get('file')}:{fault.get('line')}: {fault.get('message')}"


def _texts(value: Any) -> list[str]:
    if isinstance(value, list):
        return [text for each in value for text in _texts(each)]
    if isinstance(value, dict):
        return [f"{name}: {text}" for name, each in value.items() for text in _texts(each)]
    return [str(value)]


# --- requests -----------------------------------------------------------------------------------

# A site checks an upload before it answers, which can take minutes for a large file.
TIMEOUT = httpx2.Timeout(30, read=300)
# Answers other than downloads; the largest leaderboards have about 5 MB.
MOST_BYTES = 64_000_000
_BUSY = {429, 502, 503, 504}
_MOST_REDIRECTS = 5
_MOST_WAIT = 60.0

Send = dict[str, Any]
"""Keyword arguments of a request of httpx2: `params`, `json`, `data`, `files`."""


def check_token(token: str) -> str:
    """Raises NotAllowedError, without the token, for text that no header can hold."""
    if token and not (token.isascii() and token.isprintable() and " " not in token):
        raise NotAllowedError(
            ["The token contains spaces, line breaks or other invalid characters."]
        )
    return token


class Connection:
    def __init__(
        self,
        site: str,
        token: str = "",
        *,
        transport: httpx2.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        try:
            self._base = httpx2.URL(site if "://" in site else f"https://{site}")
        except httpx2.InvalidURL:
            raise UnreachableError(["The site is not a valid URL."]) from None
        if self._base.scheme not in {"http", "https"} or not self._base.host:
            raise UnreachableError(["The site must be a URL, such as https://facts.example.org"])
        if self._base.userinfo:
            raise UnreachableError(
                ["The URL of the site must not contain a user name or password."]
            )
        self._token = check_token(token)
        self._sleep = sleep
        self._backoff = Backoff(attempts=4)
        self._http = httpx2.Client(
            timeout=TIMEOUT, transport=transport, follow_redirects=False, trust_env=True
        )

    def __repr__(self) -> str:
        return f"Connection({self.site!r})"

    @property
    def site(self) -> str:
        return str(self._base).rstrip("/")

    def close(self) -> None:
        self._http.close()

    def ask(
        self, method: str, path: str, send: Callable[[], Send] = dict, *, repeatable: bool = False
    ) -> bytes:
        """The body of the answer. `send` makes the request's content, once for each attempt.
        Requests other than GET are repeated only if they are `repeatable`. Raises SiteError."""
        with self.stream(method, path, send, repeatable=repeatable) as response:
            return self._body(response)

    @contextmanager
    def stream(
        self, method: str, path: str, send: Callable[[], Send] = dict, *, repeatable: bool = False
    ) -> Iterator[httpx2.Response]:
        """The answer before its body is read. Only what happens before is repeated."""
        with self._as_errors():
            response = self._attempts(method, path, send, repeatable or method == "GET")
            try:
                yield response
            finally:
                response.close()

    @contextmanager
    def _as_errors(self) -> Iterator[None]:
        host = self._base.netloc.decode("ascii", "replace")
        try:
            yield
        except httpx2.TimeoutException as error:
            raise UnreachableError([f"{host} did not respond in time."]) from error
        except (httpx2.ConnectError, httpx2.ProxyError) as error:
            reason = self.masked(connection_fault(error, self.site))
            raise UnreachableError([f"{host} cannot be reached: {reason}"]) from error
        except httpx2.HTTPError as error:
            reason = self.masked(str(error)) or type(error).__name__
            raise UnreachableError([f"The connection to {host} failed: {reason}"]) from error

    def _attempts(
        self, method: str, path: str, send: Callable[[], Send], may_repeat: bool
    ) -> httpx2.Response:
        for attempt in range(self._backoff.attempts):
            is_last = not may_repeat or attempt + 1 == self._backoff.attempts
            try:
                response = self._follow(method, path, send)
            except httpx2.TransportError:
                if is_last:
                    raise
                self._sleep(self._backoff.wait(attempt, None))
                continue
            if response.is_success:
                return response
            if response.status_code not in _BUSY or is_last:
                raise self._refusal(response)
            response.close()
            self._sleep(min(self._backoff.wait(attempt, _retry_after(response)), _MOST_WAIT))
        raise AssertionError("there is at least one attempt")

    def _follow(self, method: str, path: str, send: Callable[[], Send]) -> httpx2.Response:
        """Follows redirects of GET within the site; others are refused, and are sent nothing."""
        url = self._base.join(self._base.path.rstrip("/") + path)
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        content = send()
        for _ in range(_MOST_REDIRECTS):
            request = self._http.build_request(method, url, headers=headers, **content)
            response = self._http.send(request, stream=True)
            if not response.has_redirect_location:
                return response
            response.close()
            target = httpx2.URL(urljoin(str(url), response.headers["location"]))
            if method != "GET" or _origin(target) != _origin(self._base):
                raise SiteError(
                    [
                        f"The site redirects to {target.scheme}://{target.host}. Use this URL with "
                        "--site"
                    ],
                    response.status_code,
                )
            url, content = target, {}
        raise UnreachableError(["The site redirects too many times."])

    def _refusal(self, response: httpx2.Response) -> SiteError:
        try:
            answer = json.loads(self._body(response))
        except (ValueError, UnreachableError):
            answer = None
        error = error_of(response.status_code, answer, response.url.path)
        error.messages = tuple(map(self.masked, error.messages))
        if response.status_code == 401:
            error.messages += (
                f"Create a token on {self.site}/account/, then set FACTBOARD_TOKEN or use "
                "--token-file FILE.",
            )
        error.args = ("\n".join(error.messages),)
        return error

    def _body(self, response: httpx2.Response) -> bytes:
        data = bytearray()
        for piece in response.iter_bytes():
            data += piece
            if len(data) > MOST_BYTES:
                raise UnreachableError([f"The response is larger than {MOST_BYTES:,} bytes."])
        return bytes(data)

    def masked(self, text: str) -> str:
        return text.replace(self._token, "…") if self._token else text


def _origin(url: httpx2.URL) -> tuple[str, str, int]:
    return url.scheme, url.host, url.port or {"http": 80, "https": 443}.get(url.scheme, 0)


def _retry_after(response: httpx2.Response) -> float | None:
    try:
        return max(float(response.headers.get("retry-after", "")), 0.0)
    except ValueError:
        return None


def parsed(data: bytes) -> Mapping[str, Any]:
    """The JSON object of an answer. Raises UnreachableError."""
    try:
        answer = json.loads(data)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise UnreachableError(
            ["The response is not from a Factboard site: it is not a JSON object."]
        )
    return answer
