"""The health check, for monitoring."""

from collections.abc import Callable
from datetime import timedelta

import structlog
from django.core.cache import cache, caches
from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from portal import schema
from portal.jobs.models import Job

logger = structlog.get_logger(__name__)

PATH = "healthz"
# Workers start due jobs within seconds; a longer wait means that no worker is running.
QUEUE_WAIT = timedelta(minutes=5)


@never_cache
@require_safe
def healthz(_request: HttpRequest) -> JsonResponse:
    database, waited = _answer("database", _oldest_due_job)
    has_cache, _ = _answer("cache", _write_and_read_cache)
    has_schema, _ = _answer("schema", _check_schema)
    # Neither the queue nor Redis decides the status code: pages work without them.
    can_serve = database and has_schema and (has_cache or _is_redis_away())
    is_late = waited is not None and waited > QUEUE_WAIT
    report = {
        "status": "down"
        if not can_serve
        else "the cache does not answer"
        if not has_cache
        else "work is not taken up"
        if is_late
        else "ok",
        "database": database,
        "cache": has_cache,
        "schema": has_schema,
        "oldest_due_job_seconds": int(waited.total_seconds()) if waited else 0,
    }
    return JsonResponse(report, status=200 if can_serve else 503)


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


def _check_schema() -> None:
    """Another process may have migrated the database since this one started."""
    if found := schema.fault():
        raise RuntimeError(found)


def _write_and_read_cache() -> None:
    """Check that the cache stores values, because rate limits depend on it."""
    cache.set("health", "written", timeout=60)
    if cache.get("health") != "written":
        raise RuntimeError("the cache did not store a value")
    if _is_redis_away():
        raise RuntimeError("redis does not answer; each process has a cache of its own")


def _is_redis_away() -> bool:
    """Whether the memory of each process replaces the cache; see `portal.web.redis_cache`."""
    return bool(getattr(caches["default"], "is_away", False))


class HealthMiddleware:
    """Answers before the redirect to HTTPS and the check of the host: monitoring asks a process
    by its IP address, over plain HTTP."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path_info == f"/{PATH}":
            return healthz(request)
        return self._get_response(request)
