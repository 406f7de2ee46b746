"""Celery, used only for wake-up messages, and its broker in a folder.

The queue is the Job table, so lost, duplicate or late messages cause delays but lose no work. There
is no result backend, acknowledgement or routing.
"""

import json
import logging
import os
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from queue import Empty
from typing import Any, ClassVar

from celery import Celery
from celery.signals import setup_logging
from django.conf import settings
from kombu.transport import TRANSPORT_ALIASES, virtual

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")

logger = logging.getLogger(__name__)

# Polling interval of an idle worker. Celery's default would delay stopping by two seconds.
LONGEST_WAIT_SECONDS = 0.2


class Channel(virtual.Channel):
    """Messages as files in a folder: the broker of a site on one machine.

    It replaces kombu's `filesystem://` transport, whose readers can see incomplete messages, which
    stop a Celery worker. Here messages are written atomically, and unreadable ones are dropped: the
    queue itself is in the database.
    """

    @property
    def _folder(self) -> Path:
        return Path(self.connection.client.transport_options["folder"])

    def _messages(self, queue: str) -> Iterator[Path]:
        """The queue's messages, oldest first."""
        return iter(sorted(self._folder.glob(f"*.{queue}.msg")))

    def _put(self, queue: str, message: Any, **_: Any) -> None:
        name = f"{time.time_ns():020d}-{uuid.uuid4().hex}"
        draft = self._folder / f"{name}.draft"
        draft.write_text(json.dumps(message), encoding="utf-8")
        draft.rename(self._folder / f"{name}.{queue}.msg")

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        for path in self._messages(queue):
            try:
                data = path.read_bytes()
                path.unlink()  # only one of several readers succeeds
                return json.loads(data)
            except FileNotFoundError:
                continue
            except ValueError as error:
                logger.warning("Dropped an unreadable message, %s: %s", path.name, error)
        raise Empty

    def _size(self, queue: str) -> int:
        return len(list(self._messages(queue)))

    def _purge(self, queue: str) -> int:
        count = 0
        for path in self._messages(queue):
            with suppress(FileNotFoundError):
                path.unlink()
                count += 1
        return count


class Transport(virtual.Transport):
    Channel = Channel
    # Shared by all connections of the process.
    global_state: ClassVar[Any] = virtual.BrokerState()  # type: ignore[no-untyped-call]
    driver_type = driver_name = "folder"
    default_connection_params: ClassVar[dict[str, Any]] = {}

    def __init__(self, client: Any, **options: Any) -> None:
        super().__init__(client, **options)  # type: ignore[no-untyped-call]
        self.state = self.global_state
        self.polling_interval = client.transport_options["polling_interval"]

    def driver_version(self) -> str:
        return "1"

    def drain_events(self, connection: Any, timeout: float | None = None, **_: Any) -> None:
        wait = min(timeout or LONGEST_WAIT_SECONDS, LONGEST_WAIT_SECONDS)
        super().drain_events(connection, timeout=wait)  # type: ignore[no-untyped-call]


TRANSPORT_ALIASES["filesystem"] = "portal.celery:Transport"
app = Celery("factboard")


def _folder_options(folder: Path) -> dict[str, object]:
    """Options of the transport: its folder, and the polling interval in seconds."""
    folder.mkdir(parents=True, exist_ok=True)
    return {"folder": str(folder), "polling_interval": 0.1}


def _keep_redis_workers() -> None:
    """When a connection breaks, kombu tries to return unprocessed messages to the same connection
    and raises an error that nothing catches. Wake-up messages need not be returned."""
    from kombu.transport import redis

    redis.Channel.do_restore = False


def _transport_options() -> dict[str, object]:
    if settings.CELERY_BROKER_URL.startswith("filesystem:"):
        return _folder_options(settings.VAR_DIR / "broker")
    if settings.CELERY_BROKER_URL.startswith("redis"):
        _keep_redis_workers()
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
