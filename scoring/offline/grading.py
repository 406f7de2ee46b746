"""`factboard grade` and `manage.py grade`: grade a submission offline with the code of the site.

`manage.py judge` shares the arguments, the files and the report.
"""

import json
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

from tqdm import tqdm

from scoring.benchmarks import (
    Benchmark,
    Column,
    GoldLine,
    ItemResult,
    OptionError,
    Options,
    ReadFault,
    Scores,
    UnknownBenchmarkError,
    get_benchmark,
)
from scoring.benchmarks.answer_notes import changed_words
from scoring.benchmarks.answers import changes_of
from scoring.benchmarks.checking import FaultList, JoinedItems, jobs_for, score_items

from .terminal import BadInput, Failure, add_command, key_and_value, positive, shown_value

HELP = "Grade a submission against gold, offline and without a database."


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
        help="number of processes (default: one per core, or one for few items)",
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
            f"{args.submission}: {scores.missing:,} IDs have no prediction; a board accepts "
            "only files that contain every ID\n"
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
        raise BadInput([f"option {names} requires the judge {model}; use manage.py judge"])
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
            "a grading process was killed, perhaps because memory ran out; try again with --jobs 1"
        ) from error
    except OSError as error:
        raise Failure(f"{items.path}: cannot be read: {error.strerror}") from error


# The number of faults that are printed; the rest is counted.
FAULTS_SHOWN = 50


class ItemsFileError(BadInput):
    """The items file cannot be written. The message names it and gives the reason."""

    def __init__(self, path: Path, error: OSError) -> None:
        super().__init__([f"{path}:0: cannot be written: {error.strerror}"])


class ItemsFile:
    """The file for items' results, one line each. It gets its final name only once it is complete.
    Its methods raise ItemsFileError."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._partial = path.with_name(f"{path.name}.partial")
        try:
            self._file = self._partial.open("w", encoding="utf-8")
        except OSError as error:
            raise ItemsFileError(path, error) from error

    def write(self, result: ItemResult) -> None:
        try:
            self._file.write(json.dumps(result, ensure_ascii=False) + "\n")
        except OSError as error:
            raise ItemsFileError(self._path, error) from error

    def keep(self) -> None:
        try:
            self._file.close()
            self._partial.replace(self._path)
        except OSError as error:
            raise ItemsFileError(self._path, error) from error

    def discard(self) -> None:
        """Removes the partial file. On a full disk closing fails again, which is ignored."""
        with suppress(OSError):
            self._file.close()
        self._partial.unlink(missing_ok=True)


def add_file_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("benchmark", help="the benchmark's name, such as fincriticaled")
    parser.add_argument(
        "--gold",
        type=Path,
        required=True,
        metavar="PATH",
        help="the gold: a folder, ZIP or JSON Lines file",
    )
    parser.add_argument(
        "--submission",
        type=Path,
        required=True,
        metavar="PATH",
        help="the predictions: a folder, ZIP or JSON Lines file",
    )
    parser.add_argument(
        "--option",
        type=key_and_value,
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="an option of the benchmark; can be repeated",
    )
    parser.add_argument(
        "--raw-gold",
        action="store_true",
        help="use the gold files unchanged, like the published script; by default, pages are "
        "cleaned first, as on the site",
    )
    parser.add_argument(
        "--items",
        type=Path,
        metavar="FILE",
        help="write the result of each item to this file, as JSON Lines",
    )
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object instead of a table"
    )


def read_files(
    items: JoinedItems,
    benchmark: Benchmark,
    options: Options,
    gold: Path,
    submission: Path,
    *,
    raw_gold: bool = False,
) -> None:
    """Fills `items` from both files; the gold as a release would hold it, unless `raw_gold`.

    Raises BadInput and Failure.
    """
    try:
        lines = benchmark.read_gold(gold, options=options)
        if not raw_gold:
            lines = _frozen(lines, benchmark, options)
        _refuse_faults(items.add_gold(lines, str(gold)))
        predictions = benchmark.read_predictions(submission)
        _refuse_faults(items.add_predictions(predictions, str(submission)))
    except OSError as error:
        raise Failure(f"{tempfile.gettempdir()}: cannot be written: {error}") from error


def _refuse_faults(faults: FaultList) -> None:
    messages = [str(fault) for fault in faults.listed[:FAULTS_SHOWN]]
    if more := len(faults.listed) + faults.left_out - len(messages):
        messages.append(f"and {more:,} more")
    if messages:
        raise BadInput(messages)


def refuse_lacking(benchmark: Benchmark, options: Options) -> None:
    """Raises BadInput before anything is read if scoring needs a model that is not set up here."""
    if problem := benchmark.lacking(options):
        raise BadInput([problem])


def _frozen(
    lines: Iterable[GoldLine | ReadFault], benchmark: Benchmark, options: Options
) -> Iterator[GoldLine | ReadFault]:
    for line in lines:
        yield line if isinstance(line, ReadFault) else benchmark.as_frozen(line, options)


@contextmanager
def items_file(path: Path) -> Iterator[ItemsFile]:
    file = ItemsFile(path)
    try:
        yield file
        file.keep()
    finally:
        file.discard()


def written(results: Iterable[ItemResult], file: ItemsFile) -> Iterator[ItemResult]:
    for result in results:
        file.write(result)
        yield result


def report(benchmark: Benchmark, options: Options, scores: Scores) -> dict[str, Any]:
    return {
        "benchmark": benchmark.key,
        "signature": benchmark.signature(options),
        "items": scores.items,
        "missing": scores.missing,
        "changed_answers": changes_of(scores.counts),
        "scores": scores.scores,
        "views": {
            view.key: {column.key: scores.scores[column.key] for column in view.columns}
            for view in benchmark.views_for(options)
        },
        "subsets": scores.subsets,
    }


def text_report(benchmark: Benchmark, options: Options, scores: Scores) -> Iterator[str]:
    """The benchmark's own table, then one per view."""
    yield f"{benchmark.title}  {benchmark.signature(options)}"
    yield from benchmark.words(options)
    yield f"{scores.items} items, {scores.missing} without a prediction"
    answers = scores.items - scores.missing
    for change, count in changes_of(scores.counts).items():
        yield changed_words(change, count, answers)
    width = max(len(column.label) for column in benchmark.figures_for(options).values())
    yield from _table(benchmark.columns_for(options), scores, width)
    for view in benchmark.views_for(options):
        yield f"\n{view.title}: {view.help}"
        yield from _table(view.columns, scores, width)


def _table(columns: Iterable[Column], scores: Scores, width: int) -> Iterator[str]:
    group = ""
    for column in columns:
        if column.group != group:
            group = column.group
            yield f"\n{group}"
        value = scores.scores[column.key]
        shown = shown_value(value, column.unit, column.decimals)
        arrow = "↑" if column.direction == "up" else "↓"
        yield f"  {column.label:<{width}} {arrow} {shown:>9}"
