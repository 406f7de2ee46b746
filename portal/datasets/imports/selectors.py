"""The report of an import, as a page and as a CSV or JSON Lines file.

`left_out` counts the files of a source that were not read, by folder, with a hint for each.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from django.core.paginator import Page, Paginator

from portal.datasets.dataset_tasks import trouble_of
from portal.datasets.models import ImportItem, ImportRun
from portal.files.tables import csv_text
from portal.web.queries import count_by

from .items import PICTURE_SUFFIXES

Form = ImportRun.Form

_GOLD = (
    "To use it as gold, choose a gold file when you freeze a release (or manage.py"
    " freeze_release SLUG --gold PATH), or import it into a campaign under “Import and export”."
)
_PREDICTIONS = "Submit predictions to a leaderboard."
_LABELS = "To use labels, import them into a campaign under “Import and export”."
_NESTED = "Only files directly in pages/ and images/ are read."
_PICTURES = "No imported item uses these images."
_PAGES = "To import pages, put them in pages/ and choose the format “pages”."
_OTHERWISE = "Choose another format, or remove it from the archive."
# The first word that the folder or file name contains decides.
_HINTS = (
    ("gold", _GOLD),
    ("pred", _PREDICTIONS),
    ("submission", _PREDICTIONS),
    ("label", _LABELS),
    ("annotation", _LABELS),
    ("image", _PICTURES),
    ("picture", _PICTURES),
    ("page", _PAGES),
)


@dataclass(frozen=True)
class LeftOut:
    """A folder or top-level file that was not read, with its number of files and a hint."""

    folder: str
    files: int
    hint: str


def left_out(ignored: Mapping[str, int], form: str) -> list[LeftOut]:
    """The files that an import left out, with a hint per folder, from its run's `ignored`."""
    return [LeftOut(folder, files, _hint(folder, form)) for folder, files in ignored.items()]


def _hint(folder: str, form: str) -> str:
    name = folder.rstrip("/").rpartition("/")[2].lower()
    if form == Form.PAGES and name in {"pages", "images"}:
        return _NESTED
    if name.endswith(PICTURE_SUFFIXES):
        return _PICTURES
    return next((hint for word, hint in _HINTS if word in name), _OTHERWISE)


COLUMNS = ("name", "outcome", "code", "reason", "document")
MEDIA_TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson"}
_AT_ONCE = 1_000


class ReportFile(NamedTuple):
    """A file to stream."""

    name: str
    media_type: str
    pieces: Iterator[bytes]


def report_file(run: ImportRun, form: str, *, outcome: str = "") -> ReportFile:
    """The rows with one outcome, or all rows if it is invalid; `form` is `csv` or `jsonl`."""
    items = run.items.select_related("document").defer("document__metadata")
    which = ""
    if outcome in ImportItem.Outcome.values:
        items, which = items.filter(outcome=outcome), f"-{outcome}"
    rows = (_row(item) for item in items.iterator(chunk_size=_AT_ONCE))
    name = f"import-{run.pk}{which}.{form}"
    return ReportFile(name, MEDIA_TYPES[form], _WRITERS[form](rows))


def _row(item: ImportItem) -> tuple[str, ...]:
    document = item.document.name if item.document else ""
    return (item.name, item.outcome, item.code, item.reason, document)


def _csv(rows: Iterator[tuple[str, ...]]) -> Iterator[bytes]:
    for row in chain([COLUMNS], rows):
        yield csv_text([row]).encode()


def _jsonl(rows: Iterator[tuple[str, ...]]) -> Iterator[bytes]:
    for row in rows:
        yield json.dumps(dict(zip(COLUMNS, row, strict=True)), ensure_ascii=False).encode() + b"\n"


_WRITERS = {"csv": _csv, "jsonl": _jsonl}


PER_PAGE = 100


@dataclass(frozen=True)
class ImportReport:
    """The progress and result of an import.

    `done` and `total` count files of pages/, or report rows for other layouts, where `total` is 0
    until all is read. `items` is one page of the rows, `left_out` are the files that were not read,
    and `trouble` is the error of the last attempt while a retry is pending.
    """

    run: ImportRun
    done: int
    total: int
    outcomes: dict[str, int]
    """Rows by outcome; all rows under the empty key."""
    outcome: str
    items: Page[ImportItem]
    left_out: list[LeftOut]
    trouble: str

    @property
    def usable(self) -> bool:
        """Whether any page of it is a document now, new or from before."""
        return any(self.outcomes[value] for value in ("imported", "updated", "unchanged"))

    @property
    def files_left_out(self) -> int:
        return sum(row.files for row in self.left_out)

    @property
    def label(self) -> str:
        """The unit of `done` and `total`."""
        return "pages" if self.run.form == ImportRun.Form.PAGES else "items"

    @property
    def query(self) -> str:
        """The query string that pagination links keep."""
        return f"outcome={self.outcome}" if self.outcome else ""


def import_report(run: ImportRun, *, outcome: str = "", page: str = "1") -> ImportReport:
    """The report, with the items of one outcome, or of all if it is invalid."""
    items = run.items.select_related("document")
    counts = Counter(count_by(run.items, "outcome"))
    outcome = outcome if outcome in ImportItem.Outcome.values else ""
    if outcome:
        items = items.filter(outcome=outcome)
    return ImportReport(
        run=run,
        done=_done(run, counts.total()),
        total=run.total,
        outcomes={"": counts.total(), **{key: counts[key] for key in ImportItem.Outcome.values}},
        outcome=outcome,
        items=Paginator(items, PER_PAGE).get_page(page),
        left_out=left_out(run.ignored, run.form),
        trouble="" if run.is_finished else trouble_of(run.job_group),
    )


def _done(run: ImportRun, reported: int) -> int:
    if run.form != ImportRun.Form.PAGES:
        return reported
    return run.items.filter(name__startswith="pages/").count()
