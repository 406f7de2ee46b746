"""A whole run of the command: from the target to the submission file and its manifest."""

import math
import re
import shlex
import signal
import sys
import threading
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePath
from typing import Any

from pydantic import ValidationError
from tqdm import tqdm

from factboard.client.settings import open_client
from factboard.engines.choice import Choice, choose
from scoring.answering.core import Progress, RunItem, RunTotals, run_items
from scoring.answering.endpoint import masked
from scoring.answering.kits import SAMPLE_FOLDER, SAMPLES, Kit, KitItem, open_kit, open_sample
from scoring.answering.manifest import RunManifest, Tokens
from scoring.answering.prompts import (
    OWN,
    PromptError,
    PromptSet,
    named_prompts,
    prompt_of_file,
    sha256,
    system_prompts,
)
from scoring.answering.rendering import Outcome, write_atomically, write_submission
from scoring.judge.endpoint import Budget, Prices

from .fetching import FetchError, fetch_kit
from .log import FileLog, open_log
from .plan import plan_of, plan_text

INCOMPLETE = 1
SUBMISSION, MANIFEST = "submission.jsonl", "manifest.json"
# How long Ctrl-C waits for answers that are under way.
GRACE = 5.0
_REASONS_SHOWN = 5


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
        return Path("runs", f"{_plain(self.name)}-{_plain(self.choice.model)}")

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
            **{key: sha256(str(value)) for key, value in self.choice.settings.items()},
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


def run_session(args: Namespace) -> int:
    with open_target(args) as (name, kit, phase):
        choice = choose(args, kit.benchmark)
        prompts = _prompts(args, kit, choice)
        part = kit.part(args.split, args.limit) if args.split or args.limit else kit
        board = name if phase else ""
        session = Session(args, name, part, prompts, choice, kit.fingerprint, board, phase)
        if args.dry_run:
            prices = Prices(args.price_in or 0.0, args.price_out or 0.0)
            sys.stdout.write(plan_text(plan_of(session.items(), len(part.items), session), prices))
            return 0
        for _ in session.items():
            # Finds an item that cannot be asked before any of the others is.
            pass
        with open_log(session.folder, session.settings, is_new=args.new) as log:
            return _run(session, log)


@contextmanager
def open_target(args: Namespace) -> Iterator[tuple[str, Kit, str]]:
    """The target's name, its kit, and the phase if it is a board."""
    target, path = args.target, Path(args.target)
    if target in SAMPLES and not args.site and SAMPLE_FOLDER.is_dir():
        # A checkout has a folder of this name. From the wheel it is a board of the site.
        yield target, open_sample(target), ""
    elif path.exists() and not args.site:
        with open_kit(path, benchmark=args.benchmark, images=args.images) as kit:
            yield path.stem or path.resolve().name, kit, ""
    elif "/" in target or "." in target:
        raise FetchError(f"{target}: there is no such file or folder")
    else:
        with open_client(args) as client:
            fetched = fetch_kit(client, target)
        with open_kit(fetched.path, benchmark=args.benchmark) as kit:
            yield target, kit.part(fetched.split) if fetched.split else kit, fetched.phase


def _prompts(args: Namespace, kit: Kit, choice: Choice) -> PromptSet:
    if args.prompt_file:
        return prompt_of_file(args.prompt_file, args.language)
    if choice.name in {"tesseract", "rapidocr"}:
        # They read no prompt, so none must be in the manifest.
        return named_prompts(kit.benchmark, OWN)
    return named_prompts(kit.benchmark, args.prompt, kit.prompts, args.language)


def _plain(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "run"


def _run(session: Session, log: FileLog) -> int:
    if log.notice:
        _say(log.notice)
    args = session.args
    prices = Prices(args.price_in or 0.0, args.price_out or 0.0)
    budget = Budget(prices, args.budget, used=log.usage())
    try:
        # Settings that no manifest can have must not be found at the end.
        _manifest(session, log, budget, Outcome(sha256="0" * 64), None)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, fault["loc"]))
        raise PromptError(f"the manifest cannot have this {place}: {fault['msg']}") from None
    engine = session.choice.start(budget)
    try:
        with _interruptible() as is_stopped, _bar(session, log, budget) as show:
            totals = run_items(
                session.items(),
                engine,
                log,
                concurrency=session.choice.concurrency,
                go_on=lambda: not is_stopped(),
                progress=show,
                grace=GRACE,
            )
            if is_stopped():
                raise KeyboardInterrupt
    finally:
        engine.close()
    return _finish(session, log, budget, totals, getattr(engine, "decoding", None))


@contextmanager
def _interruptible() -> Iterator[Callable[[], bool]]:
    """Ctrl-C ends the run in order: answers under way are kept. A second one ends it at once."""
    stopped = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stopped.is_set
        return

    def stop(number: int, frame: object) -> None:  # noqa: ARG001 - as signals call it
        if stopped.is_set():
            raise KeyboardInterrupt
        stopped.set()

    before = {each: signal.signal(each, stop) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped.is_set
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


@contextmanager
def _bar(session: Session, log: FileLog, budget: Budget) -> Iterator[Callable[[Progress], None]]:
    """Items done, rate, time left, tokens and money, where a person can see them."""
    known = frozenset(log.known_ids())
    kept = sum(item.id in known for item in session.kit.items)
    # Earlier answers must not count for the rate.
    with tqdm(
        total=len(session.kit.items), initial=kept, unit="item", leave=False, disable=None
    ) as bar:
        shown = 0

        def show(progress: Progress) -> None:
            nonlocal shown
            used = budget.usage
            words = {"tokens": f"{used.input + used.output:,}"}
            if budget.spent:
                words["cost"] = f"{budget.spent:.4f} USD"
            if progress.failed:
                words["failed"] = str(progress.failed)
            bar.set_postfix(words, refresh=False)
            bar.update(progress.asked - shown)
            shown = progress.asked

        yield show


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
    text = masked(manifest.model_dump_json(indent=1), session.choice.key)
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
    has_prices = args.price_in is not None or args.price_out is not None
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
        cost=budget.spent if has_prices else None,
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
    *("benchmark", "split", "limit", "model", "base_url", "key_env", "prompt", "prompt_file"),
    *("system", "language", "decoding", "command", "raw"),
)


def _command(session: Session) -> str:
    """The command that repeats the run, without keys and without paths of this machine."""
    args = session.args
    words = ["factboard", "run", session.board or PurePath(args.target).name]
    if args.engine != "openai":
        words += ["--engine", args.engine, *([args.function] if args.function else [])]
    for name in _REPEATED:
        value = getattr(args, name)
        if not value or (name == "key_env" and args.engine != "openai"):
            continue
        flag = f"--{name.replace('_', '-')}"
        if name == "decoding":
            words += [word for key, v in value for word in (flag, f"{key}={v}")]
        elif name == "command":
            words += [flag, " ".join(_without_folder(word) for word in shlex.split(value))]
        elif name == "raw":
            words.append(flag)
        else:
            words += [flag, value.name if isinstance(value, Path) else str(value)]
    return shlex.join(words)


def _without_folder(word: str) -> str:
    return PurePath(word).name if word.startswith(("/", "~", ".")) else word


def _report(session: Session, budget: Budget, outcome: Outcome, totals: RunTotals) -> None:
    if totals.stopped:
        _say(f"Stopped: {totals.stopped}")
    failed = [item for item in outcome.items if item.state == "failed"]
    for item in failed[:_REASONS_SHOWN]:
        _say(f"{item.id}: {item.reason}")
    if len(failed) > _REASONS_SHOWN:
        _say(f"and {len(failed) - _REASONS_SHOWN:,} more")
    counts = {state: outcome.count(state) for state in ("answered", "empty", "refused")}
    words = ", ".join(f"{count:,} {state}" for state, count in counts.items() if count)
    used = budget.usage
    money = f", {budget.spent:.4f} USD" if budget.spent else ""
    _say(
        f"{words or 'no answers'} of {len(session.kit.items):,} items; "
        f"{used.input:,} input and {used.output:,} output tokens{money}"
    )
    for repair in outcome.repairs_made():
        _say(f"{repair.items:,} answers: {repair.name} (--raw leaves them as they are)")
    if outcome.without_answer:
        _say(
            f"{outcome.without_answer:,} items have no answer and are not in the file. Run the "
            "same command again to ask only these."
        )
    sys.stdout.write(f"{session.folder / SUBMISSION}\n")


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
