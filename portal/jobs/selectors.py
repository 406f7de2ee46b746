"""What pages show of the queue."""

from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Case, Count, F, Min, PositiveBigIntegerField, Sum, When
from django.db.models.functions import Least
from django.utils import timezone

from portal.jobs.models import Job
from portal.jobs.progress import steps_of_jobs
from portal.jobs.stagelog import StageLine, StageLog, kind_of_error, stage_log
from portal.jobs.standing import QueueStanding, queue_standing

__all__ = [
    "GroupProgress",
    "QueueStanding",
    "StageLine",
    "StageLog",
    "group_progress",
    "kind_of_error",
    "longest_wait",
    "queue_standing",
    "stage_log",
]


@dataclass(frozen=True)
class GroupProgress:
    """How far a group of jobs is. `done` and `total` count steps, the rest counts jobs."""

    done: int
    total: int
    states: dict[str, int]

    @property
    def queued(self) -> int:
        return self.states[Job.State.QUEUED]

    @property
    def running(self) -> int:
        return self.states[Job.State.RUNNING]

    @property
    def failed(self) -> int:
        return self.states[Job.State.FAILED]

    @property
    def cancelled(self) -> int:
        return self.states[Job.State.CANCELLED]

    @property
    def unfinished(self) -> int:
        """Jobs that will still change of themselves."""
        return self.queued + self.running


def group_progress(group: str) -> GroupProgress:
    """One query. A job that declared no total is one step, done when the job is."""
    steps = steps_of_jobs()
    done = Case(
        When(state=Job.State.DONE, then=steps),
        default=Least(F("progress_done"), steps),
        output_field=PositiveBigIntegerField(),
    )
    rows = (
        Job.objects.filter(group=group)
        .order_by()
        .values("state")
        .annotate(jobs=Count("id"), done=Sum(done), total=Sum(steps))
    )
    states: dict[str, int] = dict.fromkeys(Job.State.values, 0)
    states |= {row["state"]: row["jobs"] for row in rows}
    return GroupProgress(
        done=sum(row["done"] for row in rows),
        total=sum(row["total"] for row in rows),
        states=states,
    )


def longest_wait() -> timedelta:
    """How long the job that is due longest has been waiting; zero when none is due.

    A value well above JOB_REAP_SECONDS means that workers are busy, or that none runs.
    """
    now = timezone.now()
    since = Job.objects.due(now).aggregate(since=Min("not_before"))["since"]
    return now - since if since else timedelta(0)
