"""Actions of a separate process in tests: queue chunks, or write as a web request does."""

import uuid
from argparse import ArgumentParser

from django.core.management.base import BaseCommand
from django.db import transaction

from portal.jobs.services import enqueue_many
from tests.jobs.probe.models import ProbeItem


class Command(BaseCommand):
    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--chunks", type=int, default=0)
        parser.add_argument("--items", type=int, default=5, help="items of a chunk")
        parser.add_argument("--seconds", type=float, default=0.1, help="time a chunk takes")
        parser.add_argument("--group", default="probe")
        parser.add_argument("--writes", type=int, default=0, help="read-then-write transactions")

    def handle(self, **options: object) -> None:
        chunks, items = int(str(options["chunks"])), int(str(options["items"]))
        payloads = [
            {"items": list(range(n * items, (n + 1) * items)), "seconds": options["seconds"]}
            for n in range(chunks)
        ]
        if payloads:
            enqueue_many(
                kind="probe",
                payloads=payloads,
                group=str(options["group"]),
                totals=[items] * chunks,
            )
        for _ in range(int(str(options["writes"]))):
            self._write()

    @transaction.atomic
    def _write(self) -> None:
        """Reads before it writes: what fails at once when SQLite's transactions are deferred."""
        number = ProbeItem.objects.count()
        ProbeItem.objects.create(item=number, job_id=0, attempt=0, pid=0, note=uuid.uuid4().hex)
