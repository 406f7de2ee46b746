"""What can be done and how: one handler per kind of job, and the claim it holds while it works.

Handlers live in the `tasks.py` of their app and are found when Django starts (`JobsConfig.ready`).
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


Payload = dict[str, Any]
Run = Callable[[Claim], None]
OnFailed = Callable[[Payload, str], None]
OnCancelled = Callable[[Payload], None]
Label = Callable[[Payload], str]


class Retry(Exception):
    """Raised by a handler that cannot go on now: the row goes back and is due again after `delay`.

    It does not use up an attempt: the work is not at fault, something it waits for is.
    """

    def __init__(self, reason: str, delay: timedelta) -> None:
        super().__init__(reason)
        self.reason = reason
        self.delay = delay


class UnknownKind(LookupError):
    """No handler is registered for this kind of job."""


@dataclass(frozen=True)
class Handler:
    """What to run for one kind, and what to tell the app when the job ends without being done."""

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
        """One job in the stage log, such as “Items 26 to 50”."""
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
    """Registers the decorated function for jobs of `kind`.

    The function gets a `Claim`. It may be run again after a crash, so whatever it leaves behind it
    writes inside `with claim.finish():`. `on_failed(payload, error)` and `on_cancelled(payload)`
    run in the transaction in which the row is marked failed or cancelled, after that.

    In the stage log one job and several are called `nouns`, and a single one `label(payload)`,
    which must not say more than everybody may read who reads the log.

    `is_finishing` is for the short last step of longer work. Workers take it before other jobs, so
    that work that is done but for it does not wait behind work that was queued later.
    """

    def register(run: Run) -> Run:
        known = HANDLERS.get(kind)
        if known is not None and known.run.__qualname__ != run.__qualname__:
            raise ValueError(f"two handlers for jobs of kind {kind!r}: {known.run} and {run}")
        HANDLERS[kind] = Handler(kind, run, on_failed, on_cancelled, nouns, label, is_finishing)
        return run

    return register


def get_handler(kind: str) -> Handler:
    """The handler of `kind`; raises UnknownKind with the nearest known name."""
    try:
        return HANDLERS[kind]
    except KeyError:
        near = get_close_matches(kind, HANDLERS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise UnknownKind(f"no handler for jobs of kind {kind!r}{hint}") from None
