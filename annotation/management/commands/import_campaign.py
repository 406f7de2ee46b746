"""Imports labels, or a whole campaign, from a file, without a worker."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.errors import Refused
from annotation.exchange.services import fail_import, keep_import, new_import, read_import
from annotation.models import Campaign, CampaignImport
from portal.accounts.models import User
from portal.files.archives import ArchiveFault

# The number of messages printed; the campaign's page lists them all.
SHOWN = 50


class Command(BaseCommand):
    help = (
        "Imports labels into a campaign, as gold or as an annotator's submitted work, or a whole"
        " campaign into an empty draft. Prints the labels that moved or could not be placed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="The campaign.")
        parser.add_argument("file", type=Path, help="The file to import.")
        parser.add_argument("--form", required=True, choices=CampaignImport.Form.values)
        parser.add_argument(
            "--layer",
            default=CampaignImport.Layer.GOLD,
            choices=CampaignImport.Layer.values,
            help="Import the labels as gold or as work (default: %(default)s).",
        )
        parser.add_argument(
            "--annotator", help="Email address of the annotator whose work the labels become."
        )
        parser.add_argument(
            "--accept-unplaced",
            type=int,
            default=0,
            metavar="NUMBER",
            help="The exact number of labels in the file that have no place, to leave them out.",
        )
        parser.add_argument(
            "--person",
            action="append",
            default=[],
            metavar="PSEUDONYM=EMAIL",
            help="The account of a person in a whole campaign; can be repeated.",
        )

    def handle(self, *_: Any, **options: Any) -> None:
        campaign = Campaign.objects.filter(slug=options["slug"]).first()
        if campaign is None:
            raise CommandError(f"there is no campaign {options['slug']}")
        path: Path = options["file"]
        if not path.is_file():
            raise CommandError(f"{path}: no such file")
        try:
            taken = new_import(
                campaign=campaign,
                source_name=path.name,
                form=options["form"],
                layer=options["layer"],
                annotator=self._annotator(options["annotator"]),
                actor=None,
                accept_unplaced=options["accept_unplaced"],
            )
        except Refused as refusal:
            raise CommandError(refusal.message) from refusal
        people, accepted = self._people(options["person"]), options["accept_unplaced"]
        self._report(self._kept(taken, path, people=people, accept_unplaced=accepted))

    def _kept(self, taken: CampaignImport, path: Path, **given: Any) -> CampaignImport:
        try:
            with path.open("rb") as file:
                content = read_import(taken, file, progress=lambda _done: None)
            return keep_import(campaign_import=taken, content=content, **given)
        except (ArchiveFault, Refused) as fault:
            fail_import(campaign_import=taken, error=str(fault))
            raise CommandError(f"import failed: {fault}") from fault

    def _annotator(self, email: str | None) -> User | None:
        if email is None:
            return None
        user = User.objects.filter(email__iexact=email, is_active=True).first()
        if user is None:
            raise CommandError(f"there is no account with the email address {email}")
        return user

    def _people(self, pairs: list[str]) -> dict[str, str]:
        if wrong := [pair for pair in pairs if "=" not in pair]:
            raise CommandError(f"--person {wrong[0]}: must be PSEUDONYM=EMAIL")
        return dict(pair.split("=", 1) for pair in pairs)

    def _report(self, done: CampaignImport) -> None:
        self.stdout.write(
            f"{done.campaign.slug}: {done.documents} documents, {done.spans} spans,"
            f" {done.moved} of them moved, {done.rejected} documents not imported,"
            f" {done.fault_count} messages"
        )
        for fault in done.faults[:SHOWN]:
            self.stdout.write(fault)
        if done.fault_count > SHOWN:
            more = done.fault_count - SHOWN
            self.stdout.write(f"… and {more} more at {done.campaign.get_absolute_url()}export/")
