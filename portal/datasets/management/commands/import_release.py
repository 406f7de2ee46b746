"""Restores a release from its archive."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from portal.datasets.models import Dataset
from portal.datasets.releases.gold import ReleaseError
from portal.datasets.releases.restoring import restore_release


class Command(BaseCommand):
    help = (
        "Restores an exported release: checks the archive, creates missing documents and freezes"
        " the gold with the same version and hash. If there are faults, lists them all and writes"
        " nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, help="The ZIP or its unpacked folder.")
        parser.add_argument("slug", help="The dataset.")
        parser.add_argument(
            "--create", action="store_true", help="Create the dataset if it is missing."
        )
        parser.add_argument("--title", default="", help="Title of a new dataset.")

    def handle(self, *_: Any, **options: Any) -> None:
        from portal.datasets.documents.services import create_dataset

        path: Path = options["path"]
        if not path.exists():
            raise CommandError(f"{path}: no such file or folder")
        slug = options["slug"]
        dataset = Dataset.objects.filter(slug=slug).first()
        if dataset is None and not options["create"]:
            raise CommandError(f"there is no dataset {slug}; use --create to create it")
        if dataset is None:
            dataset = create_dataset(slug=slug, title=options["title"] or slug)
        try:
            release = restore_release(dataset=dataset, path=path)
        except ReleaseError as error:
            faults = "\n".join(error.faults)
            raise CommandError(f"{path}: nothing was restored:\n{faults}") from error
        self.stdout.write(
            f"{slug} {release.version}: {release.item_count} items, {release.fact_count} facts,"
            f" {release.visibility}\nsha256 {release.sha256}"
        )
