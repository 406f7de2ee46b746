"""Messages as files in a folder: the broker of a site that lives on one machine.

It replaces kombu's `filesystem://` transport, whose readers can see incomplete messages, which stop
a Celery worker. Here messages are written atomically, and unreadable messages are dropped: the
queue itself is in the database.
"""

import json
import logging
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from queue import Empty
from typing import Any, ClassVar

from kombu.transport import virtual

logger = logging.getLogger(__name__)

# Polling interval of an idle worker. Celery's default would delay stopping by two seconds.
LONGEST_WAIT_SECONDS = 0.2


class Channel(virtual.Channel):
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
