"""What workers do beside their jobs, once a minute: pruning, and the apps' own sweeps."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from portal.jobs.models import Job, JobEvent

logger = logging.getLogger(__name__)

EVERY_SECONDS = 60.0
# So few at a time that no other writer waits for long.
PRUNE_AT_ONCE = 500


@dataclass
class _Next:
    """When this process looks again."""

    at: float = 0.0


_next = _Next()
SWEEPS: list[Callable[[], object]] = []


def sweep(look: Callable[[], object]) -> Callable[[], object]:
    """Registers a function that finds and settles what an app's rows and its jobs disagree on."""
    if look.__qualname__ not in {known.__qualname__ for known in SWEEPS}:
        SWEEPS.append(look)
    return look


def run_when_due() -> None:
    """Never raises: the jobs matter more than the tidying."""
    if monotonic() < _next.at:
        return
    _next.at = monotonic() + EVERY_SECONDS
    for look in [_prune_step, *SWEEPS]:
        try:
            look()
        except Exception:
            logger.exception("upkeep: %s failed", look.__qualname__)


def _prune_step() -> None:
    if prune() == PRUNE_AT_ONCE:
        _next.at = 0.0  # there is more: the next step follows with the next look for lost jobs


@transaction.atomic
def prune() -> int:
    """Removes jobs that ended more than JOB_KEEP ago, with their log; returns how many.

    A group goes as one, when its last job ended so long ago, and never while a job of it waits or
    runs: what a page says of a group is then true or gone. Two workers that prune at the same time
    skip each other's rows.
    """
    kept_from = timezone.now() - settings.JOB_KEEP
    live = Q(state__in=[Job.State.QUEUED, Job.State.RUNNING]) | Q(finished_at__gte=kept_from)
    in_group = Job.objects.filter(live, group=OuterRef("group")).exclude(group="")
    old = Job.objects.filter(finished_at__lt=kept_from).exclude(live).exclude(Exists(in_group))
    chosen = old.order_by("finished_at").select_for_update(skip_locked=True)
    jobs = dict(chosen.values_list("pk", "group")[:PRUNE_AT_ONCE])
    JobEvent.objects.filter(job__in=jobs).delete()
    Job.objects.filter(pk__in=jobs).delete()
    groups = set(jobs.values()) - {""}
    gone = groups - set(Job.objects.filter(group__in=groups).values_list("group", flat=True))
    JobEvent.objects.filter(job=None, group__in=gone).delete()
    return len(jobs)
