"""Renders page images of a dataset."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from portal.datasets.dataset_tasks import TaskError, run_here
from portal.datasets.imaging.services import render_documents
from portal.datasets.management.base import dataset_of
from portal.datasets.models import DatasetTask


class Command(BaseCommand):
    help = (
        "Renders the documents of a dataset that have no image: one PNG per page at 300 dpi, with"
        " text boxes. Requires Chromium."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="The dataset.")
        parser.add_argument(
            "--again",
            action="store_true",
            help="Also replace images rendered by Factboard, except for documents in a release.",
        )

    def handle(self, *_: Any, **options: Any) -> None:
        dataset = dataset_of(options)
        try:
            task = run_here(
                dataset=dataset,
                kind=DatasetTask.Kind.RENDER,
                run=render_documents,
                options={"again": options["again"]},
            )
        except TaskError as error:
            raise CommandError(str(error)) from error
        for fault in task.report.get("faults", []):
            self.stderr.write(f"{fault['name']}: {fault['reason']} ({fault['code']})")
        counts = task.report.get("counts", {})
        summary = ", ".join(f"{number} {what}" for what, number in sorted(counts.items()))
        self.stdout.write(summary or "every document has an image")
