"""Draws charts in a process that stays for a minute after the last one."""

import atexit
import json
import logging
import os
import select
import subprocess
import sys
import threading
from base64 import b64decode
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any, Literal

_ROOT = Path(__file__).resolve().parents[2]
# The longest time that a drawing takes, and that one waits for the drawings before it.
_SECONDS, _LONGEST_WAIT = 60, 30
VEGA_LITE = "6.4"
logger = logging.getLogger(__name__)

Form = Literal["svg", "png", "pdf", "library"]


class DrawingError(RuntimeError):
    """The chart could not be drawn; the log says why."""


class Engine:
    """The process that draws. It is started when it is needed, and again when it has ended."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()

    def draw(self, form: Form, spec: dict[str, Any]) -> str:
        """Return what the process made. Raises DrawingError."""
        if not self._lock.acquire(timeout=_LONGEST_WAIT):
            raise DrawingError("other charts are being drawn")
        try:
            answer = self._asked(json.dumps({"form": form, "spec": spec}) + "\n")
        except (OSError, ValueError) as error:
            logger.exception("charts could not be drawn")
            raise DrawingError("the chart could not be drawn") from error
        finally:
            self._lock.release()
        if "made" not in answer:
            logger.error("charts could not be drawn: %s", answer.get("error"))
            raise DrawingError("the chart could not be drawn")
        return str(answer["made"])

    def _asked(self, request: str) -> dict[str, Any]:
        """Send a request and return the response. A process that has just ended is replaced."""
        for is_last in (False, True):
            process = self._running()
            try:
                return _response(process, request)
            except _EndedError:
                self.stop()
                if is_last:
                    raise
            except BaseException:
                self.stop()
                raise
        raise AssertionError

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            self.stop()
            self._process = _started()
        return self._process

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            for stream in (self._process.stdin, self._process.stdout):
                assert stream is not None
                # A request may be left that the process did not read.
                with suppress(BrokenPipeError):
                    stream.close()
            self._process.wait()
            self._process = None


class _EndedError(OSError):
    """The process ended before it responded."""


def _started() -> subprocess.Popen[str]:
    # The process gets none of the site's settings, which contain secrets.
    environment = {key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ}
    return subprocess.Popen(
        [sys.executable, "-m", "scoring.charts"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        cwd=_ROOT,
        env={**environment, "PYTHONIOENCODING": "utf-8"},
    )


def _response(process: subprocess.Popen[str], request: str) -> dict[str, Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(request)
        process.stdin.flush()
    except BrokenPipeError as error:
        raise _EndedError from error
    line = _line(process.stdout)
    if not line:
        raise _EndedError
    answer: dict[str, Any] = json.loads(line)
    return answer


def _line(stream: IO[str]) -> str:
    """Return the next line. Raises TimeoutError."""
    if not select.select([stream], [], [], _SECONDS)[0]:
        raise TimeoutError("the drawing process did not respond")
    return stream.readline()


_engine = Engine()
atexit.register(_engine.stop)


def draw_svg(spec: dict[str, Any]) -> str:
    """Return a chart as SVG. Raises DrawingError."""
    return _engine.draw("svg", spec)


def draw_file(spec: dict[str, Any], form: Literal["png", "pdf"]) -> bytes:
    """Return a chart as PNG at twice its size, or as PDF. Raises DrawingError."""
    return b64decode(_engine.draw(form, spec))


def make_library() -> str:
    """Return the JavaScript module that draws charts in a browser. Raises DrawingError.

    A process of its own makes it, because it takes seconds, for which pictures need not wait.
    """
    engine = Engine()
    try:
        return engine.draw("library", {})
    finally:
        engine.stop()


def library_version() -> str:
    """Return a version that changes whenever the drawing package changes."""
    return f"{VEGA_LITE}-{version('vl-convert-python')}".replace(".", "-")
