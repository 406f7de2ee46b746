"""A leaderboard of 500 rows and six figures, as its readers get it over HTTP.

From a production server on PostgreSQL; readers, server and database share this machine.
"""

import tempfile
import time
import urllib.parse
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.client import HTTPConnection
from itertools import count
from pathlib import Path
from statistics import quantiles

from bench.services import database, missing_postgresql
from bench.site import BenchSite
from scoring.benchmarks.checking import cores

ROWS = 500
READERS = 8
ONE_BY_ONE = 300
TOGETHER_SECONDS = 5.0
VISIBLE_WITHIN = 5.0


@dataclass(frozen=True)
class Asked:
    """A URL, and its required response time and rate."""

    what: str
    path: str
    slowest: float
    """Seconds in which 95 of 100 answers should be there, one reader asking."""
    rate: float
    """Answers in a second, eight readers asking."""
    is_known: bool = False
    """Whether the reader has the answer already, and says so."""


ASKED = (
    Asked("JSON", "/api/v1/boards/bench/leaderboard/", 0.025, 150),
    Asked("page", "/boards/bench/", 0.06, 60),
    Asked("JSON, known already", "/api/v1/boards/bench/leaderboard/", 0.025, 150, is_known=True),
    Asked("page, known already", "/boards/bench/", 0.06, 60, is_known=True),
)


def leaderboards_table() -> Iterator[str]:
    """The lines of the table."""
    yield f"{ROWS} rows with six figures and two ranks over HTTP, production server, PostgreSQL,"
    yield f"{cores()} cores that readers, server and database share. One by one: the time in which"
    yield f"95 of {ONE_BY_ONE} answers were there. Together: answers in a second to {READERS}"
    yield "readers. Made again: the first answer after a new row, which has it already."
    yield ""
    if missing := missing_postgresql():
        yield f"Not measured: {missing}."
        return
    yield "| asked | size | one by one | at most | together | at least | made again | met |"
    yield "|---|---:|---:|---:|---:|---:|---:|---|"
    with tempfile.TemporaryDirectory() as folder, database() as url:
        site = BenchSite(Path(folder), DATABASE_URL=url)
        site.first_page()
        try:
            site.run(f"make_board({ROWS})", "boards")
            fresh = count(ROWS)
            for asked in ASKED:
                yield _row(site, asked, next(fresh))
        finally:
            site.stop()


def _row(site: BenchSite, asked: Asked, number: int) -> str:
    name = site.run(f"add_row({number})", "boards")
    anew, body, etag = _first(site, asked, name)
    headers = {"If-None-Match": etag} if asked.is_known else {}
    slowest = _one_by_one(site, asked, headers)
    rate = _together(site, asked, headers)
    is_met = slowest <= asked.slowest and rate >= asked.rate and anew <= VISIBLE_WITHIN
    return (
        f"| {asked.what} | {0 if asked.is_known else body / 1e3:,.0f} kB "
        f"| {slowest * 1000:.1f} ms | {asked.slowest * 1000:g} ms "
        f"| {rate:,.0f} /s | {asked.rate:g} /s | {anew * 1000:,.0f} ms "
        f"| {'yes' if is_met else '**no**'} |"
    )


def _first(site: BenchSite, asked: Asked, name: str) -> tuple[float, int, str]:
    """Seconds, bytes and ETag of the first answer after a row of this name came."""
    connection, begun = _connection(site), time.perf_counter()
    connection.request("GET", asked.path)
    answer = connection.getresponse()
    body, etag = answer.read(), answer.headers["ETag"]
    seconds = time.perf_counter() - begun
    connection.close()
    if name.encode() not in body:
        raise RuntimeError(f"{asked.path} does not show {name}")
    return seconds, len(body), etag


def _one_by_one(site: BenchSite, asked: Asked, headers: dict[str, str]) -> float:
    connection = _connection(site)
    taken = [_ask(connection, asked, headers) for _ in range(ONE_BY_ONE)]
    connection.close()
    return quantiles(taken, n=20)[-1]


def _together(site: BenchSite, asked: Asked, headers: dict[str, str]) -> float:
    end = time.perf_counter() + TOGETHER_SECONDS

    def read_on(_: int) -> int:
        connection, answers = _connection(site), 0
        while time.perf_counter() < end:
            _ask(connection, asked, headers)
            answers += 1
        connection.close()
        return answers

    begun = time.perf_counter()
    with ThreadPoolExecutor(READERS) as readers:
        answers = sum(readers.map(read_on, range(READERS)))
    return answers / (time.perf_counter() - begun)


def _ask(connection: HTTPConnection, asked: Asked, headers: dict[str, str]) -> float:
    begun = time.perf_counter()
    connection.request("GET", asked.path, headers=headers)
    answer = connection.getresponse()
    answer.read()
    wanted = 304 if asked.is_known else 200
    if answer.status != wanted:
        raise RuntimeError(f"{asked.path} answered {answer.status}")
    return time.perf_counter() - begun


def _connection(site: BenchSite) -> HTTPConnection:
    return HTTPConnection(urllib.parse.urlsplit(site.url).netloc, timeout=60)
