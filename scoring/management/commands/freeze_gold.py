"""Freezes a release of a dataset from the gold lines of any benchmark."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from portal.datasets.management.release_terms import add_terms, report_frozen, terms
from portal.datasets.models import Dataset, Release
from portal.datasets.releases.gold import ReleaseError
from portal.datasets.releases.services import freeze_lines
from portal.files.uploads import archive_limits
from scoring.benchmarks import ReadLimits, UnknownBenchmarkError, check_gold, get_benchmark


class Command(BaseCommand):
    help = (
        "Freezes a release from a benchmark's gold, in its own layout or as JSON Lines. If the gold"
        " has faults, lists all of them and writes nothing. For gold on pages of the dataset's"
        " documents use freeze_release, which keeps their facts."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="The dataset.")
        parser.add_argument("version", help="Semantic, greater than the last: 1.0.0.")
        parser.add_argument("benchmark", help="Whose gold it is, such as fcmbench.")
        parser.add_argument("--gold", type=Path, required=True, help="Folder, ZIP or JSON Lines.")
        parser.add_argument("--notes", default="", help="What changed, in Markdown.")
        parser.add_argument(
            "--visibility",
            default=Release.Visibility.GOLD_HIDDEN,
            choices=Release.Visibility.values,
            help="Who may see the gold (default: %(default)s).",
        )

        add_terms(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        dataset = Dataset.objects.filter(slug=options["slug"]).first()
        if dataset is None:
            raise CommandError(f"there is no dataset {options['slug']}")
        try:
            spec = get_benchmark(options["benchmark"])
        except UnknownBenchmarkError as error:
            raise CommandError(str(error)) from error
        limits = ReadLimits(archive=archive_limits())
        check = check_gold(spec.read_gold(options["gold"], limits=limits), str(options["gold"]))
        if check.faults:
            faults = "\n".join(str(fault) for fault in check.faults)
            more = f"\nand {check.faults_left_out:,} more" if check.faults_left_out else ""
            raise CommandError(f"nothing was frozen:\n{faults}{more}")
        try:
            release = freeze_lines(
                dataset=dataset,
                version=options["version"],
                benchmark=spec.key,
                lines={name: line.payload for name, line in check.lines.items()},
                notes=options["notes"],
                visibility=options["visibility"],
                **terms(options),
            )
        except ReleaseError as error:
            raise CommandError(f"nothing was frozen: {error}") from error
        self.stdout.write(
            f"{dataset.slug} {release.version}: {release.item_count} items of {spec.title}, "
            f"{release.visibility}\nsha256 {release.sha256}"
        )
        report_frozen(self, release)
