"""Where a group stands in the queue, and how long it may still take."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from statistics import median

from django.db.models import F, Max, PositiveBigIntegerField, Sum
from django.db.models.functions import Least
from django.utils import timezone

from portal.jobs.handlers import HANDLERS
from portal.jobs.models import Job
from portal.jobs.progress import steps_of_jobs
from portal.jobs.turns import Head, due_heads

# As many of the newest finished jobs say how long jobs of their kinds take.
RECENT = 300
# A process that ended a job so short a while ago is taken to be still there.
WORKER_SEEN = timedelta(minutes=1)
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class QueueStanding:
    """`jobs_before`: jobs of others that are served before the group's next one; None when none of
    the group's jobs is due. `workers`: processes seen at work within the last minute.
    `expected_wait`: until the group's next job begins, None when nothing is known. `rate`: steps
    per second that the group's running jobs do. `time_left`: until all steps are done at that rate.
    """

    jobs_before: int | None
    running: int
    workers: int
    expected_wait: timedelta | None
    rate: float | None
    time_left: timedelta | None


@dataclass(frozen=True)
class _Next:
    """The job that is next of a group, and when a job of the group was last begun."""

    head: Head
    served: datetime


def queue_standing(group: str) -> QueueStanding:
    """Six queries, however many jobs and groups there are.

    The order is that of `turns.Turns`: finishing jobs, then groups in turn, the one served longest
    ago first. Each worker keeps the turns for itself, so that with several of them the place is an
    estimate.
    """
    now = timezone.now()
    before = _before(_next_jobs(now), group)
    running = list(Job.objects.filter(state=Job.State.RUNNING))
    seconds, workers = _recent(now)
    workers |= {job.worker for job in running}
    mine = [job for job in running if job.group == group]
    rate = _rate(group, mine, now)
    return QueueStanding(
        jobs_before=None if before is None else len(before),
        running=len(mine),
        workers=len(workers),
        expected_wait=_wait(before, running, seconds, len(workers), now),
        rate=rate.now,
        time_left=timedelta(seconds=rate.left / rate.now) if rate.now else None,
    )


def _next_jobs(now: datetime) -> list[_Next]:
    """The next job of each group that has one due. Two queries."""
    due = Job.objects.due(now).filter(kind__in=HANDLERS).order_by()
    served = (
        Job.objects.filter(group__in=due.values("group"), started_at__isnull=False)
        .order_by()
        .values_list("group")
        .annotate(last=Max("started_at"))
    )
    last = dict(served)
    heads = sorted(due_heads(HANDLERS, now), key=lambda head: (head.is_finishing, -head.job_id))
    # Of a group's heads the last one stays: a finishing one, or else the oldest.
    by_group = {head.group: head for head in heads}
    return [_Next(head, last.get(group, _NEVER)) for group, head in by_group.items()]


def _before(waiting: Iterable[_Next], group: str) -> list[Head] | None:
    """Those that come before the group's own; None if it has none."""
    order = sorted(
        waiting, key=lambda each: (not each.head.is_finishing, each.served, each.head.job_id)
    )
    heads = [each.head for each in order]
    for place, head in enumerate(heads):
        if head.group == group:
            return heads[:place]
    return None


def _recent(now: datetime) -> tuple[dict[str, float], set[str]]:
    """By kind, the seconds that a job takes (the median); and the workers seen lately."""
    done = Job.objects.filter(state=Job.State.DONE, finished_at__isnull=False)
    newest = done.order_by("-finished_at").values_list(
        "kind", "started_at", "finished_at", "worker"
    )
    taken: dict[str, list[float]] = {}
    workers: set[str] = set()
    for kind, started, finished, worker in newest[:RECENT]:
        if started and finished:
            taken.setdefault(kind, []).append((finished - started).total_seconds())
        if worker and finished and finished >= now - WORKER_SEEN:
            workers.add(worker)
    return {kind: median(seconds) for kind, seconds in taken.items()}, workers


def _wait(
    before: list[Head] | None,
    running: list[Job],
    seconds: dict[str, float],
    workers: int,
    now: datetime,
) -> timedelta | None:
    """The work before it, shared by all workers; None when a kind was never finished before."""
    if before is None or not workers:
        return None
    kinds = {head.kind for head in before}
    busy = running if len(running) >= workers else []
    if not (kinds | {job.kind for job in busy}) <= seconds.keys():
        return None
    work = sum(seconds[head.kind] for head in before)
    rest = [max(seconds[job.kind] - _elapsed(job, now), 0) for job in busy]
    # Each running job must be half done on average before its worker is free for the next.
    free = min(rest) if rest else 0.0
    return timedelta(seconds=free + work / workers)


@dataclass(frozen=True)
class _Rate:
    """Steps per second now, or None when nothing runs or nothing is done; and steps left."""

    now: float | None
    left: int


def _rate(group: str, mine: list[Job], now: datetime) -> _Rate:
    """From the group's newest finished jobs and what the running ones have done so far. Two
    queries."""
    jobs = Job.objects.filter(group=group).order_by()
    newest = jobs.filter(state=Job.State.DONE, started_at__isnull=False).order_by("-finished_at")
    done = busy = 0.0
    for size, started, finished in newest.values_list(
        "progress_total", "started_at", "finished_at"
    )[:RECENT]:
        if started and finished:
            done += max(size, 1)
            busy += (finished - started).total_seconds()
    for job in mine:
        done += job.progress_done
        busy += _elapsed(job, now)
    big = PositiveBigIntegerField()
    steps = steps_of_jobs()
    counted = Least(F("progress_done"), steps, output_field=big)
    left = jobs.unfinished().aggregate(left=Sum(steps - counted))["left"] or 0
    return _Rate(done / busy * len(mine) if done and busy and mine else None, left)


def _elapsed(job: Job, now: datetime) -> float:
    return (now - job.started_at).total_seconds() if job.started_at else 0.0
