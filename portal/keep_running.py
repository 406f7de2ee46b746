"""Restarts a command when it ends: `python -m portal.keep_running NAME COMMAND`.

The Procfile uses it for each part of the site, because honcho ends all parts when one ends. It uses
only the standard library, to need little memory. On SIGTERM and SIGINT it ends the command and then
itself.
"""

import os
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress

FIRST_WAIT = 1
LONGEST_WAIT = 30
# After this time the start was successful, and the delay starts from the first step again.
STEADY_AFTER = 60
# honcho kills processes after five seconds.
ENDS_WITHIN = 4.5


class Keeper:
    """Keeps one command running."""

    def __init__(self, name: str, command: list[str]) -> None:
        self._name, self._command = name, command
        self._child: subprocess.Popen[bytes] | None = None
        self._stopping = False
        self._woken, waker = os.pipe()
        os.set_blocking(waker, False)
        signal.set_wakeup_fd(waker)
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGINT, self._stop)
        signal.signal(signal.SIGALRM, lambda *_: self._signal_child(signal.SIGKILL))

    def run(self) -> None:
        failures = 0
        while True:
            begun = time.monotonic()
            code = self._run_once()
            if self._stopping:
                return
            lasted = time.monotonic() - begun
            failures = 1 if lasted >= STEADY_AFTER else failures + 1
            wait = min(FIRST_WAIT * 2 ** (failures - 1), LONGEST_WAIT)
            self._say(code, lasted, failures, wait)
            signalled, _, _ = select.select([self._woken], [], [], wait)
            if signalled:
                return

    def _run_once(self) -> int:
        self._child = subprocess.Popen(self._command, start_new_session=True)  # noqa: S603 - the Procfile's
        if self._stopping:
            # The signal arrived before the process was started.
            self._stop()
        code = self._child.wait()
        # Child processes would keep the port or job that the new process needs.
        self._signal_child(signal.SIGKILL)
        return code

    def _stop(self, *_: object) -> None:
        self._stopping = True
        if self._child is not None:
            self._signal_child(signal.SIGTERM)
            signal.setitimer(signal.ITIMER_REAL, ENDS_WITHIN)

    def _signal_child(self, number: signal.Signals) -> None:
        """Signal the whole process group, which may outlive its first process."""
        if self._child is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._child.pid, number)

    def _say(self, code: int, lasted: float, failures: int, wait: int) -> None:
        how = (
            f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
        )
        again = f", {failures} times in a row" if failures > 1 else ""
        print(  # noqa: T201 - honcho shows it with the name of the part
            f"{self._name} {how} after {lasted:.0f} s{again}. Starting it again in {wait} s.",
            flush=True,
        )


def main() -> None:
    if len(sys.argv) < 3:
        sys.exit("usage: python -m portal.keep_running NAME COMMAND…")
    Keeper(sys.argv[1], sys.argv[2:]).run()


if __name__ == "__main__":
    main()
