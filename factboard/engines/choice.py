"""Which engine a run uses, with what settings, and how the manifest names it."""

import os
import platform
from argparse import Namespace
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any, Protocol
from urllib.parse import urlsplit

from factboard.running.keys import NO_KEY, read_key
from scoring.answering.core import Engine
from scoring.judge.endpoint import Backoff, Budget, Endpoint

from .programs import EngineMissing

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
    key: str = NO_KEY
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
    from scoring.answering.endpoint import ChatEngine, checked_url

    if not args.model or not args.base_url:
        raise EngineMissing("--engine openai needs --model NAME and --base-url URL")
    checked_url(args.base_url)
    given = _decoding(args)
    decoding = {"temperature": 0, "max_tokens": MOST_TOKENS, **given}
    decoding = {key: value for key, value in decoding.items() if value is not None}
    most = decoding.get("max_tokens")
    if type(most) is not int or most < 1:
        raise EngineMissing("--decoding max_tokens must be a whole number of at least 1")
    if reserved := sorted(_RESERVED & decoding.keys()):
        raise EngineMissing(f"--decoding {reserved[0]} cannot be set")
    key = NO_KEY if args.dry_run else read_key(args.key_env, args.key_file)
    endpoint = Endpoint(
        base_url=args.base_url,
        model=args.model,
        api_key=key,
        timeout=args.timeout,
        calls_per_minute=args.rate,
        backoff=Backoff(attempts=args.attempts),
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

    host = urlsplit(args.base_url).netloc
    return Choice("openai", args.model, start, decoding, host, key, args.concurrency or _CONCURRENT)


def _tesseract(args: Namespace, benchmark: str) -> Choice:
    from .ocr import Tesseract

    given = _decoding(args)
    wrong = [
        key for key, value in given.items() if key not in {"psm", "dpi"} or type(value) is not int
    ]
    if wrong:
        raise EngineMissing(f"--decoding {wrong[0]}: tesseract takes psm and dpi, whole numbers")
    engine = Tesseract(benchmark, language=args.language, timeout=args.timeout, **given)
    return Choice(
        *("tesseract", args.model or "tesseract", lambda _: engine, engine.decoding),
        concurrency=args.concurrency or os.cpu_count() or 1,
        version=engine.version(),
    )


def _rapidocr(args: Namespace, benchmark: str) -> Choice:
    from .ocr import RapidOcr

    _refuse_decoding(args)
    engine = RapidOcr(benchmark)
    return Choice(
        *("rapidocr", args.model or "rapidocr", lambda _: engine), version=engine.version()
    )


def _command(args: Namespace, benchmark: str) -> Choice:
    from .programs import Command, CommandEngine

    _refuse_decoding(args)
    command = Command.of(args.command)
    return Choice(
        *("command", args.model or command.name),
        lambda _: CommandEngine(command, benchmark, args.timeout),
        concurrency=args.concurrency or os.cpu_count() or 1,
        settings={"command": " ".join(command.words)},
    )


def _python(args: Namespace, benchmark: str) -> Choice:
    from .functions import FunctionEngine, load_function

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
        raise EngineMissing(f"--decoding has no use with --engine {args.engine}")


def _factboard_version() -> str:
    try:
        return metadata.version("factboard")
    except metadata.PackageNotFoundError:
        return "checkout"
