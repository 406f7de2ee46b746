"""Options that several commands have, and the types of their values."""

import json
import math
from argparse import (
    ArgumentParser,
    ArgumentTypeError,
    Namespace,
    RawDescriptionHelpFormatter,
    _ArgumentGroup,
)
from pathlib import Path
from typing import Any

from .errors import BadInput


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
