"""The report of an import as a file: CSV or JSON Lines, row by row."""

import csv
import io
import json
from collections.abc import Callable, Iterator
from typing import NamedTuple

from portal.datasets.models import ImportItem, ImportRun
from portal.files.tables import spreadsheet_text

COLUMNS = ("name", "outcome", "code", "reason", "document")
MEDIA_TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson"}
_AT_ONCE = 1_000


class ReportFile(NamedTuple):
    """A file to be sent piece by piece."""

    name: str
    media_type: str
    pieces: Iterator[bytes]


def import_report_file(run: ImportRun, form: str, *, outcome: str = "") -> ReportFile:
    """The rows of one outcome, or of all where it is none; `form` is `csv` or `jsonl`."""
    items = run.items.select_related("document").defer("document__metadata")
    which = ""
    if outcome in ImportItem.Outcome.values:
        items, which = items.filter(outcome=outcome), f"-{outcome}"
    rows = (_row(item) for item in items.iterator(chunk_size=_AT_ONCE))
    name = f"import-{run.pk}{which}.{form}"
    return ReportFile(name, MEDIA_TYPES[form], _WRITERS[form](rows))


def _row(item: ImportItem) -> dict[str, str]:
    document = item.document.name if item.document else ""
    values = (item.name, item.outcome, item.code, item.reason, document)
    return dict(zip(COLUMNS, values, strict=True))


def _csv(rows: Iterator[dict[str, str]]) -> Iterator[bytes]:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS)
    writer.writeheader()
    for row in rows:
        writer.writerow({key: spreadsheet_text(value) for key, value in row.items()})
        yield text.getvalue().encode()
        text.seek(0)
        text.truncate()
    yield text.getvalue().encode()


def _jsonl(rows: Iterator[dict[str, str]]) -> Iterator[bytes]:
    for row in rows:
        yield json.dumps(row, ensure_ascii=False).encode() + b"\n"


_WRITERS: dict[str, Callable[[Iterator[dict[str, str]]], Iterator[bytes]]] = {
    "csv": _csv,
    "jsonl": _jsonl,
}
