"""Queries for pages: a group's progress, its position in the queue, and its stage log."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import Any

from django.db.models import Case, Count, F, Max, Min, PositiveBigIntegerField, Q, Sum, Value, When
from django.db.models.functions import Least
from django.utils import timezone

from . import leases
from .handlers import HANDLERS, Handler
from .leases import Head, due_heads
from .models import Job, JobEvent


def steps_of_jobs() -> Case:
    """An expression over jobs. A job without a total counts as one step."""
    return Case(
        When(progress_total=0, then=Value(1)),
        default=F("progress_total"),
        output_field=PositiveBigIntegerField(),
    )


LINES_SHOWN = 100

What = JobEvent.What
Words = Callable[[str], str]
# Normal events, combined for all jobs of a kind.
_ROUTINE = Q(what=What.DONE) | Q(what=What.CLAIMED, attempt=1)
_TROUBLE = {What.LOST, What.ATTEMPT_FAILED, What.FAILED}


@dataclass(frozen=True)
class StageLine:
    """One line of the log. `until` is set if the line combines several events."""

    at: datetime
    until: datetime | None
    text: str
    is_trouble: bool = False


@dataclass(frozen=True)
class StageLog:
    """Oldest first. If `is_cut`, only the newest LINES_SHOWN lines are included. Without
    `has_seconds`, times are those of full minutes."""

    lines: list[StageLine]
    is_cut: bool
    has_seconds: bool = True


def kind_of_error(error: str) -> str:
    """The type of an error, without its message, which may quote data of the job."""
    if error in {leases.LOST, leases.STOPPED}:
        return error
    kind = error.partition(":")[0].strip()
    return kind if kind.isidentifier() else "an error"


def stage_log(group: str, *, words: Words = kind_of_error) -> StageLog:
    """The history of a group's jobs. Two queries.

    Starts and completions are combined for all jobs of a kind; other events have their own line.
    `words` turns a job's error into text that readers may see; the default is the error's type.
    """
    events = JobEvent.objects.filter(group=group)
    special = list(
        events.exclude(_ROUTINE).select_related("job").order_by("-id")[: LINES_SHOWN + 1]
    )
    shown = [(event.at, event.pk, _line(event, words)) for event in special[:LINES_SHOWN]]
    lines = sorted([*shown, *_routine(events.filter(_ROUTINE))], key=lambda placed: placed[:2])
    return StageLog([line for _, _, line in lines], is_cut=len(special) > LINES_SHOWN)


def _routine(events: Any) -> Iterator[tuple[datetime, int, StageLine]]:
    """Starts are placed at the first start, completions at the last completion."""
    counts = (
        events.order_by()
        .values("kind", "what")
        .annotate(
            jobs=Sum("count"),
            workers=Count("worker", distinct=True),
            first=Min("at"),
            last=Max("at"),
            first_id=Min("id"),
            last_id=Max("id"),
        )
    )
    for row in counts:
        counted = _handler(row["kind"]).counted(row["jobs"])
        until = row["last"] if row["jobs"] > 1 else None
        if row["what"] == What.CLAIMED:
            text = f"{counted} started by {_counted(row['workers'], 'worker')}"
            yield row["first"], row["first_id"], StageLine(row["first"], until, text)
        else:
            text = f"{counted} done"
            yield row["last"], row["last_id"], StageLine(row["first"], until, text)


def _line(event: JobEvent, words: Words) -> StageLine:
    handler = _handler(event.kind)
    if event.job is None or event.what == What.QUEUED:
        text = f"{handler.counted(event.count)} {_GROUP_TEXTS[What(event.what)]}"
    else:
        text = f"{handler.named(event.job.payload)}: {_job_text(event, words)}"
    return StageLine(event.at, None, text, event.what in _TROUBLE)


_GROUP_TEXTS = {
    What.QUEUED: "queued",
    What.CANCELLED: "cancelled before they started",
    What.CANCEL_ASKED: "asked to stop",
}


def _job_text(event: JobEvent, words: Words) -> str:
    """Describe an event of a single job."""
    error = words(event.error).rstrip(".")
    again = f"{event.next_at:%H:%M:%S} UTC" if event.next_at else ""
    texts = {
        What.CLAIMED: f"started again, attempt {event.attempt}",
        What.GIVEN_BACK: f"returned to the queue ({error}), due again at {again}",
        What.LOST: f"the worker was lost in attempt {event.attempt}",
        What.ATTEMPT_FAILED: f"attempt {event.attempt} failed ({error}), next attempt at {again}",
        What.FAILED: f"failed after {_counted(event.attempt, 'attempt')} ({error})",
        What.CANCELLED: "stopped on request",
        What.TRIED_AGAIN: "queued again manually",
    }
    return texts[What(event.what)]


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _handler(kind: str) -> Handler:
    """The nouns of a kind; “job” if its handler no longer exists."""
    return HANDLERS.get(kind) or Handler(kind, lambda _: None)


# The number of recent jobs used to estimate durations.
RECENT = 300
# A worker that ended a job within this time is counted as running.
WORKER_SEEN = timedelta(minutes=1)
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class QueuePosition:
    """The position of a group in the queue.

    `jobs_before`: jobs of other groups that run before the group's next job; None if none of the
    group's jobs is due. `workers`: processes active within the last minute. `expected_wait`: time
    until the group's next job starts, None if unknown. `rate`: steps per second of the group's
    running jobs. `time_left`: time until all steps are done at that rate.
    """

    jobs_before: int | None
    running: int
    workers: int
    expected_wait: timedelta | None
    rate: float | None
    time_left: timedelta | None


@dataclass(frozen=True)
class _Next:
    """The next job of a group, and when a job of the group was last started."""

    head: Head
    served: datetime


def is_cancelling(group: str) -> bool:
    """Whether a job of the group was asked to stop and still runs."""
    running = Job.objects.filter(group=group, state=Job.State.RUNNING)
    return running.filter(cancel_requested=True).exists()


def queue_position(group: str) -> QueuePosition:
    """Estimate a group's position in the queue. Six queries.

    The order is that of `leases.Turns`. Each worker has its own turns, so the position is an
    estimate if there are several workers.
    """
    now = timezone.now()
    before = _before(_next_jobs(now), group)
    running = list(Job.objects.filter(state=Job.State.RUNNING))
    seconds, workers = _recent(now)
    workers |= {job.worker for job in running}
    mine = [job for job in running if job.group == group]
    rate = _rate(group, mine, now)
    return QueuePosition(
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
    # The last head of a group wins: a finishing job, or the oldest one.
    by_group = {head.group: head for head in heads}
    return [_Next(head, last.get(group, _NEVER)) for group, head in by_group.items()]


def _before(waiting: Iterable[_Next], group: str) -> list[Head] | None:
    """The jobs before the group's next job; None if it has no due job."""
    order = sorted(
        waiting, key=lambda job: (not job.head.is_finishing, job.served, job.head.job_id)
    )
    heads = [job.head for job in order]
    for place, head in enumerate(heads):
        if head.group == group:
            return heads[:place]
    return None


def _recent(now: datetime) -> tuple[dict[str, float], set[str]]:
    """The median duration of a job in seconds, by kind, and the recently active workers."""
    done = Job.objects.filter(state=Job.State.DONE, finished_at__isnull=False)
    newest = done.order_by("-finished_at").values_list(
        "kind", "started_at", "finished_at", "worker"
    )
    durations: dict[str, list[float]] = {}
    workers: set[str] = set()
    for kind, started, finished, worker in newest[:RECENT]:
        if started and finished:
            durations.setdefault(kind, []).append((finished - started).total_seconds())
        if worker and finished and finished >= now - WORKER_SEEN:
            workers.add(worker)
    return {kind: median(seconds) for kind, seconds in durations.items()}, workers


def _wait(
    before: list[Head] | None,
    running: list[Job],
    seconds: dict[str, float],
    workers: int,
    now: datetime,
) -> timedelta | None:
    """The work before the group, divided by workers; None if the duration of a kind is unknown."""
    if before is None or not workers:
        return None
    kinds = {head.kind for head in before}
    busy = running if len(running) >= workers else []
    if not (kinds | {job.kind for job in busy}) <= seconds.keys():
        return None
    work = sum(seconds[head.kind] for head in before)
    rest = [max(seconds[job.kind] - _elapsed(job, now), 0) for job in busy]
    # On average, running jobs are half done.
    free = min(rest) if rest else 0.0
    return timedelta(seconds=free + work / workers)


@dataclass(frozen=True)
class _Rate:
    """The current steps per second (None if unknown) and the steps left."""

    now: float | None
    left: int


def _rate(group: str, mine: list[Job], now: datetime) -> _Rate:
    """Based on the group's recently finished and its running jobs. Two queries."""
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


@dataclass(frozen=True)
class GroupProgress:
    """The progress of a group. `done` and `total` count steps, the other fields count jobs."""

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
        """Jobs that are waiting or running."""
        return self.queued + self.running


def group_progress(group: str) -> GroupProgress:
    """One query. A job without a total is one step, which is done when the job is."""
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
