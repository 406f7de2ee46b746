"""A site of its own in a folder, as it runs in production, and what it uses of the machine."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
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


class BenchSite:
    """SQLite and the embedded broker, one web process, one worker with two children; `extra`
    are settings such as those of another database or broker."""

    def __init__(self, folder: Path, **extra: str) -> None:
        self.folder = folder
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self.url = f"http://127.0.0.1:{self.port}"
        # The last would compile the site's own modules in every process, as no installation does.
        foreign = {"DATABASE_URL", "CELERY_BROKER_URL", "REDIS_URL", "MEDIA_ROOT", "DEBUG"}
        foreign |= {"PYTHONDONTWRITEBYTECODE"}
        kept = {name: value for name, value in os.environ.items() if name not in foreign}
        settings = {"DJANGO_SETTINGS_MODULE": "portal.settings", "LOG_LEVEL": "WARNING"}
        self._env = kept | settings | {"VAR_DIR": str(folder)} | extra
        self._web: subprocess.Popen[bytes] | None = None
        self._worker: subprocess.Popen[bytes] | None = None

    def first_page(self) -> float:
        """Seconds from an empty folder to the first page: database, static files, start."""
        begun = time.perf_counter()
        self.manage("prepare", "--no-sample")
        self._web = self._start("granian", "--port", str(self.port), *_WEB)
        while not self._answers():
            time.sleep(0.02)
        seconds = time.perf_counter() - begun
        self.start_worker()
        return seconds

    def start_worker(self, concurrency: int = 2) -> None:
        self._worker = self._start("celery", *_WORKER, str(concurrency))

    def stop(self) -> None:
        for process in (self._web, self._worker):
            if process:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGTERM)
                process.wait(timeout=30)
        self._web = self._worker = None

    def manage(self, *arguments: str) -> str:
        """What a command of manage.py printed; raises CalledProcessError when it fails."""
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

    def cpu_seconds(self) -> float:
        """What the web server has used so far, of all its processes together."""
        fields = [_stat(pid) for pid in self._processes(self._web)]
        return sum(int(stat[11]) + int(stat[12]) for stat in fields) / _TICKS

    def web_memory(self) -> float:
        """Megabytes in memory of the web server; what its processes share is counted once."""
        return sum(_proportional(pid) for pid in self._processes(self._web)) / 1e3

    def _processes(self, leader: subprocess.Popen[bytes] | None) -> list[int]:
        """The processes of the leader's group."""
        assert leader is not None
        found = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
        return [pid for pid in found if _group(pid) == leader.pid]

    def _start(self, *module: str) -> subprocess.Popen[bytes]:
        with (self.folder / f"{module[0]}.log").open("ab") as log:
            command = [sys.executable, "-m", *module]
            return subprocess.Popen(  # noqa: S603 - our own commands
                command, cwd=ROOT, env=self._env, stdout=log, stderr=log, start_new_session=True
            )

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/", timeout=5) as answer:  # noqa: S310
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
