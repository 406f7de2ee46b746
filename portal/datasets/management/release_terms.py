"""Options shared by the commands that freeze a release."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from portal.datasets.curation.draws import FILING, GROUPINGS, SplitDraw
from portal.datasets.models import Release
from portal.datasets.releases.services import freeze_remarks, freeze_warnings


def add_terms(parser: ArgumentParser) -> None:
    parser.add_argument("--licence", default="", help="Users must accept it before a download.")
    parser.add_argument(
        "--citation", default="", help='JSON: {"authors": ["Doe, Jane"], "year", "doi", "url"}.'
    )
    parser.add_argument(
        "--test-share",
        type=float,
        help="Draws splits, stratified by type, with this share of test items, such as 0.8.",
    )
    parser.add_argument(
        "--group-by",
        default=FILING,
        choices=GROUPINGS,
        help="Groups that a draw keeps in one split (default: %(default)s).",
    )
    parser.add_argument(
        "--seed", type=int, default=1, help="Seed of the draw (default: %(default)s)."
    )


def terms(options: dict[str, Any]) -> dict[str, Any]:
    """The arguments of the service. Raises CommandError for a citation that is not JSON."""
    citation: Any = {}
    if options["citation"]:
        try:
            citation = json.loads(options["citation"])
        except ValueError as error:
            raise CommandError(f"--citation: not JSON: {error}") from error
        if not isinstance(citation, dict):
            raise CommandError("--citation: must be a JSON object")
    share = options["test_share"]
    return {
        "licence": options["licence"],
        "citation": citation,
        "splits": None if share is None else SplitDraw(share, options["seed"], options["group_by"]),
    }


def report_frozen(command: BaseCommand, release: Release) -> None:
    """Prints the remarks and warnings about a newly frozen release."""
    for remark in freeze_remarks(release):
        command.stdout.write(remark)
    for warning in freeze_warnings(release):
        command.stderr.write(warning)
