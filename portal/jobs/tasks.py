"""The only Celery task: the wake-up."""

import resource
import signal
from contextlib import suppress

from celery import shared_task
from celery.platforms import set_pdeathsig
from celery.signals import (
    beat_embedded_init,
    worker_init,
    worker_process_init,
    worker_shutting_down,
)
from django.conf import settings

from portal import schema
from portal.jobs.worker import run_due_jobs

from .services import TASK, wake
from .worker import Interrupted, ask_to_stop, heeding, hold_back, stop_is_asked


def run_woken() -> None:
    """Run due jobs. Lost or duplicate messages do not change the result."""
    # The interrupted job was queued again, and the worker ends this process once it is idle.
    with suppress(Interrupted), heeding(signal.SIGTERM):
        run_due_jobs(should_stop=stop_is_asked, on_more=wake)


def _check_schema(**_: object) -> None:
    schema.require_current()


def _stop_after_this_job(**_: object) -> None:
    ask_to_stop()


def _end_with_worker(**_: object) -> None:
    """Ends beat when its parent, the worker, is killed; otherwise it would run for ever."""
    set_pdeathsig("SIGKILL")


def _wait_with_signals(**_: object) -> None:
    hold_back(signal.SIGTERM)


def _bound_memory(**_: object) -> None:
    """Jobs over the limit fail with MemoryError, before the system kills other processes."""
    if most := settings.JOB_MEMORY_MB * settings.MEGABYTE:
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


shared_task(name=TASK)(run_woken)
worker_init.connect(_check_schema)
worker_shutting_down.connect(_stop_after_this_job)
beat_embedded_init.connect(_end_with_worker)
worker_process_init.connect(_wait_with_signals)
worker_process_init.connect(_bound_memory)
