"""The jobs of scoring. Each can run twice and can be killed at any point."""

from datetime import timedelta
from typing import Any

from celery.signals import worker_init

from portal.jobs.handlers import Claim, Retry, handler
from portal.jobs.leases import describe
from portal.jobs.worker import sweep
from scoring.grading.chunks import (
    JudgeAwaited,
    load_chunk,
    score_chunk,
    store_scores,
    summarise_older,
)
from scoring.grading.notices import (
    DELIVERY_KIND,
    NOTICE_KIND,
    deliver,
    end_delivery,
    prepare_deliveries,
    send_notice,
)
from scoring.grading.regrades import (
    advance_regrade,
    drop_jobs,
    fail_regrade,
    resume_stranded,
    start_missing,
)
from scoring.grading.selectors import owner_words
from scoring.grading.services import (
    AGGREGATE_KIND,
    CHUNK_KIND,
    REGRADE_KIND,
    advance_batch_of,
    aggregate_grading,
    fail_grading,
    finish_grading,
    lock_grading,
    mark_running,
    settle_stranded,
    split_chunk,
)
from scoring.grading.similarity import COMPARISON_KIND, flag_similar, write_digests
from scoring.judging.runs import (
    JUDGE_KIND,
    end_run,
    finish_run,
    judge_items,
    mark_judging,
    open_run,
    store_verdicts,
)
from scoring.leaderboard.charts import (
    DRAWING_KIND,
    draw_ahead,
    kept_library,
    public_charts,
    queue_undrawn,
)
from scoring.leaderboard.services import (
    RANKING_KIND,
    RESAMPLE_KIND,
    queue_missing,
    rank_entries,
    resample,
    store_ranks,
    store_replicates,
)
from scoring.running.runs import (
    DatabaseLog,
    ask_items,
    finished_files,
    mark_run,
    run_fault,
    submit,
)
from scoring.running.services import RUN_KIND, RunRefused, end_model_run
from scoring.submissions.manifests import ManifestRefused
from scoring.submissions.services import SubmissionRefused

from .benchmarks import BENCHMARKS, get_benchmark
from .models import Board, Delivery, Grading, JudgeRun, ModelRun

# The wait before an unavailable judge is tried again.
_UNTIL_JUDGED = timedelta(minutes=10)


def _load_benchmarks(**_: object) -> None:
    """Loads every scorer before the worker's pool is forked.

    Numerical libraries start threads when they are loaded. In a pool process these threads would
    receive the signals that it blocks while idle, and the worker would hang on shutdown. Threads
    do not survive a fork.
    """
    # The metrics import it only when they need it.
    import scoring.metrics.compiled  # noqa: F401

    for key in BENCHMARKS:
        get_benchmark(key)


worker_init.connect(_load_benchmarks)
sweep(settle_stranded)
sweep(queue_missing)
sweep(resume_stranded)
sweep(summarise_older)
sweep(queue_undrawn)


def _chunk_failed(payload: dict[str, Any], _error: str) -> None:
    split_chunk(pk=payload["grading"], first=payload["first"], last=payload["last"])


def _chunk_label(payload: dict[str, Any]) -> str:
    """Items counted from 1."""
    first, last = payload["first"] + 1, payload["last"] + 1
    return f"Item {first}" if first == last else f"Items {first} to {last}"


def _aggregate_failed(payload: dict[str, Any], error: str) -> None:
    reason = f"Computing the scores failed: {owner_words(error)}"
    fail_grading(pk=payload["grading"], reason=reason)


@handler(CHUNK_KIND, on_failed=_chunk_failed, nouns=("chunk", "chunks"), label=_chunk_label)
def grade_chunk(claim: Claim) -> None:
    grading_id = claim.payload["grading"]
    chunk = load_chunk(
        grading_id=grading_id, first=claim.payload["first"], last=claim.payload["last"]
    )
    if chunk is None:
        return
    mark_running(grading_id)

    def go_on(done: int) -> bool:
        claim.progress(done)
        return not claim.cancelled()

    found = score_chunk(chunk, go_on=go_on)
    if found is None:
        return
    if found.fault:
        # Keep the scores so far: the next attempt scores only the rest.
        with claim.keep():
            store_scores(grading_id=grading_id, scores=found.scores)
        if isinstance(found.fault, JudgeAwaited):
            raise Retry(describe(found.fault), _UNTIL_JUDGED)
        raise found.fault
    with claim.finish():
        store_scores(grading_id=grading_id, scores=found.scores)


@handler(
    AGGREGATE_KIND,
    on_failed=_aggregate_failed,
    nouns=("final step", "final steps"),
    is_finishing=True,
)
def aggregate(claim: Claim) -> None:
    found = aggregate_grading(claim.payload["grading"])
    if found is None:
        return
    with claim.finish():
        finish_grading(
            grading=lock_grading(claim.payload["grading"]), scores=found.scores, parts=found.parts
        )


@handler(COMPARISON_KIND)
def compare_submission(claim: Claim) -> None:
    """Finds submissions with almost the same predictions. Safe to run again."""
    write_digests(claim.payload["submission"])
    with claim.finish():
        flag_similar(claim.payload["submission"])


def _advance_failed(payload: dict[str, Any], error: str) -> None:
    fail_regrade(pk=payload["regrade"], reason=f"The last step failed: {owner_words(error)}.")


@handler(REGRADE_KIND, on_failed=_advance_failed, nouns=("step", "steps"))
def advance(claim: Claim) -> None:
    """Starts missing gradings of the batch; then fails it, lets it continue or activates it."""
    pk = claim.payload["regrade"]
    started = 1
    while started:
        with claim.keep():
            started = start_missing(pk)
    with claim.finish():
        advance_regrade(pk)
    drop_jobs(pk)


@handler(DRAWING_KIND)
def draw_charts(claim: Claim) -> None:
    """Draws the board's charts as the public sees them, if the board is still published."""
    board = Board.objects.published().filter(pk=claim.payload["board"]).first()
    if board is not None:
        draw_ahead(public_charts(board.slug))
        kept_library()
    with claim.finish():
        pass


@handler(NOTICE_KIND)
def notify_of_grading(claim: Claim) -> None:
    """Sends the email, then queues the webhook messages. Running it again sends the email again."""
    gradings = Grading.objects.select_related("submission__owner", "submission__phase__board")
    grading = gradings.get(pk=claim.payload["grading"])
    send_notice(grading)
    with claim.finish():
        prepare_deliveries(grading)


def _delivery_failed(payload: dict[str, Any], error: str) -> None:
    delivery = Delivery.objects.filter(pk=payload["delivery"]).first()
    if delivery is not None:
        end_delivery(delivery, error=error)


@handler(DELIVERY_KIND, on_failed=_delivery_failed)
def deliver_webhook(claim: Claim) -> None:
    """Sends one message, unless its webhook was removed or switched off."""
    deliveries = Delivery.objects.select_related("webhook")
    delivery = deliveries.filter(pk=claim.payload["delivery"]).first()
    if delivery is None or delivery.state != Delivery.State.WAITING:
        return
    if not delivery.webhook.is_active:
        with claim.finish():
            end_delivery(delivery, error="The webhook is switched off.")
        return
    status = deliver(delivery)
    with claim.finish():
        end_delivery(delivery, status=status)


def _resampling_ended(payload: dict[str, Any], _error: str = "") -> None:
    advance_batch_of(payload["grading"])


@handler(RESAMPLE_KIND, on_failed=_resampling_ended, on_cancelled=_resampling_ended)
def resample_grading(claim: Claim) -> None:
    """Running it again writes the same values, because the release seeds the draws."""
    found = resample(claim.payload["grading"])
    with claim.finish():
        store_replicates(claim.payload["grading"], found)
        advance_batch_of(claim.payload["grading"])


@handler(RANKING_KIND)
def rank_phase(claim: Claim) -> None:
    ranks = rank_entries(claim.payload["phase"])
    with claim.finish():
        store_ranks(claim.payload["phase"], ranks)


def _judge_failed(payload: dict[str, Any], error: str) -> None:
    end_run(payload["run"], JudgeRun.State.FAILED, error)


def _judge_cancelled(payload: dict[str, Any]) -> None:
    end_run(payload["run"], JudgeRun.State.CANCELLED)


@handler(JUDGE_KIND, on_failed=_judge_failed, on_cancelled=_judge_cancelled)
def judge_submission(claim: Claim) -> None:
    """Running it again judges only pages without a verdict; cached answers cost nothing."""
    run = JudgeRun.objects.select_related("submission__phase__board").get(pk=claim.payload["run"])
    if run.is_finished:
        return
    mark_judging(run)

    def go_on(done: int) -> bool:
        claim.progress(done)
        return not claim.cancelled()

    unscored: dict[str, str] = {}
    with open_run(run) as (asker, budget):
        for group in judge_items(run, asker, go_on=go_on):
            with claim.keep():
                store_verdicts(run, {each.item: each.result for each in group if each.result})
            unscored |= {each.item.name: each.reason for each in group if not each.result}
    if claim.saw_cancel:
        return
    with claim.finish():
        finish_run(run, usage={**vars(budget.usage), "cost": budget.spent}, unscored=unscored)


def _run_failed(payload: dict[str, Any], error: str) -> None:
    end_model_run(payload["run"], ModelRun.State.FAILED, error)


def _run_cancelled(payload: dict[str, Any]) -> None:
    end_model_run(payload["run"], ModelRun.State.CANCELLED)


@handler(RUN_KIND, on_failed=_run_failed, on_cancelled=_run_cancelled, nouns=("run", "runs"))
def run_model(claim: Claim) -> None:
    """Running it again asks only about items without an answer."""
    runs = ModelRun.objects.select_related("phase__board", "release__dataset", "created_by")
    run = runs.get(pk=claim.payload["run"])
    if run.is_finished:
        return
    mark_run(run)
    log, fault = DatabaseLog(run, claim.keep), ""
    if claim.payload["asks"]:
        totals = ask_items(
            run,
            log,
            go_on=lambda: not claim.cancelled(),
            progress=lambda state: claim.progress(state.kept + state.asked - state.failed),
        )
        if claim.saw_cancel:
            return
        fault = run_fault(totals)
    if fault:
        with claim.finish():
            end_model_run(run.pk, ModelRun.State.FAILED, fault)
        return
    with finished_files(run, log) as finished:
        try:
            with claim.finish():
                submit(run, finished)
        except (RunRefused, SubmissionRefused, ManifestRefused) as refusal:
            with claim.finish():
                end_model_run(run.pk, ModelRun.State.FAILED, str(refusal))
