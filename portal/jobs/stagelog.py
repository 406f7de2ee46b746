"""The stage log of a group, summed up so that people can read it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Min, Q, Sum

from portal.jobs import leases
from portal.jobs.handlers import HANDLERS, Handler
from portal.jobs.models import JobEvent

LINES_SHOWN = 100

What = JobEvent.What
Words = Callable[[str], str]
# What happens to every job that fares well; told once for all jobs of a kind.
_ROUTINE = Q(what=What.DONE) | Q(what=What.CLAIMED, attempt=1)
_TROUBLE = {What.LOST, What.ATTEMPT_FAILED, What.FAILED}


@dataclass(frozen=True)
class StageLine:
    """One line: from when (to when, where several things are told at once), and what happened."""

    at: datetime
    until: datetime | None
    text: str
    is_trouble: bool = False


@dataclass(frozen=True)
class StageLog:
    """Oldest first. Where it `is_cut`, lines older than the newest LINES_SHOWN are missing."""

    lines: list[StageLine]
    is_cut: bool


def kind_of_error(error: str) -> str:
    """An error without its own words, which may quote what was worked on: its type alone."""
    if error in {leases.LOST, leases.STOPPED}:
        return error
    kind = error.partition(":")[0].strip()
    return kind if kind.isidentifier() else "an error"


def stage_log(group: str, *, words: Words = kind_of_error) -> StageLog:
    """What became of the group's jobs. Two queries, however many jobs there are.

    Beginning and completion are told for all jobs of a kind together; whatever is out of the
    ordinary has a line of its own. `words` says of a job's error what the reader may know; without
    it the error's type alone is named.
    """
    events = JobEvent.objects.filter(group=group)
    special = list(
        events.exclude(_ROUTINE).select_related("job").order_by("-id")[: LINES_SHOWN + 1]
    )
    shown = [(event.at, event.pk, _line(event, words)) for event in special[:LINES_SHOWN]]
    lines = sorted([*shown, *_routine(events.filter(_ROUTINE))], key=lambda found: found[:2])
    return StageLog([line for _, _, line in lines], is_cut=len(special) > LINES_SHOWN)


def _routine(events: Any) -> Iterator[tuple[datetime, int, StageLine]]:
    """The begun stand where the first began, the done where the last ended."""
    found = (
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
    for row in found:
        counted = _handler(row["kind"]).counted(row["jobs"])
        until = row["last"] if row["jobs"] > 1 else None
        if row["what"] == What.CLAIMED:
            text = f"{counted} taken up by {_counted(row['workers'], 'worker')}"
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
    What.CANCELLED: "cancelled before they began",
    What.CANCEL_ASKED: "asked to stop",
}


def _job_text(event: JobEvent, words: Words) -> str:
    """What happened to a single job."""
    error = words(event.error).rstrip(".")
    again = f"{event.next_at:%H:%M:%S} UTC" if event.next_at else ""
    texts = {
        What.CLAIMED: f"taken up again, attempt {event.attempt}",
        What.GIVEN_BACK: f"given back ({error}), due again at {again}",
        What.LOST: f"the worker was lost in attempt {event.attempt}",
        What.ATTEMPT_FAILED: f"attempt {event.attempt} failed ({error}), next try at {again}",
        What.FAILED: f"given up after {_counted(event.attempt, 'attempt')} ({error})",
        What.CANCELLED: "stopped, as was asked",
        What.TRIED_AGAIN: "queued again by hand",
    }
    return texts[What(event.what)]


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _handler(kind: str) -> Handler:
    """Jobs outlive the code that ran them: a kind that is gone is called a job."""
    return HANDLERS.get(kind) or Handler(kind, lambda _: None)
