"""The sample site of the previous version, as rows that every database can load.

To save the site of a version before the next one is begun, run `make run` in an empty folder, then
`python -m tests.site.previous`.
"""

import io
import json
import lzma
import os
from collections import Counter
from pathlib import Path
from typing import Any

import django
from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.core.management.color import no_style
from django.core.serializers.python import Deserializer
from django.db import connection, transaction
from django.db.migrations.loader import MigrationLoader

FILE = Path(__file__).with_name("previous.json.xz")
# `migrate` fills these. Sessions and the log of the admin need not outlive a version.
LEFT_OUT = ["admin", "auth", "contenttypes", "sessions"]


def save() -> None:
    printed = io.StringIO()
    call_command("dumpdata", exclude=LEFT_OUT, stdout=printed)
    loader = MigrationLoader(connection)
    leaves = dict(key for key in loader.graph.leaf_nodes() if key[0] not in LEFT_OUT)
    # Import runs store the folder of their source.
    rows = json.loads(printed.getvalue().replace(str(settings.BASE_DIR), "/srv/factboard"))
    site = {"migrations": leaves, "rows": rows}
    FILE.write_bytes(lzma.compress(json.dumps(site).encode(), preset=9 | lzma.PRESET_EXTREME))


def load() -> dict[str, int]:
    """Fill an empty database, up to the migrations of that version. Return the rows per table."""
    site = json.loads(lzma.decompress(FILE.read_bytes()))
    for app in apps.get_app_configs():
        if app.label in LEFT_OUT:
            call_command("migrate", app.label, verbosity=0)
    for app, name in site["migrations"].items():
        call_command("migrate", app, name, verbosity=0)
    loader = MigrationLoader(connection)
    old = loader.project_state(list(loader.applied_migrations)).apps
    # That version may have recorded no digests: the upgrade compares its tables.
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("DROP TABLE migration_digests")
        for each in _OldRows(site["rows"], old):
            each.save(force_insert=True)
        for sql in connection.ops.sequence_reset_sql(no_style(), old.get_models()):
            cursor.execute(sql)
    models = Counter(row["model"] for row in site["rows"])
    return {old.get_model(name)._meta.db_table: count for name, count in models.items()}


class _OldRows(Deserializer):
    """Rows of the models as they were."""

    def __init__(self, rows: list[dict[str, Any]], old: Any) -> None:
        super().__init__(rows)
        self._old = old

    def _get_model_from_node(self, name: str) -> Any:
        return self._old.get_model(name)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    django.setup()
    save()
