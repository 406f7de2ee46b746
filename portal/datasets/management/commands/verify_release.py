"""Checks an exported release offline, without a database."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from portal.datasets.releases.publishing.manifest import SCHEMES
from portal.datasets.releases.publishing.verify import Verification, verify_release

# Faults that are printed; the rest are counted.
SHOWN = 50


class Command(BaseCommand):
    help = (
        "Checks an exported release, a folder or a ZIP: the SHA-256 of every file, missing and"
        " extra files, every gold line and the release's hash. Exits with status 1 if anything is"
        " wrong."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, help="The ZIP or its unpacked folder.")
        parser.add_argument(
            "--sha256",
            default="",
            help="The expected hash from the release's page: HASH or SCHEME:HASH.",
        )

    def handle(self, *_: Any, **options: Any) -> None:
        path: Path = options["path"]
        if not path.exists():
            raise CommandError(f"{path}: no such file or folder")
        expected = options["sha256"].strip().lower()
        check = verify_release(path, expected=expected)
        for fault in check.faults[:SHOWN]:
            self.stderr.write(f"{fault} [{fault.code}]")
        if check.faults:
            more = len(check.faults) - SHOWN
            left_out = f", {more:,} not shown" if more > 0 else ""
            count = "1 error" if len(check.faults) == 1 else f"{len(check.faults):,} errors"
            raise CommandError(f"{path}: {count}{left_out}")
        self._report(path, check, is_compared=bool(expected))

    def _report(self, path: Path, check: Verification, *, is_compared: bool) -> None:
        assert check.manifest is not None
        name = f"{check.manifest.dataset} {check.manifest.version}"
        self.stdout.write(f"{path}: {name} is valid: {check.files:,} files, {check.items:,} items")
        if check.hidden:
            self.stdout.write(
                f"items with hidden gold: {check.hidden:,}; the release's hash cannot be checked"
                " without them"
            )
            return
        scheme = check.manifest.scheme
        self.stdout.write(f"sha256 {check.manifest.sha256}\n{scheme}: covers {SCHEMES[scheme]}")
        if check.images_left_out:
            self.stdout.write(
                f"page images covered by the hash but not in this copy: {check.images_left_out:,}"
            )
        if not is_compared:
            self.stdout.write(
                "compare the hash with the release's page, or pass it with --sha256, to detect"
                " changes of files and manifest together"
            )
