"""A client for benchmarks, with one connection that stays open, like a browser's."""

import http.client
import json
import statistics
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, Protocol


class Client:
    """Send JSON with these headers. Raises RuntimeError unless the response is a success."""

    def __init__(self, port: int, headers: Mapping[str, str]) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._headers = dict(headers)

    def page(self, path: str) -> str:
        return self._send("GET", path, None)

    def get(self, path: str) -> Any:
        return json.loads(self._send("GET", path, None))

    def put(self, path: str, body: Any) -> Any:
        return json.loads(self._send("PUT", path, json.dumps(body)))

    def post(self, path: str, body: Any) -> Any:
        return json.loads(self._send("POST", path, json.dumps(body)))

    def _send(self, method: str, path: str, body: str | None) -> str:
        headers = self._headers | ({} if body is None else {"Content-Type": "application/json"})
        self._connection.request(method, path, body, headers)
        answer = self._connection.getresponse()
        text = answer.read().decode()
        if answer.status not in (200, 201):
            raise RuntimeError(f"{method} {path} answered {answer.status}: {text[:300]}")
        return text


class Work(Protocol):
    """The duration of each of this many sequential requests."""

    milliseconds: list[float]

    @property
    def count(self) -> int: ...

    def run(self) -> None: ...


def rate_and_p95(parts: Sequence[Work]) -> dict[str, float]:
    """`rate`, requests per second, and `p95`, milliseconds, of these parts at the same time."""
    threads = [threading.Thread(target=part.run) for part in parts]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - begun
    taken = [value for part in parts for value in part.milliseconds]
    wanted = sum(part.count for part in parts)
    if len(taken) != wanted:
        raise RuntimeError(f"{len(taken)} of {wanted} saves were accepted")
    return {"rate": len(taken) / seconds, "p95": statistics.quantiles(taken, n=20)[-1]}
