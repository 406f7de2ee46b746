"""Draws a stratified selection of a dataset's documents."""

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from portal.datasets.curation.draws import new_seed
from portal.datasets.curation.services import STRATA, DrawSpec, create_selection
from portal.datasets.management.base import dataset_of


class Command(BaseCommand):
    help = (
        "Draws a stratified random sample of documents and stores it as a selection. Prints the"
        " seed and the names; the same seed and documents give the same sample."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="The dataset.")
        parser.add_argument(
            "--strata",
            default="doc_type",
            help=f"Comma-separated fields that define the strata: {', '.join(STRATA)}"
            " (default: %(default)s).",
        )
        number = parser.add_mutually_exclusive_group(required=True)
        number.add_argument(
            "--size",
            type=int,
            help="Total number of documents, divided in proportion to the strata.",
        )
        number.add_argument("--per-stratum", type=int, help="Number of documents per stratum.")
        parser.add_argument(
            "--evenly", action="store_true", help="Divide the size evenly among the strata."
        )
        parser.add_argument("--seed", type=int, help="A whole number (default: random).")
        parser.add_argument("--title", required=True, help="Title of the selection.")

    def handle(self, *_: Any, **options: Any) -> None:
        dataset = dataset_of(options)
        seed = new_seed() if options["seed"] is None else options["seed"]
        try:
            selection = create_selection(
                dataset=dataset,
                title=options["title"],
                spec=DrawSpec(
                    strata=tuple(name.strip() for name in options["strata"].split(",")),
                    size=options["size"],
                    per_stratum=options["per_stratum"],
                    evenly=options["evenly"],
                ),
                seed=seed,
                actor=None,
            )
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        names = list(selection.documents.order_by("name").values_list("name", flat=True))
        self.stderr.write(f"selection {selection.pk}: {len(names)} documents, seed {seed}")
        self.stdout.write("\n".join(names))
