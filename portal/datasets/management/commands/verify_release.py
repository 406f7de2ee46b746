"""Checks an exported release offline. Needs no database."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from portal.datasets.publishing.verify import Verification, verify_release

# So many faults are printed; the rest is counted.
SHOWN = 50


class Command(BaseCommand):
    help = (
        "Checks an exported release, a folder or a ZIP: every file's SHA-256, missing and extra"
        " files, every gold line and the release's own hash. Exit status 1 if anything is wrong."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, help="The ZIP, or the folder it was unpacked to.")
        parser.add_argument(
            "--sha256", default="", help="The release's hash as its page shows it, to compare with."
        )

    def handle(self, *_: Any, **options: Any) -> None:
        path: Path = options["path"]
        if not path.exists():
            raise CommandError(f"{path}: no such file or folder")
        found = verify_release(path, expected=options["sha256"].strip().lower())
        for fault in found.faults[:SHOWN]:
            self.stderr.write(f"{fault} [{fault.code}]")
        if found.faults:
            more = len(found.faults) - SHOWN
            left_out = f", of which {more:,} are not shown" if more > 0 else ""
            count = "1 fault" if len(found.faults) == 1 else f"{len(found.faults):,} faults"
            raise CommandError(f"{path}: {count}{left_out}")
        self._report(path, found)

    def _report(self, path: Path, found: Verification) -> None:
        assert found.manifest is not None
        name = f"{found.manifest.dataset} {found.manifest.version}"
        self.stdout.write(f"{path}: {name} is sound: {found.files:,} files, {found.items:,} items")
        if found.hidden:
            self.stdout.write(
                f"items whose gold is hidden: {found.hidden:,}; the release's own hash cannot be"
                " checked without them"
            )
        else:
            self.stdout.write(f"sha256 {found.manifest.sha256}")
