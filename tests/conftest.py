"""Fixtures of the whole suite: the cast of people, clients, the queue, the browser.

The cast is named once, so that every permission test speaks of the same people: an organiser, and
in a campaign a lead, a reviewer and the annotators Ann, Ben and Cleo; outside of it a researcher
and a stranger.
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

from portal.accounts.models import User
from portal.jobs.worker import SWEEPS

from .worlds import shared

PASSWORD = "correct horse"

# Tests assert no seconds, and on a busy machine everything takes its time.
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
    """Marks the tests that ask a database, so that another one can be tried with them alone.

    Browser tests need a Chromium, tests of tables for papers a pdflatex; without them they are
    skipped in a way nobody overlooks.
    """
    if _is_sqlite():
        # It has one writer at a time.
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
    """The names of all fixtures of the test, those of its fixtures among them."""
    return getattr(item, "fixturenames", ())


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes are named by their parameter: packed ones hold the second in which they were packed,
    and all workers must call a test the same."""
    return argname if isinstance(val, bytes) and len(val) > 20 else None


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Says loudly what was skipped for want of a browser, services, TeX or data."""
    skipped = terminalreporter.stats.get("skipped", [])
    if skipped:
        reasons: dict[str, int] = {}
        for report in skipped:
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else "skipped"
            reasons[reason] = reasons.get(reason, 0) + 1
        terminalreporter.section("NOT RUN", sep="!", red=True)
        for reason, count in sorted(reasons.items()):
            terminalreporter.line(f"{count:4d}  {reason}")


def _migrated_template(config: pytest.Config) -> Path:
    """Where a migrated SQLite database is kept; another file after any change of a migration."""
    digest = hashlib.sha256(django.__version__.encode())
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
    """SQLite in a file, as on a real site, copied from a migrated one where there is one.

    In memory, threads share one page cache: a reader next to a writer does not wait but gets an
    error, whatever the timeout.
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
    """Django must not delete the copy. pytest removes it with its folder."""
    return django_db_keepdb or _is_sqlite()


@pytest.fixture(scope="session")
def django_db_setup(
    request: pytest.FixtureRequest, django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> None:
    """Keeps the first migrated database for all later runs."""
    if not _is_sqlite():
        return
    template = _migrated_template(request.config)
    if not template.exists():
        # Another worker may do the same: the last one wins, with an equal file.
        unfinished = template.with_suffix(f".{os.getpid()}")
        with django_db_blocker.unblock(), closing(sqlite3.connect(unfinished)) as copy:
            connection.ensure_connection()
            connection.connection.backup(copy)
        unfinished.replace(template)


@pytest.fixture(autouse=True)
def _own_files(settings: Any, tmp_path: Path) -> None:
    """Uploads of a test stay in a folder of its own."""
    settings.MEDIA_ROOT = tmp_path / "media"


@pytest.fixture(autouse=True)
def _no_drawing_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once a minute workers have the charts of all boards drawn, in whatever test that would be."""
    kept = [look for look in SWEEPS if look.__name__ != "queue_undrawn"]
    monkeypatch.setattr("portal.jobs.worker.SWEEPS", kept)


def make_user(name: str, **extra: Any) -> User:
    user = User.objects.create_user(
        email=f"{name.lower()}@example.org", password=PASSWORD, name=name, **extra
    )
    # As `mark_confirmed` does it, which looks for a former row first.
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
    """A Django client logged in as the user; of nobody for None."""

    def make(user: User | None) -> Client:
        client = Client()
        if user is not None:
            client.force_login(user, backend=django_settings.AUTHENTICATION_BACKENDS[0])
        return client

    return make


@pytest.fixture
def api_of() -> Callable[[User | None], APIClient]:
    """A DRF client acting as the user; of nobody for None."""

    def make(user: User | None) -> APIClient:
        client = APIClient()
        if user is not None:
            client.force_authenticate(user)
        return client

    return make


@pytest.fixture
def run_jobs() -> Callable[[], int]:
    """Runs every due job in this process, as a worker would, until none is left."""
    from portal.jobs.worker import run_due_jobs

    return run_due_jobs


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    """pytest-playwright with the system's Chromium, quiet and offline."""
    return {
        "executable_path": shutil.which("chromium"),
        "args": ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
    }


@pytest.fixture
def page_of(
    live_server: Any, browser: Browser, client_of: Callable[[User | None], Client]
) -> Iterator[Callable[..., Page]]:
    """A page of a browser of its own, logged in as the user; at the end no console error may be
    left.

    `ignore_console` is for pages that are meant to be refused things. Other arguments go to the
    browser context, such as `viewport` and `color_scheme`.
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
    _wait_for_the_last_answers()
    assert problems == []


def _wait_for_the_last_answers() -> None:
    """What a closed page still has under way would lock tables that are about to be emptied."""
    for thread in threading.enumerate():
        if "process_request_thread" in thread.name:
            thread.join(timeout=10)


def _note(problems: list[str], page: Page, message: ConsoleMessage) -> None:
    """Keeps errors of our own code; a refused request (409, 422, offline) is not one of them."""
    if message.type == "error" and not message.text.startswith("Failed to load resource"):
        problems.append(f"{page.url}: {message.text}")
