"""Starts, cancels and continues runs of models.

A run asks the board's model endpoint about every item of a phase. Its answers are stored as
they arrive, so that a run that was interrupted asks only for the rest.
"""

import re
from collections.abc import Mapping
from typing import IO, Any

from django.db import transaction
from django.utils import timezone

from portal.accounts.models import User
from portal.audit.models import record_event
from portal.jobs.services import cancel_group, enqueue
from scoring.answering.manifest import RunManifest
from scoring.answering.prompts import (
    FILE,
    ITEM,
    OWN,
    PromptError,
    PromptSet,
    check_asks,
    named_prompts,
)
from scoring.benchmarks import item_prompts
from scoring.benchmarks.answers import kinds_of
from scoring.judging.services import JudgingRefused, endpoint_of, own_judge
from scoring.models import Board, JudgeEndpoint, ModelRun, Phase, Submission
from scoring.models.judging import Purpose
from scoring.submissions.manifests import check_manifest, filled_card
from scoring.submissions.services import create_submission
from scoring.submissions.uploads import SubmissionRefused, check_open, check_rerun, check_upload

RUN_KIND = "run_model"
DEFAULT_DECODING: Mapping[str, Any] = {"temperature": 0, "max_tokens": 8192}
MOST_SETTINGS = 20
# As in a manifest.
LONGEST_PROMPT = 100_000
_LONGEST_VALUE = 200
_NO_NUMBERS = frozenset({"nan", "inf", "-inf"})
_MOST_TOKENS = 1_000_000
_SETTING = re.compile(r"[a-z][a-z0-9_]{0,39}")
# Set by the run itself, or change the form of the response.
_RESERVED = frozenset({"messages", "model", "n", "stream", "stream_options", "user"})


class RunRefused(Exception):
    """The request cannot be carried out now. The message gives the reason."""


def endpoint_for(board: Board) -> JudgeEndpoint:
    """The board's model endpoint. Raises RunRefused without one that can be used."""
    own = endpoint_of(board, Purpose.MODEL)
    if own is None:
        raise RunRefused("Add a model endpoint to the board first.")
    try:
        own_judge(own)
    except JudgingRefused as refusal:
        raise RunRefused(str(refusal)) from refusal
    return own


def prompt_versions(board: Board) -> list[str]:
    """The versions that a run can use, ours first; `file` is a text of one's own."""
    found = dict.fromkeys(each.version for each in item_prompts(board.benchmark))
    return [*found, OWN, FILE]


def check_prompt(version: str, text: str) -> None:
    """Raises ValueError unless there is a text exactly for the version `file`."""
    if version == FILE and not text.strip():
        raise ValueError("Enter the custom prompt.")
    if version != FILE and text.strip():
        raise ValueError(
            f"You selected the prompt {version}. Clear this field, or select “Custom prompt”."
        )


def check_decoding(values: Mapping[str, Any]) -> dict[str, Any]:
    """The decoding settings with the defaults. Raises ValueError with the reason."""
    if len(values) > MOST_SETTINGS:
        raise ValueError(f"Use at most {MOST_SETTINGS} settings.")
    for name, value in values.items():
        if not _SETTING.fullmatch(name) or name in _RESERVED:
            raise ValueError(f"“{name[:60]}” is not a decoding setting.")
        is_plain = isinstance(value, str | int | float | bool)
        # Text that is not printable, such as NUL, cannot be stored.
        is_text = is_plain and str(value).isprintable() and str(value) not in _NO_NUMBERS
        if not is_text or len(str(value)) > _LONGEST_VALUE:
            raise ValueError(f"{name}: Use a number, a short text, true or false.")
    whole = {**DEFAULT_DECODING, **values}
    tokens = whole["max_tokens"]
    if type(tokens) is not int or not 0 < tokens <= _MOST_TOKENS:
        raise ValueError(f"max_tokens: Use a whole number from 1 to {_MOST_TOKENS:,}.")
    return whole


@transaction.atomic
def start_model_run(
    *,
    phase: Phase,
    model: str,
    prompt_version: str,
    decoding: Mapping[str, Any],
    concurrency: int,
    budget: float | None,
    actor: User,
    name: str = "",
    prompt_text: str = "",
    system_prompt: str = "",
    is_raw: bool = False,
    rerun_of: Submission | None = None,
) -> ModelRun:
    """Queues a run. `decoding` is checked by `check_decoding`, the prompt by `check_prompt`.

    Raises RunRefused, also while the phase has an unfinished run of the same model.
    """
    board = phase.board
    # After a double click, the second request waits here and then sees the first one's run.
    Board.objects.select_for_update(no_key=True).get(pk=board.pk)
    own = endpoint_for(board)
    try:
        own_judge(own).check_limit(budget)
        if rerun_of is None:
            check_open(phase=phase, user=actor)
        else:
            check_rerun(rerun_of=rerun_of, phase=phase, user=actor)
    except (JudgingRefused, SubmissionRefused) as refusal:
        raise RunRefused(str(refusal)) from refusal
    if ModelRun.objects.filter(phase=phase, model=model, state__in=_UNFINISHED).exists():
        raise RunRefused(f"“{model}” is already running on “{phase.title}”.")
    prompts = _prompts(phase, prompt_version, prompt_text)
    run = ModelRun.objects.create(
        phase=phase,
        release=phase.release,
        name=name or model,
        model=model,
        base_url=own.base_url,
        prompts={"version": prompts.version, "texts": prompts.texts},
        system_prompt=system_prompt,
        is_raw=is_raw,
        decoding=dict(decoding),
        concurrency=concurrency,
        budget=budget,
        items_total=phase.items.count(),
        rerun_of=rerun_of,
        created_by=actor,
    )
    _enqueue(run)
    record_event(verb="start_model_run", subject=run, actor=actor, model=model, phase=phase.pk)
    return run


_UNFINISHED = (ModelRun.State.QUEUED, ModelRun.State.RUNNING)


def _prompts(phase: Phase, version: str, text: str) -> PromptSet:
    benchmark = phase.board.benchmark
    try:
        if version != FILE:
            return named_prompts(benchmark, version)
        prompts = PromptSet(FILE, {ITEM: text})
        names = phase.items.values_list("name", flat=True)
        check_asks(prompts, benchmark, set(map(kinds_of(benchmark), names)))
        return prompts
    except PromptError as error:
        raise RunRefused(f"The prompt cannot be used: {error}.") from error


def _enqueue(run: ModelRun, *, asks: bool = True) -> None:
    """`asks` is false for a run that is submitted with the answers it has."""
    enqueue(
        kind=RUN_KIND,
        payload={"run": run.pk, "asks": asks},
        group=run.job_group,
        total=run.items_total,
    )


@transaction.atomic
def cancel_model_run(*, run: ModelRun, actor: User) -> ModelRun:
    """Stops a run. Calls under way end and their answers are kept. Repeating it changes nothing."""
    cancel_group(run.job_group, actor)
    run.refresh_from_db()
    return run


def continue_model_run(*, run: ModelRun, actor: User) -> ModelRun:
    """Asks about the items of an ended run that have no answer. Raises RunRefused."""
    return _take_up(run, actor, asks=True)


def submit_model_run(*, run: ModelRun, actor: User) -> ModelRun:
    """Submits an ended run with the answers it has. Raises RunRefused."""
    if run.phase.completeness_rule:
        raise RunRefused(f"{run.phase.completeness_rule} Continue the run instead.")
    if not run.answers.exclude(state="failed").exists():
        raise RunRefused("The run has no answers yet.")
    return _take_up(run, actor, asks=False)


@transaction.atomic
def _take_up(run: ModelRun, actor: User, *, asks: bool) -> ModelRun:
    run = (
        ModelRun.objects.select_for_update(of=("self",))
        .select_related("phase__board")
        .get(pk=run.pk)
    )
    if not run.may_go_on:
        raise RunRefused("The run is still in progress or has already been submitted.")
    if asks:
        check_same_endpoint(run)
    run.state, run.error, run.finished_at = ModelRun.State.QUEUED, "", None
    run.save(update_fields=["state", "error", "finished_at"])
    _enqueue(run, asks=asks)
    verb = "continue_model_run" if asks else "submit_model_run"
    record_event(verb=verb, subject=run, actor=actor)
    return run


def check_same_endpoint(run: ModelRun) -> JudgeEndpoint:
    """The endpoint of the run. Raises RunRefused if the board has another one now, because all
    answers of a run must come from one."""
    own = endpoint_for(run.phase.board)
    if own.base_url != run.base_url:
        raise RunRefused(
            "The endpoint of the board has changed since the run started. Start a new run."
        )
    return own


def add_rerun(
    *,
    submission: Submission,
    file: IO[bytes],
    filename: str,
    manifest: RunManifest | None,
    actor: User,
) -> Submission:
    """Stores a file as a re-run of the submission, and queues its grading. Raises RunRefused and
    ManifestRefused."""
    phase = submission.phase
    if manifest is not None:
        check_manifest(manifest, phase=phase, file=file)
    checked = check_upload(phase=phase, file=file, filename=filename, user=actor)
    if checked.fault_count:
        first = checked.faults[0]
        raise RunRefused(f"{checked.api_detail} First: {first}")
    try:
        return create_submission(
            phase=phase,
            owner=actor,
            card=filled_card({"name": submission.name}, manifest),
            file=file,
            filename=filename,
            checked=checked,
            manifest=manifest,
            rerun_of=submission,
        )
    except SubmissionRefused as refusal:
        raise RunRefused(str(refusal)) from refusal


def end_model_run(pk: int, state: ModelRun.State, error: str = "") -> None:
    """Ends the run in the caller's transaction; its answers are kept."""
    runs = ModelRun.objects.filter(pk=pk, state__in=_UNFINISHED)
    runs.update(state=state, error=error, finished_at=timezone.now())
