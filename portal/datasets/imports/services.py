"""Starting and running imports, and their reports.

Each ImportItem row is written in one transaction with its document. An interrupted import resumes
when it runs again, because it skips files that already have a row. `left_out` counts the files that
were not read, by folder, with a hint for each.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from django.core.files.base import File
from django.core.paginator import Page, Paginator
from django.db import transaction

from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.dataset_tasks import end_work, is_ended, trouble_of
from portal.datasets.models import Dataset, ImportItem, ImportRun
from portal.facts.file_reading import sentence
from portal.facts.other_tools import other_tool
from portal.files.archives import MEGABYTE, Archive, ArchiveFault, kind_of_source, open_archive
from portal.files.tables import csv_text
from portal.files.uploads import archive_limits
from portal.jobs.services import enqueue
from portal.web.queries import count_by
from portal.web.refusals import Refused

from .formats import format_title, import_format
from .items import PICTURE_SUFFIXES, MetaIndex, place_of
from .layouts import check_items, left_alone, read_items, suffixes_alone
from .opening import GivenSource, Layout, Refusal, WatchedSource, printable, read_layout
from .storing import import_item, import_page, report_name

Form = ImportRun.Form
Differences = ImportRun.Differences

# Every attempt gets further than the one before, so tolerate a few lost workers.
ATTEMPTS = 5
SOURCE_NAME = 300
REFUSALS_AT_ONCE = 1_000


def check_source(
    source: GivenSource, form: str = Form.PAGES, *, name: str = "", benchmark: str = ""
) -> None:
    """Checks a source before it is accepted; raises ArchiveFault if it is unusable.

    For pages, only the file list is read; for other layouts, also the first items. `name` is the
    original file name.
    """
    limits = archive_limits()
    if form == Form.PAGES:
        with open_archive(source, limits) as archive:
            read_layout(archive.members())
        return
    endings = suffixes_alone(form)
    if not (isinstance(source, Path) and source.is_dir()) and not name.lower().endswith(endings):
        raise ArchiveFault("file_format", _wrong_ending(source, endings))
    check_items(form, source, name, limits, benchmark=benchmark)


def _wrong_ending(source: GivenSource, endings: Sequence[str]) -> str:
    accepted = f"this format accepts {', '.join(endings)}"
    if kind := kind_of_source(source):
        return sentence(kind, accepted)
    tool = _other_tool(source)
    return f"{tool}; {accepted}" if tool else accepted


def _other_tool(source: GivenSource) -> str:
    """The tool that a file of JSON or JSON Lines is from, by its first line; empty if unknown."""
    try:
        with source.open("rb") if isinstance(source, Path) else nullcontext(source) as file:
            file.seek(0)
            return other_tool(json.loads(file.readline(MEGABYTE)))
    except (OSError, ValueError, RecursionError):
        return ""


@transaction.atomic
def start_import(
    *,
    dataset: Dataset,
    upload: "File[bytes]",
    source_name: str,
    actor: User | None,
    form: str = Form.PAGES,
    **chosen: Any,
) -> ImportRun:
    """Stores a checked upload and queues its import. `chosen` are the arguments of `_options`.

    Only the latest preview of a dataset keeps its upload.
    """
    about = _about(source_name, form, **chosen)
    _discard_previews(dataset)
    stored = File(upload.file, name=f"{uuid4().hex}.upload")
    run = _new_run(dataset, actor, **about, upload=stored)
    _enqueue(run)
    return run


def _enqueue(run: ImportRun) -> None:
    enqueue(
        kind="import_files",
        payload={"run": run.pk},
        group=run.job_group,
        max_attempts=ATTEMPTS,
    )


def _discard_previews(dataset: Dataset) -> None:
    for run in dataset.imports.filter(options__dry_run=True).exclude(upload=""):
        if run.can_be_carried_out:
            storage, name = run.upload.storage, str(run.upload.name)
            ImportRun.objects.filter(pk=run.pk).update(upload="")
            transaction.on_commit(partial(storage.delete, name))


@transaction.atomic
def carry_out_preview(*, run: ImportRun, actor: User | None) -> ImportRun:
    """Queues the import of the files of a preview, with the same options. Raises Refused."""
    run = ImportRun.objects.select_for_update().get(pk=run.pk)
    if not run.is_dry_run:
        raise Refused("This import is not a preview.", code="no_preview")
    if not run.can_be_carried_out:
        raise Refused(
            "The files of this preview are no longer stored. Upload them again.", code="no_files"
        )
    options = {key: value for key, value in run.options.items() if key != "dry_run"}
    made = _new_run(
        run.dataset,
        actor,
        source_name=run.source_name,
        form=run.form,
        options=options,
        upload=run.upload.name,
    )
    ImportRun.objects.filter(pk=run.pk).update(upload="")
    _enqueue(made)
    return made


def _about(source_name: str, form: str, **chosen: Any) -> dict[str, Any]:
    return {
        # Keep the end of the name: its extension gives the kind of a single file.
        "source_name": printable(source_name)[-SOURCE_NAME:],
        "form": form,
        "options": _options(**chosen),
    }


def _options(
    *, benchmark: str = "", differences: str = Differences.KEEP, dry_run: bool = False
) -> dict[str, Any]:
    """The options of a run that differ from the defaults.

    `differences` decides about images and metadata of existing documents. A `dry_run` reports what
    an import would do, and changes nothing.
    """
    given: dict[str, Any] = {
        "benchmark": benchmark,
        "differences": "" if differences == Differences.KEEP else differences,
        "dry_run": dry_run,
    }
    return {name: value for name, value in given.items() if value}


def _new_run(dataset: Dataset, actor: User | None, **fields: Any) -> ImportRun:
    run = ImportRun.objects.create(dataset=dataset, created_by=actor, **fields)
    record_event(
        verb="start_import",
        subject=run,
        actor=actor,
        dataset=dataset.slug,
        source=run.source_name,
        form=run.form,
    )
    return run


@transaction.atomic
def open_command_import(
    *,
    dataset: Dataset,
    path: Path,
    actor: User | None = None,
    form: str = Form.PAGES,
    **chosen: Any,
) -> ImportRun:
    """The import run of a command: an interrupted one with the same path, or a new one.

    Its `upload` stays empty because the command reads the files in place.
    """
    about = _about(str(path.resolve()), form, **chosen)
    earlier = dataset.imports.unfinished().filter(**about, upload="").first()
    return earlier or _new_run(dataset, actor, **about)


def import_path(
    *,
    dataset: Dataset,
    path: Path,
    actor: User | None = None,
    progress: Callable[[int, int], None] = lambda *_: None,
    form: str = Form.PAGES,
    **chosen: Any,
) -> ImportRun:
    """Imports a local folder or file in this process, without a worker.

    Resumes an interrupted import of the same path. Stops when the run is cancelled. Raises
    ArchiveFault, and marks the run as failed, if the source cannot be read.
    """
    run = open_command_import(dataset=dataset, path=path, actor=actor, form=form, **chosen)
    try:
        if carry_out_import(run=run, source=path, progress=progress, stop=lambda: is_ended(run)):
            end_work(work=run, state=ImportRun.State.DONE)
    except ArchiveFault as fault:
        end_work(work=run, state=ImportRun.State.FAILED, error=str(fault))
        raise
    run.refresh_from_db()
    return run


def carry_out_import(
    *,
    run: ImportRun,
    source: GivenSource,
    progress: Callable[[int, int], None],
    stop: Callable[[], bool],
) -> bool:
    """Imports everything that has no row yet; returns False if it was stopped.

    `progress(done, total)` counts files of pages/, or items of other layouts, where the total is 0
    until the end. Raises ArchiveFault if the source cannot be read.
    """
    carry_out = _carry_out_items if import_format(run.form).read else _carry_out_pages
    return carry_out(run, source, progress, stop)


def _carry_out_pages(
    run: ImportRun,
    source: GivenSource,
    progress: Callable[[int, int], None],
    stop: Callable[[], bool],
) -> bool:
    with open_archive(source, archive_limits()) as archive:
        layout = read_layout(archive.members())
        meta = _read_meta(archive, layout)
        _begin(run, layout.ignored, layout.page_files)
        _refuse(run, layout.refusals + meta.refusals)
        finished = set(run.items.values_list("name", flat=True))
        refused = layout.page_files - len(layout.pages)
        for done, page in enumerate(layout.pages, start=refused + 1):
            if page.file.shown not in finished:
                if stop():
                    return False
                import_page(run=run, archive=archive, page=page, meta=meta)
            progress(done, layout.page_files)
    return True


def _carry_out_items(
    run: ImportRun,
    source: GivenSource,
    progress: Callable[[int, int], None],
    stop: Callable[[], bool],
) -> bool:
    """Holds one item in memory at a time; skips the pictures of items that have a row."""
    limits, name = archive_limits(), run.source_name
    _begin(run, left_alone(run.form, source, name, limits))
    watched = WatchedSource(source)
    finished = set(run.items.values_list("name", flat=True))
    benchmark = run.options.get("benchmark", "")
    done = 0
    with closing(read_items(run.form, watched, name, limits, benchmark=benchmark)) as items:
        for done, item in enumerate(items, start=1):
            if report_name(place_of(item)) not in finished:
                if stop():
                    return False
                import_item(run=run, item=item)
            progress(done, 0)
    ImportRun.objects.filter(pk=run.pk).update(total=run.items.count(), ignored=watched.left_out())
    progress(done, done)
    return True


def _read_meta(archive: Archive, layout: Layout) -> MetaIndex:
    data = archive.read(layout.meta.path) if layout.meta else b""
    return MetaIndex(data, {page.name for page in layout.pages})


def _begin(run: ImportRun, ignored: dict[str, int], total: int = 0) -> None:
    """Marks the run as running. Idempotent."""
    ImportRun.objects.unfinished().filter(pk=run.pk).update(
        state=ImportRun.State.RUNNING, total=total, ignored=ignored
    )


def _refuse(run: ImportRun, refusals: Sequence[Refusal]) -> None:
    """Reports the files that the file list already refuses. Idempotent."""
    items = [
        ImportItem(
            run=run,
            name=refusal.name,
            outcome=ImportItem.Outcome.REFUSED,
            code=refusal.code,
            reason=refusal.reason,
        )
        for refusal in refusals
    ]
    ImportItem.objects.bulk_create(items, ignore_conflicts=True, batch_size=REFUSALS_AT_ONCE)


_GOLD = (
    "Add a gold file when you freeze a release, or import it into a campaign under “Import and"
    " export”."
)
_PREDICTIONS = "Submit predictions to a board."
_LABELS = "Import labels into a campaign under “Import and export”."
_NESTED = "Only files directly in pages/ and images/ are read."
_PICTURES = "No imported item uses these images."
_PAGES = "Put HTML files in pages/ and choose “HTML documents with images and metadata”."
_OTHERWISE = "This format does not use these files. Choose another format, or remove them."
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
        return not self.run.is_dry_run and any(
            self.outcomes[value] for value in ("imported", "updated", "unchanged", "kept")
        )

    @property
    def files_left_out(self) -> int:
        return sum(row.files for row in self.left_out)

    @property
    def format_title(self) -> str:
        return format_title(self.run.form)

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
