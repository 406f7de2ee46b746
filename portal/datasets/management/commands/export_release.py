"""Writes a release to a ZIP file."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from portal.datasets.access import ALL_GOLD
from portal.datasets.imaging.stored import StoredFileError
from portal.datasets.models import Release
from portal.datasets.releases.exports import archive_name, release_archive


class Command(BaseCommand):
    help = (
        "Writes a release as a ZIP with gold as HTML, JSON Lines and Parquet, facts, citations, a"
        " Croissant file and the manifest. Check it with verify_release."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="The dataset.")
        parser.add_argument("version", help="The release.")
        parser.add_argument("--out", type=Path, help="The file (default: SLUG-VERSION.zip).")
        parser.add_argument("--images", action="store_true", help="Include the page images.")
        parser.add_argument("--force", action="store_true", help="Replace the file if it exists.")

    def handle(self, *_: Any, **options: Any) -> None:
        releases = Release.objects.select_related("dataset")
        release = releases.filter(dataset__slug=options["slug"], version=options["version"]).first()
        if release is None:
            raise CommandError(f"there is no release {options['slug']} {options['version']}")
        path: Path = options["out"] or Path(archive_name(release))
        if path.exists() and not options["force"]:
            raise CommandError(f"{path} already exists; use --force to replace it")
        # Written under another name first, so that the path never holds an incomplete ZIP.
        partial = path.with_name(f"{path.name}.partial")
        try:
            with partial.open("wb") as file:
                file.writelines(release_archive(release, ALL_GOLD, images=options["images"]))
            partial.replace(path)
        except StoredFileError as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{path}: cannot be written: {error.strerror}") from error
        finally:
            partial.unlink(missing_ok=True)
        self.stdout.write(f"{path}: {release.item_count} documents, {release.fact_count} facts")
