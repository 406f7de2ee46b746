"""The health check, for load balancers and monitoring."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

import structlog
from django.core.cache import cache
from django.utils import timezone

from portal.jobs.models import Job

logger = structlog.get_logger(__name__)

# Workers start due jobs within seconds; a longer wait means that no worker is running.
QUEUE_WAIT = timedelta(minutes=5)


@dataclass(frozen=True)
class Health:
    database: bool
    cache: bool
    oldest_due_job: timedelta | None
    """How long the oldest due job has waited; None if no job waits or the database is down."""

    @property
    def can_serve(self) -> bool:
        """Independent of the queue: pages work without workers."""
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
    # Backends raise different errors; any error means that the service is down.
    try:
        return True, probe()
    except Exception:
        logger.exception("health check failed", check=name)
        return False, None


def _oldest_due_job() -> timedelta | None:
    """Run a real query, which also fails if migrations are missing."""
    now = timezone.now()
    job = Job.objects.due(now).only("not_before").first()
    return now - job.not_before if job else None


def _write_and_read_cache() -> None:
    """Check that the cache stores values, because rate limits depend on it."""
    cache.set("health", "written", timeout=60)
    if cache.get("health") != "written":
        raise RuntimeError("the cache did not store a value")
