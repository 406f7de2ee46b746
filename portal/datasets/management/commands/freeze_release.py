"""Freezes a release of a dataset from gold HTML."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from portal.datasets.imports.labelled_pages import read_gold_pages
from portal.datasets.management.release_terms import add_terms, report_frozen, terms
from portal.datasets.models import Dataset, Release
from portal.datasets.releases.corrections import corrections_for
from portal.datasets.releases.freezing import earlier_release, freeze_gold, gold_of_release
from portal.datasets.releases.gold import ReleaseError, place_gold
from portal.datasets.releases.services import freeze_release
from portal.facts import LABEL_SETS
from portal.files.archives import ArchiveFault
from portal.files.uploads import archive_limits


class Command(BaseCommand):
    help = (
        "Freezes a release from gold HTML with inline fact tags. Apart from the tags, every page"
        " must equal a document of the dataset. If there are faults, lists them all and writes"
        " nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="The dataset.")
        parser.add_argument("version", help="A semantic version above the latest, such as 1.0.0.")
        source = parser.add_mutually_exclusive_group(required=True)
        source.add_argument(
            "--gold",
            type=Path,
            help="A folder or ZIP of ID.html, or a .jsonl or .jsonl.gz of {id, html}.",
        )
        source.add_argument(
            "--from-release",
            metavar="VERSION",
            help="Take the gold of this release, with the corrections of accepted disputes.",
        )
        parser.add_argument(
            "--labels",
            default=",".join(LABEL_SETS["v1"]),
            help="A label set, v1 or v2, or a comma-separated list (default: %(default)s).",
        )
        parser.add_argument("--notes", default="", help="The changes, in Markdown.")
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
        if options["gold"] and not options["gold"].exists():
            raise CommandError(f"{options['gold']}: no such file or folder")
        try:
            release = self._freeze(dataset, options)
        except ReleaseError as error:
            faults = "\n".join(error.faults)
            raise CommandError(
                f"nothing was frozen; {len(error.faults)} faults:\n{faults}"
            ) from error
        except ArchiveFault as fault:
            raise CommandError(str(fault)) from fault
        self._report(release)

    def _freeze(self, dataset: Dataset, options: dict[str, Any]) -> Release:
        if options["from_release"]:
            return self._freeze_again(dataset, options)
        labels = LABEL_SETS.get(options["labels"]) or _listed(options["labels"])
        pages = read_gold_pages(options["gold"], archive_limits())
        return freeze_release(
            dataset=dataset,
            version=options["version"],
            items=place_gold(dataset=dataset, pages=pages, labels=labels),
            labels=labels,
            notes=options["notes"],
            visibility=options["visibility"],
            **terms(options),
        )

    def _freeze_again(self, dataset: Dataset, options: dict[str, Any]) -> Release:
        base = earlier_release(dataset, options["from_release"])
        for row in corrections_for(base).planned:
            outcome = row.words if row.applies else f"not applied: {row.reason}"
            self.stdout.write(f"dispute {row.dispute.pk}, {row.dispute.item.name}: {outcome}")
        return freeze_gold(
            dataset=dataset,
            gold=gold_of_release(release=base),
            version=options["version"],
            notes=options["notes"],
            visibility=options["visibility"],
            actor=None,
            **terms(options),
        )

    def _report(self, release: Release) -> None:
        self.stdout.write(
            f"{release.dataset.slug} {release.version}: {release.item_count} documents,"
            f" {release.fact_count} facts, {release.visibility}\nsha256 {release.sha256}"
        )
        left_out = release.dataset.documents.count() - release.item_count
        if left_out:
            self.stdout.write(f"documents without gold, left out: {left_out}")
        report_frozen(self, release)


def _listed(labels: str) -> list[str]:
    return [label.strip() for label in labels.split(",")]
