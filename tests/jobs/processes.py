"""Real processes for tests: workers in process groups of their own, a look into their database."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg

ROOT = Path(__file__).resolve().parents[2]
Env = dict[str, str]


def environment(var_dir: Path, **extra: str) -> Env:
    """The environment of a site of its own in `var_dir`: SQLite and the embedded broker by default.

    Leases are short, so that what a kill leaves behind is taken up within seconds. Nothing that
    points to another database or broker is inherited.
    """
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name not in {"DATABASE_URL", "CELERY_BROKER_URL", "REDIS_URL", "MEDIA_ROOT"}
    }
    return inherited | {
        "DJANGO_SETTINGS_MODULE": "tests.jobs.process_settings",
        "VAR_DIR": str(var_dir),
        "DATABASE_URL": f"sqlite:///{var_dir / 'probe.sqlite3'}",
        "CELERY_BROKER_URL": "filesystem://",
        "JOB_LEASE_SECONDS": "3",
        "JOB_REAP_SECONDS": "1",
        "PYTHONUNBUFFERED": "1",
        **extra,
    }


def manage(env: Env, *arguments: str) -> str:
    """Runs a command of manage.py to its end and returns what it printed; fails with that."""
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=env,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def start(env: Env, log: Path, *command: str) -> subprocess.Popen[bytes]:
    """Starts a process at the head of a group of its own, with its output appended to `log`."""
    with log.open("ab") as output:
        return subprocess.Popen(
            command, cwd=ROOT, env=env, stdout=output, stderr=output, start_new_session=True
        )


def start_worker(
    env: Env, log: Path, *, concurrency: int = 2, beat: bool = True
) -> subprocess.Popen[bytes]:
    """Starts a Celery worker as the Procfile does."""
    options = ["--concurrency", str(concurrency), "--loglevel", "warning", *(["--beat"] * beat)]
    quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    celery = [sys.executable, "-m", "celery", "-A", "portal", "worker"]
    return start(env, log, *celery, *options, *quiet)


def kill_group(process: subprocess.Popen[bytes], number: int = signal.SIGKILL) -> int:
    """Sends a signal to the process and all its children; waits and returns its exit code."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)
    return process.wait(timeout=30)


def rows(env: Env, sql: str) -> list[tuple[Any, ...]]:
    """The rows of a query in the database of `env`, read without Django."""
    url = env["DATABASE_URL"]
    if url.startswith("sqlite"):
        connection = sqlite3.connect(urlsplit(url).path, timeout=30)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()
    with psycopg.connect(url) as server:
        return list(server.execute(sql).fetchall())


def counts(env: Env) -> Mapping[str, int]:
    """How many jobs are in which state."""
    return dict(rows(env, "SELECT state, count(*) FROM jobs_job GROUP BY state"))


def wait_until(true: Callable[[], bool], *, seconds: float, what: str) -> None:
    """Waits until the condition holds; fails with `what` after so many seconds."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.1)
