"""Freezes a release of a dataset from gold HTML."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from portal.datasets.management.base import FreezeCommand, existing
from portal.datasets.models import Dataset, Release
from portal.datasets.releases.corrections import corrections_for
from portal.datasets.releases.freezing import earlier_release, gold_of_file, gold_of_release
from portal.datasets.releases.gold import PAGES, Gold
from portal.facts import LABEL_SETS


class Command(FreezeCommand):
    help = (
        "Freezes a release from gold HTML with inline fact tags. Apart from the tags, every page"
        " must equal a document of the dataset. If there are errors, lists them all and writes"
        " nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        source = parser.add_mutually_exclusive_group(required=True)
        source.add_argument(
            "--gold",
            type=Path,
            help="A folder or ZIP of ID.html, or a .jsonl or .jsonl.gz of {id, html}.",
        )
        source.add_argument(
            "--from-release",
            metavar="VERSION",
            help="Use the gold of this release, with the corrections of accepted disputes.",
        )
        parser.add_argument(
            "--labels",
            default=",".join(LABEL_SETS["v1"]),
            help="A label set, v1 or v2, or a comma-separated list (default: %(default)s).",
        )

    def gold(self, dataset: Dataset, options: dict[str, Any]) -> Gold:
        if options["from_release"]:
            base = earlier_release(dataset, options["from_release"])
            for row in corrections_for(base).planned:
                outcome = row.words if row.applies else f"not applied: {row.reason}"
                self.stdout.write(f"dispute {row.dispute.pk}, {row.dispute.item.name}: {outcome}")
            return gold_of_release(release=base)
        path = existing(options["gold"])
        listed = [label.strip() for label in options["labels"].split(",")]
        labels = LABEL_SETS.get(options["labels"], listed)
        return gold_of_file(dataset=dataset, benchmark=PAGES, path=path, labels=labels)

    def summary(self, release: Release) -> str:
        left_out = release.dataset.documents.count() - release.item_count
        return (
            f"{release.dataset.slug} {release.version}: {release.item_count} documents,"
            f" {release.fact_count} facts, {release.visibility}"
            + (f"; documents without gold, not included: {left_out}" if left_out else "")
        )
