"""A production site in its own folder, and the resources it uses."""

import compileall
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
_TICKS = os.sysconf("SC_CLK_TCK")
# The options of the Procfile.
_WEB = [
    "--interface", "wsgi", "--host", "127.0.0.1", "--workers", "1", "--blocking-threads", "8",
    "--backpressure", "64", "--workers-kill-timeout", "3", "--no-ws", "--log-level", "warning",
    "portal.wsgi:application",
]  # fmt: skip
_WORKER = [
    "--quiet", "-A", "portal", "worker", "--beat", "--loglevel", "warning", "--without-gossip",
    "--without-mingle", "--without-heartbeat", "--concurrency",
]  # fmt: skip


def _procfile_settings() -> dict[str, str]:
    """The environment variables that the Procfile sets for the web server."""
    (line,) = (
        line
        for line in (ROOT / "Procfile").read_text(encoding="utf-8").splitlines()
        if line.startswith("web:")
    )
    return dict(re.findall(r"\b([A-Z_]+)=(\S+)", line))


class Server:
    """A server that was started for a measurement, with all processes of its group."""

    def __init__(self, command: Sequence[str], log: Path, env: Mapping[str, str]) -> None:
        with log.open("ab") as sink:
            self._process = subprocess.Popen(  # noqa: S603 - our own commands
                command, cwd=ROOT, env=dict(env), stdout=sink, stderr=sink, start_new_session=True
            )
        self._log = log

    def wait_for(self, url: str, seconds: float = 400) -> None:
        """Returns as soon as the URL answers 200; RuntimeError with the log if it never does."""
        end = time.perf_counter() + seconds
        while not _answers(url):
            if self._process.poll() is not None or time.perf_counter() > end:
                raise RuntimeError(f"{url} does not answer: {self._log.read_text()[-2000:]}")
            time.sleep(0.02)

    def cpu_seconds(self) -> float:
        """The total usage of its processes so far."""
        fields = [_stat(pid) for pid in self._pids()]
        return sum(int(stat[11]) + int(stat[12]) for stat in fields) / _TICKS

    def cpu_milliseconds(self, times: int, work: Callable[[], object]) -> float:
        """The cost of each of this many requests, all made by `work`."""
        before = self.cpu_seconds()
        work()
        return (self.cpu_seconds() - before) * 1000 / times

    def memory(self) -> float:
        """Its megabytes in memory; what its processes share is counted once."""
        return sum(_proportional(pid) for pid in self._pids()) / 1e3

    def stop(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGTERM)
        self._process.wait(timeout=30)

    def _pids(self) -> list[int]:
        found = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
        return [pid for pid in found if _group(pid) == self._process.pid]


class BenchSite:
    """SQLite and the embedded broker, one web process, one worker with two children; `extra`
    are settings such as those of another database or broker."""

    web: Server

    def __init__(self, folder: Path, **extra: str) -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        # The last would compile the site's own modules in every process, as no installation does.
        foreign = {"DATABASE_URL", "CELERY_BROKER_URL", "REDIS_URL", "MEDIA_ROOT", "DEBUG"}
        foreign |= {"PYTHONDONTWRITEBYTECODE"}
        kept = {name: value for name, value in os.environ.items() if name not in foreign}
        settings = {"DJANGO_SETTINGS_MODULE": "portal.settings", "LOG_LEVEL": "WARNING"}
        self._env = kept | _procfile_settings() | settings | {"VAR_DIR": str(folder)} | extra
        self._servers: list[Server] = []

    def first_page(self) -> float:
        """Seconds from an empty folder to the first page: database, static files, start."""
        _compile()
        begun = time.perf_counter()
        self.manage("prepare", "--no-sample")
        self.web = self._start("granian", "--port", str(self.port), *_WEB)
        self.web.wait_for(f"{self.url}/")
        seconds = time.perf_counter() - begun
        self.start_worker()
        return seconds

    def start_worker(self, concurrency: int = 2) -> None:
        self._start("celery", *_WORKER, str(concurrency))

    def stop(self) -> None:
        while self._servers:
            self._servers.pop(0).stop()

    def manage(self, *arguments: str) -> str:
        """Return the output of a manage.py command. Raises CalledProcessError."""
        command = [sys.executable, "manage.py", *arguments]
        done = subprocess.run(  # noqa: S603 - our own commands
            command, cwd=ROOT, env=self._env, check=True, stdout=subprocess.PIPE, text=True
        )
        return done.stdout

    def run(self, call: str, module: str = "tasks") -> Any:
        """Calls a function of `bench.tasks`, or of another module, in the site's Django; its JSON
        answer."""
        code = f"import json; from bench import {module}; print(json.dumps({module}.{call}))"
        return json.loads(self.manage("shell", "--no-imports", "-c", code).splitlines()[-1])

    def _start(self, *module: str) -> Server:
        command = [sys.executable, "-m", *module]
        server = Server(command, self.folder / f"{module[0]}.log", self._env)
        self._servers.append(server)
        return server


def _compile() -> None:
    """Byte code of our own modules, as pip makes it of a package that it installs."""
    for name in ("portal", "annotation", "scoring", "sample"):
        compileall.compile_dir(ROOT / name, quiet=2)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310 - our own server
            return bool(answer.status == 200)
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat from the state on: utime and stime are 11 and 12."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _proportional(pid: int) -> int:
    """Kilobytes, with a page that several processes share split between them."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def _group(pid: int) -> int | None:
    try:
        return int(_stat(pid)[2])
    except (FileNotFoundError, ProcessLookupError):
        return None
