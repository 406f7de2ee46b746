"""Leaderboards of 500 and 5,000 rows with six figures, as their readers get them over HTTP.

From a production server on PostgreSQL; readers, server and database share this machine.
"""

import html
import re
import tempfile
import time
import urllib.parse
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from statistics import quantiles

from bench.services import database, missing_postgresql
from bench.site import BenchSite
from scoring.benchmarks.checking import cores

READERS = 8
ONE_BY_ONE = 300
TOGETHER_SECONDS = 5.0
# Seconds for the first answer after a new row, by the number of rows.
MADE_WITHIN = {500: 0.15, 5_000: 5.0}
# Rows of a young board, and seconds for its page of charts until a worker has drawn a picture.
CHART_ROWS, CHART_WITHIN = 12, 5.0


@dataclass(frozen=True)
class Asked:
    """A URL, and its required response time and rate."""

    what: str
    rows: int
    path: str
    slowest: float
    """Seconds in which 95 of 100 answers should be there, one reader asking."""
    rate: float = 0.0
    """Answers in a second, eight readers asking; 0: not measured."""
    is_known: bool = False
    """Whether the reader has the answer already, and says so."""
    is_other: bool = False
    """Whether every request is for a page of rows that no one asked for before."""


_JSON, _PAGE = "/api/v1/boards/bench/leaderboard/", "/boards/bench/"
ASKED = (
    Asked("JSON", 500, _JSON, 0.025, 150),
    Asked("page", 500, _PAGE, 0.06, 60),
    Asked("JSON, known already", 500, _JSON, 0.025, 150, is_known=True),
    Asked("page, known already", 500, _PAGE, 0.06, 60, is_known=True),
    Asked("JSON", 5_000, _JSON, 0.025),
    Asked("page", 5_000, _PAGE, 0.06),
    Asked("other pages", 5_000, _PAGE, 0.06, is_other=True),
)


def leaderboards_table() -> Iterator[str]:
    """The lines of the table."""
    yield "Rows with six figures and two ranks over HTTP, production server, PostgreSQL,"
    yield f"{cores()} cores that readers, server and database share. One by one: the time in which"
    yield f"95 of {ONE_BY_ONE} answers were there. Together: answers in a second to {READERS}"
    yield "readers. Made again: the first answer after a new row, which has it already. Other"
    yield "pages: each with other filters, so that none was rendered before."
    yield ""
    if missing := missing_postgresql():
        yield f"Not measured: {missing}."
        return
    heads = ["asked", "rows", "size", "one by one", "at most", "together", "at least"]
    yield f"| {' | '.join([*heads, 'made again', 'at most', 'met'])} |"
    yield f"|---{'|---:' * 8}|---|"
    with tempfile.TemporaryDirectory() as folder, database() as url:
        site = BenchSite(Path(folder), DATABASE_URL=url)
        site.first_page()
        try:
            site.run("make_board()", "boards")
            site.run(f"add_rows(0, {CHART_ROWS})", "boards")
            seconds = _first_chart(site)
            there = CHART_ROWS
            for number, asked in enumerate(ASKED):
                site.run(f"add_rows({there}, {asked.rows})", "boards")
                there = asked.rows
                yield _row(site, asked, number)
        finally:
            site.stop()
    yield ""
    yield f"The page of charts of a board of {CHART_ROWS} rows with its first picture, which no one"
    yield f"opened before: {seconds:.2f} s, at most {CHART_WITHIN:g} s, met:"
    yield f"{'yes' if seconds <= CHART_WITHIN else '**no**'}."


def _first_chart(site: BenchSite) -> float:
    """Seconds from the request for the page of charts to its first picture."""
    connection, begun = _connection(site), time.perf_counter()
    page = _body(connection, f"{_PAGE}charts/").decode()
    (source, *_) = re.findall(r'<img[^>]* src="([^"]+\.svg[^"]*)"', page)
    while (picture := _drawn(connection, html.unescape(source))) is None:
        time.sleep(0.05)
    seconds = time.perf_counter() - begun
    connection.close()
    if b"<svg" not in picture:
        raise RuntimeError(f"{source} is not a picture")
    return seconds


def _drawn(connection: HTTPConnection, path: str) -> bytes | None:
    """None while the picture is being drawn."""
    connection.request("GET", path)
    answer = connection.getresponse()
    body = answer.read()
    if answer.status not in {200, 503}:
        raise RuntimeError(f"{path} answered {answer.status}")
    return body if answer.status == 200 else None


def _body(connection: HTTPConnection, path: str) -> bytes:
    connection.request("GET", path)
    answer = connection.getresponse()
    if answer.status != 200:
        raise RuntimeError(f"{path} answered {answer.status}")
    return answer.read()


def _row(site: BenchSite, asked: Asked, number: int) -> str:
    name = site.run(f"add_best({number})", "boards")
    anew, body, etag = _first(site, asked, name)
    headers = {"If-None-Match": etag} if asked.is_known else {}
    slowest = _one_by_one(site, asked, headers)
    rate = _together(site, asked, headers) if asked.rate else 0.0
    most = MADE_WITHIN[asked.rows]
    is_met = slowest <= asked.slowest and rate >= asked.rate and anew <= most
    together = f"{rate:,.0f} /s | {asked.rate:g} /s" if asked.rate else "– | –"
    return (
        f"| {asked.what} | {asked.rows:,} | {0 if asked.is_known else body / 1e3:,.0f} kB "
        f"| {slowest * 1000:.1f} ms | {asked.slowest * 1000:g} ms | {together} "
        f"| {anew * 1000:,.0f} ms | {most * 1000:,.0f} ms | {'yes' if is_met else '**no**'} |"
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
    taken = [_ask(connection, asked, headers, number) for number in range(ONE_BY_ONE)]
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


def _ask(
    connection: HTTPConnection, asked: Asked, headers: dict[str, str], number: int = 0
) -> float:
    other = f"?page={number % 20}&size_from={1 + number // 20}B" if asked.is_other else ""
    begun = time.perf_counter()
    connection.request("GET", asked.path + other, headers=headers)
    answer = connection.getresponse()
    answer.read()
    wanted = 304 if asked.is_known else 200
    if answer.status != wanted:
        raise RuntimeError(f"{asked.path} answered {answer.status}")
    return time.perf_counter() - begun


def _connection(site: BenchSite) -> HTTPConnection:
    return HTTPConnection(urllib.parse.urlsplit(site.url).netloc, timeout=60)
