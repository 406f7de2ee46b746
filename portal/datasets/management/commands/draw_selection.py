"""Draws a stratified selection of a dataset's documents."""

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from portal.datasets.curation.draws import new_seed
from portal.datasets.curation.services import STRATA, DrawSpec, create_selection
from portal.datasets.models import Dataset


class Command(BaseCommand):
    help = (
        "Draws documents by lot from strata and keeps them as a selection. Prints the seed and the"
        " names; the same seed draws the same ones as long as the documents are the same."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="The dataset.")
        parser.add_argument(
            "--strata",
            default="doc_type",
            help=f"What strata are made by, with commas, of {', '.join(STRATA)}"
            " (default: %(default)s).",
        )
        number = parser.add_mutually_exclusive_group(required=True)
        number.add_argument("--size", type=int, help="In all, shared out in proportion.")
        number.add_argument("--per-stratum", type=int, help="Of each stratum.")
        parser.add_argument("--seed", type=int, help="A whole number; by chance if left out.")
        parser.add_argument("--title", required=True, help="To keep the selection under.")

    def handle(self, *_: Any, **options: Any) -> None:
        dataset = Dataset.objects.filter(slug=options["slug"]).first()
        if dataset is None:
            raise CommandError(f"there is no dataset {options['slug']}")
        seed = new_seed() if options["seed"] is None else options["seed"]
        try:
            selection = create_selection(
                dataset=dataset,
                title=options["title"],
                spec=DrawSpec(
                    strata=tuple(name.strip() for name in options["strata"].split(",")),
                    size=options["size"],
                    per_stratum=options["per_stratum"],
                ),
                seed=seed,
                actor=None,
            )
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        names = list(selection.documents.order_by("name").values_list("name", flat=True))
        self.stderr.write(f"selection {selection.pk}: {len(names)} documents, seed {seed}")
        self.stdout.write("\n".join(names))
