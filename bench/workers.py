"""The speed-up of grading one submission with two workers: PostgreSQL, Redis, real processes.

Everything a chunk costs is in it: claiming, reading, scoring, storing, the log, the last step. The
time is the grading's own, from the first job that was taken up to the end.

Two cores are not always twice one: they may be two threads of one core, or slow down together. So
the same pages are also scored by one process and by two that share nothing, not even a database.
"""

import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bench.services import database, missing_services, redis
from bench.site import BenchSite
from scoring.benchmarks.checking import cores

ITEMS = 1_000
FACTS = 40
ROUNDS = 3
WANTED = 1.8
LONGEST_SECONDS = 600


@dataclass(frozen=True)
class Speeds:
    """Seconds for one submission by one worker process and by two, the shortest of the rounds, and
    how many times as much two processes get done that only score: 2 on a machine of two full cores.
    """

    one: float
    two: float
    limit: float


def workers_table() -> Iterator[str]:
    yield f"{ITEMS:,} pages of {FACTS} facts, graded on PostgreSQL and Redis by one worker process"
    yield f"and by two, best of {ROUNDS}, on {cores()} cores that database and broker share. The"
    yield "figure counts on a machine that does nothing else."
    yield ""
    if missing := missing_services():
        yield f"Not measured: {missing}."
        return
    found = measure()
    ratio = found.one / found.two
    met = "yes" if ratio >= WANTED else "**no**"
    yield "| one worker | two workers | times faster | at least | met | two that only score |"
    yield "|---:|---:|---:|---:|---|---:|"
    yield (
        f"| {found.one:.1f} s, {ITEMS / found.one:,.0f} items/s "
        f"| {found.two:.1f} s, {ITEMS / found.two:,.0f} items/s "
        f"| {ratio:.2f} | {WANTED} | {met} | {found.limit:.2f} |"
    )
    yield ""
    yield "The last column is what this machine can give: how many times as much two processes get"
    yield f"done that share nothing. Of that, two workers reach {ratio / found.limit:.0%}."


def measure() -> Speeds:
    """The rounds of one and of two workers alternate, so that disturbances affect both."""
    with tempfile.TemporaryDirectory() as folder, database() as url, redis() as broker:
        site = BenchSite(Path(folder), DATABASE_URL=url, CELERY_BROKER_URL=broker)
        site.manage("prepare", "--no-sample")
        site.run(f"make_graded({ITEMS}, {FACTS})", "gradings")
        best = {1: float("inf"), 2: float("inf")}
        scoring = dict(best)
        for _ in range(ROUNDS):
            for processes in best:
                best[processes] = min(best[processes], _graded(site, processes))
                scoring[processes] = min(scoring[processes], _scored(site, processes))
    return Speeds(best[1], best[2], limit=2 * scoring[1] / scoring[2])


def _scored(site: BenchSite, processes: int) -> float:
    """Seconds in which each of so many processes scores all pages, and does nothing else."""
    with ThreadPoolExecutor(processes) as pool:
        asked = [pool.submit(site.run, "seconds_to_score()", "gradings") for _ in range(processes)]
        return max(float(each.result()) for each in asked)


def _graded(site: BenchSite, workers: int) -> float:
    """Seconds of one grading, by workers that were started before it was queued."""
    site.start_worker(workers)
    try:
        time.sleep(5)  # every process has loaded its scorers
        return float(site.run(f"seconds_to_grade_again({LONGEST_SECONDS})", "gradings"))
    finally:
        site.stop()
