"""Render documents in a child process with limits on time and memory.

`Renderer` runs in the worker. It starts the program `drawing`, sends it one document after the
other, and reads the images. If a document exceeds a limit, the child and its browser are killed,
and the next document gets new ones. Memory is measured in /proc on Linux; other systems only have
the time limit.

`open_tab` and `print_fitting` run in the child: a headless Chromium prints HTML to PDF without
network and scripts. Scripts are disabled in the tab and by the page's policy. The policy forbids
requests, all requests are aborted, the tab is offline, and the proxy is a closed port.
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
# Inches. Filings use 8.5 × 11. A document is one page of a filing, so if it does not fit on a
# sheet, longer ones are tried before it is printed on several.
WIDTH = 8.5
HEIGHTS = (11.0, 14.0, 17.0, 22.0)
MARGIN = 0.4


class RenderingError(Exception):
    """A document cannot be rendered. `code` identifies the reason, `reason` describes it."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


class NoBrowserError(Exception):
    """Chromium is missing or cannot be started. The message says what to do."""


@dataclass(frozen=True)
class Limits:
    """Limits for one document.

    `seconds` from the HTML to the last image, `megabytes` of memory of all processes together, and
    `sheets` of paper. The browser restarts after `documents` documents.
    """

    seconds: float = 60
    megabytes: int = 1500
    sheets: int = 40
    documents: int = 100


_PROC = Path("/proc")
_MEGABYTE = 1024 * 1024


def family(pid: int) -> list[int]:
    """Return the process and its descendants, parents first."""
    children: dict[int, list[int]] = {}
    for child, parent in _parents():
        children.setdefault(parent, []).append(child)
    members = [pid]
    for member in members:
        members.extend(children.get(member, []))
    return members


def megabytes(pid: int) -> int:
    """Return the resident memory of the family without file-backed memory; 0 if unknown."""
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
    """Yield (process, parent) of all processes."""
    for entry in _PROC.glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            # The name is in brackets and may contain any character.
            parent = entry.read_text().rpartition(")")[2].split()[1]
            yield int(entry.parent.name), int(parent)


_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
# The usual style of documents, without animations, repeated table headers and ligatures.
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
    """Return a complete page with canonical HTML and a policy that forbids requests."""
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f"<title>Document</title><style>{_STYLE}</style></head><body>{html}</body></html>"
    )


def find_chromium(wanted: str) -> str:
    """Return the path of the program. Raises NoBrowserError."""
    path = shutil.which(wanted)
    if path is None:
        raise NoBrowserError(
            f"No Chromium found as “{wanted}”. Install the package chromium, or set CHROMIUM to its"
            " path. You can also upload page images."
        )
    return path


@contextmanager
def open_tab(executable: str) -> Iterator[Tab]:
    """Open a tab in a new browser. Raises NoBrowserError if it cannot be started."""
    with ExitStack() as stack:
        # The sandbox does not work for root and in some containers.
        for sandbox in (True, False) if os.geteuid() else (False,):
            try:
                tab = stack.enter_context(chromium.open_tab(executable, sandbox=sandbox))
                break
            except ChromiumError as error:
                reason = str(error)[:300]
        else:
            raise NoBrowserError(f"Chromium ({executable}) cannot be started: {reason}")
        yield tab


def print_fitting(tab: Tab, html: str, *, sheets: int) -> Iterator[bytes]:
    """Yield a document as PDF on sheets of 11 inches, then on longer and longer ones.

    Each PDF has the first `sheets` sheets. There is no time limit. Raises RenderingError.
    """
    try:
        tab.show(page_of(html))
        for height in HEIGHTS:
            yield _printed(tab, height, sheets)
    except ChromiumError as error:
        reason = f"Chromium cannot print it: {str(error)[:300]}"
        raise RenderingError("not_rendered", reason) from error


def _printed(tab: Tab, height: float, sheets: int) -> bytes:
    """Print the document, and try again once if Chromium fails, as it may on a busy machine."""
    try:
        return tab.print_pdf(width=WIDTH, height=height, sheets=sheets)
    except ChromiumError as error:
        if "Printing failed" not in str(error):
            raise
        return tab.print_pdf(width=WIDTH, height=height, sheets=sheets)


# [start, end, left, top, width, height]: code points of the canonical text, pixels of the image.
Box = list[int]


_ROOT = Path(__file__).resolve().parents[3]
# Seconds between checks of the memory, and seconds that a browser may take to start.
_LOOK_EVERY = 0.25
_START = 60
# The environment variables of the child, without any secret of the site.
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "FONTCONFIG_FILE", "FONTCONFIG_PATH", "VIRTUAL_ENV")


@dataclass(frozen=True)
class RenderedImage:
    """A page image as PNG and WebP, its size in pixels, and its text boxes."""

    png: bytes
    thumbnail: bytes
    width: int
    height: int
    boxes: list[Box]


@dataclass(frozen=True)
class Rendered:
    """The images of a document; `similarity` is the share of its text in them, from 0 to 1."""

    images: list[RenderedImage]
    similarity: float


class Renderer:
    """Renders documents one by one in a child process; a context manager that ends it."""

    def __init__(self, chromium: str, limits: Limits | None = None) -> None:
        """Raises NoBrowserError if the program is missing. It starts with the first document."""
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
        """Render canonical `html` and `text`; boxes have offsets in code points of `text`.

        Raises RenderingError if the document cannot be rendered, or NoBrowserError.
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
            raise RenderingError("not_rendered", "the browser crashed") from error
        except BaseException:
            # A child that is still working would send this result for the next document.
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
            [sys.executable, "-m", "portal.datasets.imaging.drawing", self._executable, limits],
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
        """Return the child's next line. Raises RenderingError at a limit or if the child ended."""
        assert child.stdout is not None
        until = time.monotonic() + seconds
        received = [self._rest]
        with selectors.DefaultSelector() as selector:
            selector.register(child.stdout, selectors.EVENT_READ)
            while b"\n" not in received[-1]:
                if selector.select(_LOOK_EVERY):
                    data = os.read(child.stdout.fileno(), 1 << 20)
                    if not data:
                        raise RenderingError("not_rendered", "the browser crashed")
                    received.append(data)
                elif time.monotonic() > until:
                    raise RenderingError("too_slow", f"took longer than {seconds:g} seconds")
                elif megabytes(child.pid) > self._limits.megabytes:
                    raise RenderingError(
                        "too_much_memory", f"used more than {self._limits.megabytes:,} MB of memory"
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
