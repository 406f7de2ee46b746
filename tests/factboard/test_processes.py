"""Runs as processes that are killed, stopped and repeated, and their speed and memory."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from tests.scoring.answering.chat_server import MODEL, ChatServer, Reply, faulty, serve
from tests.scoring.answering.kit_files import make_kit

pytestmark = [pytest.mark.processes, pytest.mark.slow]

ITEMS, CONCURRENCY, KILLS = 300, 8, 10
ROOT = Path(__file__).parents[2]


def start(server_url: str, kit: Path, out: Path, *more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "factboard", "run", str(kit), "--model", MODEL),
            *("--base-url", server_url, "--out", str(out), "--concurrency", str(CONCURRENCY)),
            *more,
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finished(process: subprocess.Popen[str], code: int = 0) -> str:
    out, err = process.communicate(timeout=120)
    assert process.returncode == code, err
    return out + err


def answers(out: Path) -> int:
    path = out / "answers.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def wait_for_answers(process: subprocess.Popen[str], out: Path, count: int) -> bool:
    """Whether so many answers arrived before the process ended."""
    while process.poll() is None:
        if answers(out) >= count:
            return True
        time.sleep(0.002)
    return False


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with serve(faulty(0.0, latency=0.05)) as server:
        yield server


def test_killed_runs_end_with_the_file_of_an_undisturbed_one(
    tmp_path: Path, server: ChatServer
) -> None:
    kit = make_kit(tmp_path / "kit", ITEMS)
    finished(start(server.url, kit, tmp_path / "calm"))
    server.asked.clear()
    out, draw, killed = tmp_path / "out", random.Random(7), 0
    for part in range(KILLS):
        process = start(server.url, kit, out)
        if wait_for_answers(process, out, (part + 1) * ITEMS // (KILLS + 2)):
            time.sleep(draw.uniform(0, 0.03))
            process.send_signal(signal.SIGKILL)
            killed += 1
        process.communicate()
    finished(start(server.url, kit, out))

    assert killed == KILLS
    submission = (out / "submission.jsonl").read_bytes()
    assert submission == (tmp_path / "calm" / "submission.jsonl").read_bytes()
    # Only calls whose answers were not kept yet are made again: those under way, and as many that
    # wait to be written.
    assert server.asked.total() - ITEMS <= KILLS * 2 * CONCURRENCY
    assert len(server.asked) == ITEMS


def test_interrupted_run_keeps_answers_under_way(tmp_path: Path, server: ChatServer) -> None:
    kit, out = make_kit(tmp_path / "kit", ITEMS), tmp_path / "out"
    process = start(server.url, kit, out)
    assert wait_for_answers(process, out, 20)
    process.send_signal(signal.SIGINT)

    said = finished(process, 130)

    assert "Run the same command again to continue" in said
    assert "Traceback" not in said
    assert not (out / "submission.jsonl").exists()
    assert answers(out) == server.asked.total() < ITEMS
    finished(start(server.url, kit, out))
    assert server.asked.total() == ITEMS


def test_two_processes_cannot_use_one_folder(tmp_path: Path, server: ChatServer) -> None:
    kit, out = make_kit(tmp_path / "kit", ITEMS), tmp_path / "out"
    server.script = lambda _: Reply(wait=3600)
    first = start(server.url, kit, out)
    try:
        while not server.calls:
            assert first.poll() is None
            time.sleep(0.01)
        assert "another run is writing" in finished(start(server.url, kit, out), 2)
        assert server.asked.total() <= CONCURRENCY
    finally:
        first.kill()
        first.communicate()


def test_many_items_are_asked_at_the_same_time_in_flat_memory(tmp_path: Path) -> None:
    """1,000 items at 100 ms with 32 at a time are 3.2 seconds of waiting, one by one 100 seconds.
    The limit leaves room for busy machines."""
    many, image = 1000, b"\0" * 150_000
    kit = make_kit(tmp_path / "kit", many, question="Read.")
    for file in (kit / "images").iterdir():
        with file.open("ab") as opened:
            opened.write(image)
    out = tmp_path / "out"
    program = [sys.executable, "-m", "tests.scoring.answering.chat_server", "--latency", "0.1"]
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"}
    with subprocess.Popen(
        program, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=environment
    ) as model:
        assert model.stdout
        url = model.stdout.readline().strip()
        process = start(url, kit, out, "--concurrency", "32")
        most = 0
        while process.poll() is None:
            status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
            peak = re.search(r"VmHWM:\s+(\d+)", status)
            most = max(most, int(peak[1]) if peak else 0)
            time.sleep(0.05)
        finished(process)
        model.kill()
    times = [
        datetime.fromisoformat(json.loads(line)["at"])
        for line in (out / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert len(times) == many
    assert (max(times) - min(times)).total_seconds() < 30
    # All images together have 150 MB, and 200 MB as text.
    assert most < 200_000
