"""Long tasks on the documents of a dataset: starting, running, ending and cancelling them.

Imports end and are cancelled in the same way.

A runner does the work of one kind of task. If it is killed, it runs again from the start and skips
the work that is done. `check_options` validates the options of tasks that users start.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar
from uuid import uuid4

from django.core.files.base import File
from django.db import transaction
from django.utils import timezone
from django.utils.module_loading import import_string

from portal.accounts.models import User
from portal.audit.models import record_event
from portal.jobs.models import Job
from portal.jobs.services import cancel_group, enqueue

from .models import Dataset, DatasetTask, DatasetWork, ImportRun

State = DatasetTask.State

# Every attempt continues the previous one.
ATTEMPTS = 5
# Faults that are stored one by one; the others are only counted.
FAULTS_KEPT = 1_000


@dataclass
class TaskReport:
    """The result of a task: `counts` by name, and `faults` of single documents."""

    counts: dict[str, int] = field(default_factory=dict)
    faults: list[dict[str, str]] = field(default_factory=list)
    faults_left_out: int = 0
    more: dict[str, Any] = field(default_factory=dict)
    """Other results of a kind of task, such as its release."""

    def count(self, what: str, number: int = 1) -> None:
        self.counts[what] = self.counts.get(what, 0) + number

    def fault(self, name: str, code: str, reason: str) -> None:
        """Add a fault of the document `name`."""
        if len(self.faults) < FAULTS_KEPT:
            self.faults.append({"name": name, "code": code, "reason": reason})
        else:
            self.faults_left_out += 1

    def as_json(self) -> dict[str, Any]:
        return self.more | {
            "counts": self.counts,
            "faults": self.faults,
            "faults_left_out": self.faults_left_out,
        }


class TaskError(Exception):
    """A task failed as a whole. `report` has its result so far."""

    def __init__(self, message: str, report: TaskReport | None = None) -> None:
        super().__init__(message)
        self.report = report


class TaskStopped(Exception):
    """The task was cancelled, or its worker is about to end."""


Part = TypeVar("Part")
# Progress is reported, and cancelling noticed, once in so many steps.
STEPS_AT_ONCE = 20


@dataclass(frozen=True)
class Steps:
    """Callbacks of a runner: it reports `progress(done, total)` and checks `stop()`."""

    progress: Callable[[int, int], None]
    stop: Callable[[], bool]

    def at(self, done: int, total: int) -> None:
        """Report progress now and then, and at the end. Raises TaskStopped."""
        if done % STEPS_AT_ONCE == 0 or done == total:
            if self.stop():
                raise TaskStopped
            self.progress(done, total)

    def over(self, parts: Sequence[Part]) -> Iterator[Part]:
        """Yield the parts, with progress. Raises TaskStopped."""
        for done, part in enumerate(parts):
            self.at(done, len(parts))
            yield part
        self.progress(len(parts), len(parts))


class Runner(Protocol):
    def __call__(self, task: DatasetTask, steps: Steps) -> TaskReport | None:
        """Run the task. Returns None if stopped. Raises TaskStopped, and TaskError."""


def start_task(
    *,
    dataset: Dataset,
    kind: DatasetTask.Kind,
    options: Mapping[str, Any] | None = None,
    upload: "File[bytes] | None" = None,
    actor: User | None,
) -> DatasetTask:
    """Queue a task, or return the dataset's running task of the same kind.

    `upload` is a file for the task, which is deleted when it ends.
    """
    with transaction.atomic():
        Dataset.objects.select_for_update().get(pk=dataset.pk)
        running = dataset.tasks.unfinished().filter(kind=kind).first()
        if running is not None:
            return running
        task = DatasetTask.objects.create(
            dataset=dataset,
            kind=kind,
            options=dict(options or {}),
            upload=File(upload.file, name=f"{uuid4().hex}.upload") if upload else "",
            created_by=actor,
        )
        enqueue(
            kind="dataset_task",
            payload={"task": task.pk},
            group=task.job_group,
            max_attempts=ATTEMPTS,
        )
        record_event(
            verb="start_dataset_task", subject=task, actor=actor, dataset=dataset.slug, kind=kind
        )
    return task


def run_here(
    *,
    dataset: Dataset,
    kind: DatasetTask.Kind,
    run: Runner,
    options: Mapping[str, Any] | None = None,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> DatasetTask:
    """Run a task in this process, for commands. Raises TaskError after marking it as failed.

    Also raises TaskError if a worker is running a task of the same kind. A task of another command
    is ended, because the command may have been killed; if it is still running, it stops.
    """
    with transaction.atomic():
        Dataset.objects.select_for_update().get(pk=dataset.pk)
        if running := dataset.tasks.unfinished().filter(kind=kind).first():
            if Job.objects.unfinished().filter(group=running.job_group).exists():
                raise TaskError(f"job {running.pk} is already running; wait for it or cancel it")
            end_work(work=running, state=State.FAILED, error="another command replaced it")
        task = DatasetTask.objects.create(dataset=dataset, kind=kind, options=dict(options or {}))
    try:
        report = carry_out(task=task, run=run, steps=Steps(progress, lambda: is_ended(task)))
    except TaskError as error:
        end_work(work=task, state=State.FAILED, error=str(error))
        raise
    except BaseException:
        end_work(work=task, state=State.FAILED, error="the command was interrupted")
        raise
    if report is not None:
        end_work(work=task, state=State.DONE, report=report)
    task.refresh_from_db()
    return task


def carry_out(*, task: DatasetTask, run: Runner, steps: Steps) -> TaskReport | None:
    """Run the task and store its progress. Returns None if stopped. Raises TaskError."""
    DatasetTask.objects.unfinished().filter(pk=task.pk).update(state=State.RUNNING)

    def progress(done: int, total: int) -> None:
        DatasetTask.objects.filter(pk=task.pk).exclude(done=done, total=total).update(
            done=done, total=total
        )
        steps.progress(done, total)

    try:
        return run(task, Steps(progress, steps.stop))
    except TaskStopped:
        return None


@transaction.atomic
def end_work(
    *,
    work: DatasetWork,
    state: DatasetWork.State,
    report: TaskReport | None = None,
    error: str = "",
) -> None:
    """End an import or a task and delete its upload, unless it has already ended.

    A preview of an import keeps it. `report` is that of a task.
    """
    stored: Any = type(work)._default_manager.select_for_update().get(pk=work.pk)
    if stored.is_finished:
        return
    stored.state, stored.error, stored.finished_at = state, error, timezone.now()
    changed = ["state", "error", "finished_at"]
    if report is not None:
        stored.report = report.as_json()
        changed.append("report")
    stored.save(update_fields=changed)
    record_event(verb=f"{work.noun}_{state}", subject=stored, actor=None, error=error)
    if stored.upload and not (isinstance(stored, ImportRun) and stored.can_be_carried_out):
        storage, name = stored.upload.storage, str(stored.upload.name)
        transaction.on_commit(lambda: storage.delete(name))


@transaction.atomic
def cancel_work(*, work: ImportRun | DatasetTask, actor: User | None) -> None:
    """Cancel an import or a task; its results are kept. A worker ends with the current document."""
    record_event(verb=f"cancel_{work.noun}", subject=work, actor=actor)
    if cancel_group(work.job_group, actor).asked == 0:
        end_work(work=work, state=State.CANCELLED)


def last_task(dataset: Dataset, kind: DatasetTask.Kind) -> DatasetTask | None:
    """Return the newest task of a kind, without its report."""
    task = dataset.tasks.filter(kind=kind).defer("report").first()
    if task is not None:
        task.dataset = dataset
    return task


def trouble_of(group: str) -> str:
    """Return the error after which the last job of a group will be retried, or ""."""
    job = Job.objects.filter(group=group).last()
    return job.error if job is not None and job.state == Job.State.QUEUED else ""


def is_ended(work: ImportRun | DatasetTask) -> bool:
    """Whether the stored row has ended, for example because it was cancelled."""
    return not type(work).objects.unfinished().filter(pk=work.pk).exists()


# By dotted path, like RUNNERS. A check returns the options to store, or raises OptionsError.
CHECKS: dict[str, str] = {
    "render": "portal.datasets.imaging.services.check_options",
    "pii": "portal.datasets.curation.personal_data.check_scan",
    "duplicates": "portal.datasets.curation.services.check_search",
    "content": "portal.datasets.curation.services.check_content_options",
}


class OptionsError(ValueError):
    """The options of a task are invalid."""


def check_options(kind: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Validate the options of a kind of task. Raises OptionsError."""
    if kind not in CHECKS:
        raise OptionsError(f"Tasks of the kind {kind} cannot be started here.")
    check: Callable[[Mapping[str, Any]], dict[str, Any]] = import_string(CHECKS[kind])
    return check(options)


def refuse_others(options: Mapping[str, Any], known: set[str]) -> None:
    """Check that there are only known options. Raises OptionsError."""
    unknown = sorted(set(options) - known)
    if unknown:
        raise OptionsError(f"unknown option {unknown[0]!r}; use {', '.join(sorted(known))}")
