"""`factboard suggest`: a model names the facts of pages, as suggestions for annotators.

Writes suggestions.jsonl, which the page “Suggestions” of a campaign takes.
"""

import json
import sys
from argparse import (
    ArgumentParser,
    ArgumentTypeError,
    Namespace,
    _SubParsersAction,
)
from pathlib import Path

from scoring.offline.terminal import add_calls, add_command, check_budget, positive

_PIECE = 12_000
_EXAMPLES = """example:
  factboard suggest pages/ --model qwen --base-url http://127.0.0.1:8000/v1 --labels Number,Date

The same command continues a run that was stopped: only pieces without an answer are asked.
Exit codes: 0 every page was read, 1 some were not, 2 bad input, 130 stopped."""


def add_parser(commands: "_SubParsersAction[ArgumentParser]") -> None:
    parser = add_command(
        commands,
        "suggest",
        "ask a model for the facts of pages, as suggestions for annotators",
        _EXAMPLES,
        __doc__ or "",
    )
    parser.add_argument("path", type=Path, help="a folder or ZIP of ID.html")
    parser.add_argument("--model", required=True, metavar="NAME")
    parser.add_argument("--base-url", required=True, metavar="URL")
    parser.add_argument(
        "--labels",
        type=_labels,
        default=("Number", "Date"),
        help="labels of the campaign, with commas between them (default: Number,Date)",
    )
    parser.add_argument("--out", type=Path, help="folder (default: suggestions/PATH-MODEL)")
    parser.add_argument("--new", action="store_true", help="set earlier answers aside")
    parser.add_argument("--dry-run", action="store_true", help="show one request, ask nothing")
    parser.add_argument(
        "--prompt-file", type=Path, help="a text of your own, with $labels and $text"
    )
    parser.add_argument("--piece", type=positive, default=_PIECE, help="characters per request")
    add_calls(parser.add_argument_group("endpoint"), "piece")
    # These are options of `factboard run` only.
    parser.set_defaults(run=run, engine="openai", system="", image_tokens=0)


def _labels(text: str) -> tuple[str, ...]:
    labels = tuple(label.strip() for label in text.split(",") if label.strip())
    if not labels:
        raise ArgumentTypeError("name at least one label")
    return labels


def run(args: Namespace) -> int:
    # Loading the parsers takes a moment, which `factboard --help` does without.
    from .session import suggest

    check_budget(args)
    report = suggest(args)
    if report is None:
        return 0
    sys.stderr.write(json.dumps(report.as_json(), indent=1, ensure_ascii=False) + "\n")
    sys.stdout.write(f"{report.path}\n")
    return 1 if report.without_answer else 0
