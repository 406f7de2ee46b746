"""Job handlers, one per kind of job, and the claims they hold while they run.

Handlers are defined in the `tasks.py` of their app and loaded when Django starts
(`JobsConfig.ready`).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from difflib import get_close_matches
from time import monotonic
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from .models import Job, JobEvent, note

# Progress is only displayed; writing it more often would slow down the job.
PROGRESS_EVERY_SECONDS = 0.25


class LeaseLost(Exception):
    """Another worker now owns the job; the results of this attempt must be discarded."""


class Claim:
    """One attempt at a job, valid as long as the row has its lease token."""

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
        """Record progress. Cheap enough to call after every item.

        Raises LeaseLost if another worker owns the job. Do not call it inside a transaction: the
        row would stay locked and the lease could not be renewed.
        """
        now = monotonic()
        if now < self._next_progress and done != total:
            return
        self._next_progress = now + PROGRESS_EVERY_SECONDS
        changes = {"progress_done": done} | ({} if total is None else {"progress_total": total})
        if Job.objects.held(self.job_id, self.token).update(**changes) != 1:
            raise LeaseLost(f"{self}: another worker took over")

    def cancelled(self) -> bool:
        """Whether the job was asked to stop. If the handler then returns, the job is cancelled."""
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
        """Open a transaction that writes the results and marks the job as done.

        Compute before the block and only write inside it: SQLite has one writer at a time. The
        job's row is always locked first, which prevents deadlocks. Raises LeaseLost, which rolls
        everything back, if another worker owns the job.
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
        """Open a transaction for a part of the results; the job continues to run.

        Another attempt must skip what is written here. The rules of `finish` apply.
        """
        with transaction.atomic():
            job = Job.objects.held(self.job_id, self.token).select_for_update().first()
            if job is None:
                raise LeaseLost(f"{self}: another worker took over")
            yield job


Payload = dict[str, Any]
Run = Callable[[Claim], None]
OnFailed = Callable[[Payload, str], None]
OnCancelled = Callable[[Payload], None]
Label = Callable[[Payload], str]


class Retry(Exception):
    """Raised by a handler to run the job again after `delay`, without using up an attempt."""

    def __init__(self, reason: str, delay: timedelta) -> None:
        super().__init__(reason)
        self.reason = reason
        self.delay = delay


class UnknownKind(LookupError):
    """No handler is registered for this kind of job."""


@dataclass(frozen=True)
class Handler:
    """The function that runs a kind of job, and hooks for jobs that fail or are cancelled."""

    kind: str
    run: Run
    on_failed: OnFailed | None = None
    on_cancelled: OnCancelled | None = None
    nouns: tuple[str, str] = ("job", "jobs")
    label: Label | None = None
    is_finishing: bool = False

    def counted(self, count: int) -> str:
        return f"{count:,} {self.nouns[count != 1]}"

    def named(self, payload: Payload) -> str:
        """The name of a job in the stage log, such as “Items 26 to 50”."""
        return self.label(payload) if self.label else f"The {self.nouns[0]}"


HANDLERS: dict[str, Handler] = {}


def handler(
    kind: str,
    *,
    on_failed: OnFailed | None = None,
    on_cancelled: OnCancelled | None = None,
    nouns: tuple[str, str] = ("job", "jobs"),
    label: Label | None = None,
    is_finishing: bool = False,
) -> Callable[[Run], Run]:
    """Register the decorated function for jobs of `kind`.

    The function takes a `Claim`. It may run again after a crash, so it writes its results inside
    `with claim.finish():`. `on_failed(payload, error)` and `on_cancelled(payload)` run in the
    transaction that marks the job as failed or cancelled, after that update.

    `nouns` (singular, plural) and `label(payload)` name jobs in the stage log. A label must not
    contain anything that readers of the log may not see.

    `is_finishing` marks the short last step of longer work: workers run it before other jobs.
    """

    def register(run: Run) -> Run:
        known = HANDLERS.get(kind)
        if known is not None and known.run.__qualname__ != run.__qualname__:
            raise ValueError(f"two handlers for jobs of kind {kind!r}: {known.run} and {run}")
        HANDLERS[kind] = Handler(kind, run, on_failed, on_cancelled, nouns, label, is_finishing)
        return run

    return register


def get_handler(kind: str) -> Handler:
    """Return the handler of `kind`. Raises UnknownKind with the closest known name."""
    try:
        return HANDLERS[kind]
    except KeyError:
        near = get_close_matches(kind, HANDLERS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise UnknownKind(f"no handler for jobs of kind {kind!r}{hint}") from None
