"""Checks an exported release offline. Needs no database."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from portal.datasets.releases.publishing.manifest import SCHEMES
from portal.datasets.releases.publishing.verify import Verification, verify_release

# So many faults are printed; the rest is counted.
SHOWN = 50


class Command(BaseCommand):
    help = (
        "Checks an exported release, a folder or a ZIP: every file's SHA-256, missing and extra"
        " files, every gold line and the release's own hash, and says what that hash covers. Exit"
        " status 1 if anything is wrong."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, help="The ZIP, or the folder it was unpacked to.")
        parser.add_argument(
            "--sha256",
            default="",
            help="The release's hash as its page shows it, to compare with: HASH or SCHEME:HASH.",
        )

    def handle(self, *_: Any, **options: Any) -> None:
        path: Path = options["path"]
        if not path.exists():
            raise CommandError(f"{path}: no such file or folder")
        expected = options["sha256"].strip().lower()
        found = verify_release(path, expected=expected)
        for fault in found.faults[:SHOWN]:
            self.stderr.write(f"{fault} [{fault.code}]")
        if found.faults:
            more = len(found.faults) - SHOWN
            left_out = f", of which {more:,} are not shown" if more > 0 else ""
            count = "1 fault" if len(found.faults) == 1 else f"{len(found.faults):,} faults"
            raise CommandError(f"{path}: {count}{left_out}")
        self._report(path, found, is_compared=bool(expected))

    def _report(self, path: Path, found: Verification, *, is_compared: bool) -> None:
        assert found.manifest is not None
        name = f"{found.manifest.dataset} {found.manifest.version}"
        self.stdout.write(f"{path}: {name} is sound: {found.files:,} files, {found.items:,} items")
        if found.hidden:
            self.stdout.write(
                f"items whose gold is hidden: {found.hidden:,}; the release's own hash cannot be"
                " checked without them"
            )
            return
        scheme = found.manifest.scheme
        self.stdout.write(f"sha256 {found.manifest.sha256}\n{scheme}: covers {SCHEMES[scheme]}")
        if found.images_left_out:
            self.stdout.write(
                f"page images that are not in this copy: {found.images_left_out:,}; the hash covers"
                " them"
            )
        if not is_compared:
            self.stdout.write(
                "compare the hash with the release's page, or give it with --sha256: only that"
                " shows a change of files and manifest together"
            )
