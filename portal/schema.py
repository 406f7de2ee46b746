"""The schema of the database: the migrations that made it, by name and by digest.

Django remembers only the names of migrations. `migrate` also records a digest of each of our files
here, so that a database that was made by other files is refused instead of failing on every page.
"""

import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from django.apps import apps
from django.core.management.base import CommandError
from django.db import OperationalError, connection, transaction
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

# The packages whose migrations are ours. Libraries may edit theirs.
OURS = {"annotation", "portal", "scoring"}
TABLE = "migration_digests"

Key = tuple[str, str]
"""The label of an app and the name of a migration."""

PREPARE = "manage.py prepare --no-sample"
UPGRADE = f"Stop the site, back up the database and run: {PREPARE}"
EXPORT = (
    "Export what you want to keep with the version that made it (export_release, export_campaign). "
    "Then use an empty database: name one in DATABASE_URL, or move the folder VAR_DIR away."
)


@cache
def on_disk() -> dict[Key, str]:
    """The digests of all migrations of this version, ours and those of libraries."""
    return {
        (app.label, path.stem): hashlib.sha256(path.read_bytes()).hexdigest()
        for app in apps.get_app_configs()
        for path in sorted(Path(app.path, "migrations").glob("[0-9]*.py"))
    }


class History(NamedTuple):
    """The migrations of the database."""

    applied: set[Key]
    recorded: dict[Key, str]
    """Digests of our migrations."""

    @property
    def unknown(self) -> list[Key]:
        labels = _our_labels()
        return sorted(k for k in self.applied if k[0] in labels and k not in on_disk())

    @property
    def edited(self) -> list[Key]:
        disk = on_disk()
        return sorted(k for k, digest in self.recorded.items() if disk.get(k, digest) != digest)

    @property
    def missing(self) -> list[Key]:
        return sorted(on_disk().keys() - self.applied)

    @property
    def unrecorded(self) -> list[Key]:
        labels = _our_labels()
        ours = {key for key in self.applied & on_disk().keys() if key[0] in labels}
        return sorted(ours - self.recorded.keys())


def _our_labels() -> set[str]:
    return {app.label for app in apps.get_app_configs() if app.name.partition(".")[0] in OURS}


def read_history() -> History:
    tables = connection.introspection.table_names()
    if TABLE not in tables:
        return History(set(MigrationRecorder(connection).applied_migrations()), {})
    with connection.cursor() as cursor:
        cursor.execute("SELECT app, name FROM django_migrations")
        applied = set(cursor.fetchall())
        cursor.execute("SELECT app, name, sha256 FROM migration_digests")
        recorded = {(app, name): digest for app, name, digest in cursor.fetchall()}
    return History(applied, recorded)


def fault() -> str:
    """Return why this version cannot work on the database and what to do, or an empty string."""
    history = read_history()
    if not history.applied:
        return f"The database is empty. Run: {PREPARE}"
    if foreign := _foreign(history):
        return foreign
    if history.missing:
        return f"The database lacks {_named(history.missing)}. {UPGRADE}"
    if history.unrecorded:
        return f"The database was not checked since {_named(history.unrecorded)}. {UPGRADE}"
    return ""


def _foreign(history: History) -> str:
    """Why the database belongs to another version, so that migrating it would not help."""
    if history.unknown:
        return (
            f"The database belongs to another version: this one does not know "
            f"{_named(history.unknown)}. Run the version that made it, or restore a backup from "
            f"before the upgrade. {EXPORT}"
        )
    if history.edited:
        return (
            "The database was made by an unreleased version and cannot be used: this version has "
            f"other files of {_named(history.edited)}. {EXPORT}"
        )
    return ""


def _named(keys: list[Key]) -> str:
    count = "1 migration" if len(keys) == 1 else f"{len(keys)} migrations"
    return f"{count}, such as {'.'.join(keys[0])}"


def require_current() -> None:
    """End this process if it cannot work on the database."""
    try:
        found = fault()
    except OperationalError:
        # The database may be back in a moment. The health check asks again.
        return
    finally:
        # Processes that are forked later must not share it.
        connection.close()
    if found:
        raise SystemExit(f"Factboard cannot start. {found}")


# --- migrating ------------------------------------------------------------------------------


def refuse_foreign(**_: Any) -> None:
    """Before migrating: a database that this version cannot upgrade stays as it is."""
    history = read_history()
    if foreign := _foreign(history):
        raise CommandError(foreign)
    if history.unrecorded and (found := sorted(_differences(history.applied))):
        raise CommandError(
            "The database was made by an unreleased version and cannot be used "
            f"({len(found)} differences, such as {found[0]}). {EXPORT}"
        )


def record_digests(**_: Any) -> None:
    """After migrating: what was applied, and nothing else."""
    history = read_history()
    gone = history.recorded.keys() - history.applied
    if not gone and not history.unrecorded:
        return
    rows = [(*key, on_disk()[key]) for key in history.unrecorded]
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE IF NOT EXISTS migration_digests (app varchar(255) NOT NULL,"
            " name varchar(255) NOT NULL, sha256 varchar(64) NOT NULL, PRIMARY KEY (app, name))"
        )
        cursor.executemany(
            "DELETE FROM migration_digests WHERE app = %s AND name = %s", sorted(gone)
        )
        cursor.executemany("INSERT INTO migration_digests VALUES (%s, %s, %s)", rows)


def _differences(applied: Iterable[Key]) -> Iterator[str]:
    """Tables, columns, indexes and constraints that the applied migrations make, but which the
    database, whose migrations were not recorded, does not have."""
    loader = MigrationLoader(connection)
    state = loader.project_state([key for key in applied if key in loader.graph.nodes])
    labels, introspection = _our_labels(), connection.introspection
    tables = introspection.table_names()
    with connection.cursor() as cursor:
        for model in state.apps.get_models(include_auto_created=True):
            meta = model._meta
            if meta.app_label not in labels:
                continue
            if meta.db_table not in tables:
                yield f"no table {meta.db_table}"
                continue
            found = {
                each.name for each in introspection.get_table_description(cursor, meta.db_table)
            }
            found |= set(introspection.get_constraints(cursor, meta.db_table))
            wanted = [field.column for field in meta.local_fields]
            wanted += [each.name for each in (*meta.indexes, *meta.constraints)]
            yield from (f"no {name} in {meta.db_table}" for name in wanted if name not in found)
