"""Sends the wake-up messages. A lost one costs time only: beat wakes workers anyway."""

import logging
from dataclasses import dataclass
from time import monotonic

from django.conf import settings
from django.db import transaction

from portal.celery import app

logger = logging.getLogger(__name__)

TASK = "portal.jobs.wake"
# A message nobody took within this time is worthless: beat has sent newer ones.
EXPIRES_SECONDS = 60
TIMEOUT_SECONDS = 1.0
PAUSE_SECONDS = 5.0


@dataclass
class _Pause:
    """While the broker is away every sender would wait in vain, so for a while none tries."""

    until: float = 0.0


_pause = _Pause()


def wake() -> None:
    """Asks some worker to look for due jobs. Never raises and never waits for long."""
    if monotonic() < _pause.until:
        return
    try:
        _send()
    except Exception as error:  # every transport has errors of its own
        _pause.until = monotonic() + PAUSE_SECONDS
        logger.warning("No wake-up sent, the reaper will take the jobs up: %r", error)


def wake_on_commit() -> None:
    """Sends one message when the present transaction commits, however often it is called before."""
    waiting = transaction.get_connection().run_on_commit
    # A call made inside a savepoint is forgotten with it, and the next call then registers anew.
    if not any(entry[1] is wake for entry in waiting):
        transaction.on_commit(wake, robust=True)


def _send() -> None:
    """Sends over a connection of its own, which gives up at once where a worker's tries on."""
    options = {
        "max_retries": 0,
        "socket_timeout": TIMEOUT_SECONDS,
        "socket_connect_timeout": TIMEOUT_SECONDS,
    }
    with app.connection_for_write(
        settings.CELERY_BROKER_URL, connect_timeout=TIMEOUT_SECONDS, transport_options=options
    ) as connection:
        app.send_task(TASK, connection=connection, retry=False, expires=EXPIRES_SECONDS)
