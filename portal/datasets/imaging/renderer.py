"""Rendering from outside: a child process that is watched, ended and started anew.

A document that takes too long or too much memory costs its child; the next one gets a new child.
"""

import json
import os
import selectors
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from .chromium import find_chromium
from .limits import Limits, NoBrowserError, RenderingError
from .processes import end_family, megabytes
from .runs import Box

_ROOT = Path(__file__).resolve().parents[3]
# Seconds: how often memory is looked at, and how long a browser may take to start.
_LOOK_EVERY = 0.25
_START = 60
# What a child must know of the surroundings; no key of the site is among it.
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "FONTCONFIG_FILE", "FONTCONFIG_PATH", "VIRTUAL_ENV")


@dataclass(frozen=True)
class RenderedImage:
    """A page image: PNG and WebP, sizes in pixels, boxes of its text runs."""

    png: bytes
    thumbnail: bytes
    width: int
    height: int
    boxes: list[Box]


@dataclass(frozen=True)
class Rendered:
    """All images of a document; `similarity`: the share of its text that they show, 0 to 1."""

    images: list[RenderedImage]
    similarity: float


class Renderer:
    """Renders one document after the other. A context manager: its processes end with it."""

    def __init__(self, chromium: str, limits: Limits | None = None) -> None:
        """Raises NoBrowserError if the program is not there; starting it comes with the first."""
        self._executable = find_chromium(chromium)
        self._limits = limits or Limits()
        self._folder = tempfile.TemporaryDirectory(prefix="rendering-")
        self._child: subprocess.Popen[bytes] | None = None
        self._rest = b""
        self._done = 0

    def __enter__(self) -> "Renderer":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()
        self._folder.cleanup()

    def render(self, html: str, text: str) -> Rendered:
        """Raises RenderingError for a document that has no picture, NoBrowserError for none at all.

        `html` and `text` are canonical; the boxes count in code points of `text`.
        """
        folder = Path(self._folder.name)
        asked = {name: str(folder / name) for name in ("html", "text")}
        (folder / "html").write_text(html, encoding="utf-8")
        (folder / "text").write_text(text, encoding="utf-8")
        child = self._ready_child()
        assert child.stdin is not None
        try:
            child.stdin.write(json.dumps(asked | {"folder": str(folder)}).encode() + b"\n")
            child.stdin.flush()
            answer = self._answer(child, self._limits.seconds)
        except BrokenPipeError as error:
            self._end()
            raise RenderingError("not_rendered", "the browser broke down") from error
        except BaseException:
            # A child that was left at work would answer the next question with this answer.
            self._end()
            raise
        if "reason" in answer:
            raise RenderingError(answer["code"], answer["reason"])
        return _rendered(answer, folder)

    def _ready_child(self) -> "subprocess.Popen[bytes]":
        if self._child is not None and self._done >= self._limits.documents:
            self._end()
        if self._child is None:
            self._start()
        self._done += 1
        assert self._child is not None
        return self._child

    def _start(self) -> None:
        known = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        limits = json.dumps(asdict(self._limits))
        self._child = subprocess.Popen(  # noqa: S603  # our own interpreter and module
            [sys.executable, "-m", "portal.datasets.imaging.child", self._executable, limits],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=_ROOT,
            env=known | {"HOME": self._folder.name, "TMPDIR": self._folder.name},
        )
        self._rest, self._done = b"", 0
        try:
            answer = self._answer(self._child, _START)
        except RenderingError as error:
            self._end()
            raise NoBrowserError(f"Chromium ({self._executable}) cannot be started") from error
        if "no_browser" in answer:
            self._end()
            raise NoBrowserError(answer["no_browser"])

    def _answer(self, child: "subprocess.Popen[bytes]", seconds: float) -> Mapping[str, Any]:
        """The child's next line; raises RenderingError once it breaks a limit or is gone."""
        assert child.stdout is not None
        until = time.monotonic() + seconds
        received = [self._rest]
        with selectors.DefaultSelector() as selector:
            selector.register(child.stdout, selectors.EVENT_READ)
            while b"\n" not in received[-1]:
                if selector.select(_LOOK_EVERY):
                    data = os.read(child.stdout.fileno(), 1 << 20)
                    if not data:
                        raise RenderingError("not_rendered", "the browser broke down")
                    received.append(data)
                elif time.monotonic() > until:
                    raise RenderingError("too_slow", f"longer than {seconds:g} seconds")
                elif megabytes(child.pid) > self._limits.megabytes:
                    raise RenderingError(
                        "too_much_memory", f"more than {self._limits.megabytes:,} MB of memory"
                    )
        line, _, self._rest = b"".join(received).partition(b"\n")
        answer: Mapping[str, Any] = json.loads(line)
        return answer

    def _end(self) -> None:
        if self._child is None:
            return
        child, self._child = self._child, None
        end_family(child.pid)
        for stream in (child.stdin, child.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()
        child.wait()


def _rendered(answer: Mapping[str, Any], folder: Path) -> Rendered:
    images = [
        RenderedImage(
            png=(folder / picture["file"]).read_bytes(),
            thumbnail=(folder / picture["thumbnail"]).read_bytes(),
            width=picture["width"],
            height=picture["height"],
            boxes=picture["boxes"],
        )
        for picture in answer["pictures"]
    ]
    return Rendered(images, answer["similarity"])
