"""Fixtures of the whole suite: users, clients, the job queue and the browser.

All permission tests use the same users: an organiser; a lead, a reviewer and the annotators Ann,
Ben and Cleo in a campaign; a researcher and a stranger outside it.
"""

import hashlib
import os
import shutil
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import django
import hypothesis
import pytest
from allauth.account.models import EmailAddress
from django.apps import apps
from django.conf import settings as django_settings
from django.db import connection, connections
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page
from pytest_django import DjangoDbBlocker
from rest_framework.test import APIClient

from portal import schema
from portal.accounts.models import User
from portal.jobs.worker import SWEEPS

from .worlds import shared

PASSWORD = "correct horse"
# The property of a test whose value is listed after the run; see `record_property`.
MEASURED = "measured"

# Examples have no deadline: a busy machine can be slow.
hypothesis.settings.register_profile(
    "unhurried", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("unhurried")


def _is_sqlite() -> bool:
    return bool(connections["default"].settings_dict["ENGINE"].endswith("sqlite3"))


def _required(name: str) -> bool:
    return os.environ.get(name, "") not in {"", "0"}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks tests that use a database, so that `-m database` selects them.

    Skips browser tests without Chromium, and tests of LaTeX tables without pdflatex. The summary
    of the test run lists them.
    """
    if _is_sqlite():
        # SQLite allows only one writer at a time.
        config.hook.pytest_deselected(items=[item for item in items if _is_race(item)])
        items[:] = [item for item in items if not _is_race(item)]
    has_tex = shutil.which("pdflatex") or _required("REQUIRE_TEX")
    has_browser = shutil.which("chromium") or _required("REQUIRE_BROWSER")
    for item in items:
        if item.get_closest_marker("django_db") or "db" in _fixtures(item):
            item.add_marker(pytest.mark.database)
        if not has_browser and item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.skip(reason="NO BROWSER: install chromium to run this"))
        if not has_tex and item.get_closest_marker("tex"):
            reason = "NO TEX: install texlive-latex-recommended to run this"
            item.add_marker(pytest.mark.skip(reason=reason))


def _is_race(item: pytest.Item) -> bool:
    return item.get_closest_marker("race") is not None


def _fixtures(item: pytest.Item) -> Collection[str]:
    """Returns the names of all fixtures of the test, direct and indirect."""
    return getattr(item, "fixturenames", ())


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Names bytes by their parameter.

    Archives contain the time they were made, but all xdist workers need the same test ids.
    """
    return argname if isinstance(val, bytes) and len(val) > 20 else None


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Lists what tests measured, and tests that were skipped because a browser, a service, TeX or
    data is missing."""
    stats = terminalreporter.stats
    ended = [*stats.get("passed", []), *stats.get("failed", [])]
    measured = [
        value for report in ended for name, value in report.user_properties if name == MEASURED
    ]
    if measured:
        terminalreporter.section("MEASURED")
        for line in sorted(measured):
            terminalreporter.line(line)
    skipped = stats.get("skipped", [])
    if skipped:
        reasons: dict[str, int] = {}
        for report in skipped:
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else "skipped"
            reasons[reason] = reasons.get(reason, 0) + 1
        terminalreporter.section("NOT RUN", sep="!", red=True)
        for reason, count in sorted(reasons.items()):
            terminalreporter.line(f"{count:4d}  {reason}")


def _migrated_template(config: pytest.Config) -> Path:
    """Returns the path of the migrated SQLite database. It changes with every migration."""
    digest = hashlib.sha256(django.__version__.encode())
    digest.update(Path(schema.__file__).read_bytes())
    for app in apps.get_app_configs():
        for path in sorted(Path(app.path, "migrations").glob("*.py")):
            digest.update(f"{app.label} {path.name}\n".encode() + path.read_bytes())
    return config.cache.mkdir("database") / f"{digest.hexdigest()[:20]}.sqlite3"


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings: None,
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Uses SQLite in a file, as on a real site, copied from a migrated database if there is one.

    Threads share one page cache of an in-memory database, where a reader gets an error instead of
    waiting for a writer.
    """
    if not _is_sqlite():
        return
    test = connections["default"].settings_dict["TEST"]
    test["NAME"] = str(tmp_path_factory.mktemp("database") / "tests.sqlite3")
    template = _migrated_template(request.config)
    if template.exists():
        shutil.copyfile(template, test["NAME"])
        test["MIGRATE"] = False


@pytest.fixture(scope="session")
def django_db_keepdb(django_db_keepdb: bool) -> bool:
    """Keeps Django from deleting the copy. pytest removes it with its folder."""
    return django_db_keepdb or _is_sqlite()


@pytest.fixture(scope="session")
def django_db_setup(
    request: pytest.FixtureRequest, django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> None:
    """Saves the migrated database for later test runs."""
    if not _is_sqlite():
        return
    template = _migrated_template(request.config)
    if not template.exists():
        # If several workers do this, the last one wins with an equal file.
        unfinished = template.with_suffix(f".{os.getpid()}")
        with django_db_blocker.unblock(), closing(sqlite3.connect(unfinished)) as copy:
            connection.ensure_connection()
            connection.connection.backup(copy)
        unfinished.replace(template)


@pytest.fixture(autouse=True)
def _own_files(settings: Any, tmp_path: Path) -> None:
    """Stores the uploads of each test in a separate folder."""
    settings.MEDIA_ROOT = tmp_path / "media"


@pytest.fixture(autouse=True)
def _no_drawing_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stops the sweep that draws the charts of all boards once a minute, in any test."""
    kept = [sweep for sweep in SWEEPS if sweep.__name__ != "queue_undrawn"]
    monkeypatch.setattr("portal.jobs.worker.SWEEPS", kept)


def make_user(name: str, **extra: Any) -> User:
    user = User.objects.create_user(
        email=f"{name.lower()}@example.org", password=PASSWORD, name=name, **extra
    )
    # The same as `mark_confirmed`, without its query for an earlier row.
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    return user


@pytest.fixture
@shared
def organiser(db: None) -> User:
    return make_user("Olga", is_organiser=True)


@pytest.fixture
@shared
def lead(db: None) -> User:
    return make_user("Lea")


@pytest.fixture
@shared
def reviewer(db: None) -> User:
    return make_user("Rita")


@pytest.fixture
@shared
def ann(db: None) -> User:
    return make_user("Ann")


@pytest.fixture
@shared
def ben(db: None) -> User:
    return make_user("Ben")


@pytest.fixture
@shared
def cleo(db: None) -> User:
    return make_user("Cleo")


@pytest.fixture
@shared
def researcher(db: None) -> User:
    return make_user("Rex")


@pytest.fixture
@shared
def stranger(db: None) -> User:
    return make_user("Sam")


@pytest.fixture
def client_of() -> Callable[[User | None], Client]:
    """Returns a Django client logged in as the user, or logged out for None."""

    def make(user: User | None) -> Client:
        client = Client()
        if user is not None:
            client.force_login(user, backend=django_settings.AUTHENTICATION_BACKENDS[0])
        return client

    return make


@pytest.fixture
def api_of() -> Callable[[User | None], APIClient]:
    """Returns a DRF client authenticated as the user, or anonymous for None."""

    def make(user: User | None) -> APIClient:
        client = APIClient()
        if user is not None:
            client.force_authenticate(user)
        return client

    return make


@pytest.fixture
def run_jobs() -> Callable[[], int]:
    """Runs all due jobs in this process, as a worker does."""
    from portal.jobs.worker import run_due_jobs

    return run_due_jobs


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    """Makes pytest-playwright use the system's Chromium without background requests."""
    return {
        "executable_path": shutil.which("chromium"),
        "args": ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
    }


@pytest.fixture
def page_of(
    live_server: Any, browser: Browser, client_of: Callable[[User | None], Client]
) -> Iterator[Callable[..., Page]]:
    """Opens a page in a new browser context, logged in as the user.

    Fails at the end if the console has an error. Use `ignore_console` for pages whose requests
    should be refused. Other arguments, such as `viewport` and `color_scheme`, go to the browser
    context.
    """
    problems: list[str] = []
    contexts: list[BrowserContext] = []

    def make(user: User | None, *, ignore_console: bool = False, **options: Any) -> Page:
        context = browser.new_context(base_url=live_server.url, **options)
        contexts.append(context)
        if user is not None:
            session = client_of(user).cookies[django_settings.SESSION_COOKIE_NAME].value
            name = django_settings.SESSION_COOKIE_NAME
            context.add_cookies([{"name": name, "value": session, "url": live_server.url}])
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("pageerror", lambda error: problems.append(f"{page.url}: {error}"))
        if not ignore_console:
            page.on("console", lambda message: _note(problems, page, message))
        return page

    yield make
    for context in contexts:
        context.close()
    _wait_for_open_requests()
    assert problems == []


def _wait_for_open_requests() -> None:
    """Requests of a closed page could still lock tables that pytest-django empties next."""
    for thread in threading.enumerate():
        if "process_request_thread" in thread.name:
            thread.join(timeout=10)


def _note(problems: list[str], page: Page, message: ConsoleMessage) -> None:
    """Records console errors, except those of refused requests (409, 422, offline)."""
    if message.type == "error" and not message.text.startswith("Failed to load resource"):
        problems.append(f"{page.url}: {message.text}")
