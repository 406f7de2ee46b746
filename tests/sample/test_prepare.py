"""`manage.py prepare` sets up a site in an empty folder and keeps existing data."""

import re
import sqlite3
from pathlib import Path

import pytest

from tests.e2e.site import Site
from tests.jobs import processes

pytestmark = pytest.mark.processes


def test_an_empty_folder_becomes_a_site_once(tmp_path: Path) -> None:
    env = processes.environment(tmp_path, DJANGO_SETTINGS_MODULE="portal.settings")
    first = processes.manage(env, "prepare", "--no-sample")
    manifest = tmp_path / "static" / "staticfiles.json"
    written = manifest.stat().st_mtime_ns
    assert "Collecting static files" in first
    with sqlite3.connect(tmp_path / "probe.sqlite3") as database:
        database.execute("INSERT INTO cache_entries VALUES ('kept', 'value', '2100-01-01')")

    second = processes.manage(env, "prepare", "--no-sample")

    assert second == ""
    assert manifest.stat().st_mtime_ns == written
    with sqlite3.connect(tmp_path / "probe.sqlite3") as database:
        kept = database.execute("SELECT cache_key FROM cache_entries").fetchall()
        boards = database.execute("SELECT count(*) FROM scoring_board").fetchone()
    assert kept == [("kept",)]
    assert boards == (0,)


def test_a_failure_outside_the_migrations_stops_prepare(tmp_path: Path) -> None:
    env = processes.environment(tmp_path, DJANGO_SETTINGS_MODULE="portal.settings")
    (tmp_path / "static").write_text("not a folder")
    with pytest.raises(AssertionError, match=re.escape(str(tmp_path / "static"))):
        processes.manage(env, "prepare", "--no-sample")


def test_a_database_of_an_unreleased_version_is_refused(tmp_path: Path) -> None:
    site = Site(tmp_path)
    site.prepare()
    with sqlite3.connect(tmp_path / "probe.sqlite3") as database:
        database.execute(
            "INSERT INTO django_migrations (app, name, applied)"
            " VALUES ('scoring', '0002_phases_limits_cards', '2026-01-01')"
        )
    with pytest.raises(AssertionError, match=r"such as scoring\.0002_phases_limits_cards"):
        site.manage("prepare", "--no-sample")
