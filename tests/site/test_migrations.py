"""Data outlives a version: migrations are kept, and a database of another version is refused."""

import hashlib
import subprocess
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management.base import CommandError
from django.db import connection

from portal import schema
from tests.e2e.site import GRANIAN, Site, free_port
from tests.jobs.processes import ROOT, rows
from tests.jobs.test_processes import own_postgres

DIGESTS = Path(__file__).with_name("migrations.sha256")


def _own_migrations() -> Iterator[Path]:
    for app in apps.get_app_configs():
        if app.name.partition(".")[0] in schema.OURS:
            yield from Path(app.path, "migrations").glob("[0-9]*.py")


def _count() -> int:
    return len(list(_own_migrations()))


def test_migrations_are_added_but_never_edited() -> None:
    """If this fails for a new migration, add its line to migrations.sha256. Never change a line:
    sites have applied the migration as it was. Write a new migration instead."""
    lines = (line.split("  ") for line in DIGESTS.read_text().splitlines())
    kept = {path: digest for digest, path in lines}
    found = {
        str(path.relative_to(ROOT)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in _own_migrations()
    }
    assert found == kept
    assert set(schema.on_disk().values()) >= set(kept.values())


# --- what is refused, and what is said ------------------------------------------------------


@pytest.fixture
def open_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test still needs the connection that a process of the site would close."""
    monkeypatch.setattr(connection, "close", lambda: None)


def _execute(sql: str, *values: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)


@pytest.mark.django_db
@pytest.mark.usefixtures("open_connection")
def test_a_migrated_database_is_current() -> None:
    assert schema.fault() == ""
    schema.require_current()
    schema.refuse_foreign()


@pytest.mark.django_db
@pytest.mark.usefixtures("open_connection")
@pytest.mark.parametrize("app", ["scoring", "account"])
def test_a_database_that_lacks_migrations_is_prepared_first(app: str) -> None:
    _execute("DELETE FROM django_migrations WHERE app = %s", app)
    assert f"such as {app}.0001_initial" in schema.fault()
    assert "manage.py prepare --no-sample" in schema.fault()
    with pytest.raises(SystemExit, match=r"Factboard cannot start\. The database lacks"):
        schema.require_current()
    schema.refuse_foreign()


@pytest.mark.django_db
def test_an_empty_database_is_prepared_first() -> None:
    _execute("DELETE FROM django_migrations")
    assert schema.fault() == "The database is empty. Run: manage.py prepare --no-sample"


@pytest.mark.django_db
def test_migrations_of_a_newer_version_are_refused() -> None:
    _execute(
        "INSERT INTO django_migrations (app, name, applied)"
        " VALUES ('scoring', '9999_later', '2030-01-01')"
    )
    assert "does not know 1 migration, such as scoring.9999_later" in schema.fault()
    with pytest.raises(CommandError, match="belongs to another version"):
        schema.refuse_foreign()


@pytest.mark.django_db
def test_migrations_of_apps_that_are_gone_do_not_matter() -> None:
    _execute(
        "INSERT INTO django_migrations (app, name, applied)"
        " VALUES ('retired', '0001_initial', '2020-01-01')"
    )
    assert schema.fault() == ""


@pytest.mark.django_db
def test_an_edited_migration_is_refused() -> None:
    _execute("UPDATE migration_digests SET sha256 = 'x' WHERE app = 'audit'")
    assert "other files of 1 migration, such as audit.0001_initial" in schema.fault()
    with pytest.raises(CommandError, match="export_release"):
        schema.refuse_foreign()


@pytest.mark.django_db
def test_a_database_without_digests_is_compared_and_recorded() -> None:
    _execute("DELETE FROM migration_digests")
    assert f"The database was not checked since {_count()} migrations" in schema.fault()
    schema.refuse_foreign()
    schema.record_digests()
    assert schema.fault() == ""


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ("ALTER TABLE audit_event RENAME COLUMN verb TO word", "no verb in audit_event"),
        ("ALTER TABLE accounts_team RENAME TO accounts_club", "no table accounts_team"),
        ("DROP INDEX event_subject", "no event_subject in audit_event"),
    ],
)
def test_a_database_without_digests_that_differs_is_refused(change: str, difference: str) -> None:
    _execute("DELETE FROM migration_digests")
    _execute(change)
    with pytest.raises(CommandError, match=f"such as {difference}"):
        schema.refuse_foreign()


@pytest.mark.django_db
def test_digests_of_reverted_migrations_are_forgotten() -> None:
    _execute("DELETE FROM django_migrations WHERE app = 'audit'")
    schema.record_digests()
    assert ("audit", "0001_initial") not in schema.read_history().recorded


# --- processes ------------------------------------------------------------------------------


@pytest.mark.processes
def test_web_and_workers_refuse_to_start_and_prepare_says_why(tmp_path: Path) -> None:
    site = Site(tmp_path)
    site.prepare()
    site.shell(
        "from django.db import connection\n"
        "connection.cursor().execute(\"UPDATE migration_digests SET sha256 = 'x'\")\n"
        "print(1)"
    )
    site.stop()
    web = [sys.executable, "-m", "granian", "--port", str(free_port()), *GRANIAN]
    worker = [sys.executable, "-m", "celery", "-A", "portal", "worker", "--beat"]
    for command in (web, worker, [sys.executable, "manage.py", "prepare", "--no-sample"]):
        ended = _run(command, site.env)
        assert ended.returncode != 0, command
        assert f"this version has other files of {_count()} migrations" in ended.stdout, command
        assert "Traceback" not in ended.stdout, command


def _run(command: list[str], env: dict[str, str]) -> Any:
    return subprocess.run(
        command,
        cwd=ROOT,
        env=env,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        timeout=60,
    )


# --- the upgrade of a site ------------------------------------------------------------------

LOAD = """
import json
from tests.site import previous
print(json.dumps(previous.load()))
"""
OPEN = """
import json
from django.conf import settings
from django.test import Client
from annotation.models import Campaign
from portal import schema
from portal.accounts.models import User
from portal.datasets.models import Release
from scoring.models import Board, Submission
client = Client(headers={"Host": "127.0.0.1"})
organiser = User.objects.get(email="organiser@factboard.example")
client.force_login(organiser, backend=settings.AUTHENTICATION_BACKENDS[0])
urls = ["/", "/start/", "/datasets/", "/healthz", "/api/v1/account/", "/api/v1/boards/"]
for model in (Board, Release, Submission, Campaign):
    urls += [row.get_absolute_url() for row in model.objects.all()]
answers = {url: client.get(url).status_code for url in urls}
# A row with a new key: sequences go on after those that were loaded.
User.objects.create_user(email="new@example.org")
print(json.dumps([schema.fault(), answers]))
"""


@pytest.fixture
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Site]:
    """A site with an empty database of its own, on the server that the parameter names."""
    own = own_postgres() if request.param == "postgres" else nullcontext("")
    with own as url, Site(tmp_path, **({"DATABASE_URL": url} if url else {})) as site:
        yield site


REGRADED = {
    "audit_event",
    "jobs_job",
    "jobs_jobevent",
    "scoring_grading",
    "scoring_regrade",
    "scoring_regradedphase",
}


@pytest.mark.processes
@pytest.mark.parametrize(
    "empty", ["sqlite", pytest.param("postgres", marks=pytest.mark.services)], indirect=True
)
def test_the_sample_site_of_the_previous_version_is_upgraded(empty: Site) -> None:
    loaded = empty.shell(LOAD)
    assert len(loaded) > 40
    said = empty.manage("prepare")
    assert "Loading the sample benchmark" not in said, "the sample must be recognised"
    kept = {t: rows(empty.env, f"SELECT count(*) FROM {t}")[0][0] for t in loaded}
    # Boards with results of an earlier scorer are graded again, which adds rows.
    more = {table for table, count in loaded.items() if kept[table] > count}
    assert more <= REGRADED, more
    assert {t: n for t, n in kept.items() if t not in more} == {
        table: count for table, count in loaded.items() if table not in more
    }
    fault, answers = empty.shell(OPEN)
    assert fault == ""
    assert len(answers) > 40
    assert {url: status for url, status in answers.items() if status != 200} == {}
