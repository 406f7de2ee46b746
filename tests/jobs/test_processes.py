"""The queue with real workers that are killed: nothing is lost, nothing is done twice."""

import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
import redis

from tests.jobs.processes import (
    Env,
    counts,
    environment,
    kill_group,
    manage,
    rows,
    start,
    start_worker,
    wait_until,
)

pytestmark = pytest.mark.processes

CHUNKS, ITEMS = 100, 5


def server_url(name: str, scheme: str, default: str) -> str:
    """The server the suite runs on when that is of the right sort; else the local one."""
    url = os.environ.get(name, "")
    return url if url.startswith(scheme) else default


def without_services(reason: str) -> None:
    if os.environ.get("REQUIRE_SERVICES", "") not in {"", "0"}:
        pytest.fail(f"REQUIRE_SERVICES is set, but {reason}")
    pytest.skip(f"NO SERVICES: {reason}")


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a site with empty tables, to be copied."""
    folder = tmp_path_factory.mktemp("migrated")
    manage(environment(folder), "migrate", "--run-syncdb")
    return folder


@pytest.fixture
def embedded(migrated: Path, tmp_path: Path) -> Env:
    """SQLite and messages in a folder."""
    shutil.copytree(migrated, tmp_path, dirs_exist_ok=True)
    return environment(tmp_path)


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Env]:
    """A PostgreSQL database of its own and an empty Redis database."""
    server = urlsplit(server_url("CELERY_BROKER_URL", "redis", "redis://127.0.0.1:6379/0"))
    with (
        own_postgres() as database,
        empty_redis(server.hostname or "127.0.0.1", server.port or 6379) as broker,
    ):
        env = environment(tmp_path, DATABASE_URL=database, CELERY_BROKER_URL=broker)
        manage(env, "migrate", "--run-syncdb")
        yield env


@contextmanager
def own_postgres() -> Iterator[str]:
    """The URL of an empty PostgreSQL database, which is dropped at the end."""
    postgres = server_url("DATABASE_URL", "postgres", "postgres://postgres@127.0.0.1:5432/postgres")
    name = f"factboard_probe_{uuid.uuid4().hex[:12]}"
    admin = urlunsplit(urlsplit(postgres)._replace(path="/postgres"))
    try:
        with psycopg.connect(admin, autocommit=True, connect_timeout=3) as connection:
            connection.execute(f"CREATE DATABASE {name}")
    except psycopg.OperationalError as error:
        without_services(f"PostgreSQL cannot be reached: {error}")
    try:
        yield urlunsplit(urlsplit(postgres)._replace(path=f"/{name}"))
    finally:
        with psycopg.connect(admin, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def empty_redis(host: str, port: int) -> Iterator[str]:
    """The URL of an unused Redis database, which is emptied at the end.

    Tests of other modules may look for one at the same time: the first to set the key has it.
    """
    key = "taken by a test"
    for number in range(15, 2, -1):
        with redis.Redis(host, port, number, socket_connect_timeout=3) as client:
            try:
                if client.dbsize() or not client.set(key, 1, nx=True, ex=3600):
                    continue
            except redis.ConnectionError as error:
                without_services(f"Redis cannot be reached: {error}")
            try:
                yield f"redis://{host}:{port}/{number}"
            finally:
                client.flushdb()
            return
    without_services("every Redis database is in use")


@pytest.fixture
def site(request: pytest.FixtureRequest) -> Env:
    env: Env = request.getfixturevalue(request.param)
    return env


on_both = pytest.mark.parametrize(
    "site", ["embedded", pytest.param("services", marks=pytest.mark.services)], indirect=True
)


def done(env: Env) -> int:
    return counts(env).get("done", 0)


def work_for_a_while(env: Env, log: Path, *, until: int, longer: float = 0) -> None:
    """Lets a worker work until so many jobs are done and somewhat longer, then kills it."""
    worker = start_worker(env, log)
    try:
        wait_until(lambda: done(env) >= until, seconds=90, what=f"{until} jobs done")
        time.sleep(longer)
    finally:
        kill_group(worker)


@on_both
def test_four_kills_lose_nothing_and_double_nothing(site: Env, tmp_path: Path) -> None:
    log = tmp_path / "worker.log"
    manage(site, "probe", "--chunks", str(CHUNKS), "--items", str(ITEMS), "--seconds", "0.15")
    for _ in range(4):
        work_for_a_while(site, log, until=done(site) + 1, longer=random.uniform(0, 1))
    assert done(site) < CHUNKS, "all was done before the last kill, which proves nothing"
    work_for_a_while(site, log, until=CHUNKS)
    times = Counter(item for (item,) in rows(site, "SELECT item FROM probe_probeitem"))
    assert times == Counter(range(CHUNKS * ITEMS))
    [(attempts,)] = rows(site, "SELECT sum(attempts) FROM jobs_job")
    assert attempts > CHUNKS, "no kill struck while a job ran, which proves nothing"


@on_both
def test_a_group_told_to_stop_gives_its_jobs_back_at_once(site: Env, tmp_path: Path) -> None:
    log = tmp_path / "worker.log"
    manage(site, "probe", "--chunks", "4", "--seconds", "60")
    worker = start_worker(site, log)
    try:
        wait_until(lambda: counts(site).get("running") == 2, seconds=30, what="two jobs run")
        asked = time.monotonic()
        assert kill_group(worker, signal.SIGTERM) == 0
        # honcho kills what has not ended five seconds after Ctrl-C.
        assert time.monotonic() - asked < 5
    finally:
        kill_group(worker)
    assert rows(site, "SELECT DISTINCT state, attempts FROM jobs_job") == [("queued", 0)]
    assert "Traceback" not in log.read_text()


@pytest.mark.parametrize("round_", range(2))
def test_an_idle_group_told_to_stop_ends(embedded: Env, tmp_path: Path, round_: int) -> None:
    """Idle processes share a lock; one that died holding it would hang the worker for ever."""
    log = tmp_path / "worker.log"
    worker = start_worker(embedded, log)
    try:
        manage(embedded, "probe", "--chunks", "2", "--seconds", "0")
        wait_until(lambda: counts(embedded) == {"done": 2}, seconds=30, what="the worker is idle")
        assert kill_group(worker, signal.SIGTERM) == 0
    finally:
        kill_group(worker)


class OwnRedis:
    """A Redis server that may be killed and started again, always on the same port."""

    def __init__(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]
        self.start()

    def start(self) -> None:
        command = ["redis-server", "--port", str(self.port), "--save", "", "--appendonly", "no"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.mark.services
def test_a_killed_redis_loses_nothing(services: Env, tmp_path: Path) -> None:
    if not shutil.which("redis-server"):
        without_services("there is no redis-server to start and kill")
    broker = OwnRedis()
    services["CELERY_BROKER_URL"] = f"redis://127.0.0.1:{broker.port}/0"
    chunks = ["--items", str(ITEMS), "--seconds", "0.15"]
    worker = start_worker(services, tmp_path / "worker.log")
    try:
        manage(services, "probe", "--chunks", "40", *chunks)
        wait_until(lambda: done(services) > 2, seconds=20, what="the worker began")
        broker.kill()
        said = manage(services, "probe", "--chunks", "10", "--group", "while down", *chunks)
        assert "No wake-up sent" in said, "the request went on without the broker"
        broker.start()
        wait_until(lambda: done(services) == 50, seconds=25, what="all done")
        assert worker.poll() is None, "the worker outlived its broker"

        manage(services, "probe", "--chunks", "1", "--group", "afterwards", *chunks)
        wait_until(lambda: done(services) == 51, seconds=15, what="the worker is woken again")
    finally:
        kill_group(worker)
        broker.kill()
    times = Counter(item for (item,) in rows(services, "SELECT item FROM probe_probeitem"))
    # The three batches number their items from 0 each.
    assert times == sum((Counter(range(n * ITEMS)) for n in (40, 10, 1)), Counter())


def test_a_worker_told_to_stop_finishes_the_present_job_only(embedded: Env, tmp_path: Path) -> None:
    manage(embedded, "probe", "--chunks", "20", "--seconds", "1")
    worker = start_worker(embedded, tmp_path / "worker.log")
    try:
        running = "SELECT id FROM jobs_job WHERE state = 'running'"
        wait_until(lambda: len(rows(embedded, running)) == 2, seconds=30, what="two jobs run")
        worker.send_signal(signal.SIGTERM)  # to the main process alone, as a container's stop does
        assert worker.wait(timeout=15) == 0
    finally:
        kill_group(worker)
    states = counts(embedded)
    assert states["done"] <= 4, "each process finished the job at hand, which may just have begun"
    assert states == {"done": states["done"], "queued": 20 - states["done"]}


def test_a_killed_main_process_leaves_no_orphans(embedded: Env, tmp_path: Path) -> None:
    manage(embedded, "probe", "--chunks", "4", "--seconds", "60")
    worker = start_worker(embedded, tmp_path / "worker.log")
    try:
        wait_until(lambda: counts(embedded).get("running") == 2, seconds=30, what="two jobs run")
        worker.kill()
        worker.wait(timeout=10)

        def all_gone() -> bool:
            try:
                os.killpg(worker.pid, 0)
            except ProcessLookupError:
                return True
            return False

        wait_until(all_gone, seconds=5, what="pool and beat end with their worker")
    finally:
        kill_group(worker)


def test_four_writers_and_two_workers_never_meet_a_lock(embedded: Env, tmp_path: Path) -> None:
    manage(embedded, "probe", "--chunks", "60", "--seconds", "0.01")
    worker = start_worker(embedded, tmp_path / "worker.log")
    logs = [tmp_path / f"writer-{number}.log" for number in range(4)]
    writer = [sys.executable, "manage.py", "probe", "--writes", "150", "--chunks", "10"]
    writers = [start(embedded, log, *writer, "--seconds", "0.01") for log in logs]
    try:
        codes = [process.wait(timeout=40) for process in writers]
        wait_until(lambda: done(embedded) == 100, seconds=20, what="all jobs done")
    finally:
        for process in [worker, *writers]:
            kill_group(process)
    said = "".join(path.read_text() for path in [*logs, tmp_path / "worker.log"])
    assert "locked" not in said
    assert codes == [0] * 4, said
    [(notes,)] = rows(embedded, "SELECT count(DISTINCT note) FROM probe_probeitem WHERE note <> ''")
    assert notes == 4 * 150


def test_a_plain_worker_needs_no_broker(embedded: Env, tmp_path: Path) -> None:
    embedded["CELERY_BROKER_URL"] = "redis://127.0.0.1:1/0"
    log = tmp_path / "worker.log"
    worker = start(embedded, log, sys.executable, "manage.py", "run_jobs", "--forever")
    try:
        manage(embedded, "probe", "--chunks", "3")
        wait_until(lambda: done(embedded) == 3, seconds=15, what="the jobs are done")
        assert kill_group(worker, signal.SIGTERM) == 0
    finally:
        kill_group(worker)
    assert "Stopped." in log.read_text()
