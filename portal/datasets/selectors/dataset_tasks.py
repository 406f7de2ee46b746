"""The tasks of a dataset and the report of one."""

from dataclasses import dataclass

from django.core.paginator import Page, Paginator

from portal.datasets.models import Dataset, DatasetTask
from portal.jobs.models import Job

PER_PAGE = 50
FAULTS_PER_PAGE = 100


@dataclass(frozen=True)
class Fault:
    """What kept a task from doing one document. `is_document`: whether `name` leads to its page."""

    name: str
    code: str
    reason: str
    is_document: bool


@dataclass(frozen=True)
class TaskPage:
    """A task as far as it is: `counts` as (what, number), one page of its faults.

    `trouble` says why a task waits to be tried again.
    """

    task: DatasetTask
    counts: list[tuple[str, int]]
    faults: list[Fault]
    page: Page[dict[str, str]]
    faults_left_out: int
    trouble: str


def task_list(dataset: Dataset, *, page: str = "1") -> Page[DatasetTask]:
    """The dataset's tasks, newest first, without their reports."""
    tasks = dataset.tasks.select_related("created_by").defer("report")
    shown = Paginator(tasks, PER_PAGE).get_page(page)
    for task in shown:
        task.dataset = dataset
    return shown


def task_page(task: DatasetTask, *, page: str = "1") -> TaskPage:
    """Three queries at most, whatever the task did."""
    report = task.report
    shown = Paginator(report.get("faults", []), FAULTS_PER_PAGE).get_page(page)
    names = {fault["name"] for fault in shown}
    known: set[str] = set()
    if names:
        documents = task.dataset.documents.filter(name__in=names)
        known = set(documents.values_list("name", flat=True))
    return TaskPage(
        task=task,
        # PostgreSQL keeps no order of an object's keys.
        counts=sorted(report.get("counts", {}).items()),
        faults=[Fault(**fault, is_document=fault["name"] in known) for fault in shown],
        page=shown,
        faults_left_out=report.get("faults_left_out", 0),
        trouble="" if task.is_finished else _trouble(task),
    )


def _trouble(task: DatasetTask) -> str:
    job = Job.objects.filter(group=task.job_group).last()
    return job.error if job is not None and job.state == Job.State.QUEUED else ""
