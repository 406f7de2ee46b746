"""Rendering from outside: a child process that is watched, ended and started anew.

A document that takes too long or too much memory costs its child; the next one gets a new child.
Linux tells the memory of processes under /proc; elsewhere no memory is measured, and the time
limit is the only one.

HTML becomes PDF in a headless Chromium that can reach nothing. No script runs: scripting is off
in the tab, and the page's policy forbids it. No request leaves: the policy allows none, every
one is aborted, the tab is offline, and the browser's proxy is a port on which nothing listens.
"""

import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from . import chromium
from .chromium import ChromiumError, Tab

DPI = 300
POINTS_PER_INCH = 72
# Letter, the paper of filings. What does not fit on one sheet is tried on longer ones, for a
# document is one page of a filing; what does not fit on the longest is printed on several.
WIDTH = 8.5
HEIGHTS = (11.0, 14.0, 17.0, 22.0)
MARGIN = 0.4


class RenderingError(Exception):
    """Why a document has no picture: a code for programs, a reason for people."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


class NoBrowserError(Exception):
    """There is no Chromium that can be started. The message says what to do."""


@dataclass(frozen=True)
class Limits:
    """What one document may take; what takes more is refused by name.

    `seconds` from its HTML to its last image; `megabytes` of memory, the browser's processes
    together; `sheets` of paper. After `documents` the browser is started anew.
    """

    seconds: float = 60
    megabytes: int = 1500
    sheets: int = 40
    documents: int = 100


_PROC = Path("/proc")
_MEGABYTE = 1024 * 1024


def family(pid: int) -> list[int]:
    """The process and its descendants, parents first."""
    children: dict[int, list[int]] = {}
    for child, parent in _parents():
        children.setdefault(parent, []).append(child)
    found = [pid]
    for member in found:
        found.extend(children.get(member, []))
    return found


def megabytes(pid: int) -> int:
    """Resident memory of the family that is not shared with files; 0 where it cannot be told."""
    pages = 0
    for member in family(pid):
        with suppress(OSError, ValueError, IndexError):
            fields = (_PROC / str(member) / "statm").read_text().split()
            pages += int(fields[1]) - int(fields[2])
    return pages * os.sysconf("SC_PAGE_SIZE") // _MEGABYTE


def end_family(pid: int) -> None:
    for member in family(pid):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(member, signal.SIGKILL)


def _parents() -> Iterator[tuple[int, int]]:
    """(process, its parent) of all there are."""
    for entry in _PROC.glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            # The name stands in brackets and may hold anything.
            parent = entry.read_text().rpartition(")")[2].split()[1]
            yield int(entry.parent.name), int(parent)


_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
# As documents are shown elsewhere, but: nothing moves, nothing is repeated on the next sheet, and
# one character stays one character.
_STYLE = (
    "html{background:#fff;color:#111;font-variant-ligatures:none}"
    f"@page{{margin:{MARGIN}in}}"
    "body{margin:0;font:14px/1.4 'Liberation Serif','Times New Roman',Times,serif;"
    "overflow-wrap:break-word}"
    "table{border-collapse:collapse;max-width:100%}"
    "td,th{vertical-align:top;padding:1px 3px}"
    "thead,tfoot{display:table-row-group}"
    "pre{font:12px/1.35 'Liberation Mono','DejaVu Sans Mono',Consolas,monospace;"
    "white-space:pre-wrap}"
    "img{max-width:100%}"
    "*{animation:none!important;transition:none!important}"
)


def page_of(html: str) -> str:
    """A whole page around canonical HTML, under a policy that lets nothing in."""
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f"<title>Document</title><style>{_STYLE}</style></head><body>{html}</body></html>"
    )


def find_chromium(wanted: str) -> str:
    """The path of the program; raises NoBrowserError with what to install."""
    path = shutil.which(wanted)
    if path is None:
        raise NoBrowserError(
            f"No Chromium found as “{wanted}”. Install the package chromium, or name the program in"
            " the setting CHROMIUM; page images can also be uploaded instead."
        )
    return path


@contextmanager
def open_tab(executable: str) -> Iterator[Tab]:
    """A tab of a new browser. Raises NoBrowserError if it cannot be started."""
    with ExitStack() as stack:
        # Root cannot have the sandbox, and some containers do not allow it.
        for sandbox in (True, False) if os.geteuid() else (False,):
            try:
                tab = stack.enter_context(chromium.open_tab(executable, sandbox=sandbox))
                break
            except ChromiumError as error:
                reason = str(error)[:300]
        else:
            raise NoBrowserError(f"Chromium ({executable}) cannot be started: {reason}")
        yield tab


def print_pdf(tab: Tab, html: str, *, height: float, sheets: int) -> bytes:
    """The first `sheets` sheets of a document, `height` inches high; of the one in the tab if
    `html` is empty. Raises RenderingError. It takes as long as it takes: who started us watches.
    """
    try:
        if html:
            tab.show(page_of(html))
        return _printed(tab, height, sheets)
    except ChromiumError as error:
        reason = f"Chromium cannot print it: {str(error)[:300]}"
        raise RenderingError("not_rendered", reason) from error


def _printed(tab: Tab, height: float, sheets: int) -> bytes:
    """On a busy machine Chromium says now and then that printing failed, and can do it then."""
    try:
        return tab.print_pdf(width=WIDTH, height=height, sheets=sheets)
    except ChromiumError as error:
        if "Printing failed" not in str(error):
            raise
        return tab.print_pdf(width=WIDTH, height=height, sheets=sheets)


def print_fitting(tab: Tab, html: str, *, sheets: int) -> Iterator[bytes]:
    """The document on Letter paper, then, for as long as the caller asks, on longer sheets."""
    for height in HEIGHTS:
        yield print_pdf(tab, html, height=height, sheets=sheets)
        html = ""  # it is in the tab now


# [start, end, left, top, width, height]: code points of the canonical text, pixels of the image.
Box = list[int]


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
