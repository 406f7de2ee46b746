"""Grades a submission offline with the code of the site. Needs no database."""

import json
from collections.abc import Mapping
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from tqdm import tqdm

from scoring.benchmarks import (
    Benchmark,
    OptionError,
    Options,
    Scores,
    UnknownBenchmarkError,
    get_benchmark,
)
from scoring.benchmarks.checking import JoinedItems, jobs_for, score_items
from scoring.management.offline import (
    ItemsFileError,
    OfflineCommand,
    items_file,
    positive,
    report,
    text_report,
    written,
)


class Command(OfflineCommand):
    help = "Grades a submission against gold, offline and without a database."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--jobs",
            type=positive,
            metavar="N",
            help="processes to score with; all cores unless given, one for few items. "
            "The result does not depend on it",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        benchmark, chosen = self._benchmark(options["benchmark"], dict(options["option"]))
        with JoinedItems() as items:
            self.read(
                items,
                benchmark,
                chosen,
                options["gold"],
                options["submission"],
                raw_gold=options["raw_gold"],
            )
            jobs = options["jobs"] or jobs_for(items)
            scores = self._score(items, benchmark, chosen, jobs, options["items"])
        if scores.missing and benchmark.names_every_id:
            self.stderr.write(
                f"{options['submission']}: {scores.missing:,} ids have no prediction; a "
                "leaderboard takes only submissions that name every id"
            )
        if options["json"]:
            self.stdout.write(json.dumps(report(benchmark, chosen, scores), ensure_ascii=False))
        else:
            self.stdout.write("\n".join(text_report(benchmark, chosen, scores)))

    def _benchmark(self, key: str, raw: Mapping[str, str]) -> tuple[Benchmark, Options]:
        try:
            benchmark = get_benchmark(key)
            chosen = benchmark.check_options(raw)
        except (UnknownBenchmarkError, OptionError) as error:
            self.refuse([str(error)])
        if model := benchmark.judge_model(chosen):
            names = " and ".join(name for name, value in raw.items() if "judge(" in value)
            self.refuse([f"option {names} needs the judge {model}: use manage.py judge"])
        self.refuse_lacking(benchmark, chosen)
        return benchmark, chosen

    def _score(
        self, items: JoinedItems, benchmark: Benchmark, options: Options, jobs: int, to: Path | None
    ) -> Scores:
        results = score_items(items, benchmark.score_item, options, jobs)
        shown = tqdm(results, total=len(items), unit="item", leave=False, disable=None)
        try:
            if to is None:
                return benchmark.aggregate(shown, options)
            with items_file(to) as file:
                return benchmark.aggregate(written(shown, file), options)
        except BrokenProcessPool as error:
            raise CommandError(
                "a process was killed while it scored, perhaps for lack of memory; "
                "try again with --jobs 1"
            ) from error
        except ItemsFileError as error:
            self.refuse([str(error)])
        except OSError as error:
            raise CommandError(f"{items.path}: cannot be read: {error.strerror}") from error
