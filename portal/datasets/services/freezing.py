"""Freezing a release without a campaign, as page, API and command ask for it: at once where that is
quick, else as a task that a worker does.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from django.core.files.base import File

from portal.accounts.models import User
from portal.datasets.curation.filings import FILING
from portal.datasets.curation.splits import SplitDraw
from portal.datasets.models import Dataset, DatasetTask, Release
from portal.datasets.selectors.freeze_reports import freeze_remarks, freeze_warnings

from .dataset_tasks import Steps, TaskError, TaskReport, start_task
from .record_releases import (
    PAGES,
    Gold,
    freeze_gold,
    gold_of_file,
    gold_of_records,
    gold_of_release,
    told_splits,
)
from .release_rows import ReleaseError
from .releases import check_terms, suggest_version

RECORDS, FILE, EARLIER = "records", "file", "release"
NO_SPLIT, DRAW, COLUMN = "none", "draw", "column"
# More than this is no work for a request: a page takes some hundredths of a second.
MOST_DOCUMENTS = 200
MOST_BYTES = 8 * 1024 * 1024
# Steps between two looks at whether somebody cancelled.
LOOK_EVERY = 10
RELEASE = "release"

Part = TypeVar("Part")


class StoppedError(Exception):
    """The task was cancelled, or its worker is about to end."""


@dataclass(frozen=True)
class FreezeOrder:
    """A release to be frozen. Without `notes` they are drafted by comparison with the one before.

    `source` says where the gold comes from: RECORDS of the benchmark, FILE, whose name is
    `file_name`, or an EARLIER release, `base`, with the corrections of accepted disputes.
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


@dataclass
class Watch:
    """Told of every step of the work; says how far it is, and raises StoppedError on request."""

    steps: Steps | None = None
    total: int = 0
    done: int = 0

    def step(self) -> None:
        self.done += 1
        if self.steps is None or self.done % LOOK_EVERY:
            return
        if self.steps.stop():
            raise StoppedError
        self.steps.progress(self.done, max(self.total, self.done))

    def over(self, parts: Iterable[Part]) -> Iterator[Part]:
        for part in parts:
            self.step()
            yield part


def is_quick(dataset: Dataset, size: int = 0) -> bool:
    """Whether a request can wait for a release; `size` is that of the file of gold in bytes."""
    return size <= MOST_BYTES and dataset.documents.count() <= MOST_DOCUMENTS


def freeze_order(
    *,
    dataset: Dataset,
    order: FreezeOrder,
    path: Path | None = None,
    actor: User | None,
    watch: Watch | None = None,
    then: Callable[[Release], None] | None = None,
) -> Release:
    """Freezes what is asked for, now. `then` is called in the transaction that stores it.

    Raises ReleaseError with all faults; then nothing is written.
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
        actor=actor,
        each=watch.step,
        then=then,
    )


def gold_of_order(
    *, dataset: Dataset, order: FreezeOrder, path: Path | None = None, watch: Watch | None = None
) -> Gold:
    """The gold that is to be frozen. Raises ReleaseError."""
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
            raise ReleaseError(["the file of gold is missing"])
        return gold_of_file(**about, path=path)
    return gold_of_records(**about)


def earlier_release(dataset: Dataset, version: str) -> Release:
    """The release whose gold is taken. Raises ReleaseError if there is none."""
    release = dataset.releases.filter(version=version).first()
    if release is None:
        raise ReleaseError([f"there is no release {version} whose gold could be taken"])
    return release


def splits_of_order(order: FreezeOrder, gold: Gold) -> Any:
    """How the items come into their parts. Raises ReleaseError."""
    if order.split_by == DRAW:
        return SplitDraw(order.test_share, order.seed, order.group_by)
    return told_splits(gold) if order.split_by == COLUMN else None


def start_freezing(
    *, dataset: Dataset, order: FreezeOrder, upload: "File[bytes] | None" = None, actor: User
) -> DatasetTask:
    """Queues it; asked a second time for the same it is the task under way.

    Raises ReleaseError for terms that cannot be, and while another release is being frozen.
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
        message = f"release {version} is being frozen (task {running.pk}); wait until it has ended"
        raise ReleaseError([message])
    return running


def running_freeze(dataset: Dataset) -> DatasetTask | None:
    return dataset.tasks.unfinished().filter(kind=DatasetTask.Kind.FREEZE).first()


def freeze_task(task: DatasetTask, steps: Steps) -> TaskReport | None:
    """The runner of kind "freeze". Raises TaskError with the faults of the gold.

    The release is noted in the task's row by the transaction that stores it, so that a worker that
    is killed behind that is not followed by one that freezes it again.
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
        with TemporaryDirectory() as folder:
            return _report(freeze(path=_copy(task, order.file_name, Path(folder))))
    except StoppedError:
        return None
    except ReleaseError as error:
        raise _refused(error) from error


def _copy(task: DatasetTask, name: str, folder: Path) -> Path:
    """The upload as a file of its own name, for readers that go by its ending."""
    path = folder / (PurePath(name).name or "upload")
    with task.upload.open("rb") as stored, path.open("wb") as file:
        for chunk in stored.chunks():
            file.write(chunk)
    return path


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
    message = "nothing was frozen; " + ("1 fault" if count == 1 else f"{count:,} faults")
    return TaskError(message, report)
