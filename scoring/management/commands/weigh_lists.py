"""Compares the weights of ReceiptBench's list matching with people's judgements, offline."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from scoring.benchmark_setup import receipt_helpers
from scoring.benchmarks.receiptbench.scorer import compared_weights
from scoring.metrics import TooLargeError
from scoring.metrics.receipts.values import Preference, agreement_with_people, weight_grid

_MOST_STEPS = 20
_LISTED = 5


class Command(BaseCommand):
    help = (
        "Shows how well the matching of lists agrees with people under each of ReceiptBench's "
        'weights. FILE has a line {"gold": [items], "prediction": [items], "votes": [true, …]} per '
        "pair of detail lists. Without EMBEDDING_MODEL, A, B and D use their lexical shares."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="Judged pairs, JSON Lines.")
        parser.add_argument(
            "--steps", type=int, default=0, metavar="N", help="also try all weights in parts of 1/N"
        )

    def handle(self, *_args: Any, file: Path, steps: int, **_options: Any) -> None:
        if not 0 <= steps <= _MOST_STEPS:
            raise CommandError(f"--steps must be from 0 to {_MOST_STEPS}")
        helpers = receipt_helpers()
        embed = helpers.embed if helpers else None
        pairs = list(_read(file))
        try:
            for name, weights in compared_weights(has_embedding=embed is not None).items():
                self._line(name, agreement_with_people(pairs, weights, embed))
            tried = [
                (agreement_with_people(pairs, weights, embed) or 0, weights)
                for weights in (weight_grid(steps, has_embedding=bool(embed)) if steps else ())
            ]
        except TooLargeError as error:
            raise CommandError(f"{file}: {error}") from error
        for share, weights in sorted(tried, key=lambda each: -each[0])[:_LISTED]:
            self._line(" ".join(f"{part:g}" for part in weights), share)

    def _line(self, name: str, share: float | None) -> None:
        self.stdout.write(f"{name:<24} {'n/a' if share is None else f'{share:.2%}'}")


def _read(file: Path) -> Iterator[Preference]:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{file}: cannot be read: {error}") from error
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield _pair(f"{file}:{number}", line)


def _pair(where: str, line: str) -> Preference:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise CommandError(f"{where}: not JSON: {error}") from error
    if not isinstance(value, dict) or not {"gold", "prediction", "votes"} <= value.keys():
        raise CommandError(f"{where}: must have gold, prediction and votes")
    votes = value["votes"]
    if not isinstance(votes, list) or not all(isinstance(vote, bool) for vote in votes):
        raise CommandError(f"{where}: votes: must be a list of true and false")
    return Preference(value["gold"], value["prediction"], tuple(votes))
