"""Derives a stress variant: the same pages with simulated captures as images."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from portal.datasets.curation.draws import new_seed
from portal.datasets.dataset_tasks import TaskError, run_here
from portal.datasets.management.base import dataset_of
from portal.datasets.models import Dataset, DatasetTask, Release
from portal.datasets.variants.deriving import derive
from portal.datasets.variants.services import (
    VariantError,
    VariantSpec,
    create_variant,
    task_options,
)


class Command(BaseCommand):
    help = (
        "Derives a stress variant of a dataset. Run the same command again to add missing images;"
        " they are byte-identical."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="The dataset to derive from.")
        parser.add_argument(
            "--kind", required=True, help="For example off_axis. An unknown kind lists all kinds."
        )
        parser.add_argument(
            "--strength", type=float, default=0.5, help="Above 0, at most 1 (default: %(default)s)."
        )
        parser.add_argument("--seed", type=int, help="Seed of the captures (default: random).")
        parser.add_argument("--name", default="", help="The variant's slug.")
        parser.add_argument(
            "--documents",
            nargs="+",
            metavar="ID",
            help="Only these documents (default: all documents with an image).",
        )
        parser.add_argument("--release", help="Copy the gold of this version.")

    def handle(self, *_: Any, **options: Any) -> None:
        base = dataset_of(options)
        spec = VariantSpec(
            kind=options["kind"],
            strength=options["strength"],
            seed=new_seed() if options["seed"] is None else options["seed"],
            names=options["documents"],
            release=_release(base, options["release"]),
        )
        try:
            variant = create_variant(base=base, spec=spec, slug=options["name"], actor=None)
            task = run_here(
                dataset=variant,
                kind=DatasetTask.Kind.DERIVE,
                run=derive,
                options=task_options(variant, spec),
            )
        except (VariantError, TaskError) as error:
            raise CommandError(str(error)) from error
        self._report(variant, task)

    def _report(self, variant: Dataset, task: DatasetTask) -> None:
        counted = sorted(task.report["counts"].items())
        counts = ", ".join(f"{number} {what}" for what, number in counted)
        self.stdout.write(f"{variant.slug}: {counts}\nsimulated: {variant.simulation}")
        for fault in task.report["faults"]:
            self.stderr.write(f"{fault['name']}: {fault['reason']}")


def _release(base: Dataset, version: str | None) -> Release | None:
    if version is None:
        return None
    release = base.releases.filter(version=version).first()
    if release is None:
        raise CommandError(f"{base.slug} has no release {version}")
    return release
