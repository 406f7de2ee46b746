"""Rows that papers report, from CSV files beside the benchmark."""

import csv
from collections.abc import Collection
from pathlib import Path

from .base import ReportedRow

_CARD = (
    "name",
    "organisation",
    "size",
    "category",
    "protocol",
    "provenance",
    "provenance_url",
    "notes",
)


def load_reported(path: Path, *, counts: Collection[str] = ()) -> tuple[ReportedRow, ...]:
    """The rows of a CSV file whose other columns are score columns, `counts` as they are and the
    rest in per cent; an empty cell is no score."""
    with path.open(encoding="utf-8", newline="") as file:
        return tuple(_row(row, counts) for row in csv.DictReader(file))


def _row(row: dict[str, str], counts: Collection[str]) -> ReportedRow:
    scores = {
        key: float(value) / (1 if key in counts else 100)
        for key, value in row.items()
        if key not in _CARD and value != ""
    }
    return ReportedRow(**{key: row[key] for key in _CARD}, scores=scores)
