"""How a command talks with its user: options, tables, and errors with their exit codes.

Text from a site or a file is untrusted, so control characters in it are escaped.
"""

import json
import math
from argparse import (
    ArgumentParser,
    ArgumentTypeError,
    Namespace,
    RawDescriptionHelpFormatter,
    _ArgumentGroup,
)
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

FAILURE, BAD_INPUT, STOPPED = 1, 2, 130


class CommandFault(Exception):
    """Ends a command with `code` after printing its messages, one per line."""

    code = FAILURE

    def __init__(self, messages: str | Sequence[str]) -> None:
        self.messages = (messages,) if isinstance(messages, str) else tuple(messages)
        super().__init__("\n".join(self.messages))


class BadInput(CommandFault):
    """Arguments or files that cannot be used."""

    code = BAD_INPUT


class Failure(CommandFault):
    """Something outside the input went wrong."""


def printable(text: str) -> str:
    """
    >>> printable("a\\x1b[31m\\n")
    'a\\\\x1b[31m\\\\n'
    """
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def table(rows: Sequence[Sequence[str]], numbers_from: int = 1) -> Iterator[str]:
    """Lines with aligned columns; those from `numbers_from` on are aligned to the right."""
    clean = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*clean, strict=True)]
    for row in clean:
        cells = (
            cell.ljust(width) if number < numbers_from else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()


def shown_value(value: float | None, unit: str, decimals: int) -> str:
    """As a leaderboard shows it.

    >>> shown_value(0.12345, "%", 2), shown_value(None, "", 2)
    ('12.35%', 'n/a')
    """
    if value is None:
        return "n/a"
    return f"{value * (100 if unit == '%' else 1):.{decimals}f}{unit}"


def add_command(
    commands: Any, name: str, help_text: str, examples: str, description: str = ""
) -> ArgumentParser:
    """Return the parser of a command, whose help ends with `examples`."""
    parser: ArgumentParser = commands.add_parser(
        name,
        help=help_text,
        description=description or f"{help_text[0].upper()}{help_text[1:]}.",
        epilog=examples,
        formatter_class=RawDescriptionHelpFormatter,
    )
    return parser


def positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def amount(text: str) -> float:
    if not 0 <= (value := _number(text)) < math.inf:
        raise ArgumentTypeError(f"{text!r} is not an amount of money")
    return value


def seconds(text: str) -> float:
    if not 0 < (value := _number(text)) < math.inf:
        raise ArgumentTypeError(f"{text!r} is not a number of seconds")
    return value


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def key_and_value(text: str) -> tuple[str, str]:
    key, separator, value = text.partition("=")
    if not separator or not key:
        raise ArgumentTypeError(f"{text!r} is not KEY=VALUE")
    return key, value


def decoding(text: str) -> tuple[str, Any]:
    """`top_p=0.9`; the value is JSON, or else a string."""
    key, value = key_and_value(text)
    if not key.isidentifier():
        raise ArgumentTypeError(f"{text!r} is not KEY=VALUE")
    try:
        return key, json.loads(value, parse_constant=_no_number)
    except ValueError:
        return key, value


def _no_number(name: str) -> None:
    raise ArgumentTypeError(f"{name} is not a number")


def add_calls(group: _ArgumentGroup, unit: str) -> None:
    """The options of calls to an endpoint about units, such as an item."""
    group.add_argument("--concurrency", type=positive, default=0, help=f"{unit}s at the same time")
    group.add_argument("--timeout", type=seconds, default=300.0, help="seconds for one answer")
    group.add_argument("--key-env", default="OPENAI_API_KEY", metavar="NAME", help="variable")
    group.add_argument("--key-file", type=Path, help="file with the key")
    group.add_argument(
        "--decoding",
        type=decoding,
        action="append",
        default=[],
        metavar="K=V",
        help="temperature, max_tokens, top_p, seed, or any other parameter of the endpoint",
    )
    group.add_argument("--rate", type=positive, default=0, metavar="N", help="calls per minute")
    group.add_argument("--attempts", type=positive, default=5, help=f"per {unit} (default: 5)")
    group.add_argument("--budget", type=amount, metavar="USD", help="never spend more")
    group.add_argument("--price-in", type=amount, metavar="USD", help="per million tokens")
    group.add_argument("--price-out", type=amount, metavar="USD", help="per million tokens")


def check_budget(args: Namespace) -> None:
    if args.budget is not None and None in {args.price_in, args.price_out}:
        raise BadInput("--budget needs --price-in and --price-out")
