"""Restores a release from its archive."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from portal.datasets.management.base import (
    add_create_arguments,
    add_overlaps_argument,
    dataset_of,
    existing,
)
from portal.datasets.releases.gold import ReleaseError
from portal.datasets.releases.restoring import restore_release


class Command(BaseCommand):
    help = (
        "Restores an exported release: checks the archive, creates missing documents and freezes"
        " the gold with the same version and hash. If there are errors, lists them all and writes"
        " nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, help="The ZIP or its unpacked folder.")
        parser.add_argument("slug", help="The dataset.")
        add_create_arguments(parser)
        add_overlaps_argument(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        path = existing(options["path"])
        dataset = dataset_of(options)
        try:
            release = restore_release(
                dataset=dataset, path=path, accept_overlaps=options["accept_overlaps"]
            )
        except ReleaseError as error:
            faults = "\n".join(error.faults)
            raise CommandError(f"{path}: nothing was restored:\n{faults}") from error
        self.stdout.write(
            f"{dataset.slug} {release.version}: {release.item_count} items,"
            f" {release.fact_count} facts, {release.visibility}\nsha256 {release.sha256}"
        )
