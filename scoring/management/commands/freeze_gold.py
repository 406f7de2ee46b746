"""Freezes a release of a dataset from the gold lines of any benchmark."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from portal.datasets.management.base import FreezeCommand
from portal.datasets.models import Dataset, Release
from portal.datasets.releases.gold import Gold, ReleaseError
from portal.files.uploads import archive_limits
from scoring.benchmarks import ReadLimits, UnknownBenchmarkError, check_gold, get_benchmark


class Command(FreezeCommand):
    help = (
        "Freezes a release from a benchmark's gold, in its own layout or as JSON Lines. If the gold"
        " has errors, lists all of them and writes nothing. For gold on pages of the dataset's"
        " documents use freeze_release, which keeps their facts."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("benchmark", help="The benchmark of the gold, such as fcmbench.")
        parser.add_argument("--gold", type=Path, required=True, help="Folder, ZIP or JSON Lines.")

    def gold(self, dataset: Dataset, options: dict[str, Any]) -> Gold:
        try:
            spec = get_benchmark(options["benchmark"])
        except UnknownBenchmarkError as error:
            raise CommandError(str(error)) from error
        limits = ReadLimits(archive=archive_limits())
        check = check_gold(spec.read_gold(options["gold"], limits=limits), str(options["gold"]))
        if check.faults:
            more = check.faults_left_out
            left_out = [f"and {more:,} more"] if more else []
            raise ReleaseError([*map(str, check.faults), *left_out])
        return Gold(spec.key, lines={name: line.payload for name, line in check.lines.items()})

    def summary(self, release: Release) -> str:
        title = get_benchmark(release.benchmark).title
        return (
            f"{release.dataset.slug} {release.version}: {release.item_count} items of {title},"
            f" {release.visibility}"
        )
