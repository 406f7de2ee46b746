"""The report of an import."""

from collections import Counter
from dataclasses import dataclass

from django.core.paginator import Page, Paginator
from django.db.models import Count

from portal.datasets.models import ImportItem, ImportRun
from portal.datasets.sources.left_out import LeftOut, left_out
from portal.jobs.models import Job

PER_PAGE = 100


@dataclass(frozen=True)
class OutcomeCount:
    """A way to filter the report; `value` is empty for all."""

    value: str
    label: str
    count: int


@dataclass(frozen=True)
class ImportReport:
    """An import as far as it is.

    `done` and `total` count files of pages/; of the other layouts the rows of the report, of which
    the total is 0 until all is read.

    `items` is one page of what is reported; `left_out` are the files that were not read; `trouble`
    says why a run waits to be tried again.
    """

    run: ImportRun
    done: int
    total: int
    outcomes: list[OutcomeCount]
    outcome: str
    items: Page[ImportItem]
    left_out: list[LeftOut]
    trouble: str

    @property
    def usable(self) -> bool:
        """Whether any page of it is a document now, new or from before."""
        usable = {"imported", "updated", "unchanged"}
        return any(row.count for row in self.outcomes if row.value in usable)

    @property
    def files_left_out(self) -> int:
        return sum(row.files for row in self.left_out)

    @property
    def label(self) -> str:
        """What is counted."""
        return "pages" if self.run.form == ImportRun.Form.PAGES else "items"

    @property
    def query(self) -> str:
        """What the links between the report's pages keep."""
        return f"outcome={self.outcome}" if self.outcome else ""


def import_report(run: ImportRun, *, outcome: str = "", page: str = "1") -> ImportReport:
    """The report, with the items of one outcome or, if it is none of them, of all."""
    items = run.items.select_related("document")
    counted = run.items.order_by().values_list("outcome").annotate(Count("id"))
    counts = Counter(dict(counted))
    outcome = outcome if outcome in ImportItem.Outcome.values else ""
    if outcome:
        items = items.filter(outcome=outcome)
    return ImportReport(
        run=run,
        done=_done(run, counts.total()),
        total=run.total,
        outcomes=[
            OutcomeCount("", "all", counts.total()),
            *(OutcomeCount(value, value, counts[value]) for value in ImportItem.Outcome.values),
        ],
        outcome=outcome,
        items=Paginator(items, PER_PAGE).get_page(page),
        left_out=left_out(run.ignored, run.form),
        trouble="" if run.is_finished else _trouble(run),
    )


def _done(run: ImportRun, reported: int) -> int:
    if run.form != ImportRun.Form.PAGES:
        return reported
    return run.items.filter(name__startswith="pages/").count()


def _trouble(run: ImportRun) -> str:
    job = Job.objects.filter(group=run.job_group).last()
    return job.error if job is not None and job.state == Job.State.QUEUED else ""
