"""`factboard boards` and `leaderboard`."""

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import Any

from factboard.client.models import Leaderboard
from factboard.client.settings import add_site_arguments, open_client
from scoring.offline.terminal import add_command, shown_value, table

# Keys of `Leaderboard.columns` beyond which a terminal is too narrow; --csv has all of them.
_MOST_COLUMNS = 8


def add_parser(commands: Any) -> None:
    boards = _command(commands, "boards", "list the boards of a site", "boards")
    boards.set_defaults(run=_boards)

    leaderboard = _command(
        commands, "leaderboard", "print the leaderboard of a board", "leaderboard my-board --csv"
    )
    leaderboard.add_argument("board", help="the board's name in its URL")
    leaderboard.add_argument("--csv", action="store_true", help="print the site's CSV file")
    for name in ("phase", "view", "part", "sort"):
        leaderboard.add_argument(f"--{name}", default="", help=f"the {name}, as in the page's URL")
    leaderboard.set_defaults(run=_leaderboard)


def _command(commands: Any, name: str, help_text: str, example: str) -> ArgumentParser:
    parser = add_command(commands, name, help_text, f"example:\n  factboard {example}")
    add_site_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")
    return parser


def print_lines(lines: Iterator[str]) -> int:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 0


def print_json(value: Any) -> int:
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")
    return 0


def _boards(args: Namespace) -> int:
    with open_client(args) as client:
        found = client.boards()
    if args.json:
        return print_json([board.model_dump(mode="json") for board in found])
    rows = [("board", "title", "benchmark", "state", "phases", "results")]
    rows += [
        (
            board.slug,
            board.title,
            board.benchmark,
            board.state,
            ", ".join(f"{phase.slug} ({phase.window})" for phase in board.phases),
            str(board.graded),
        )
        for board in found
    ]
    return print_lines(table(rows, numbers_from=5))


def _leaderboard(args: Namespace) -> int:
    names = ("phase", "view", "part", "sort")
    filters = {name: getattr(args, name) for name in names if getattr(args, name)}
    with open_client(args) as client:
        if args.csv:
            sys.stdout.write(client.leaderboard_csv(args.board, **filters))
            return 0
        found = client.leaderboard(args.board, **filters)
    if args.json:
        return print_json(found.model_dump(mode="json"))
    return print_lines(_board_lines(found))


def _board_lines(found: Leaderboard) -> Iterator[str]:
    """One table per section: ranks, the deciding figure, then the others."""
    ranks = [column for column in found.columns if column.is_rank]
    figures = [column for column in found.columns if not column.is_rank]
    shown = sorted(figures, key=lambda column: not column.decides)[:_MOST_COLUMNS]
    for section in found.sections:
        if not section.rows:
            continue
        yield f"{section.kind}  {section.source}".rstrip()
        names = [f"{column.label} {column.group}".strip() for column in ranks]
        rows = [["model", "id", *names, *(column.label for column in shown)]]
        for row in section.rows:
            cells = [_number(row.ranks.get(column.key)) for column in ranks]
            cells += [shown_value(row.values.get(c.key), c.unit, c.decimals) for c in shown]
            rows.append([row.name, _number(row.submission), *cells])
        yield from table(rows)
        yield ""
    if not any(section.rows for section in found.sections):
        yield "No results yet."
    elif len(shown) < len(figures):
        yield f"{len(figures) - len(shown)} more columns: use --csv or --json"


def _number(value: int | None) -> str:
    return "" if value is None else str(value)
