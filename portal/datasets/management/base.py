"""Shared by the commands of datasets, above all by those that freeze a release."""

import json
from abc import ABC, abstractmethod
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from portal.datasets.curation.draws import FILING, GROUPINGS, SplitDraw
from portal.datasets.documents.services import create_dataset
from portal.datasets.models import Dataset, Release
from portal.datasets.releases.gold import Gold, ReleaseError
from portal.datasets.releases.services import Terms, freeze_gold, freeze_remarks, freeze_warnings

_ABOUT = ("description", "licence", "visibility")


def existing(path: Path) -> Path:
    """Raises CommandError if there is no such file or folder."""
    if not path.exists():
        raise CommandError(f"{path}: no such file or folder")
    return path


def add_create_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--create", action="store_true", help="Create the dataset if it is missing."
    )
    parser.add_argument("--title", default="", help="Title of a new dataset.")


def add_overlaps_argument(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--accept-overlaps",
        type=int,
        default=0,
        metavar="NUMBER",
        help="The exact number of documents whose gold is public in one dataset and hidden in"
        " another; otherwise they are listed and nothing is frozen.",
    )


def dataset_of(options: dict[str, Any]) -> Dataset:
    """The dataset named by the argument `slug`, created with `--create`. Raises CommandError."""
    slug = options["slug"]
    if dataset := Dataset.objects.filter(slug=slug).first():
        return dataset
    if not options.get("create"):
        hint = "; use --create to create it" if "create" in options else ""
        raise CommandError(f"there is no dataset {slug}{hint}")
    about = {key: options[key] for key in _ABOUT if key in options}
    try:
        return create_dataset(slug=slug, title=options["title"] or slug, **about)
    except ValidationError as error:
        faults = error.message_dict.items()
        lines = [f"{field}: {' '.join(messages)}" for field, messages in faults]
        raise CommandError("; ".join(lines)) from error


class FreezeCommand(BaseCommand, ABC):
    """Freezes a release of a dataset; subclasses find the gold."""

    @abstractmethod
    def gold(self, dataset: Dataset, options: dict[str, Any]) -> Gold:
        """The gold to freeze. Raises ReleaseError, or CommandError for wrong options."""

    @abstractmethod
    def summary(self, release: Release) -> str:
        """A line about the frozen release."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="The dataset.")
        parser.add_argument("version", help="A semantic version above the latest, such as 1.0.0.")
        parser.add_argument("--notes", default="", help="The changes, in Markdown.")
        parser.add_argument(
            "--visibility",
            default=Release.Visibility.GOLD_HIDDEN,
            choices=Release.Visibility.values,
            help="Who may see the gold (default: %(default)s).",
        )
        parser.add_argument(
            "--licence", default="", help="Users must accept it before they download gold."
        )
        parser.add_argument(
            "--citation", default="", help='JSON: {"authors": ["Doe, Jane"], "year", "doi", "url"}.'
        )
        parser.add_argument(
            "--test-share",
            type=float,
            help="Draw a random split by type, with this share of test items, such as 0.8.",
        )
        parser.add_argument(
            "--group-by",
            default=FILING,
            choices=GROUPINGS,
            help="Groups of documents that stay in one split (default: %(default)s).",
        )
        parser.add_argument(
            "--seed", type=int, default=1, help="Seed of the draw (default: %(default)s)."
        )

        add_overlaps_argument(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        dataset = dataset_of(options)
        try:
            gold = self.gold(dataset, options)
            terms = _terms(options)
            release = freeze_gold(dataset=dataset, gold=gold, version=options["version"], **terms)
        except ReleaseError as error:
            faults = "\n".join(error.faults)
            message = f"nothing was frozen; {len(error.faults)} errors:\n{faults}"
            raise CommandError(message) from error
        self.stdout.write(f"{self.summary(release)}\nsha256 {release.sha256}")
        for remark in freeze_remarks(release):
            self.stdout.write(remark)
        for warning in freeze_warnings(release):
            self.stderr.write(warning)


def _terms(options: dict[str, Any]) -> Terms:
    """Raises CommandError for a citation that is not a JSON object."""
    try:
        citation = json.loads(options["citation"] or "{}")
    except ValueError as error:
        raise CommandError(f"--citation: not JSON: {error}") from error
    if not isinstance(citation, dict):
        raise CommandError("--citation: must be a JSON object")
    share = options["test_share"]
    return Terms(
        notes=options["notes"],
        visibility=options["visibility"],
        licence=options["licence"],
        citation=citation,
        splits=None if share is None else SplitDraw(share, options["seed"], options["group_by"]),
        accept_overlaps=options["accept_overlaps"],
    )
