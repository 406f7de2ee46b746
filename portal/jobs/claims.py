"""What a handler holds while it works: the payload, and the lease that makes the row its own."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from portal.jobs.events import note
from portal.jobs.models import Job, JobEvent

# Progress is for people's eyes; more than four writes a second would only slow the work down.
PROGRESS_EVERY_SECONDS = 0.25


class LeaseLost(Exception):
    """Another worker owns the row by now; whatever this one did must not be kept."""


class Claim:
    """One attempt at one job, valid as long as its lease token stands in the row."""

    def __init__(self, job: Job) -> None:
        self.job_id: int = job.pk
        self.kind = job.kind
        self.payload: dict[str, Any] = job.payload
        self.attempt = job.attempts
        self.token = job.lease_token
        self.finished = False
        self.saw_cancel = False
        self._next_progress = 0.0

    def __str__(self) -> str:
        return f"{self.kind} {self.job_id}, attempt {self.attempt}"

    def progress(self, done: int, total: int | None = None) -> None:
        """Notes how far the work is; cheap enough to call after every item.

        Raises LeaseLost when the row belongs to another worker by now. Do not call it inside a
        transaction: the row would stay locked and the lease could not be renewed.
        """
        now = monotonic()
        if now < self._next_progress and done != total:
            return
        self._next_progress = now + PROGRESS_EVERY_SECONDS
        changes = {"progress_done": done} | ({} if total is None else {"progress_total": total})
        if Job.objects.held(self.job_id, self.token).update(**changes) != 1:
            raise LeaseLost(f"{self}: another worker took over")

    def cancelled(self) -> bool:
        """Whether somebody asked to stop. A handler that then returns ends the job as cancelled."""
        asked = (
            Job.objects.held(self.job_id, self.token)
            .values_list("cancel_requested", flat=True)
            .first()
        )
        if asked is None:
            raise LeaseLost(f"{self}: another worker took over")
        self.saw_cancel = asked
        return asked

    @contextmanager
    def finish(self) -> Iterator[None]:
        """A transaction in which the effects are written and the row becomes done, or neither.

        Compute before and only write inside: SQLite has one writer at a time. The job's row is
        locked first, as everywhere, so that two transactions cannot wait for each other. Raises
        LeaseLost, which rolls everything back, when another worker took over.
        """
        mine = Job.objects.held(self.job_id, self.token)
        with self.keep() as job:
            yield
            changed = mine.update(
                state=Job.State.DONE,
                lease_token="",
                lease_until=None,
                progress_done=F("progress_total"),
                error="",
                finished_at=timezone.now(),
            )
            if changed != 1:
                raise LeaseLost(f"{self}: another worker took over")
            note(job, JobEvent.What.DONE)
        self.finished = True

    @contextmanager
    def keep(self) -> Iterator[Job]:
        """A transaction for a part of the effects, which leaves the job running.

        What is written must be skipped by another attempt. The rules of `finish` hold.
        """
        with transaction.atomic():
            job = Job.objects.held(self.job_id, self.token).select_for_update().first()
            if job is None:
                raise LeaseLost(f"{self}: another worker took over")
            yield job
