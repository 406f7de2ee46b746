"""Repeats the draw of a domain review and compares it with the stored one."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.models import ReviewRound
from annotation.review.selectors import Redrawn, redraw
from portal.facts.sampling import Key


class Command(BaseCommand):
    help = (
        "Repeats the draw of a domain review from its seed and prints the facts, one per line:"
        " document and offset. Fails if they differ from the reviewed facts."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="The campaign.")
        parser.add_argument("number", type=int, help="The round.")

    def handle(self, *_: Any, **options: Any) -> None:
        found = ReviewRound.objects.filter(
            campaign__slug=options["slug"], number=options["number"]
        ).first()
        if found is None:
            raise CommandError(f"campaign {options['slug']} has no review {options['number']}")
        redrawn = redraw(found)
        if redrawn.population is None:
            raise CommandError(
                "this review has no recorded population: the draw cannot be repeated"
            )
        self.stdout.write(
            f"# seed {found.seed}, share {found.share!r} of {redrawn.population} facts"
            f" in {found.pages} documents: {len(redrawn.drawn)} drawn"
        )
        for key in redrawn.drawn:
            self.stdout.write(_line(key))
        if not redrawn.is_same:
            raise CommandError(_difference(redrawn))
        self.stdout.write("# identical to the stored draw")


def _line(key: Key) -> str:
    return f"{key.document}\t{key.start}"


def _difference(redrawn: Redrawn) -> str:
    drawn, stored = set(redrawn.drawn), set(redrawn.stored)
    lines = [f"only drawn now: {_line(key)}" for key in sorted(drawn - stored)]
    lines += [f"only stored: {_line(key)}" for key in sorted(stored - drawn)]
    return "\n".join(["the stored draw is different", *lines])
