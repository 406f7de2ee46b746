"""The whole site as in production: a real web server, a real worker and a separate database."""

import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from playwright.sync_api import Browser, BrowserContext

from tests.jobs import processes

from .interpreter import Interpreter

PASSWORD = "a long enough password"
GRANIAN = [
    "--interface", "wsgi", "--host", "127.0.0.1", "--workers", "1", "--blocking-threads", "8",
    "--workers-kill-timeout", "3", "--no-ws", "--log-level", "warning", "portal.wsgi:application",
]  # fmt: skip
# Some pages ask for the password again a few minutes after login.
SESSION = """
import json, time
from django.conf import settings
from django.test import Client
from portal.accounts.models import User
client = Client()
user = User.objects.get(email={email!r})
client.force_login(user, backend=settings.AUTHENTICATION_BACKENDS[0])
session = client.session
session["account_authentication_methods"] = [{{"method": "password", "at": time.time()}}]
session.save()
print(json.dumps([settings.SESSION_COOKIE_NAME, session.session_key]))
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def locked(lock: Path) -> Iterator[None]:
    """Excludes the other processes of the test run. A killed process releases the lock."""
    with lock.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


class Site:
    """A site in a folder. `start` and `stop` start and stop its web server and worker.

    Call `stop` after `command` or `shell`, or use the site in a `with` statement.
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
        """Runs `manage.py prepare`. On SQLite, all sites of a test run copy one result."""
        if self.env["DATABASE_URL"].startswith("sqlite"):
            shutil.copytree(self._template(sample), self.folder, dirs_exist_ok=True)
        else:
            self._make(sample)

    def _make(self, sample: bool) -> None:
        self.manage("prepare", *([] if sample else ["--no-sample"]))
        if sample:
            # Draws the charts of all boards once, so that no copy has to.
            self.manage("run_jobs")

    def _template(self, sample: bool) -> Path:
        """Returns a prepared folder that all processes of the test run share."""
        folder = self.folder.parent
        if "PYTEST_XDIST_WORKER" in os.environ:
            # Each xdist worker has its own folder inside the folder of the run.
            folder = folder.parent
        template = folder / f"prepared-{'sample' if sample else 'empty'}"
        with locked(template.with_suffix(".lock")):
            if not template.exists():
                unfinished = template.with_suffix(".unfinished")
                shutil.rmtree(unfinished, ignore_errors=True)
                unfinished.mkdir()
                Site(unfinished)._make(sample)
                unfinished.rename(template)
        return template

    def manage(self, *arguments: str) -> str:
        return processes.manage(self.env, *arguments)

    def command(self, name: str, *arguments: str) -> str:
        """Like `manage`, but in the process that `shell` uses, which is faster."""
        code = "from django.core.management import call_command\n"
        return self._python().run(f"{code}call_command({name!r}, *{arguments!r})")

    def shell(self, code: str) -> Any:
        """Runs code in the site's Django and returns the JSON it printed last."""
        return json.loads(self._python().run(code).splitlines()[-1])

    def _python(self) -> Interpreter:
        if self._interpreter is None:
            self._interpreter = Interpreter(self.env, self.folder / "shell.log")
        return self._interpreter

    def add_user(self, name: str, **fields: Any) -> str:
        """Creates an account with a confirmed email address, which it returns."""
        email = f"{name.lower()}@example.org"
        arguments = {"email": email, "password": PASSWORD, "name": name, **fields}
        self.shell(
            "from portal.accounts.emails import mark_confirmed\n"
            "from portal.accounts.models import User\n"
            f"user = User.objects.create_user(**{arguments!r})\n"
            "mark_confirmed(user)\n"
            "print(user.pk)"
        )
        return email

    def log_in(self, browser: Browser, email: str, **options: Any) -> BrowserContext:
        """Opens a browser context logged in as the user; `options` go to the context."""
        context = browser.new_context(base_url=self.url, **options)
        name, value = self.shell(SESSION.format(email=email))
        context.add_cookies([{"name": name, "value": value, "url": self.url}])
        return context

    def add_users(self, *names: str) -> None:
        """Creates several accounts at once, which is faster than `add_user`."""
        self.shell(
            "from portal.accounts.emails import mark_confirmed\n"
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
        processes.wait_until(self._is_up, seconds=30, what=f"{self.url} answers")

    def kill_web(self) -> None:
        """Kills the web server at once, like a crash or a power cut."""
        processes.kill_group(self._running.pop(), signal.SIGKILL)

    def stop(self) -> None:
        for process in self._running:
            processes.kill_group(process, signal.SIGTERM)
        self._running.clear()
        if self._interpreter is not None:
            self._interpreter.close()
            self._interpreter = None

    def _is_up(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/healthz", timeout=5) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return False


def logged_in(browser: Browser, site: Site, who: str, **options: Any) -> BrowserContext:
    """Opens a browser context for a user of the sample site; an empty name means logged out."""
    if who:
        return site.log_in(browser, f"{who}@factboard.example", **options)
    return browser.new_context(base_url=site.url, **options)
