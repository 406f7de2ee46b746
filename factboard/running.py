"""`factboard run`: a model or an OCR engine answers every item of a benchmark.

From the target to the submission file and its manifest. A dry run shows requests and their
estimated cost, without asking.
"""

import math
import shlex
import sys
from argparse import ArgumentParser, Namespace, _SubParsersAction
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from pydantic import ValidationError

from factboard.asking import ask, budget_of, plain_name, prices_of, say
from factboard.engines import NAMES, Choice, add_calls, check_budget, choose
from factboard.log import FileLog, open_log
from factboard.targets import add_target, open_target
from scoring.answering.core import RunItem, RunTotals
from scoring.answering.endpoint import masked
from scoring.answering.kits import Kit, KitItem
from scoring.answering.manifest import ItemRun, RunManifest, Tokens
from scoring.answering.pictures import ImageError, input_tokens, pictures_of
from scoring.answering.prompts import (
    DEFAULT,
    OWN,
    PromptError,
    PromptSet,
    check_asks,
    named_prompts,
    prompt_of_file,
    sha256,
    system_prompts,
)
from scoring.answering.rendering import Outcome, write_atomically, write_submission
from scoring.judge.endpoint import KEY, Budget, Prices, Usage
from scoring.offline.terminal import BadInput, add_command, positive

# --- a run --------------------------------------------------------------------------------------

INCOMPLETE = 1
SUBMISSION, MANIFEST = "submission.jsonl", "manifest.json"
_REASONS_SHOWN = 5
# Engines that read images alone.
_WITHOUT_PROMPT = frozenset({"tesseract", "rapidocr"})


@dataclass(frozen=True)
class Session:
    """A run: its items, prompts and engine."""

    args: Namespace
    name: str
    kit: Kit
    prompts: PromptSet
    choice: Choice
    fingerprint: str
    board: str = ""
    phase: str = ""

    @property
    def folder(self) -> Path:
        if self.args.out:
            return Path(self.args.out)
        return Path("runs", f"{plain_name(self.name)}-{plain_name(self.choice.model)}")

    @property
    def settings(self) -> dict[str, Any]:
        """Everything that answers depend on. Speed and money may change from one part of a run to
        the next, and so may the URL of the endpoint."""
        return {
            "benchmark": self.kit.benchmark,
            "items": self.fingerprint,
            "release": f"{self.kit.dataset} {self.kit.version}".strip(),
            "engine": self.choice.name,
            "model": self.choice.model,
            "prompt": self.prompts.digest,
            "system": sha256(self.args.system) if self.args.system else "",
            "decoding": dict(self.choice.decoding),
            **{key: str(value) for key, value in self.choice.settings.items()},
        }

    def items(self) -> Iterator[RunItem]:
        for item in self.kit.items:
            yield RunItem(item.id, self._prompt(item), item.images, item.kind, item.question)

    def _prompt(self, item: KitItem) -> str:
        try:
            return self.prompts.text(item.question, item.kind)
        except PromptError as error:
            if self.choice.name == "openai":
                raise PromptError(f"the item {item.id} {error}") from error
            # Programs and functions may need none.
            return ""


def run(args: Namespace) -> int:
    _arrange(args)
    with open_target(args) as (name, kit, phase):
        choice = choose(args, kit.benchmark)
        prompts = _prompts(args, kit, choice)
        part = kit.part(args.split, args.limit) if args.split or args.limit else kit
        board = name if phase else ""
        session = Session(args, name, part, prompts, choice, kit.fingerprint, board, phase)
        if args.dry_run:
            plan = plan_of(session.items(), len(part.items), session)
            sys.stdout.write(plan_text(plan, prices_of(args)))
            return 0
        for _ in session.items():
            # Finds an item that cannot be asked before any of the others is.
            pass
        with open_log(session.folder, session.settings, is_new=args.new) as log:
            return _run(session, log)


def _prompts(args: Namespace, kit: Kit, choice: Choice) -> PromptSet:
    if choice.name in _WITHOUT_PROMPT:
        # No prompt must be in the manifest.
        return named_prompts(kit.benchmark, OWN)
    if args.prompt_file:
        prompts = prompt_of_file(args.prompt_file, args.language)
        if choice.name == "openai":
            check_asks(prompts, kit.benchmark, {item.kind for item in kit.items})
        return prompts
    return named_prompts(kit.benchmark, args.prompt, kit.prompts, args.language)


def _run(session: Session, log: FileLog) -> int:
    budget = budget_of(session.args, log)
    try:
        # Settings that no manifest can have must not be found at the end.
        _manifest(session, log, budget, Outcome(sha256="0" * 64), None)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, fault["loc"]))
        raise PromptError(f"{place} is not valid in a run manifest: {fault['msg']}") from None
    ids = [item.id for item in session.kit.items]
    totals, decoding = ask(session.items(), ids, session.choice, log, budget, unit="item")
    return _finish(session, log, budget, totals, decoding)


def _finish(
    session: Session,
    log: FileLog,
    budget: Budget,
    totals: RunTotals,
    decoding: dict[str, Any] | None,
) -> int:
    path = session.folder / SUBMISSION
    outcome = write_submission(path, session.kit, log, is_raw=session.args.raw)
    manifest = _manifest(session, log, budget, outcome, decoding)
    text = masked(manifest.model_dump_json(indent=1), session.choice.secrets)
    write_atomically(session.folder / MANIFEST, [f"{text}\n".encode()])
    _report(session, budget, outcome, totals)
    return INCOMPLETE if outcome.without_answer else 0


def _manifest(
    session: Session,
    log: FileLog,
    budget: Budget,
    outcome: Outcome,
    decoding: dict[str, Any] | None,
) -> RunManifest:
    args, kit, choice = session.args, session.kit, session.choice
    system = system_prompts(session.prompts.version, args.system)
    usage = log.usage()
    return RunManifest(
        benchmark=kit.benchmark,
        board=session.board,
        phase=session.phase,
        dataset=kit.dataset,
        version=kit.version,
        release_sha256=kit.release_sha256,
        engine=choice.name,
        model=choice.model[:200],
        host=choice.host[:200],
        prompts=session.prompts.manifest() + system,
        decoding={key: _flat(v) for key, v in (decoding or choice.decoding).items()},
        repairs=outcome.repairs_made(),
        started_at=log.started_at,
        finished_at=datetime.now().astimezone(),
        tokens=Tokens(input=usage.input, output=usage.output, uncertain=usage.uncertain),
        cost=budget.spent if args.price_in is not None else None,
        latency=outcome.latency(),
        versions=choice.versions,
        command=_command(session)[:2000],
        submission_sha256=outcome.sha256,
        items=tuple(outcome.items),
    )


def _flat(value: Any) -> str | int | float | bool:
    is_plain = isinstance(value, int | float) and math.isfinite(value)
    return value if is_plain else str(value)[:2000]


# Options that change answers, with those that name files by their last part only. Options for
# keys, tokens, folders and speed are left out.
_REPEATED = (
    *("benchmark", "split", "limit", "model", "base_url", "key_env", "header", "prompt"),
    *("prompt_file", "system", "language", "decoding", "command", "raw"),
)


def _command(session: Session) -> str:
    """The command that repeats the run, without keys and without paths of this machine."""
    args = session.args
    words = ["factboard", "run", session.board or PurePath(args.target).name]
    if args.engine != "openai":
        words += ["--engine", args.engine, *([args.function] if args.function else [])]
    unused = {"key_env", "header"} if args.engine != "openai" else set()
    if args.engine in _WITHOUT_PROMPT:
        unused.add("prompt")
    for name in _REPEATED:
        value = getattr(args, name)
        if not value or name in unused:
            continue
        flag = f"--{name.replace('_', '-')}"
        if name == "decoding":
            words += [word for key, v in value for word in (flag, f"{key}={v}")]
        elif name == "command":
            words += [flag, " ".join(_without_folder(word) for word in shlex.split(value))]
        elif name == "header":
            words += [word for each, v in value for word in (flag, f"{each}: {_public(v)}")]
        elif name == "base_url":
            words += [flag, _without_query(value)]
        elif name == "raw":
            words.append(flag)
        else:
            words += [flag, value.name if isinstance(value, Path) else str(value)]
    return shlex.join(words)


def _public(value: str) -> str:
    """The value of a header, unless it can be a secret of its own."""
    return value if value.removeprefix("Bearer ") == KEY else "VALUE"


def _without_query(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(query="QUERY" if parts.query else ""))


def _without_folder(word: str) -> str:
    return PurePath(word).name if word.startswith(("/", "~", ".")) else word


def _report(session: Session, budget: Budget, outcome: Outcome, totals: RunTotals) -> None:
    if totals.stopped:
        say(f"Stopped: {totals.stopped}")
    _name([item for item in outcome.items if item.state == "failed"])
    cut_off = [item for item in outcome.items if item.is_cut_off]
    _name([item for item in outcome.items if item.state != "failed" and item.reason])
    counts = {state: outcome.count(state) for state in ("empty", "refused")}
    words = "".join(f", {count:,} {state}" for state, count in counts.items() if count)
    used = budget.usage
    money = f", {spent}" if (spent := budget.spent_text(" USD")) else ""
    say(
        f"{outcome.count('answered'):,} of {len(session.kit.items):,} items answered{words}; "
        f"{used.input:,} input tokens, {used.output:,} output tokens{money}"
    )
    for repair in outcome.repairs_made():
        say(f"Answers repaired: {repair.items:,} ({repair.name}). To skip repairs, use --raw.")
    if cut_off:
        say(
            f"Answers cut off at max_tokens: {len(cut_off):,}. They may be incomplete. To allow "
            "longer answers, use --decoding max_tokens=N and another folder."
        )
    if counts["refused"]:
        say(f"Items refused: {counts['refused']:,}. They are in the file, with empty answers.")
    if outcome.without_answer:
        say(
            f"Items without an answer: {outcome.without_answer:,}. They are not in the file. To "
            "retry them, run the same command again."
        )
    sys.stdout.write(f"{session.folder / SUBMISSION}\n")


def _name(items: Sequence[ItemRun]) -> None:
    for item in items[:_REASONS_SHOWN]:
        say(f"{item.id}: {item.reason}")
    if len(items) > _REASONS_SHOWN:
        say(f"and {len(items) - _REASONS_SHOWN:,} more")


# --- a dry run ----------------------------------------------------------------------------------

SHOWN = 3
# Items whose images are looked at for the estimate.
_MEASURED = 50


@dataclass(frozen=True)
class Plan:
    items: int
    examples: tuple[str, ...]
    usage: Usage | None
    """The estimated tokens; None for an engine on this machine."""


def plan_of(items: Iterable[RunItem], count: int, session: Session) -> Plan:
    args, decoding = session.args, session.choice.decoding
    examples, tokens, measured = [], 0, 0
    try:
        for item in islice(items, _MEASURED):
            pictures = pictures_of(item)
            sizes = [picture.size for picture in pictures]
            tokens += input_tokens(item.prompt, args.system, sizes, args.image_tokens)
            measured += 1
            if measured <= SHOWN:
                shown = [
                    f"  {image.name}, {size[0]} × {size[1]} pixels, {len(picture.data):,} bytes"
                    for image, size, picture in zip(item.images, sizes, pictures, strict=True)
                ]
                head = f"── {item.id}{f' ({item.kind})' if item.kind else ''}"
                examples.append("\n".join([head, *shown, "", item.prompt, ""]))
    except ImageError as error:
        raise PromptError(str(error)) from error
    usage = None
    if session.choice.name == "openai":
        output = int(decoding["max_tokens"])
        usage = Usage(tokens * count // max(measured, 1), output * count, calls=count)
    return Plan(count, tuple(examples), usage)


def plan_text(plan: Plan, prices: Prices) -> str:
    lines = [*plan.examples, f"Items: {plan.items:,}. No calls were made."]
    if plan.usage is not None:
        lines.append(
            f"Estimate: {plan.usage.input:,} input tokens, at most {plan.usage.output:,} output "
            "tokens."
        )
        if cost := prices.cost(plan.usage):
            lines.append(f"Estimated cost: at most {cost:.4f} USD.")
    return "\n".join(lines) + "\n"


# --- the command --------------------------------------------------------------------------------

_EXAMPLES = """examples:
  factboard run my-board --model qwen --base-url http://127.0.0.1:8001/v1
  factboard run kit.zip --model gpt --base-url https://api.openai.com/v1 --budget 5 \\
      --price-in 2.5 --price-out 10
  factboard run sample --engine tesseract
  factboard run sample --engine command --command 'my-ocr {image}'
  factboard run sample --engine python my_model:answer

To continue a stopped run, run the same command again. It requests only missing answers.
Exit codes: 0 all items answered, 1 some items not answered, 2 bad input, 130 stopped."""


def add_parser(commands: "_SubParsersAction[ArgumentParser]") -> None:
    parser = add_command(
        commands,
        "run",
        "run a model or an OCR engine on a benchmark",
        _EXAMPLES,
        "Run a model or an OCR engine on every item of a benchmark. Writes the submission file and "
        "its run manifest.",
    )
    add_target(parser, needed=False)
    parser.add_argument(
        "--engine",
        nargs="+",
        default=["openai"],
        metavar=("NAME", "MODULE:FUNCTION"),
        help=f"{', '.join(NAMES[:-1])} or {NAMES[-1]} (default: openai)",
    )
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="folder for the run (default: runs/TARGET-MODEL)"
    )
    parser.add_argument(
        "--new", action="store_true", help="start over; earlier answers are moved to a subfolder"
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="show three prompts and the estimated cost, without calling the model",
    )
    parser.add_argument(
        "--raw",
        action="store_true",
        help="do not repair answers (for example, do not remove code fences)",
    )
    parser.set_defaults(run=run)
    _add_items(parser)
    _add_prompts(parser)
    _add_endpoint(parser)


def _add_items(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("items")
    group.add_argument(
        "--split", default="", metavar="NAME", help="run only this split, such as test"
    )
    group.add_argument("--limit", type=positive, metavar="N", help="run only the first N items")


def _add_prompts(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("prompts")
    group.add_argument(
        "--prompt",
        default=DEFAULT,
        metavar="VERSION",
        help="version of the benchmark's prompt, or `own` to send only the item's question "
        "(default: %(default)s)",
    )
    group.add_argument(
        "--prompt-file", type=Path, metavar="FILE", help="your own prompt, with $question"
    )
    group.add_argument("--system", default="", metavar="TEXT", help="system prompt")
    group.add_argument(
        "--language",
        default="",
        metavar="TEXT",
        help="value of $language in the prompt; for tesseract, the OCR language (default: eng)",
    )


def _add_endpoint(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("endpoint and engines")
    group.add_argument(
        "--model", default="", metavar="NAME", help="the model's name at the endpoint"
    )
    group.add_argument(
        "--base-url", default="", metavar="URL", help="an OpenAI-compatible endpoint"
    )
    add_calls(group, "item")
    group.add_argument(
        "--image-tokens", type=positive, default=0, metavar="N", help="tokens per image, if known"
    )
    group.add_argument(
        "--command",
        default="",
        metavar="TEXT",
        help="the program to run, with {image} or {images}, and {prompt}",
    )
    group.add_argument(
        "--function", default="", metavar="NAME", help="the function to call, as module:function"
    )


def _arrange(args: Namespace) -> None:
    """`--engine` takes several words; those after its own are the function, or the target."""
    name, *rest = args.engine
    args.engine = name
    if name not in NAMES:
        raise BadInput(f"unknown engine {name!r}; choose from {', '.join(NAMES)}")
    if name == "python" and rest and not args.function:
        args.function = rest.pop(0)
    if rest and args.target is None:
        args.target = rest.pop(0)
    if rest:
        raise BadInput(f"--engine {name}: unexpected argument {rest[0]!r}")
    if not args.target:
        raise BadInput("specify a board, starter kit, release, gold file or sample")
    if name in _WITHOUT_PROMPT and (args.system or args.prompt_file):
        flag = "--system" if args.system else "--prompt-file"
        raise BadInput(f"--engine {name} takes no prompt: remove {flag}")
    check_budget(args)
