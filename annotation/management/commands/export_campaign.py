"""Exports a campaign's labels, or the whole campaign, to a file."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.exchange.selectors import campaign_file
from annotation.models import Campaign, CampaignImport


class Command(BaseCommand):
    help = (
        "Exports the gold of a campaign's finished documents, the work on its settled documents,"
        " or the whole campaign. Work that not all annotators have submitted is left out."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="The campaign.")
        parser.add_argument("--form", required=True, choices=CampaignImport.Form.values)
        parser.add_argument(
            "--layer",
            default=CampaignImport.Layer.GOLD,
            choices=CampaignImport.Layer.values,
            help="The labels to export; a whole campaign has both (default: %(default)s).",
        )
        parser.add_argument(
            "--emails",
            action="store_true",
            help="Include email addresses, to import a whole campaign into another site.",
        )
        parser.add_argument(
            "--output", type=Path, help="The file (default: named after the campaign)."
        )
        parser.add_argument("--force", action="store_true", help="Replace the file if it exists.")

    def handle(self, *_: Any, **options: Any) -> None:
        campaign = Campaign.objects.filter(slug=options["slug"]).first()
        if campaign is None:
            raise CommandError(f"there is no campaign {options['slug']}")
        file = campaign_file(campaign, options["form"], options["layer"], emails=options["emails"])
        path: Path = options["output"] or Path(file.name)
        if path.exists() and not options["force"]:
            raise CommandError(f"{path} exists; use --force to replace it")
        # Written under another name first, so that an interrupted export leaves no broken file.
        partial = path.with_name(f"{path.name}.partial")
        try:
            with partial.open("wb") as output:
                output.writelines(file.content)
            partial.replace(path)
        except OSError as error:
            raise CommandError(f"{path}: cannot be written: {error.strerror}") from error
        finally:
            partial.unlink(missing_ok=True)
        self.stdout.write(f"{path}: {path.stat().st_size:,} bytes")
