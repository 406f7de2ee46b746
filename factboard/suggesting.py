"""`factboard suggest`: a model names the facts of pages, as suggestions for annotators.

Writes suggestions.jsonl, which the page “Suggestions” of a campaign takes.
"""

import hashlib
import json
import sys
from argparse import (
    ArgumentParser,
    ArgumentTypeError,
    Namespace,
    _SubParsersAction,
)
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from factboard.asking import ask, budget_of, plain_name
from factboard.engines import add_calls, check_budget, choose
from factboard.log import FileLog, open_log
from factboard.placing import Page, Piece, cut, place_answer, read_pages
from portal.facts import Span
from scoring.answering.core import AnswerRecord, RunItem
from scoring.answering.prompts import PromptError, sha256
from scoring.answering.rendering import write_atomically
from scoring.offline.terminal import add_command, positive

# --- a run --------------------------------------------------------------------------------------

FORMAT = "factboard-suggestions-1"
PROMPT = "labels-1"
SUGGESTIONS, REPORT = "suggestions.jsonl", "report.json"
_PROMPT_FILE = Path(__file__).parent / "prompts" / f"{PROMPT}.md"


@dataclass
class Report:
    """The outcome of the pages. Pages `without_answer` are not in the file: asked again by the same
    command. `left_out` counts facts of answers that are no suggestions, by reason."""

    path: Path
    pages: int = 0
    without_answer: list[str] = field(default_factory=list)
    suggestions: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    chosen_by_order: int = 0
    stopped: str = ""

    def as_json(self) -> dict[str, Any]:
        return {
            "pages": self.pages,
            "suggestions": dict(self.suggestions),
            "left_out": {reason: n for reason, n in self.left_out.items() if n},
            "equal quotes chosen by order": self.chosen_by_order,
            "pages_without_answer": self.without_answer,
            "stopped": self.stopped,
        }


@dataclass(frozen=True)
class _Prompt:
    version: str
    text: str

    def of(self, piece: Piece, labels: Sequence[str]) -> str:
        # The page comes last: its own dollar signs are not touched.
        return self.text.replace("$labels", ", ".join(labels)).replace("$text", piece.shown)


def suggest(args: Namespace) -> Report | None:
    """Raises errors whose messages name what is wrong. None for a dry run."""
    prompt = _prompt(args.prompt_file)
    choice = choose(args, "")
    pages = read_pages(args.path, args.labels)
    pieces = {page.name: cut(page, args.piece) for page in pages}
    every = [piece for name in pieces for piece in pieces[name]]
    if args.dry_run:
        sys.stdout.write(f"{prompt.of(every[0], args.labels)}\n{len(every):,} requests\n")
        return None
    folder = args.out or Path("suggestions", plain_name(f"{args.path.stem}-{args.model}"))
    settings = {
        "pages": _fingerprint(pages, args.piece),
        "labels": list(args.labels),
        "model": choice.model,
        "prompt": sha256(prompt.text),
        "decoding": dict(choice.decoding),
    }
    with open_log(folder, settings, is_new=args.new) as log:
        items = (RunItem(piece.id, prompt.of(piece, args.labels)) for piece in every)
        ids = [piece.id for piece in every]
        totals, _ = ask(items, ids, choice, log, budget_of(args, log), unit="piece")
        report = Report(folder / SUGGESTIONS, len(pages), stopped=totals.stopped)
        _write(report, args, prompt, pages, pieces, log)
    return report


def _prompt(file: Path | None) -> _Prompt:
    try:
        text = (file or _PROMPT_FILE).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PromptError(f"{file}: cannot be read: {error}") from error
    if "$text" not in text:
        raise PromptError(f"{file}: must contain $text, which is replaced with the page")
    return _Prompt(f"file-{sha256(text)[:8]}" if file else PROMPT, text)


def _fingerprint(pages: Sequence[Page], piece: int) -> str:
    whole = json.dumps([piece, *([page.name, page.text_sha256] for page in pages)])
    return hashlib.sha256(whole.encode()).hexdigest()


def _write(
    report: Report,
    args: Namespace,
    prompt: _Prompt,
    pages: Sequence[Page],
    pieces: dict[str, list[Piece]],
    log: FileLog,
) -> None:
    head = {
        "format": FORMAT,
        "model": args.model[:200],
        "prompt": prompt.version,
        "prompt_sha256": sha256(prompt.text),
        "labels": list(args.labels),
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }

    def lines() -> Iterator[bytes]:
        yield _line(head)
        for page in pages:
            spans = _page_spans(report, args.labels, pieces[page.name], log)
            if spans is None:
                report.without_answer.append(page.name)
                continue
            report.suggestions.update(span.label for span in spans)
            yield _line(
                {
                    "id": page.name,
                    "text_sha256": page.text_sha256,
                    "spans": [
                        {"start": span.start, "end": span.end, "label": span.label}
                        for span in spans
                    ],
                }
            )

    write_atomically(report.path, lines())
    text = json.dumps(report.as_json(), indent=1, ensure_ascii=False)
    write_atomically(report.path.with_name(REPORT), [f"{text}\n".encode()])


def _line(value: dict[str, Any]) -> bytes:
    return (json.dumps(value, ensure_ascii=False) + "\n").encode()


def _page_spans(
    report: Report, labels: Sequence[str], pieces: Sequence[Piece], log: FileLog
) -> list[Span] | None:
    """The suggestions of a page; None if a piece has no answer."""
    records = list(log.last([piece.id for piece in pieces]))
    if any(record is None or record.answer.state == "failed" for record in records):
        return None
    spans: list[Span] = []
    for piece, record in zip(pieces, records, strict=True):
        assert isinstance(record, AnswerRecord)
        answer = record.answer
        if answer.state != "answered":
            report.left_out[f"{answer.state} answer"] += 1
            continue
        placed = place_answer(answer.text, piece, labels)
        spans += placed.spans
        report.left_out.update(placed.left_out)
        report.chosen_by_order += placed.by_order
    return spans


# --- the command --------------------------------------------------------------------------------

_PIECE = 12_000
_EXAMPLES = """example:
  factboard suggest pages/ --model qwen --base-url http://127.0.0.1:8001/v1 --labels Number,Date

To continue a stopped run, run the same command again. It requests only missing answers.
Exit codes: 0 all pages done, 1 some pages not done, 2 bad input, 130 stopped."""


def add_parser(commands: "_SubParsersAction[ArgumentParser]") -> None:
    parser = add_command(
        commands,
        "suggest",
        "ask a model to find facts on pages, as suggestions for annotators",
        _EXAMPLES,
        "Ask a model to find the facts on pages. Upload the resulting file on a campaign's "
        "Suggestions page.",
    )
    parser.add_argument("path", type=Path, help="a folder or ZIP of pages, each named ID.html")
    parser.add_argument(
        "--model", required=True, metavar="NAME", help="the model's name at the endpoint"
    )
    parser.add_argument(
        "--base-url", required=True, metavar="URL", help="an OpenAI-compatible endpoint"
    )
    parser.add_argument(
        "--labels",
        type=_labels,
        default=("Number", "Date"),
        help="the campaign's labels, separated by commas (default: Number,Date)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="folder for the result (default: suggestions/PATH-MODEL)",
    )
    parser.add_argument(
        "--new", action="store_true", help="start over; earlier answers are moved to a subfolder"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="show one request, without calling the model"
    )
    parser.add_argument(
        "--prompt-file", type=Path, metavar="FILE", help="your own prompt, with $labels and $text"
    )
    parser.add_argument(
        "--piece",
        type=positive,
        default=_PIECE,
        metavar="N",
        help="maximum number of characters of a page per request (default: %(default)s)",
    )
    add_calls(parser.add_argument_group("endpoint"), "piece")
    # These are options of `factboard run` only.
    parser.set_defaults(run=run, engine="openai", system="", image_tokens=0)


def _labels(text: str) -> tuple[str, ...]:
    labels = tuple(label.strip() for label in text.split(",") if label.strip())
    if not labels:
        raise ArgumentTypeError("specify at least one label")
    return labels


def run(args: Namespace) -> int:
    check_budget(args)
    report = suggest(args)
    if report is None:
        return 0
    sys.stderr.write(json.dumps(report.as_json(), indent=1, ensure_ascii=False) + "\n")
    sys.stdout.write(f"{report.path}\n")
    return 1 if report.without_answer else 0
