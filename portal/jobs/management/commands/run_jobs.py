"""`manage.py run_jobs`: runs jobs without Celery."""

import signal
from contextlib import suppress
from time import sleep
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from portal.jobs.worker import Interrupted, heeding, run_due_jobs, stop_is_asked

LOOK_AGAIN_SECONDS = 1.0


class Command(BaseCommand):
    help = "Run due jobs in this process until none is left."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--forever",
            action="store_true",
            help="keep polling for new jobs every second, as a worker without Celery or a broker",
        )

    def handle(self, *, forever: bool, **_: Any) -> None:
        count = 0
        with suppress(Interrupted), heeding(signal.SIGTERM, signal.SIGINT):
            count = run_due_jobs(should_stop=stop_is_asked)
            while forever and not stop_is_asked():
                sleep(LOOK_AGAIN_SECONDS)
                run_due_jobs(should_stop=stop_is_asked)
        self.stdout.write("Stopped." if stop_is_asked() else f"Jobs run: {count}")
