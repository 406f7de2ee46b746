"""Imports a folder or file in any layout into a dataset, in this process."""

import signal
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db.models import Count, Min
from tqdm import tqdm

from portal.datasets.imports.formats import format_choices
from portal.datasets.imports.layouts import BENCHMARKS
from portal.datasets.imports.services import check_source, import_path, left_out
from portal.datasets.management.base import add_create_arguments, dataset_of, existing
from portal.datasets.models import Dataset, ImportItem, ImportRun
from portal.files.archives import ArchiveFault

# Refused files and remarks that are printed; the import's page lists all of them.
SHOWN = 50


class Command(BaseCommand):
    help = (
        "Imports a folder or file. The default layout is pages/ID.html with optional"
        " images/ID.png and meta.jsonl; use --form for another. Run the command again to resume:"
        " existing documents are not changed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="The dataset.")
        parser.add_argument("path", type=Path, help="A folder, a ZIP or a file.")
        parser.add_argument(
            "--form",
            default=ImportRun.Form.PAGES,
            choices=[key for key, _ in format_choices()],
            help="The layout (default: %(default)s).",
        )
        parser.add_argument(
            "--benchmark",
            default="",
            choices=BENCHMARKS,
            help="The benchmark of a Parquet file.",
        )
        parser.add_argument(
            "--differences",
            default=ImportRun.Differences.KEEP,
            choices=ImportRun.Differences.values,
            help="Keep or update images and metadata of existing documents that differ (default:"
            " %(default)s). Documents in a release never change.",
        )
        parser.add_argument(
            "--dry-run",
            action="store_true",
            help="Print what the import would change, and change nothing.",
        )
        add_create_arguments(parser)
        parser.add_argument(
            "--description", default="", help="Description of a new dataset, in Markdown."
        )
        parser.add_argument("--licence", default="", help="Licence of a new dataset.")
        parser.add_argument(
            "--visibility",
            default=Dataset.Visibility.PRIVATE,
            choices=Dataset.Visibility.values,
            help="Who may read a new dataset (default: %(default)s).",
        )

    def handle(self, *_: Any, **options: Any) -> None:
        path = existing(options["path"])
        try:
            check_source(path, options["form"], name=path.name, benchmark=options["benchmark"])
        except ArchiveFault as fault:
            raise CommandError(f"{path}: {fault}") from fault
        dataset = dataset_of(options)
        try:
            run = self._import(
                dataset,
                path,
                **{name: options[name] for name in ("form", "benchmark", "differences", "dry_run")},
            )
        except ArchiveFault as fault:
            raise CommandError(f"{path}: {fault}") from fault
        except KeyboardInterrupt:
            self.stderr.write("Stopped. Run the same command to resume.")
            raise SystemExit(128 + signal.SIGINT) from None
        self._report(run)

    def _import(self, dataset: Dataset, path: Path, **chosen: Any) -> ImportRun:
        with tqdm(unit="page", file=self.stderr, disable=None) as bar:

            def progress(done: int, total: int) -> None:
                bar.total = total or None
                bar.update(done - bar.n)

            return import_path(dataset=dataset, path=path, progress=progress, **chosen)

    def _report(self, run: ImportRun) -> None:
        counts = Counter(run.items.values_list("outcome", flat=True))
        summary = ", ".join(f"{counts[outcome]} {outcome}" for outcome in ImportItem.Outcome.values)
        preview = "preview, nothing was changed: " if run.is_dry_run else ""
        self.stdout.write(f"{run.dataset.slug}: {preview}{summary}")
        for part in left_out(run.ignored, run.form):
            self.stdout.write(f"not imported: {part.folder} {part.files}. {part.hint}")
        refused = run.items.filter(outcome=ImportItem.Outcome.REFUSED)
        for item in refused[:SHOWN]:
            self.stdout.write(f"rejected {item.name}: {item.reason} [{item.code}]")
        self._more(run, counts["refused"])
        self._remarks(run)
        if run.state == ImportRun.State.CANCELLED:
            raise CommandError("the import was cancelled")

    def _remarks(self, run: ImportRun) -> None:
        """One line per remark; the same remark on several items is printed once."""
        others = run.items.exclude(outcome=ImportItem.Outcome.REFUSED).exclude(reason="")
        remarks = others.values("reason").annotate(times=Count("pk"), first=Min("name"))
        for remark in remarks.order_by("first")[:SHOWN]:
            more = f" and {remark['times'] - 1} more" if remark["times"] > 1 else ""
            self.stdout.write(f"{remark['first']}{more}: {remark['reason']}")
        self._more(run, remarks.count())

    def _more(self, run: ImportRun, lines: int) -> None:
        if lines > SHOWN:
            self.stdout.write(f"… and {lines - SHOWN} more at {run.get_absolute_url()}")
