"""`factboard grade` and `manage.py grade`: grade a submission offline with the code of the site."""

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, Protocol

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

from .arguments import add_command, positive
from .errors import BadInput, Failure
from .files import (
    add_file_arguments,
    items_file,
    read_files,
    refuse_lacking,
    report,
    text_report,
    written,
)

HELP = "Grades a submission against gold, offline and without a database."


class Output(Protocol):
    """A text stream, or Django's wrapper of one."""

    def write(self, text: str, /) -> object: ...


def add_parser(commands: Any) -> None:
    example = "example:\n  factboard grade fincriticaled --gold gold.jsonl --submission mine.jsonl"
    parser = add_command(commands, "grade", "grade a submission offline", example, HELP)
    add_arguments(parser)
    parser.set_defaults(run=grade)


def add_arguments(parser: ArgumentParser) -> None:
    add_file_arguments(parser)
    parser.add_argument(
        "--jobs",
        type=positive,
        metavar="N",
        help="processes to score with; all cores unless given, one for few items. "
        "The result does not depend on it",
    )


def grade(args: Namespace, out: Output | None = None, err: Output | None = None) -> int:
    """Prints the figures. Raises CommandFault."""
    out, err = out or sys.stdout, err or sys.stderr
    benchmark, options = _chosen(args.benchmark, dict(args.option))
    with JoinedItems() as items:
        read_files(items, benchmark, options, args.gold, args.submission, raw_gold=args.raw_gold)
        scores = _score(items, benchmark, options, args.jobs or jobs_for(items), args.items)
    if scores.missing and benchmark.names_every_id:
        err.write(
            f"{args.submission}: {scores.missing:,} ids have no prediction; a leaderboard takes "
            "only submissions that name every id\n"
        )
    if args.json:
        out.write(json.dumps(report(benchmark, options, scores), ensure_ascii=False) + "\n")
    else:
        out.write("\n".join(text_report(benchmark, options, scores)) + "\n")
    return 0


def _chosen(key: str, raw: Mapping[str, str]) -> tuple[Benchmark, Options]:
    try:
        benchmark = get_benchmark(key)
        options = benchmark.check_options(raw)
    except (UnknownBenchmarkError, OptionError) as error:
        raise BadInput([str(error)]) from error
    if model := benchmark.judge_model(options):
        names = " and ".join(name for name, value in raw.items() if "judge(" in value)
        raise BadInput([f"option {names} needs the judge {model}: use manage.py judge"])
    refuse_lacking(benchmark, options)
    return benchmark, options


def _score(
    items: JoinedItems, benchmark: Benchmark, options: Options, jobs: int, to: Path | None
) -> Scores:
    results = score_items(items, benchmark.score_item, options, jobs)
    shown = tqdm(results, total=len(items), unit="item", leave=False, disable=None)
    try:
        if to is None:
            return benchmark.aggregate(shown, options)
        with items_file(to) as file:
            return benchmark.aggregate(written(shown, file), options)
    except BrokenProcessPool as error:
        raise Failure(
            "a process was killed while it scored, perhaps for lack of memory; "
            "try again with --jobs 1"
        ) from error
    except OSError as error:
        raise Failure(f"{items.path}: cannot be read: {error.strerror}") from error
