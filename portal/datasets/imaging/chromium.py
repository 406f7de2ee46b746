"""A headless Chromium, driven over a pipe by the DevTools protocol.

Three commands are enough to print a page, so the site needs no browser library besides the browser
itself. Messages are JSON, each ended by a NUL byte. The browser reads them from its file descriptor
3 and writes to 4, so no port is opened.
https://chromedevtools.github.io/devtools-protocol/
"""

import base64
import fcntl
import json
import os
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# Seconds that a browser may take to end by itself.
_GRACE = 5
# Seconds between two looks at a page whose images are still being decoded.
_LOADING = 0.005
_CHUNK = 1 << 20
_ARGUMENTS = [
    "--headless",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-sync",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
    "--metrics-recording-only",
    "--mute-audio",
    "--password-store=basic",
    # Nothing can be reached: no name resolves, and no proxy listens.
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
]


class ChromiumError(Exception):
    """Chromium refused a command or has ended."""


class Tab:
    """One tab. No script runs in it, and every request it makes is aborted."""

    def __init__(self, send_to: int, receive_from: int) -> None:
        """Takes the two ends of the pipe of a browser that has just started."""
        self._send_to, self._receive_from = send_to, receive_from
        self._received = b""
        self._number = 0
        self._session = ""
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        attached = self._call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        self._call("Page.enable")
        self._call("Emulation.setScriptExecutionDisabled", value=True)
        self._call("Network.enable")
        self._call("Network.setBypassServiceWorker", bypass=True)
        self._call(
            "Network.emulateNetworkConditions",
            offline=True, latency=0, downloadThroughput=0, uploadThroughput=0,
        )  # fmt: skip
        self._call("Fetch.enable", patterns=[{"urlPattern": "*"}])
        self._frame = self._call("Page.getFrameTree")["frameTree"]["frame"]["id"]

    def show(self, html: str) -> None:
        """Puts a whole document into the tab, and waits until its images are there."""
        self._call("Page.setDocumentContent", frameId=self._frame, html=html)
        # The event that says so may come before the answer above, or belong to the page before.
        while self._evaluate("document.readyState") != "complete":
            time.sleep(_LOADING)

    def print_pdf(self, *, width: float, height: float, sheets: int) -> bytes:
        """The first `sheets` sheets of the document, `width` by `height` inches."""
        printed = self._call(
            "Page.printToPDF",
            printBackground=True,
            paperWidth=width,
            paperHeight=height,
            pageRanges=f"1-{sheets}",
        )
        return base64.b64decode(printed["data"])

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The result of a command. Events that arrive before it are dealt with."""
        number = self._send(method, parameters)
        while True:
            message = self._next()
            if message.get("id") == number:
                if error := message.get("error"):
                    raise ChromiumError(f"{method}: {error['message']}")
                result: dict[str, Any] = message["result"]
                return result

    def _evaluate(self, expression: str) -> Any:
        """Ours alone runs: the page's own scripts are off."""
        return self._call("Runtime.evaluate", expression=expression)["result"].get("value")

    def _send(self, method: str, parameters: dict[str, Any]) -> int:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        try:
            while data:
                data = data[os.write(self._send_to, data) :]
        except OSError as error:
            raise ChromiumError("the browser has ended") from error
        return self._number

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._received:
            chunk = os.read(self._receive_from, _CHUNK)
            if not chunk:
                raise ChromiumError("the browser has ended")
            self._received += chunk
        data, _, self._received = self._received.partition(b"\0")
        message: dict[str, Any] = json.loads(data)
        if message.get("method") == "Fetch.requestPaused":
            # “Aborted” leaves the document in the tab where it tried to go elsewhere; any other
            # reason would put an error page in its place.
            request = message["params"]["requestId"]
            self._send("Fetch.failRequest", {"requestId": request, "errorReason": "Aborted"})
        return message


@contextmanager
def open_tab(executable: str, *, sandbox: bool) -> Iterator[Tab]:
    """A tab of a new browser, which ends with the block. Raises ChromiumError if none starts."""
    with tempfile.TemporaryDirectory(prefix="chromium-") as profile:
        command = [executable, *_ARGUMENTS, f"--user-data-dir={profile}"]
        pid, send_to, receive_from = _start(command if sandbox else [*command, "--no-sandbox"])
        try:
            yield Tab(send_to, receive_from)
        finally:
            os.close(send_to)
            os.close(receive_from)
            _end(pid)


def _start(command: list[str]) -> tuple[int, int, int]:
    """The browser's process, and our ends of its pipes."""
    browser_reads, send_to = os.pipe()
    receive_from, browser_writes = os.pipe()
    # Above 3 and 4, so that neither is overwritten before it was copied.
    copies = [
        fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (browser_reads, browser_writes)
    ]
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_DUP2, copies[0], 3),
        (os.POSIX_SPAWN_DUP2, copies[1], 4),
    ]
    try:
        pid = os.posix_spawn(command[0], command, os.environ, file_actions=actions)
    except OSError as error:
        os.close(send_to)
        os.close(receive_from)
        raise ChromiumError(str(error)) from error
    finally:
        for end in (browser_reads, browser_writes, *copies):
            os.close(end)
    return pid, send_to, receive_from


def _end(pid: int) -> None:
    """Without its pipe the browser ends by itself; one that does not is killed."""
    until = time.monotonic() + _GRACE
    while time.monotonic() < until:
        if os.waitpid(pid, os.WNOHANG)[0]:
            return
        time.sleep(0.02)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
