"""PostgreSQL and Redis for measurements, each of its own for one run."""

import os
import shutil
import socket
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psycopg

SERVER = "postgres://postgres@127.0.0.1:5432"


def missing_services() -> str:
    """Describe the missing service; empty if both are available."""
    if not shutil.which("redis-server"):
        return "there is no redis-server"
    return missing_postgresql()


def missing_postgresql() -> str:
    """Why PostgreSQL is not available; empty if it is."""
    try:
        psycopg.connect(f"{_server()}/postgres", connect_timeout=3).close()
    except psycopg.OperationalError as error:
        return f"PostgreSQL cannot be reached ({str(error).strip()})"
    return ""


def _server() -> str:
    """URL of PostgreSQL without a database."""
    url = os.environ.get("DATABASE_URL", "")
    return url.rpartition("/")[0] if url.startswith("postgres") else SERVER


@contextmanager
def database() -> Iterator[str]:
    """The URL of an empty database."""
    name = f"factboard_bench_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(f"{_server()}/postgres", autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}")
        try:
            yield f"{_server()}/{name}"
        finally:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def redis() -> Iterator[str]:
    """The URL of an empty Redis server."""
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
