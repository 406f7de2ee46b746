"""`factboard compare`: published results of a site, or two files of `grade --items`."""

import json
from argparse import Namespace
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from factboard.client.models import Column as SiteColumn
from factboard.client.models import Comparison
from factboard.client.settings import add_site_arguments, open_client
from scoring.benchmarks import (
    Benchmark,
    Column,
    ItemResult,
    OptionError,
    Options,
    UnknownBenchmarkError,
    get_benchmark,
)
from scoring.benchmarks.items import Observation, replicated, resampled_documents
from scoring.offline.terminal import BadInput, add_command, key_and_value, shown_value, table

from .site import print_json, print_lines

_SEED = "local"


class LocalFigure(NamedTuple):
    """A figure of both files, and the difference `first - second`.

    `p_value`, and the interval `low` to `high` of the difference, come from a paired test. They are
    None if there can be no test, such as with one item.
    """

    column: Column
    first: float | None
    second: float | None
    difference: float | None
    p_value: float | None
    low: float | None
    high: float | None


_EXAMPLES = """examples:
  factboard compare 12 15
  factboard compare --local fincriticaled ours.jsonl theirs.jsonl"""


def add_parser(commands: Any) -> None:
    parser = add_command(commands, "compare", "compare results with paired tests", _EXAMPLES)
    parser.add_argument(
        "results",
        nargs="+",
        metavar="RESULT",
        help="the numbers of two to five published submissions; with --local, two files",
    )
    parser.add_argument(
        "--local",
        metavar="BENCHMARK",
        help="compare two files written by `factboard grade BENCHMARK --items`",
    )
    parser.add_argument(
        "--option",
        type=key_and_value,
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="with --local: an option that the files were graded with",
    )
    add_site_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=_compare)


def _compare(args: Namespace) -> int:
    return _of_files(args) if args.local else _of_site(args)


# --- files ------------------------------------------------------------------------------------


def _of_files(args: Namespace) -> int:
    if len(args.results) != 2:
        raise BadInput(["--local needs exactly two files."])
    try:
        benchmark = get_benchmark(args.local)
        options = benchmark.check_options(dict(args.option))
    except (UnknownBenchmarkError, OptionError) as error:
        raise BadInput([str(error)]) from error
    first, second = map(Path, args.results)
    figures = list(compared_files(benchmark, options, first, second))
    if args.json:
        return print_json([figure._asdict() | {"column": figure.column.key} for figure in figures])
    return print_lines(_local_lines(figures, first.name, second.name))


def compared_files(
    benchmark: Benchmark, options: Options, first: Path, second: Path
) -> Iterator[LocalFigure]:
    """Yield the figures of two files of `grade --items`, with paired tests. Raises BadInput.

    Items are resampled one by one. A site resamples all items of a document together, so its
    intervals and p-values differ slightly.
    """
    systems = _items(first), _items(second)
    nothing: ItemResult = {}
    for number, (left, right) in enumerate(zip_longest(*systems, fillvalue=nothing), 1):
        if left.get("id") != right.get("id"):
            raise BadInput([f"{first}:{number}: is not the same item as {second}:{number}"])
    if not systems[0]:
        raise BadInput([f"{first}: has no items"])
    # An id may be in two subsets, so lines are numbered.
    rows = [[Observation(str(n), item) for n, item in enumerate(items)] for items in systems]
    contribute = partial(_contributions, benchmark, options)
    try:
        weights = resampled_documents(rows[0], benchmark.stratum, seed=_SEED)
        firsts, seconds = (
            replicated(items, contribute, benchmark.combined, weights) for items in rows
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        message = f"{first}, {second}: not results of {benchmark.title} with these options"
        raise BadInput([message]) from error
    # NumPy is imported only for a comparison.
    from scoring.metrics.intervals import paired_bootstrap

    for key, column in benchmark.figures_for(options).items():
        if key not in firsts or key not in seconds:
            continue
        test = paired_bootstrap(firsts[key], seconds[key])
        first_value, second_value = firsts[key].value, seconds[key].value
        interval = test.interval if test else None
        yield LocalFigure(
            column,
            first_value,
            second_value,
            None if first_value is None or second_value is None else first_value - second_value,
            test.p_value if test else None,
            interval.low if interval else None,
            interval.high if interval else None,
        )


def _contributions(benchmark: Benchmark, options: Options, result: Mapping[str, Any]) -> Any:
    return benchmark.contributions(result, options)


def _items(path: Path) -> list[ItemResult]:
    """The items in the order of the gold. Raises BadInput that names the line."""
    try:
        with path.open(encoding="utf-8") as lines:
            return [_item(path, number, line) for number, line in enumerate(lines, 1)]
    except OSError as error:
        raise BadInput([f"{path}: cannot be read: {error.strerror}"]) from error
    except UnicodeDecodeError as error:
        raise BadInput([f"{path}: is not UTF-8"]) from error


def _item(path: Path, number: int, line: str) -> ItemResult:
    try:
        item = json.loads(line)
    except (ValueError, RecursionError):
        item = None
    if not isinstance(item, dict) or "id" not in item:
        raise BadInput(
            [f"{path}:{number}: not a line of a file written by `factboard grade --items`"]
        )
    return item


def _local_lines(figures: list[LocalFigure], first: str, second: str) -> Iterator[str]:
    rows = [["", first, second, "difference", "95% interval", "p"]]
    for figure in figures:
        unit, decimals = figure.column.unit, figure.column.decimals
        between = ""
        if figure.low is not None and figure.high is not None:
            between = " to ".join(_signed(v, unit, decimals) for v in (figure.low, figure.high))
        rows.append(
            [
                f"{figure.column.label} {'↑' if figure.column.direction == 'up' else '↓'}",
                *(shown_value(v, unit, decimals) for v in (figure.first, figure.second)),
                _signed(figure.difference, unit, decimals),
                between,
                "" if figure.p_value is None else f"{figure.p_value:.4f}",
            ]
        )
    yield from table(rows)


# --- a site -----------------------------------------------------------------------------------


def _of_site(args: Namespace) -> int:
    wrong = [result for result in args.results if not result.isdecimal()]
    if wrong:
        raise BadInput([f"{wrong[0]!r} is not a submission number; to compare files, add --local"])
    numbers = [int(result) for result in args.results]
    with open_client(args) as client:
        comparison = client.compare(*numbers)
        if args.json:
            return print_json(comparison.model_dump(mode="json"))
        board = client.submission(numbers[0]).board
        columns = client.leaderboard(board, phase=comparison.phase).columns
    return print_lines(_comparison_lines(comparison, {column.key: column for column in columns}))


def _comparison_lines(comparison: Comparison, columns: Mapping[str, SiteColumn]) -> Iterator[str]:
    """Each figure of each entry as on the leaderboard, and the tests of the main score."""
    rows = [["", *(entry.name for entry in comparison.entries)]]
    for figure in comparison.figures:
        label, unit, decimals = _look(figure.key, columns)
        arrow = "↑" if figure.direction == "up" else "↓"
        cells = [shown_value(cell.value, unit, decimals) for cell in figure.cells]
        rows.append([f"{label} {arrow}", *cells])
    yield from table(rows)
    yield ""
    label, unit, decimals = _look(comparison.deciding, columns)
    yield f"Differences in {label}, with a paired test over the items:"
    names = {entry.entry: f"{entry.name} ({entry.submission})" for entry in comparison.entries}
    rows = [["", "difference", "95% interval", "p", "wins", "ties", "losses"]]
    for pair in comparison.pairs:
        interval = pair.difference.interval
        between = ""
        if interval:
            between = " to ".join(_signed(v, unit, decimals) for v in (interval.low, interval.high))
        p_value = pair.difference.p_value
        rows.append(
            [
                f"{names.get(pair.first, pair.first)} - {names.get(pair.second, pair.second)}",
                _signed(pair.difference.value, unit, decimals),
                between,
                "" if p_value is None else f"{p_value:.4f}",
                *("" if n is None else str(n) for n in (pair.wins, pair.ties, pair.losses)),
            ]
        )
    yield from table(rows)
    if not comparison.is_exact:
        yield "The scores of this phase are rounded, so there are no tests."
    elif not comparison.is_ready:
        yield "The tests are still being computed. Run the command again later."


def _look(key: str, columns: Mapping[str, SiteColumn]) -> tuple[str, str, int]:
    """The label, unit and decimals of a figure; those of a plain number if the leaderboard does
    not have it."""
    column = columns.get(key)
    return (column.label, column.unit, column.decimals) if column else (key, "", 4)


def _signed(value: float | None, unit: str, decimals: int) -> str:
    """A difference: as on a leaderboard, with its sign."""
    text = shown_value(value, unit, decimals)
    return f"+{text}" if value is not None and value > 0 else text
