"""Which engine a run uses: its options, its key, its settings, and how the manifest names it."""

import json
import math
import os
import platform
from argparse import ArgumentTypeError, Namespace, _ArgumentGroup
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from factboard.programs import EngineMissing
from scoring.answering.core import Engine
from scoring.judge.endpoint import KEY, NO_KEY, Backoff, Budget, Endpoint, read_header
from scoring.offline.terminal import BadInput, key_and_value, positive

# --- options ------------------------------------------------------------------------------------


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


def header(text: str) -> tuple[str, str]:
    try:
        return read_header(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from error


def add_calls(group: _ArgumentGroup, unit: str) -> None:
    """The options of calls to an endpoint about units, such as an item."""
    group.add_argument(
        "--concurrency",
        type=positive,
        default=0,
        metavar="N",
        help=f"number of {unit}s in parallel",
    )
    group.add_argument(
        "--timeout",
        type=seconds,
        metavar="SECONDS",
        default=300.0,
        help="seconds to wait for a complete answer (default: 300)",
    )
    group.add_argument(
        "--key-env",
        default="OPENAI_API_KEY",
        metavar="NAME",
        help="environment variable with the API key (default: %(default)s)",
    )
    group.add_argument("--key-file", type=Path, metavar="FILE", help="file with the API key")
    group.add_argument(
        "--header",
        type=header,
        action="append",
        default=[],
        metavar="NAME:VALUE",
        help="additional request header, such as 'api-key: {key}'; {key} is replaced with the "
        "API key, and the option can be repeated",
    )
    group.add_argument(
        "--decoding",
        type=decoding,
        action="append",
        default=[],
        metavar="K=V",
        help="request parameter, such as temperature, max_tokens, top_p or seed; can be repeated",
    )
    group.add_argument(
        "--rate", type=positive, default=0, metavar="N", help="maximum number of calls per minute"
    )
    group.add_argument(
        "--attempts",
        type=positive,
        default=5,
        metavar="N",
        help=f"maximum number of calls per {unit} (default: 5)",
    )
    group.add_argument(
        "--budget",
        type=amount,
        metavar="USD",
        help="maximum cost; requires --price-in and --price-out",
    )
    group.add_argument(
        "--price-in", type=amount, metavar="USD", help="price per million input tokens"
    )
    group.add_argument(
        "--price-out", type=amount, metavar="USD", help="price per million output tokens"
    )


def check_budget(args: Namespace) -> None:
    if (args.price_in is None) != (args.price_out is None):
        raise BadInput("--price-in and --price-out require each other")
    if args.budget is not None and None in {args.price_in, args.price_out}:
        raise BadInput("--budget requires --price-in and --price-out")


# --- the key ------------------------------------------------------------------------------------


class UnusableKey(BadInput):
    """The key cannot be read; the message names the variable or the file."""


def read_key(variable: str, file: Path | None, *, is_required: bool = False) -> str:
    """The key in a file or an environment variable; `none` where neither is set."""
    if file is not None:
        try:
            key = file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise UnusableKey(f"{file}: the key cannot be read") from error
        where = str(file)
    else:
        key, where = os.environ.get(variable, "").strip(), f"the variable {variable}"
        if not key and not is_required:
            return NO_KEY
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise UnusableKey(
            f"{where} does not contain a valid key: expected ASCII characters without spaces"
        )
    return key


# --- the engines --------------------------------------------------------------------------------

NAMES = ("openai", "tesseract", "rapidocr", "command", "python")
MOST_TOKENS = 8192
_CONCURRENT = 8
# Parameters that the runner sets itself, or that would change the form of a response.
_RESERVED = frozenset({"model", "messages", "stream", "n", "functions", "tools"})


class Running(Engine, Protocol):
    def close(self) -> None: ...


@dataclass(frozen=True)
class Choice:
    """An engine that is not started yet."""

    name: str
    model: str
    start: Callable[[Budget], Running]
    decoding: Mapping[str, Any] = field(default_factory=dict)
    host: str = ""
    secrets: frozenset[str] = frozenset()
    """The key, and what else must be in no file."""
    concurrency: int = 1
    version: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Further settings that answers depend on."""

    @property
    def versions(self) -> dict[str, str]:
        found = {"factboard": _factboard_version(), "python": platform.python_version()}
        return {**found, self.name: self.version[:200]} if self.version else found


def choose(args: Namespace, benchmark: str) -> Choice:
    """Raises EngineMissing, EndpointError or UnusableKey."""
    return _CHOICES[args.engine](args, benchmark)


def _openai(args: Namespace, benchmark: str) -> Choice:  # noqa: ARG001 - the same for all
    from scoring.answering.endpoint import ChatEngine, checked_url, secrets_of

    if not args.model or not args.base_url:
        raise EngineMissing("--engine openai requires --model NAME and --base-url URL")
    checked_url(args.base_url)
    given = _decoding(args)
    decoding = {"temperature": 0, "max_tokens": MOST_TOKENS, **given}
    decoding = {key: value for key, value in decoding.items() if value is not None}
    most = decoding.get("max_tokens")
    if type(most) is not int or most < 1:
        raise EngineMissing("--decoding max_tokens must be a whole number of at least 1")
    if reserved := sorted(_RESERVED & decoding.keys()):
        raise EngineMissing(f"--decoding {reserved[0]} cannot be set")
    needs_key = any(KEY in value for _, value in args.header)
    key = NO_KEY
    if not args.dry_run:
        key = read_key(args.key_env, args.key_file, is_required=needs_key)
    endpoint = Endpoint(
        base_url=args.base_url,
        model=args.model,
        api_key=key,
        timeout=args.timeout,
        calls_per_minute=args.rate,
        backoff=Backoff(attempts=args.attempts),
        headers={name: value.replace(KEY, key) for name, value in args.header},
    )

    def start(budget: Budget) -> Running:
        return ChatEngine(
            endpoint,
            budget,
            decoding=decoding,
            system=args.system,
            image_tokens=args.image_tokens,
            # A parameter that the user has set is never left out silently.
            optional=frozenset({"temperature"} - given.keys()),
        )

    return Choice(
        *("openai", args.model, start, decoding, urlsplit(args.base_url).netloc),
        secrets=secrets_of(endpoint),
        concurrency=args.concurrency or _CONCURRENT,
    )


def _tesseract(args: Namespace, benchmark: str) -> Choice:
    from factboard.ocr import Tesseract

    given = _decoding(args)
    wrong = [
        key for key, value in given.items() if key not in {"psm", "dpi"} or type(value) is not int
    ]
    if wrong:
        raise EngineMissing(
            f"--decoding {wrong[0]}: tesseract accepts only psm and dpi, as whole numbers"
        )
    engine = Tesseract(benchmark, language=args.language, timeout=args.timeout, **given)
    return Choice(
        *("tesseract", args.model or "tesseract", lambda _: engine, engine.decoding),
        concurrency=args.concurrency or os.cpu_count() or 1,
        version=engine.version(),
    )


def _rapidocr(args: Namespace, benchmark: str) -> Choice:
    from factboard.ocr import RapidOcr

    _refuse_decoding(args)
    engine = RapidOcr(benchmark)
    return Choice(
        *("rapidocr", args.model or "rapidocr", lambda _: engine), version=engine.version()
    )


def _command(args: Namespace, benchmark: str) -> Choice:
    from factboard.programs import Command, CommandEngine

    _refuse_decoding(args)
    command = Command.of(args.command)
    return Choice(
        *("command", args.model or command.name),
        lambda _: CommandEngine(command, benchmark, args.timeout),
        concurrency=args.concurrency or os.cpu_count() or 1,
        settings={"command": " ".join(command.words)},
    )


def _python(args: Namespace, benchmark: str) -> Choice:
    from factboard.programs import FunctionEngine, load_function

    _refuse_decoding(args)
    function = load_function(args.function)
    return Choice(
        *("python", args.model or args.function),
        lambda _: FunctionEngine(function, benchmark),
        concurrency=args.concurrency or 1,
        settings={"function": args.function},
    )


_CHOICES: Mapping[str, Callable[[Namespace, str], Choice]] = {
    "openai": _openai,
    "tesseract": _tesseract,
    "rapidocr": _rapidocr,
    "command": _command,
    "python": _python,
}


def _decoding(args: Namespace) -> dict[str, Any]:
    return dict(args.decoding)


def _refuse_decoding(args: Namespace) -> None:
    if args.decoding:
        raise EngineMissing(f"--engine {args.engine} does not accept --decoding")


def _factboard_version() -> str:
    try:
        return metadata.version("factboard")
    except metadata.PackageNotFoundError:
        return "checkout"
