"""Keeps a lease alive while a handler works."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import DatabaseError, connection

from portal.jobs import leases
from portal.jobs.claims import Claim

logger = logging.getLogger(__name__)


@contextmanager
def heartbeat(claim: Claim) -> Iterator[None]:
    """Renews the claim's lease every third of JOB_LEASE, in a thread, until the block ends.

    A handler that holds the interpreter's lock for longer than two thirds of JOB_LEASE without a
    break loses its lease; `Claim.finish` then refuses its work, and another attempt does it again.
    """
    stop = threading.Event()
    thread = threading.Thread(target=_beat, args=(claim, stop), name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _beat(claim: Claim, stop: threading.Event) -> None:
    interval = settings.JOB_LEASE.total_seconds() / 3
    try:
        while not stop.wait(interval) and _renewed(claim):
            pass
    finally:
        connection.close()  # a thread has a connection of its own, which nobody else closes


def _renewed(claim: Claim) -> bool:
    """False when the lease is lost; a database that is away for a moment is tried again."""
    try:
        return leases.renew(claim.job_id, claim.token)
    except DatabaseError as error:
        logger.warning("%s: could not renew the lease: %s", claim, leases.describe(error))
        connection.close()
        return True
