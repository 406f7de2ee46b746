"""The whole site as it runs in production: real web server, real worker, a database of its own."""

import json
import shutil
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Self

from tests.jobs import processes

from .interpreter import Interpreter

PASSWORD = "a long enough password"
GRANIAN = [
    "--interface", "wsgi", "--host", "127.0.0.1", "--workers", "1", "--blocking-threads", "8",
    "--workers-kill-timeout", "3", "--no-ws", "--log-level", "warning", "portal.wsgi:application",
]  # fmt: skip


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Site:
    """A site in a folder: `manage` and `shell` act on it, `start` and `stop` its processes.

    Who asks its `shell` has to `stop` it, or to use it in a `with`.
    """

    def __init__(self, folder: Path, **extra: str) -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.env = processes.environment(
            folder, DJANGO_SETTINGS_MODULE="portal.settings", LOG_LEVEL="WARNING", **extra
        )
        self._running: list[subprocess.Popen[bytes]] = []
        self._interpreter: Interpreter | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def prepare(self, *, sample: bool = False) -> None:
        """What `manage.py prepare` makes; on SQLite it is made once and copied from then on."""
        options = [] if sample else ["--no-sample"]
        if not self.env["DATABASE_URL"].startswith("sqlite"):
            self.manage("prepare", *options)
            return
        template = self.folder.parent / f"prepared-{'sample' if sample else 'empty'}"
        if not template.exists():
            template.mkdir()
            try:
                Site(template).manage("prepare", *options)
            except BaseException:
                shutil.rmtree(template)
                raise
        shutil.copytree(template, self.folder, dirs_exist_ok=True)

    def manage(self, *arguments: str) -> str:
        return processes.manage(self.env, *arguments)

    def shell(self, code: str) -> Any:
        """Runs code in the site's Django and returns the JSON it printed last."""
        if self._interpreter is None:
            self._interpreter = Interpreter(self.env, self.folder / "shell.log")
        return json.loads(self._interpreter.run(code).splitlines()[-1])

    def add_user(self, name: str, **fields: Any) -> str:
        """Makes an account with a confirmed email address, which it returns."""
        email = f"{name.lower()}@example.org"
        arguments = {"email": email, "password": PASSWORD, "name": name, **fields}
        self.shell(
            "from portal.accounts.confirmation import mark_confirmed\n"
            "from portal.accounts.models import User\n"
            f"user = User.objects.create_user(**{arguments!r})\n"
            "mark_confirmed(user)\n"
            "print(user.pk)"
        )
        return email

    def add_users(self, *names: str) -> None:
        """Makes several accounts as `add_user` does, sooner than one by one."""
        self.shell(
            "from portal.accounts.confirmation import mark_confirmed\n"
            "from portal.accounts.models import User\n"
            f"for name in {names!r}:\n"
            f"    email, password = f'{{name.lower()}}@example.org', {PASSWORD!r}\n"
            "    mark_confirmed(\n"
            "        User.objects.create_user(email=email, password=password, name=name)\n"
            "    )\n"
            "print(User.objects.count())"
        )

    def start(self) -> None:
        self._running.append(processes.start_worker(self.env, self.folder / "worker.log"))
        self.start_web()

    def start_web(self) -> None:
        log = self.folder / "web.log"
        web = [sys.executable, "-m", "granian", "--port", str(self.port), *GRANIAN]
        self._running.append(processes.start(self.env, log, *web))
        processes.wait_until(self._answers, seconds=30, what=f"{self.url} answers")

    def kill_web(self) -> None:
        """Ends the web server as a crash or a power cut does: at once, whatever it is doing."""
        processes.kill_group(self._running.pop(), signal.SIGKILL)

    def stop(self) -> None:
        for process in self._running:
            processes.kill_group(process, signal.SIGTERM)
        self._running.clear()
        if self._interpreter is not None:
            self._interpreter.close()
            self._interpreter = None

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/healthz", timeout=5) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return False
