"""Writing the stage log: each line in the transaction of the change that it tells of."""

import os
import socket
from collections.abc import Sequence
from datetime import datetime

from portal.jobs.models import Job, JobEvent

What = JobEvent.What


def worker_name() -> str:
    """This process, as the log names it. Asked for at each claim: a pool's processes are forked."""
    return f"{socket.gethostname()[:60]}:{os.getpid()}"


def note(
    job: Job, what: JobEvent.What, *, error: str = "", next_at: datetime | None = None
) -> None:
    """A line about one job, with its attempt and its worker as they are in `job`."""
    JobEvent.objects.create(
        job_id=job.pk,
        group=job.group,
        kind=job.kind,
        what=what,
        attempt=job.attempts,
        worker=job.worker,
        error=error,
        next_at=next_at,
    )


def note_queued(jobs: Sequence[Job]) -> None:
    """One line for a group's jobs however many; jobs without a group are not told together."""
    if jobs and jobs[0].group:
        one = jobs[0] if len(jobs) == 1 else None
        _note_many(jobs[0].group, jobs[0].kind, What.QUEUED, len(jobs), one)
        return
    lines = [JobEvent(job=job, kind=job.kind, what=What.QUEUED) for job in jobs]
    JobEvent.objects.bulk_create(lines, batch_size=500)


def note_group(group: str, what: JobEvent.What, counts: dict[str, int]) -> None:
    """One line for each kind of which `counts` has any."""
    for kind, count in counts.items():
        if count:
            _note_many(group, kind, what, count)


def _note_many(
    group: str, kind: str, what: JobEvent.What, count: int, job: Job | None = None
) -> None:
    JobEvent.objects.create(job=job, group=group, kind=kind, what=what, count=count)
