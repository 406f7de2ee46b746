"""Fills the strata of documents from their records. Later changes of these rules do not matter
here: the paths are repeated."""

from itertools import islice
from typing import Any

from django.db import migrations

_PATHS = {
    "category": (("category",), ("task",), ("track",)),
    "subset": (("fields", "type"), ("subtask",), ("subset",)),
    "condition": (("robustness",), ("orientation",)),
}
_AT_ONCE = 500


def fill(apps: Any, _: Any) -> None:
    records = apps.get_model("datasets", "DocumentRecord").objects.order_by("pk")
    golds = records.values_list("pk", "gold").iterator(chunk_size=_AT_ONCE)
    documents = apps.get_model("datasets", "Document").objects
    while part := dict(islice(golds, _AT_ONCE)):
        found = documents.only(*_PATHS).in_bulk(part)
        for pk, gold in part.items():
            for name, paths in _PATHS.items():
                value = next(filter(None, (_at(gold, path) for path in paths)), "")
                setattr(found[pk], name, value)
        documents.bulk_update(found.values(), list(_PATHS))


def _at(gold: Any, path: tuple[str, ...]) -> str:
    for key in path:
        gold = gold.get(key) if isinstance(gold, dict) else None
    return str(gold).replace("\0", "")[:80] if isinstance(gold, (str, int)) else ""


class Migration(migrations.Migration):
    dependencies = [("datasets", "0002_strata_of_documents")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
