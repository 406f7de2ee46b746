"""How a command talks with its user: options, tables, and errors with their exit codes.

Text from a site or a file is untrusted, so control characters in it are escaped.
"""

from argparse import (
    ArgumentParser,
    ArgumentTypeError,
    RawDescriptionHelpFormatter,
)
from collections.abc import Iterator, Sequence
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


def key_and_value(text: str) -> tuple[str, str]:
    key, separator, value = text.partition("=")
    if not separator or not key:
        raise ArgumentTypeError(f"{text!r} is not KEY=VALUE")
    return key, value
