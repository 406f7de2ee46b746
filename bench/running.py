"""`factboard run` against a scripted endpoint on this machine: its time and its memory.

The endpoint is a process of its own that answers each call after a fixed wait. The ideal time is
that of the waits alone. The time is that of the run itself, without starting Python; memory is the
peak of the whole process.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from PIL import Image

FEW, ITEMS, CONCURRENCY, LATENCY = 100, 1_000, 32, 0.1
AT_MOST = 1.3
TIMEOUT = 2
FAULTS = 0.05
# Of random pixels, which no format makes smaller.
IMAGE_SIDE = 258


class Ran(NamedTuple):
    seconds: float
    megabytes: float


def running_table() -> Iterator[str]:
    yield f"An endpoint that answers after {LATENCY * 1000:.0f} ms, {CONCURRENCY} calls at a time,"
    yield f"a page image of {3 * IMAGE_SIDE**2 // 1000} kB per item. Ideal: the waits alone."
    yield "Every answer is on disk before the next item is taken. Faults: calls that end in a 429,"
    yield f"a 500, half an answer or none within {TIMEOUT} s, and are asked again."
    yield ""
    yield "| items | faults | time | ideal | ratio | at most | met | peak memory |"
    yield "|---:|---:|---:|---:|---:|---:|---|---:|"
    for items, faults in ((FEW, 0.0), (ITEMS, 0.0), (ITEMS, FAULTS)):
        yield _row(items, faults, measure(items, faults))


def _row(items: int, faults: float, ran: Ran) -> str:
    ideal = items * LATENCY / CONCURRENCY
    ratio = ran.seconds / ideal
    wanted = "| | "
    if items == ITEMS and not faults:
        wanted = f"| {AT_MOST:g} | {'yes' if ratio <= AT_MOST else '**no**'} "
    return (
        f"| {items:,} | {faults:.0%} | {ran.seconds:.2f} s | {ideal:.2f} s | {ratio:.2f} {wanted}"
        f"| {ran.megabytes:.0f} MB |"
    )


def measure(items: int, faults: float) -> Ran:
    with tempfile.TemporaryDirectory() as folder, _endpoint(faults) as url:
        kit, out = _kit(Path(folder) / "kit", items), Path(folder) / "out"
        process = subprocess.Popen(  # noqa: S603 - our own command
            [
                *(sys.executable, "-m", "factboard", "run", str(kit), "--model", "scripted-1"),
                *("--base-url", url, "--out", str(out), "--concurrency", str(CONCURRENCY)),
                *("--timeout", str(TIMEOUT)),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _, status, used = os.wait4(process.pid, 0)
        if code := os.waitstatus_to_exitcode(status):
            raise RuntimeError(f"factboard run ended with {code}")
        manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    begun, ended = (datetime.fromisoformat(manifest[key]) for key in ("started_at", "finished_at"))
    return Ran((ended - begun).total_seconds(), used.ru_maxrss / 1024)


@contextmanager
def _endpoint(faults: float) -> Iterator[str]:
    server = subprocess.Popen(  # noqa: S603 - our own server
        [
            *(sys.executable, "-m", "tests.scoring.answering.chat_server"),
            *("--latency", str(LATENCY), "--faults", str(faults)),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        address = re.match(r"http\S+", server.stdout.readline())
        assert address, "the endpoint did not start"
        yield address[0]
    finally:
        server.terminate()
        server.wait()


def _kit(folder: Path, items: int) -> Path:
    """A starter kit whose items share one image, which is read again for each."""
    (folder / "images").mkdir(parents=True)
    noise = Image.frombytes("RGB", (IMAGE_SIDE, IMAGE_SIDE), os.urandom(3 * IMAGE_SIDE**2))
    noise.save(folder / "images" / "page.png")
    lines = (
        {"id": f"page-{number:04}", "prompt": f"Page {number}", "images": ["images/page.png"]}
        for number in range(items)
    )
    (folder / "items.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8"
    )
    about = {"dataset": "bench", "version": "1.0.0", "benchmark": "fcmbench"}
    (folder / "kit.json").write_text(json.dumps(about), encoding="utf-8")
    return folder
