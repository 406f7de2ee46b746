"""Rows that papers report, from CSV files beside the benchmark."""

import csv
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


def load_reported(path: Path) -> tuple[ReportedRow, ...]:
    """The rows of a CSV file whose other columns are score columns in per cent; an empty cell is
    no score."""
    with path.open(encoding="utf-8", newline="") as file:
        return tuple(_row(row) for row in csv.DictReader(file))


def _row(row: dict[str, str]) -> ReportedRow:
    scores = {
        key: float(value) / 100 for key, value in row.items() if key not in _CARD and value != ""
    }
    return ReportedRow(**{key: row[key] for key in _CARD}, scores=scores)
