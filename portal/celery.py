"""Celery, used only for wake-up messages.

The queue is the Job table, so lost, duplicate or late messages cause delays but lose no work. There
is no result backend, acknowledgement or routing.
"""

import os
from pathlib import Path

from celery import Celery
from celery.signals import setup_logging
from django.conf import settings
from kombu.transport import TRANSPORT_ALIASES

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")

# Custom transports for the usual broker URLs; their modules explain why.
TRANSPORT_ALIASES["filesystem"] = "portal.jobs.folderbroker:Transport"
TRANSPORT_ALIASES["redis"] = TRANSPORT_ALIASES["rediss"] = "portal.jobs.redisbroker:Transport"
app = Celery("factboard")


def _folder_options(folder: Path) -> dict[str, object]:
    """Options of the folder broker: its folder, and the polling interval in seconds."""
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
    # For late acknowledgement, which is not used; Celery warns if it is unset.
    worker_cancel_long_running_tasks_on_connection_loss=True,
    beat_schedule={
        "reap": {
            "task": "portal.jobs.wake",
            "schedule": settings.JOB_REAP_EVERY.total_seconds(),
            # Older messages of the reaper are replaced by newer ones.
            "options": {"expires": settings.JOB_REAP_EVERY.total_seconds()},
        }
    },
    # The default scheduler keeps a file that can become corrupt; this schedule needs no state.
    beat_scheduler="celery.beat:Scheduler",
    timezone="UTC",
)
app.autodiscover_tasks()


def _keep_django_logging(**_: object) -> None:
    """A connected receiver keeps Celery from changing the logging of the settings."""


setup_logging.connect(_keep_django_logging)
