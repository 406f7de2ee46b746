"""A process of the site that dies is started again. All processes end on request."""

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.site import Site
from tests.jobs import processes

pytestmark = pytest.mark.processes
KEEPER = [sys.executable, "-m", "portal.keep_running"]
STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("deaf", flush=True)
time.sleep(60)
"""


def _keep(*command: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*KEEPER, "part", *command], cwd=processes.ROOT, stdout=subprocess.PIPE, text=True
    )


def _line(keeper: subprocess.Popen[str]) -> str:
    assert keeper.stdout
    return keeper.stdout.readline().strip()


def _stop(keeper: subprocess.Popen[str]) -> float:
    """Stops the keeper and returns the seconds until it has ended."""
    started = time.monotonic()
    keeper.terminate()
    keeper.communicate(timeout=10)
    assert keeper.returncode == 0
    return time.monotonic() - started


def test_a_command_that_keeps_failing_is_started_with_growing_delays() -> None:
    keeper = _keep(sys.executable, "-c", "raise SystemExit(3)")
    assert _line(keeper) == "part ended with code 3 after 0 s. Starting it again in 1 s."
    second = _line(keeper)
    assert second == (
        "part ended with code 3 after 0 s, 2 times in a row. Starting it again in 2 s."
    )
    assert _stop(keeper) < 1, "the keeper must end while it waits for the next start"


def test_a_command_that_ignores_the_signal_is_killed() -> None:
    keeper = _keep(sys.executable, "-c", STUBBORN)
    assert _line(keeper) == "deaf"
    assert _stop(keeper) < 5, "the keeper must kill the command before honcho kills the keeper"


def _children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(each) for each in found.split()]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[tuple[str, dict[str, int]]]:
    """Starts the Procfile like `make run`; yields the URL and the keeper of each process."""
    prepared = Site(tmp_path, WORKERS="1")
    prepared.prepare()
    honcho = processes.start(
        prepared.env,
        tmp_path / "site.log",
        sys.executable,
        "-m",
        "honcho",
        "start",
        "--port",
        str(prepared.port),
    )
    url = f"{prepared.url}/healthz"
    processes.wait_until(lambda: _answers(url), seconds=60, what="the site answers")
    keepers = {_words(pid)[3]: pid for each in _children(honcho.pid) for pid in _children(each)}
    yield url, keepers
    started = time.monotonic()
    # Like Ctrl-C. honcho's children are in separate sessions.
    os.kill(honcho.pid, signal.SIGINT)
    assert honcho.wait(timeout=15) == 130
    assert time.monotonic() - started < 10
    assert not _answers(url)
    assert "sending SIGKILL" not in (tmp_path / "site.log").read_text()


def _words(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/cmdline").read_text().split("\0")


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False


def test_a_killed_process_is_started_again_and_the_other_keeps_running(
    site: tuple[str, dict[str, int]],
) -> None:
    url, keepers = site
    [web], [worker] = _children(keepers["web"]), _children(keepers["worker"])
    os.kill(worker, signal.SIGKILL)
    processes.wait_until(
        lambda: _children(keepers["worker"]) not in ([], [worker]), seconds=20, what="a new worker"
    )
    assert _children(keepers["web"]) == [web]
    assert _answers(url)
    os.kill(web, signal.SIGKILL)
    processes.wait_until(
        lambda: _children(keepers["web"]) not in ([], [web]), seconds=20, what="a new web server"
    )
    processes.wait_until(lambda: _answers(url), seconds=30, what="the site answers again")
