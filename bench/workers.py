"""How much faster two workers grade one submission than one: PostgreSQL, Redis, real processes.

Everything a chunk costs is in it: claiming, reading, scoring, storing, the log, the last step. The
time is the grading's own, from the first job that was taken up to the end.
"""

import os
import shutil
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg

from bench.site import BenchSite
from scoring.benchmarks.parallel import cores

ITEMS = 1_000
FACTS = 40
ROUNDS = 3
WANTED = 1.8
LONGEST_SECONDS = 600
SERVER = "postgres://postgres@127.0.0.1:5432"


@dataclass(frozen=True)
class Speed:
    """Seconds for one submission by so many worker processes; the shortest of the rounds."""

    workers: int
    seconds: float


def workers_table() -> Iterator[str]:
    yield ""
    yield "## Two workers on one submission"
    yield ""
    yield f"{ITEMS:,} pages of {FACTS} facts, graded on PostgreSQL and Redis by one worker process"
    yield f"and by two, best of {ROUNDS}, on {cores()} cores that database and broker share. The"
    yield "figure counts on a machine that does nothing else."
    yield ""
    if missing := _missing():
        yield f"Not measured: {missing}."
        return
    one, two = measure()
    ratio = one.seconds / two.seconds
    met = "yes" if ratio >= WANTED else "**no**"
    yield "| one worker | two workers | times faster | at least | met |"
    yield "|---:|---:|---:|---:|---|"
    yield (
        f"| {one.seconds:.1f} s, {ITEMS / one.seconds:,.0f} items/s "
        f"| {two.seconds:.1f} s, {ITEMS / two.seconds:,.0f} items/s "
        f"| {ratio:.2f} | {WANTED} | {met} |"
    )


def _missing() -> str:
    if not shutil.which("redis-server"):
        return "there is no redis-server"
    try:
        psycopg.connect(f"{_server()}/postgres", connect_timeout=3).close()
    except psycopg.OperationalError as error:
        return f"PostgreSQL cannot be reached ({str(error).strip()})"
    return ""


def _server() -> str:
    """Address of PostgreSQL without a database."""
    url = os.environ.get("DATABASE_URL", "")
    return url.rpartition("/")[0] if url.startswith("postgres") else SERVER


def measure() -> tuple[Speed, Speed]:
    """The rounds of one and of two workers take turns, so that what disturbs disturbs both."""
    with tempfile.TemporaryDirectory() as folder, _database() as database, _redis() as broker:
        site = BenchSite(Path(folder), DATABASE_URL=database, CELERY_BROKER_URL=broker)
        site.manage("prepare", "--no-sample")
        site.run(f"make_graded({ITEMS}, {FACTS})", "gradings")
        best = {1: float("inf"), 2: float("inf")}
        for _ in range(ROUNDS):
            for workers in best:
                best[workers] = min(best[workers], _graded(site, workers))
    return Speed(1, best[1]), Speed(2, best[2])


def _graded(site: BenchSite, workers: int) -> float:
    """Seconds of one grading, by workers that were started before it was queued."""
    site.start_worker(workers)
    try:
        time.sleep(5)  # every process has loaded its scorers
        grading = site.run("grade_again()", "gradings")
        end = time.monotonic() + LONGEST_SECONDS
        while (seconds := site.run(f"seconds_of({grading})", "gradings")) is None:
            if time.monotonic() > end:
                raise RuntimeError(f"not graded within {LONGEST_SECONDS} s")
            time.sleep(2)
        return float(seconds)
    finally:
        site.stop()


@contextmanager
def _database() -> Iterator[str]:
    name = f"factboard_bench_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(f"{_server()}/postgres", autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}")
        try:
            yield f"{_server()}/{name}"
        finally:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def _redis() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = ["redis-server", "--port", str(port), "--save", "", "--appendonly", "no"]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)  # noqa: S603 - our own command
    try:
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        with suppress(ProcessLookupError):
            server.terminate()
        server.wait(timeout=10)
