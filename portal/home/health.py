"""Whether the site can do its work: what a load balancer or a monitor asks for."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

import structlog
from django.core.cache import cache
from django.utils import timezone

from portal.jobs.models import Job

logger = structlog.get_logger(__name__)

# A worker takes up a due job within seconds; this long a wait means that none is working.
QUEUE_WAIT = timedelta(minutes=5)


@dataclass(frozen=True)
class Health:
    database: bool
    cache: bool
    oldest_due_job: timedelta | None
    """How long the oldest due job has waited; None if none waits or the database is gone."""

    @property
    def can_serve(self) -> bool:
        """The queue does not decide that: without a worker pages are served, only work waits."""
        return self.database and self.cache

    @property
    def status(self) -> str:
        if not self.can_serve:
            return "down"
        if self.oldest_due_job is not None and self.oldest_due_job > QUEUE_WAIT:
            return "work is not taken up"
        return "ok"


def check_health() -> Health:
    database, waited = _answer("database", _oldest_due_job)
    cached, _ = _answer("cache", _write_and_read_cache)
    return Health(database=database, cache=cached, oldest_due_job=waited)


def _answer(name: str, probe: Callable[[], timedelta | None]) -> tuple[bool, timedelta | None]:
    # Each backend raises errors of its own kind: whatever it is, it is down and the log says why.
    try:
        return True, probe()
    except Exception:
        logger.exception("health check failed", check=name)
        return False, None


def _oldest_due_job() -> timedelta | None:
    """Asks the database something real: it fails too where migrations were forgotten."""
    now = timezone.now()
    job = Job.objects.due(now).only("not_before").first()
    return now - job.not_before if job else None


def _write_and_read_cache() -> None:
    """Rate limits live in the cache: one that forgets at once is as bad as one that is gone."""
    cache.set("health", "written", timeout=60)
    if cache.get("health") != "written":
        raise RuntimeError("the cache forgot what it was given")
