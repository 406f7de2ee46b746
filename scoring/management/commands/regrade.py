"""Grades all scored submissions of a board again, as one batch."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from scoring.boards.protection import move_words
from scoring.grading.regrade_changes import RegradeRefused, find_release, gold_words, regrade_page
from scoring.grading.regrades import start_regrade
from scoring.models import Board, Phase


class Command(BaseCommand):
    help = (
        "Queues a re-grade of a board. The new gradings replace the current ones together, once all"
        " of them are done. Workers must be running."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("board", help="The board's slug.")
        parser.add_argument("--phase", default="", help="A phase's slug; by default all phases.")
        parser.add_argument(
            "--release",
            default="",
            help="The version of another release of the dataset; by default the same release.",
        )

    def handle(self, *_: Any, **options: Any) -> None:
        board = Board.objects.filter(slug=options["board"]).first()
        if board is None:
            raise CommandError(f"there is no board {options['board']}")
        phase = _phase(board, options["phase"]) if options["phase"] else None
        try:
            release = find_release(board, phase, options["release"])
            regrade = start_regrade(board=board, phase=phase, release=release, actor=None)
        except RegradeRefused as refusal:
            raise CommandError(f"nothing was started: {refusal}") from refusal
        self.stdout.write(f"re-grade {regrade.pk} of {board.slug} is queued")
        for part in regrade_page(board, regrade.pk).phases:
            words = gold_words(part) if part.changes_release else "on the same release"
            self.stdout.write(f"{part.phase.slug}: {words}")
            if protection := move_words(part.phase, part.release_after):
                self.stdout.write(f"{part.phase.slug}: {protection}")


def _phase(board: Board, slug: str) -> Phase:
    phases = {phase.slug: phase for phase in board.phases.select_related("release__dataset")}
    if slug not in phases:
        raise CommandError(f"the board has no phase {slug}; there are {', '.join(phases)}")
    return phases[slug]
