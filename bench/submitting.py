"""A submission of the size of the largest benchmark: how soon it is checked, and graded.

Over HTTP, as a client with a token sends it: the whole request counts, upload included. The
file of a sender, web server, database, broker and worker are all on this machine.
"""

import json
import tempfile
import time
import urllib.parse
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from bench.generated import fcmbench_lines
from bench.services import database, missing_services, redis
from bench.site import BenchSite
from bench.wholes import SIZES
from scoring.benchmarks.checking import cores

ITEMS = SIZES["fcmbench"].items
ROUNDS = 3
CHECKED_WITHIN = 2.0
BEGUN_WITHIN = 1.0


@dataclass(frozen=True)
class Sent:
    """Seconds of the longest of the rounds."""

    checked: float
    """From sending a file for a check to the answer."""
    taken: float
    """The same for a submission: checked, stored and queued."""
    begun: float
    """From that answer to the first job that a worker took up; 0 where it was before."""


def submitting_table() -> Iterator[str]:
    yield f"A submission of {ITEMS:,} lines (FCMBench) sent over HTTP, the longest of {ROUNDS}, on"
    yield f"{cores()} cores. Checked: from sending to the answer that names every fault. Taken: the"
    yield "same with everything stored and queued. Begun: from that answer to the first job."
    yield ""
    yield "| database, broker | checked | at most | met | taken | begun | at most | met |"
    yield "|---|---:|---:|---|---:|---:|---:|---|"
    yield _row("SQLite, files", measure())
    if missing := missing_services():
        yield ""
        yield f"Not measured on PostgreSQL and Redis: {missing}."
        return
    with ExitStack() as stack:
        services = {
            "DATABASE_URL": stack.enter_context(database()),
            "CELERY_BROKER_URL": stack.enter_context(redis()),
        }
        yield _row("PostgreSQL, Redis", measure(**services))


def _row(name: str, sent: Sent) -> str:
    return (
        f"| {name} | {sent.checked:.2f} s | {CHECKED_WITHIN:g} s "
        f"| {_met(is_so=sent.checked <= CHECKED_WITHIN)} | {sent.taken:.2f} s "
        f"| {sent.begun:.2f} s | {BEGUN_WITHIN:g} s | {_met(is_so=sent.begun <= BEGUN_WITHIN)} |"
    )


def _met(*, is_so: bool) -> str:
    return "yes" if is_so else "**no**"


def measure(**services: str) -> Sent:
    """On SQLite and the embedded broker, or what `services` are, by the names of their settings."""
    with tempfile.TemporaryDirectory() as folder:
        site = BenchSite(Path(folder), **services)
        site.first_page()
        try:
            token = site.run(f"make_board({ITEMS})", "uploads")
            body = submission_file(ITEMS)
            _checked(site, token, body)  # loads what a server has loaded
            checked = max(_checked(site, token, body) for _ in range(ROUNDS))
            taken, begun = zip(*(_graded(site, token, body) for _ in range(ROUNDS)), strict=True)
        finally:
            site.stop()
    return Sent(checked, max(taken), max(begun))


def submission_file(items: int) -> bytes:
    return "".join(f"{json.dumps(line)}\n" for _, line in fcmbench_lines(items)).encode()


def _checked(site: BenchSite, token: str, body: bytes) -> float:
    begun = time.perf_counter()
    answer = _post(site, "check", token, body)
    seconds = time.perf_counter() - begun
    if answer["fault_count"] or answer["missing_count"]:
        raise RuntimeError(f"the check found faults: {answer}")
    return seconds


def _graded(site: BenchSite, token: str, body: bytes) -> tuple[float, float]:
    """Seconds until it was taken, and from then until a worker began."""
    begun = time.perf_counter()
    answer = _post(site, "submissions", token, body)
    taken, now = time.perf_counter() - begun, time.time()
    return taken, max(site.run(f"wait_for({answer['id']})", "uploads") - now, 0)


def _post(site: BenchSite, path: str, token: str, body: bytes) -> dict[str, Any]:
    """The answer to an upload, as `curl -F` sends one; raises RuntimeError for any but 2xx."""
    boundary = uuid.uuid4().hex
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="name"\r\n\r\nBench\r\n'.encode(),
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; '
        'filename="predictions.jsonl"\r\nContent-Type: application/octet-stream\r\n\r\n'.encode(),
        body,
        f"\r\n--{boundary}--\r\n".encode(),
    ]
    connection = HTTPConnection(urllib.parse.urlsplit(site.url).netloc, timeout=120)
    try:
        headers = {
            "Authorization": f"Bearer {token}",
            "Content-Type": f"multipart/form-data; boundary={boundary}",
        }
        url = f"/api/v1/boards/bench/{path}/"
        connection.request("POST", url, b"".join(parts), headers)
        answer = connection.getresponse()
        told = answer.read()
    finally:
        connection.close()
    if answer.status not in {200, 201}:
        raise RuntimeError(f"{url} answered {answer.status}: {told[:500]!r}")
    return dict(json.loads(told))
