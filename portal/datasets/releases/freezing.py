"""Freezing a release without a campaign, for the page, the API and the command.

The gold comes from the records of documents, from gold files or from an earlier release. Small
releases are frozen within the request, large ones in a task.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from django.core.files.base import File

from portal.accounts.models import User
from portal.datasets.curation.draws import FILING, SplitDraw
from portal.datasets.dataset_tasks import Steps, TaskError, TaskReport, TaskStopped, start_task
from portal.datasets.imports.labelled_pages import GoldPage, read_gold_pages
from portal.datasets.models import Dataset, DatasetTask, Document, Release
from portal.facts import FactValue, Span
from portal.files.archives import ArchiveFault
from portal.files.uploads import archive_limits

from .corrections import corrections_for
from .gold import (
    AT_ONCE,
    PAGES,
    Gold,
    GoldFormat,
    GoldItem,
    GoldLines,
    ReleaseError,
    gold_format,
    gold_rows,
    place_gold,
)
from .services import (
    check_terms,
    freeze_gold,
    freeze_remarks,
    freeze_warnings,
    notes_of_rows,
    suggest_version,
)

# Wraps an iterable of pages, for example to report progress.
Over = Callable[[Iterable[Any]], Iterator[Any]]


def gold_of_release(*, release: Release, over: Over = iter) -> Gold:
    """The gold of an earlier release, with the corrections of accepted disputes applied. The new
    release keeps its splits, licence and citation, unless others are given.

    Leaves out documents that are now held back. Raises ReleaseError.
    """
    items = release.items.select_related("document").defer("document__metadata", "pinned")
    held = Document.State.HELD
    frozen = [
        item
        for item in items.order_by("position")
        if item.document is None or item.document.state != held
    ]
    if not frozen:
        raise ReleaseError([f"all documents of release {release.version} are held back"])
    splits = {item.name: item.split for item in frozen}
    if not release.has_pages:
        lines = {item.name: item.gold for item in frozen}
        documents = {item.name: item.document for item in frozen if item.document}
        return Gold(
            release.benchmark, lines=lines, documents=documents, splits=splits, base=release
        )
    corrected = corrections_for(release).facts
    pages = [
        _item_of(item.document, corrected.get(item.name, item.facts))
        for item in over(frozen)
        if item.document
    ]
    return Gold(release.benchmark, items=pages, labels=release.labels, splits=splits, base=release)


def _item_of(document: Document, facts: Iterable[Mapping[str, Any]]) -> GoldItem:
    """The gold of a document from the facts of a release, some of which may be corrected."""
    spans: list[Span] = []
    meanings: dict[tuple[int, int], FactValue] = {}
    for fact in facts:
        spans.append(Span(fact["start"], fact["end"], fact["type"]))
        if "meaning" in fact:
            meanings[fact["start"], fact["end"]] = FactValue(*fact["meaning"])
    return GoldItem(document, sorted(spans), meanings)


def gold_of_records(
    *, dataset: Dataset, benchmark: str, labels: Sequence[str], over: Over = iter
) -> Gold:
    """The gold in the benchmark's records of all documents that are not held back.

    `over` wraps the iteration over pages. The field `split` of a record, or of its document's
    metadata, names its split. Raises ReleaseError with every fault, each naming the document.
    """
    documents = list(_with_records(dataset, benchmark))
    if not documents:
        raise ReleaseError([f"no document has a record of {benchmark}"])
    splits = {document.name: _recorded_split(document) for document in documents}
    if benchmark == PAGES:
        pages = (
            GoldPage(document.name, document.name, str(document.record.gold.get("html", "")))
            for document in documents
        )
        items = place_gold(dataset=dataset, pages=over(pages), labels=labels)
        return Gold(benchmark, items=items, labels=labels, splits=splits)
    read = _format(benchmark).read_records(
        [(document.name, document.record.gold) for document in documents]
    )
    if read.faults:
        raise ReleaseError(read.faults)
    by_id = {item: documents[place] for item, place in read.places.items()}
    splits = {item: splits[document.name] for item, document in by_id.items()}
    return Gold(benchmark, lines=read.lines, documents=by_id, splits=splits)


def gold_of_file(
    *,
    dataset: Dataset,
    benchmark: str,
    path: Path,
    labels: Sequence[str],
    over: Over = iter,
) -> Gold:
    """The gold in a file or folder, in any layout of the benchmark. Raises ReleaseError."""
    if benchmark == PAGES:
        try:
            pages = over(read_gold_pages(path, archive_limits()))
            items = place_gold(dataset=dataset, pages=pages, labels=labels)
        except ArchiveFault as fault:
            raise ReleaseError([str(fault)]) from fault
        return Gold(benchmark, items=items, labels=labels)
    try:
        read: GoldLines = _format(benchmark).read_file(path, path.name)
    except (ArchiveFault, OSError) as fault:
        raise ReleaseError([str(fault)]) from fault
    if read.faults:
        raise ReleaseError(read.faults)
    known = _records_by_id(dataset, benchmark)
    return Gold(benchmark, lines=read.lines, documents=known or None)


def draft_notes(*, dataset: Dataset, order: "FreezeOrder", path: Path | None) -> str:
    """Change notes in Markdown for the release, compared with the newest release.

    Raises ReleaseError for gold that cannot be frozen.
    """
    gold = gold_of_order(dataset=dataset, order=order, path=path)
    release = Release(dataset=dataset, visibility=order.visibility)
    return notes_of_rows(release, gold_rows(dataset, gold), splits_of_order(order, gold))


def given_splits(gold: Gold) -> dict[str, str]:
    """The splits given with the gold. Raises ReleaseError if there are none."""
    splits = {name: split for name, split in (gold.splits or {}).items() if split}
    if not splits:
        raise ReleaseError(["no record or metadata has a field “split” with the value dev or test"])
    return splits


def _recorded_split(document: Document) -> str:
    for source in (document.record.gold, document.metadata):
        if isinstance(source, dict) and isinstance(source.get("split"), str):
            return str(source["split"]).strip().lower()
    return ""


def _with_records(dataset: Dataset, benchmark: str) -> Iterator[Document]:
    documents = dataset.documents.filter(
        record__benchmark=benchmark, state=Document.State.ACTIVE
    ).select_related("record")
    return documents.order_by("name").iterator(chunk_size=AT_ONCE)


def _records_by_id(dataset: Dataset, benchmark: str) -> dict[str, Document]:
    """Documents by the id of their record's gold line; skips unreadable records."""
    documents = list(_with_records(dataset, benchmark))
    read = _format(benchmark).read_records(
        [(document.name, document.record.gold) for document in documents]
    )
    return {item: documents[place] for item, place in read.places.items()}


def _format(benchmark: str) -> GoldFormat:
    known = gold_format(benchmark)
    if known is None:
        raise ReleaseError([f"there is no benchmark {benchmark!r}"])
    return known


RECORDS, FILE, EARLIER = "records", "file", "release"
NO_SPLIT, DRAW, COLUMN = "none", "draw", "column"
# Larger releases are frozen by a worker: a page takes some hundredths of a second.
MOST_DOCUMENTS = 200
MOST_BYTES = 8 * 1024 * 1024
# Steps between two checks for cancellation.
LOOK_EVERY = 10
RELEASE = "release"

Part = TypeVar("Part")


@dataclass(frozen=True)
class FreezeOrder:
    """A release to freeze. If `notes` is None, they are drafted.

    `source` is where the gold comes from: RECORDS of the benchmark, FILE (`file_name`), or EARLIER,
    the release `base` with the corrections of accepted disputes.
    """

    benchmark: str
    version: str = ""
    source: str = RECORDS
    file_name: str = ""
    base: str = ""
    labels: list[str] = field(default_factory=lambda: ["Number", "Date"])
    notes: str | None = ""
    visibility: str = Release.Visibility.GOLD_HIDDEN
    licence: str = ""
    citation: dict[str, Any] = field(default_factory=dict)
    split_by: str = NO_SPLIT
    test_share: float = 0.5
    seed: int = 1
    group_by: str = FILING
    accept_overlaps: int = 0


@dataclass
class Watch:
    """Counts the steps of the work, reports progress and raises TaskStopped when cancelled."""

    steps: Steps | None = None
    total: int = 0
    done: int = 0

    def step(self) -> None:
        self.done += 1
        if self.steps is None or self.done % LOOK_EVERY:
            return
        if self.steps.stop():
            raise TaskStopped
        self.steps.progress(self.done, max(self.total, self.done))

    def over(self, parts: Iterable[Part]) -> Iterator[Part]:
        for part in parts:
            self.step()
            yield part


def is_quick(dataset: Dataset, upload: "File[bytes] | None") -> bool:
    """Whether a release can be frozen within a request, with this gold file."""
    size = upload.size if upload else 0
    return size <= MOST_BYTES and dataset.documents.count() <= MOST_DOCUMENTS


def freeze_or_queue(
    *, dataset: Dataset, order: FreezeOrder, upload: "File[bytes] | None", actor: User
) -> Release | DatasetTask:
    """Freezes a small release at once, or queues a large one. `upload` is the gold file.

    Raises ReleaseError.
    """
    if not is_quick(dataset, upload):
        return start_freezing(dataset=dataset, order=order, upload=upload, actor=actor)
    with stored_upload(upload) as path:
        return freeze_order(dataset=dataset, order=order, path=path, actor=actor)


def freeze_order(
    *,
    dataset: Dataset,
    order: FreezeOrder,
    path: Path | None = None,
    actor: User | None,
    watch: Watch | None = None,
    then: Callable[[Release], None] | None = None,
) -> Release:
    """Freezes the release at once. `then` is called in the transaction that stores it.

    Raises ReleaseError with all faults and writes nothing.
    """
    watch = watch or Watch()
    gold = gold_of_order(dataset=dataset, order=order, path=path, watch=watch)
    return freeze_gold(
        dataset=dataset,
        gold=gold,
        version=order.version or suggest_version(dataset),
        notes=order.notes,
        visibility=order.visibility,
        licence=order.licence,
        citation=order.citation,
        splits=splits_of_order(order, gold),
        accept_overlaps=order.accept_overlaps,
        actor=actor,
        each=watch.step,
        then=then,
    )


@contextmanager
def stored_upload(upload: "File[bytes] | None", name: str = "") -> Iterator[Path | None]:
    """The upload as a temporary file; readers rely on the extension of its name."""
    if upload is None:
        yield None
        return
    with TemporaryDirectory() as folder:
        path = Path(folder) / (PurePath(name or upload.name or "").name or "upload")
        with path.open("wb") as file:
            for chunk in upload.chunks():
                file.write(chunk)
        yield path


def gold_of_order(
    *, dataset: Dataset, order: FreezeOrder, path: Path | None = None, watch: Watch | None = None
) -> Gold:
    """The gold to freeze. Raises ReleaseError."""
    over = (watch or Watch()).over
    if order.source == EARLIER:
        return gold_of_release(release=earlier_release(dataset, order.base), over=over)
    about: dict[str, Any] = {
        "dataset": dataset,
        "benchmark": order.benchmark,
        "labels": order.labels,
        "over": over,
    }
    if order.source == FILE:
        if path is None:
            raise ReleaseError(["the gold file is missing"])
        return gold_of_file(**about, path=path)
    return gold_of_records(**about)


def earlier_release(dataset: Dataset, version: str) -> Release:
    """The release to take the gold from. Raises ReleaseError if it does not exist."""
    release = dataset.releases.filter(version=version).first()
    if release is None:
        raise ReleaseError([f"this dataset has no release {version}"])
    return release


def splits_of_order(order: FreezeOrder, gold: Gold) -> Any:
    """How items are assigned to splits. Raises ReleaseError."""
    if order.split_by == DRAW:
        return SplitDraw(order.test_share, order.seed, order.group_by)
    return given_splits(gold) if order.split_by == COLUMN else gold.kept_splits


def start_freezing(
    *, dataset: Dataset, order: FreezeOrder, upload: "File[bytes] | None" = None, actor: User
) -> DatasetTask:
    """Queues the release; a repeated request returns the running task.

    Raises ReleaseError for invalid fields and while another release is being frozen.
    """
    order = replace(order, version=order.version or suggest_version(dataset))
    options = asdict(order)
    running = running_freeze(dataset)
    if running is None:
        check_terms(dataset, order.version, order.visibility, order.licence, order.citation)
        running = start_task(
            dataset=dataset,
            kind=DatasetTask.Kind.FREEZE,
            options=options,
            upload=upload,
            actor=actor,
        )
    if running.options != options:
        version = running.options["version"]
        message = f"release {version} is being frozen (job {running.pk}); wait until it is done"
        raise ReleaseError([message])
    return running


def running_freeze(dataset: Dataset) -> DatasetTask | None:
    return dataset.tasks.unfinished().filter(kind=DatasetTask.Kind.FREEZE).first()


def freeze_task(task: DatasetTask, steps: Steps) -> TaskReport:
    """The runner of kind "freeze". Raises TaskError with the faults of the gold.

    The transaction that stores the release also notes it in the task's row. If the worker is killed
    afterwards, the next run does not freeze again.
    """
    if RELEASE in task.report:
        return _report(Release.objects.get(pk=task.report[RELEASE]))
    order = FreezeOrder(**task.options)
    total = task.dataset.documents.count() * (2 if order.benchmark == PAGES else 1)
    watch = Watch(steps, total)

    def note(release: Release) -> None:
        DatasetTask.objects.filter(pk=task.pk).update(report={RELEASE: release.pk})

    freeze = partial(
        freeze_order,
        dataset=task.dataset,
        order=order,
        actor=task.created_by,
        watch=watch,
        then=note,
    )
    try:
        if order.source != FILE:
            return _report(freeze())
        with task.upload.open("rb") as upload, stored_upload(upload, order.file_name) as path:
            return _report(freeze(path=path))
    except ReleaseError as error:
        raise _refused(error) from error


def _report(release: Release) -> TaskReport:
    report = TaskReport({"items": release.item_count, "facts": release.fact_count})
    report.more = {
        RELEASE: release.pk,
        "version": release.version,
        "remarks": freeze_remarks(release),
        "warnings": freeze_warnings(release),
    }
    return report


def _refused(error: ReleaseError) -> TaskError:
    report = TaskReport()
    for fault in error.faults:
        where, separator, reason = fault.partition(": ")
        report.fault(where if separator else "", "release", reason if separator else fault)
    count = len(error.faults)
    message = "nothing was frozen; " + ("1 error" if count == 1 else f"{count:,} errors")
    return TaskError(message, report)
