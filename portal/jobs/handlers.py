"""The registry of what can be done: one handler per kind of job.

Handlers live in the `tasks.py` of their app and are found when Django starts (`JobsConfig.ready`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from difflib import get_close_matches
from typing import Any

from portal.jobs.claims import Claim, LeaseLost

__all__ = [
    "HANDLERS",
    "Claim",
    "Handler",
    "LeaseLost",
    "Retry",
    "UnknownKind",
    "get_handler",
    "handler",
]

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
