"""Arguments, input and output shared by commands that grade files without a database."""

import json
import sys
import tempfile
from argparse import ArgumentTypeError
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandError, CommandParser

from scoring.benchmarks import (
    Benchmark,
    Column,
    GoldLine,
    ItemResult,
    Options,
    ReadFault,
    Scores,
)
from scoring.benchmarks.checking import FaultList, JoinedItems

BAD_INPUT = 2
# The number of faults that are printed; the rest is counted.
FAULTS_SHOWN = 50


class ItemsFileError(Exception):
    """The items file cannot be written. The message names it and gives the reason."""

    def __init__(self, path: Path, error: OSError) -> None:
        super().__init__(f"{path}:0: cannot be written: {error.strerror}")


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


class OfflineCommand(BaseCommand):
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("benchmark", help="which benchmark, such as fincriticaled")
        parser.add_argument("--gold", type=Path, required=True, help="folder, ZIP or JSON Lines")
        parser.add_argument(
            "--submission", type=Path, required=True, help="folder, ZIP or JSON Lines"
        )
        parser.add_argument(
            "--option",
            type=key_and_value,
            action="append",
            default=[],
            metavar="KEY=VALUE",
            help="an option of the benchmark; may be given several times",
        )
        parser.add_argument(
            "--raw-gold",
            action="store_true",
            help="grade against the gold in the files as it is, like the published script; by "
            "default pages are cleaned first, as on import, so that scores equal those of the site",
        )
        parser.add_argument("--items", type=Path, help="write one JSON line per item to this file")
        parser.add_argument(
            "--json", action="store_true", help="print one JSON object instead of a table"
        )

    def read(
        self,
        items: JoinedItems,
        benchmark: Benchmark,
        options: Options,
        gold: Path,
        submission: Path,
        *,
        raw_gold: bool = False,
    ) -> None:
        """Fills `items` from both files; the gold as a release would hold it, unless `raw_gold`."""
        try:
            lines = benchmark.read_gold(gold, options=options)
            if not raw_gold:
                lines = _frozen(lines, benchmark, options)
            self._refuse_faults(items.add_gold(lines, str(gold)))
            predictions = benchmark.read_predictions(submission)
            self._refuse_faults(items.add_predictions(predictions, str(submission)))
        except OSError as error:
            raise CommandError(f"{tempfile.gettempdir()}: cannot be written: {error}") from error

    def _refuse_faults(self, faults: FaultList) -> None:
        messages = [str(fault) for fault in faults.listed[:FAULTS_SHOWN]]
        if more := len(faults.listed) + faults.left_out - len(messages):
            messages.append(f"and {more:,} more")
        if messages:
            self.refuse(messages)

    def refuse_lacking(self, benchmark: Benchmark, options: Options) -> None:
        """Exits before anything is read if scoring needs a model that is not set up here."""
        if problem := benchmark.lacking(options):
            self.refuse([problem])

    def refuse(self, messages: Iterable[str]) -> NoReturn:
        for message in messages:
            self.stderr.write(message)
        sys.exit(BAD_INPUT)


def _frozen(
    lines: Iterable[GoldLine | ReadFault], benchmark: Benchmark, options: Options
) -> Iterator[GoldLine | ReadFault]:
    for line in lines:
        yield line if isinstance(line, ReadFault) else benchmark.as_frozen(line, options)


def key_and_value(text: str) -> tuple[str, str]:
    key, separator, value = text.partition("=")
    if not separator or not key:
        raise ArgumentTypeError(f"{text!r} is not KEY=VALUE")
    return key, value


def positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


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
        scale = 100 if column.unit == "%" else 1
        shown = "n/a" if value is None else f"{value * scale:.{column.decimals}f}{column.unit}"
        arrow = "↑" if column.direction == "up" else "↓"
        yield f"  {column.label:<{width}} {arrow} {shown:>9}"
