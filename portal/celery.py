"""Celery: carries wake-up messages and nothing else.

The queue is the Job table. A lost, doubled or late message therefore costs time, never work, and no
result backend, acknowledgement or routing is relied upon.
"""

import os
from pathlib import Path

from celery import Celery
from celery.signals import setup_logging
from django.conf import settings
from kombu.transport import TRANSPORT_ALIASES

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")

# Transports of our own behind the usual addresses, for the reasons that they state.
TRANSPORT_ALIASES["filesystem"] = "portal.jobs.folderbroker:Transport"
TRANSPORT_ALIASES["redis"] = TRANSPORT_ALIASES["rediss"] = "portal.jobs.redisbroker:Transport"
app = Celery("factboard")


def _folder_options(folder: Path) -> dict[str, object]:
    """Options of the embedded broker: its folder, and the seconds between looks into it."""
    folder.mkdir(parents=True, exist_ok=True)
    return {"folder": str(folder), "polling_interval": 0.1}


def _transport_options() -> dict[str, object]:
    if settings.CELERY_BROKER_URL.startswith("filesystem:"):
        return _folder_options(settings.VAR_DIR / "broker")
    if settings.CELERY_BROKER_URL.startswith("redis"):
        return {"socket_timeout": 5, "socket_connect_timeout": 3}
    return {}


app.conf.update(
    broker_url=settings.CELERY_BROKER_URL,
    broker_transport_options=_transport_options(),
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    task_ignore_result=True,
    worker_prefetch_multiplier=1,
    worker_send_task_events=False,
    worker_hijack_root_logger=False,
    # Concerns late acknowledgement only, which nothing here uses; unset, Celery warns about it.
    worker_cancel_long_running_tasks_on_connection_loss=True,
    beat_schedule={
        "reap": {
            "task": "portal.jobs.wake",
            "schedule": settings.JOB_REAP_EVERY.total_seconds(),
            # A reaper's message that nobody took in time is replaced by the next one.
            "options": {"expires": settings.JOB_REAP_EVERY.total_seconds()},
        }
    },
    # The default scheduler keeps a file that a kill can corrupt; a reaper's timetable needs none.
    beat_scheduler="celery.beat:Scheduler",
    timezone="UTC",
)
app.autodiscover_tasks()


def _keep_django_logging(**_: object) -> None:
    """Being connected is enough: Celery then leaves logging as the settings made it."""


setup_logging.connect(_keep_django_logging)
