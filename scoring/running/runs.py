"""The job of a run: asks about the items without an answer, then submits the answers.

Calls are made outside of transactions. Each answer is stored as soon as it arrives. At the end, a
test question: whether a board's model endpoint reads a picture.
"""

import io
import json
import platform
import shlex
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import asdict, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db.models import Max, Min
from django.utils import timezone
from PIL import Image, ImageDraw, ImageFont

from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.releases.exports import asked_items, missing_image
from scoring.answering.core import (
    AnswerRecord,
    EngineAnswer,
    ImageSource,
    Progress,
    RunItem,
    RunTotals,
    run_items,
)
from scoring.answering.endpoint import ChatEngine, EndpointError
from scoring.answering.kits import Kit, KitItem
from scoring.answering.manifest import RunManifest, Tokens
from scoring.answering.prompts import FILE, PromptError, PromptSet, system_prompts
from scoring.answering.rendering import Outcome, storable, write_submission
from scoring.benchmarks.answers import kinds_of
from scoring.judge.endpoint import Backoff, Budget, Prices, Stopped, Usage
from scoring.judging.services import (
    BoardJudge,
    JudgingRefused,
    MonthlyAllowance,
    Trial,
    own_judge,
    settled_budget,
)
from scoring.models import Board, ModelRun, RunAnswer, Submission
from scoring.models.judging import Purpose
from scoring.submissions.manifests import check_manifest, filled_card
from scoring.submissions.services import create_submission, find_submission
from scoring.submissions.uploads import check_upload

from .selectors import spent_by
from .services import RunRefused, check_same_endpoint, endpoint_for

# Items that are read at once; images are read when an item is asked.
_AT_ONCE = 100
# The most that a manifest takes.
_LONGEST_COMMAND = 2000
_LONGEST_SYSTEM = 500
Keep = Callable[[], AbstractContextManager[Any]]


def mark_run(run: ModelRun) -> None:
    ModelRun.objects.filter(pk=run.pk, state=ModelRun.State.QUEUED).update(
        state=ModelRun.State.RUNNING
    )


def prompts_of(run: ModelRun) -> PromptSet:
    return PromptSet(run.prompts["version"], run.prompts["texts"])


class DatabaseLog:
    """The answers of a run in the database. `keep` opens the transaction of a job that still has
    its lease, so that a worker that lost it stores nothing."""

    def __init__(self, run: ModelRun, keep: Keep) -> None:
        self._run = run
        self._keep = keep
        self._keys = dict(
            run.phase.items_of(run.release_id).order_by("position").values_list("name", "pk")
        )

    @property
    def names(self) -> list[str]:
        """All items, in order."""
        return list(self._keys)

    def known_ids(self) -> Collection[str]:
        known = self._run.answers.exclude(state="failed").values_list("item__name", flat=True)
        return set(known)

    def append(self, records: Sequence[AnswerRecord]) -> None:
        """Replaces failed outcomes; their usage is added to that of the new one."""
        by_item = {self._keys[record.id]: record for record in records}
        with self._keep():
            earlier = dict(self._run.answers.filter(item__in=by_item).values_list("item", "usage"))
            RunAnswer.objects.bulk_create(
                [self._row(item, record, earlier.get(item)) for item, record in by_item.items()],
                update_conflicts=True,
                unique_fields=["run", "item"],
                update_fields=_KEPT,
            )

    def _row(self, item: int, record: AnswerRecord, earlier: dict[str, int] | None) -> RunAnswer:
        answer = record.answer
        usage = answer.usage + Usage(**earlier) if earlier else answer.usage
        return RunAnswer(
            run=self._run,
            item_id=item,
            state=answer.state,
            text=storable(answer.text)[0],
            reason=storable(answer.reason)[0],
            input_tokens=answer.input_tokens,
            output_tokens=answer.output_tokens,
            seconds=answer.seconds,
            attempts=answer.attempts,
            usage=asdict(usage),
            at=record.at,
        )

    def records(self) -> Iterator[AnswerRecord]:
        for row in self._run.answers.select_related("item").order_by("at", "pk"):
            yield _record(row, row.item.name)

    def last(self, ids: Sequence[str]) -> Iterator[AnswerRecord | None]:
        for start in range(0, len(ids), _AT_ONCE):
            part = ids[start : start + _AT_ONCE]
            keys = [self._keys[name] for name in part]
            rows = {row.item_id: row for row in self._run.answers.filter(item__in=keys)}
            for name, key in zip(part, keys, strict=True):
                yield _record(rows[key], name) if key in rows else None


_KEPT = "state text reason input_tokens output_tokens seconds attempts usage at".split()


def _record(row: RunAnswer, name: str) -> AnswerRecord:
    answer = EngineAnswer(
        text=row.text,
        state=row.state,  # type: ignore[arg-type]
        reason=row.reason,
        input_tokens=row.input_tokens,
        output_tokens=row.output_tokens,
        seconds=row.seconds,
        attempts=row.attempts,
        usage=Usage(**row.usage),
    )
    return AnswerRecord(name, answer, row.at)


def asked(run: ModelRun, log: DatabaseLog) -> Iterator[RunItem]:
    """The requests for the items that have no answer; gold is never read.

    An item that lacks what the prompt needs gets an empty prompt.
    """
    prompts, kind = prompts_of(run), kinds_of(run.phase.board.benchmark)
    known = log.known_ids()
    left = [name for name in log.names if name not in known]
    # A list for each group: an open cursor keeps SQLite's snapshot, and then writes fail.
    for start in range(0, len(left), _AT_ONCE):
        for item in asked_items(run.release, left[start : start + _AT_ONCE]):
            images = tuple(
                ImageSource(image.name, image.read)
                for image in item.images
                if image.read is not missing_image
            )
            try:
                text = prompts.text(item.prompt, kind(item.name))
            except PromptError:
                text = ""
            yield RunItem(item.name, text, images, kind(item.name), item.prompt)


class _CheckedEngine:
    """Never asks about an item that has neither a question nor an image: it would cost money for
    nothing."""

    def __init__(self, engine: ChatEngine) -> None:
        self._engine = engine

    def answer(self, item: RunItem) -> EngineAnswer:
        if not item.prompt:
            reason = "the prompt needs a question, but the item has none"
            return EngineAnswer(state="failed", reason=reason, attempts=0)
        if not item.images and not item.question:
            reason = "the item has no page image and no question"
            return EngineAnswer(state="failed", reason=reason, attempts=0)
        return self._engine.answer(item)

    def stop(self) -> None:
        self._engine.stop()


def ask_items(
    run: ModelRun,
    log: DatabaseLog,
    *,
    go_on: Callable[[], bool],
    progress: Callable[[Progress], None],
) -> RunTotals:
    """Asks about the items without an answer. Never call it inside a transaction."""
    try:
        with _engine_of(run) as engine:
            totals = run_items(
                asked(run, log),
                _CheckedEngine(engine),
                log,
                concurrency=run.concurrency,
                go_on=go_on,
                progress=progress,
            )
            # Without the settings that the endpoint refused: the manifest says what was used.
            run.decoding = engine.decoding
            ModelRun.objects.filter(pk=run.pk).update(decoding=run.decoding)
            return totals
    except (RunRefused, JudgingRefused, EndpointError) as refusal:
        return RunTotals(Progress(), str(refusal))


@contextmanager
def _engine_of(run: ModelRun) -> Iterator[ChatEngine]:
    """The engine, with what is left of the run's budget and of the board's month."""
    judge, limit = own_judge(check_same_endpoint(run)), run.budget
    judge = replace(judge, endpoint=replace(judge.endpoint, model=run.model))
    if limit is not None:
        limit = max(limit - spent_by(run), 0.0)
    with open_engine(
        judge,
        run.phase.board_id,
        what=run.job_group,
        limit=limit,
        decoding=run.decoding,
        system=run.system_prompt,
        timeout=settings.JUDGE_TIMEOUT,
        attempts=settings.JUDGE_ATTEMPTS,
    ) as (engine, _):
        yield engine


@contextmanager
def open_engine(
    judge: BoardJudge,
    board_id: int,
    *,
    what: str,
    decoding: Mapping[str, Any],
    timeout: float,
    attempts: int,
    limit: float | None = None,
    system: str = "",
) -> Iterator[tuple[ChatEngine, Budget]]:
    """An engine whose calls count against the board's month, if there are prices. `what` names the
    group of the jobs. Never open it inside a transaction, because others must see reserved money.
    """
    endpoint = replace(judge.endpoint, timeout=timeout, backoff=Backoff(attempts=attempts))
    allowance = None
    if judge.prices.input or judge.prices.output:
        allowance = MonthlyAllowance(board_id, what, Purpose.MODEL)
    with (
        settled_budget(judge.prices, limit, allowance) as budget,
        closing(ChatEngine(endpoint, budget, decoding=decoding, system=system)) as engine,
    ):
        yield engine, budget


# --- the submission ----------------------------------------------------------------------------


@contextmanager
def finished_files(run: ModelRun, log: DatabaseLog) -> Iterator[tuple[Path, RunManifest]]:
    """The submission file of the run and its manifest, in a folder that is removed afterwards."""
    benchmark = run.phase.board.benchmark
    kind = kinds_of(benchmark)
    kit = Kit(benchmark, tuple(KitItem(name, kind=kind(name)) for name in log.names))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "predictions.jsonl"
        outcome = write_submission(path, kit, log, is_raw=run.is_raw)
        yield path, manifest_of(run, outcome)


def manifest_of(run: ModelRun, outcome: Outcome) -> RunManifest:
    phase, usage = run.phase, usage_of(run)
    system = system_prompts(run.prompts["version"], run.system_prompt)
    prices = _prices(run)
    times = run.answers.aggregate(first=Min("at"), last=Max("at"))
    return RunManifest(
        benchmark=phase.board.benchmark,
        board=phase.board.slug,
        phase=phase.slug,
        dataset=run.release.dataset.slug,
        version=run.release.version,
        release_sha256=run.release.sha256,
        engine="openai",
        model=run.model,
        host=urlsplit(run.base_url).netloc,
        prompts=prompts_of(run).manifest() + system,
        decoding=run.decoding,
        repairs=outcome.repairs_made(),
        started_at=min(run.created_at, times["first"] or run.created_at),
        finished_at=max(times["last"] or timezone.now(), run.created_at),
        tokens=Tokens(input=usage.input, output=usage.output, uncertain=usage.uncertain),
        cost=prices.cost(usage) if prices else None,
        latency=outcome.latency(),
        versions={"factboard": _version(), "python": platform.python_version()},
        command=command_of(run),
        submission_sha256=outcome.sha256,
        items=tuple(outcome.items),
    )


def _prices(run: ModelRun) -> Prices | None:
    """The prices of the board's endpoint; None if there are none now."""
    try:
        judge: BoardJudge = own_judge(check_same_endpoint(run))
    except (RunRefused, JudgingRefused):
        return None
    return judge.prices if judge.prices.input or judge.prices.output else None


def usage_of(run: ModelRun) -> Usage:
    """Of all attempts of all items. One query."""
    rows = run.answers.values_list("usage", flat=True)
    return sum((Usage(**each) for each in rows.iterator(chunk_size=1000)), Usage())


def command_of(run: ModelRun) -> str:
    """The command that repeats the run from elsewhere, without its key."""
    words = ["factboard", "run", run.phase.board.slug]
    if run.phase.split:
        words += ["--split", run.phase.split]
    words += ["--model", run.model, "--base-url", run.base_url]
    if run.prompts["version"] == FILE:
        words += ["--prompt-file", "prompt.txt"]
    else:
        words += ["--prompt", run.prompts["version"]]
    if run.system_prompt:
        # The manifest has the whole text; a command that is cut off could not be used.
        is_short = len(run.system_prompt) <= _LONGEST_SYSTEM
        words += ["--system", run.system_prompt if is_short else "SYSTEM_PROMPT"]
    for name, value in sorted(run.decoding.items()):
        words += ["--decoding", f"{name}={json.dumps(value)}"]
    if run.is_raw:
        words.append("--raw")
    return shlex.join(words)[:_LONGEST_COMMAND]


def _version() -> str:
    try:
        return version("factboard")
    except PackageNotFoundError:
        return "site"


def submit(run: ModelRun, path: Path, manifest: RunManifest) -> Submission:
    """Makes the submission in the caller's transaction, once. Raises RunRefused, and the refusals
    of a submission."""
    owner = run.created_by
    if owner is None:
        raise RunRefused("The account that started the run was deleted.")
    form_key = f"run-{run.pk}"
    if (known := find_submission(owner=owner, form_key=form_key)) is not None:
        return known
    phase = run.phase
    with path.open("rb") as file:
        check_manifest(manifest, phase=phase, file=file)
        checked = check_upload(phase=phase, file=file, filename=path.name, user=owner)
        submission = create_submission(
            phase=phase,
            owner=owner,
            card=filled_card({"name": run.name}, manifest),
            file=file,
            filename=path.name,
            checked=checked,
            form_key=form_key,
            accepts_terms=True,
            manifest=manifest,
            rerun_of=run.rerun_of,
        )
    ModelRun.objects.filter(pk=run.pk).update(
        submission=submission, state=ModelRun.State.DONE, error="", finished_at=timezone.now()
    )
    return submission


def run_fault(totals: RunTotals) -> str:
    """Why an ended run has no submission yet; empty if it has all answers."""
    if totals.stopped:
        return totals.stopped
    failed = totals.progress.failed
    return f"{failed:,} item{'s have' if failed > 1 else ' has'} no answer." if failed else ""


AMOUNT = "1,250.00"
_QUESTION = "Which amount does the picture show? Answer with the amount alone."
_DECODING = {"temperature": 0, "max_tokens": 1_000}
# A user waits for the page.
_SECONDS = 30
_LONGEST_ANSWER = 100


def try_model(*, board: Board, actor: User | None) -> Trial:
    """Asks the board's model which amount a small picture shows. Raises RunRefused.

    The question costs money like any other. It is asked once.
    """
    own = endpoint_for(board)
    began = time.monotonic()
    with open_engine(
        own_judge(own),
        board.pk,
        what="try",
        decoding=_DECODING,
        timeout=min(settings.JUDGE_TIMEOUT, _SECONDS),
        attempts=1,
    ) as (engine, budget):
        picture = ImageSource("test.png", _picture)
        try:
            answer = engine.answer(RunItem("test", _QUESTION, (picture,), question=_QUESTION))
        except (Stopped, JudgingRefused) as stopped:
            answer = EngineAnswer(state="failed", reason=str(stopped))
        usage, cost = budget.usage, budget.spent
    milliseconds = round((time.monotonic() - began) * 1000)
    record_event(verb="try_model_endpoint", subject=board, actor=actor, cost=cost)
    fault = "" if answer.state == "answered" else answer.reason or "the answer is empty"
    text = " ".join(answer.text.split())[:_LONGEST_ANSWER]
    return Trial(own.model, milliseconds, usage, cost, fault, text)


def _picture() -> bytes:
    image = Image.new("RGB", (320, 80), "white")
    font = ImageFont.load_default(size=36)
    ImageDraw.Draw(image).text((20, 18), f"Total {AMOUNT}", fill="black", font=font)
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()
