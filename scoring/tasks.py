"""The jobs of scoring. Each can run twice and can be killed at any point."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

from celery.signals import worker_init

from portal.jobs.handlers import Claim, Retry, handler
from portal.jobs.leases import describe
from portal.jobs.models import Work
from portal.jobs.worker import sweep
from scoring.grading import chunks, notices, regrades, similarity, traces
from scoring.grading import services as gradings
from scoring.grading.selectors import owner_words
from scoring.judging import runs as judging
from scoring.leaderboard import pictures
from scoring.leaderboard import services as ranking
from scoring.running import runs as running
from scoring.running.services import RUN_KIND, RunRefused, end_model_run
from scoring.submissions import approvals
from scoring.submissions.manifests import ManifestRefused
from scoring.submissions.uploads import SubmissionRefused

from .benchmarks import BENCHMARKS, get_benchmark
from .models import Approval, Delivery, Grading, JudgeRun, ModelRun

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
sweep(gradings.settle_stranded)
sweep(ranking.queue_missing)
sweep(regrades.resume_stranded)
sweep(chunks.summarise_older)
sweep(gradings.measure_older)
sweep(pictures.queue_undrawn)


def _go_on(claim: Claim, done: int) -> bool:
    """Reports the progress; False once the job was cancelled."""
    claim.progress(done)
    return not claim.cancelled()


def _chunk_failed(payload: dict[str, Any], _error: str) -> None:
    gradings.split_chunk(pk=payload["grading"], first=payload["first"], last=payload["last"])


def _chunk_label(payload: dict[str, Any]) -> str:
    """Items counted from 1."""
    first, last = payload["first"] + 1, payload["last"] + 1
    return f"Item {first}" if first == last else f"Items {first} to {last}"


def _aggregate_failed(payload: dict[str, Any], error: str) -> None:
    reason = f"Computing the scores failed: {owner_words(error)}"
    gradings.fail_grading(pk=payload["grading"], reason=reason)


@handler(
    gradings.CHUNK_KIND, on_failed=_chunk_failed, nouns=("chunk", "chunks"), label=_chunk_label
)
def grade_chunk(claim: Claim) -> None:
    grading_id = claim.payload["grading"]
    chunk = chunks.load_chunk(
        grading_id=grading_id, first=claim.payload["first"], last=claim.payload["last"]
    )
    if chunk is None:
        return
    gradings.mark_running(grading_id)
    scored = chunks.score_chunk(chunk, go_on=partial(_go_on, claim))
    if scored is None:
        return
    if scored.fault:
        # Keep the scores so far: the next attempt scores only the rest.
        with claim.keep():
            chunks.store_scores(grading_id=grading_id, scores=scored.scores)
        if isinstance(scored.fault, chunks.JudgeAwaited):
            raise Retry(describe(scored.fault), _UNTIL_JUDGED)
        raise scored.fault
    with claim.finish():
        chunks.store_scores(grading_id=grading_id, scores=scored.scores)


@handler(
    gradings.AGGREGATE_KIND,
    on_failed=_aggregate_failed,
    nouns=("final step", "final steps"),
    is_finishing=True,
)
def aggregate(claim: Claim) -> None:
    aggregated = gradings.aggregate_grading(claim.payload["grading"])
    if aggregated is None:
        return
    with claim.finish():
        gradings.finish_grading(
            grading=gradings.lock_grading(claim.payload["grading"]),
            aggregate=aggregated,
        )


@handler(similarity.COMPARISON_KIND)
def compare_submission(claim: Claim) -> None:
    """Finds submissions with almost the same predictions. Safe to run again."""
    similarity.write_digests(claim.payload["submission"])
    traces.trace_answers(claim.payload["submission"])
    with claim.finish():
        similarity.flag_similar(claim.payload["submission"])
        traces.flag_alike_words(claim.payload["submission"])


def _advance_failed(payload: dict[str, Any], error: str) -> None:
    regrades.fail_regrade(
        pk=payload["regrade"], reason=f"The last step failed: {owner_words(error)}."
    )


@handler(gradings.REGRADE_KIND, on_failed=_advance_failed, nouns=("step", "steps"))
def advance(claim: Claim) -> None:
    """Starts missing gradings of the batch; then fails it, lets it continue or activates it."""
    pk = claim.payload["regrade"]
    started = 1
    while started:
        with claim.keep():
            started = regrades.start_missing(pk)
    with claim.finish():
        regrades.advance_regrade(pk)
    regrades.drop_jobs(pk)


@handler(pictures.DRAWING_KIND)
def draw_charts(claim: Claim) -> None:
    """Running it again draws only the pictures that are not kept."""
    pictures.draw_requested(claim.payload)
    with claim.finish():
        pass


@handler(notices.NOTICE_KIND)
def notify_of_grading(claim: Claim) -> None:
    """Sends the email, then queues the webhook messages. Running it again sends the email again."""
    related = Grading.objects.select_related("submission__owner", "submission__phase__board")
    grading = related.get(pk=claim.payload["grading"])
    notices.send_notice(grading)
    with claim.finish():
        notices.prepare_deliveries(grading)


@handler(approvals.DECISION_KIND)
def notify_of_decision(claim: Claim) -> None:
    """Running it again sends the email again. The submission may be gone by then."""
    related = Approval.objects.select_related("submission__phase__board", "user")
    approval = related.filter(pk=claim.payload["approval"]).first()
    if approval is not None:
        approvals.send_decision(approval, claim.payload["origin"])
    with claim.finish():
        pass


def _delivery_failed(payload: dict[str, Any], error: str) -> None:
    delivery = Delivery.objects.filter(pk=payload["delivery"]).first()
    if delivery is not None:
        notices.end_delivery(delivery, error=error)


@handler(notices.DELIVERY_KIND, on_failed=_delivery_failed)
def deliver_webhook(claim: Claim) -> None:
    """Sends one message, unless its webhook was removed or switched off."""
    deliveries = Delivery.objects.select_related("webhook")
    delivery = deliveries.filter(pk=claim.payload["delivery"]).first()
    if delivery is None or delivery.state != Delivery.State.WAITING:
        return
    if not delivery.webhook.is_active:
        with claim.finish():
            notices.end_delivery(delivery, error="The webhook is switched off.")
        return
    status = notices.deliver(delivery)
    with claim.finish():
        notices.end_delivery(delivery, status=status)


def _resampling_ended(payload: dict[str, Any], _error: str = "") -> None:
    gradings.advance_batch_of(payload["grading"])


@handler(ranking.RESAMPLE_KIND, on_failed=_resampling_ended, on_cancelled=_resampling_ended)
def resample_grading(claim: Claim) -> None:
    """Running it again writes the same values, because the release seeds the draws."""
    replicates = ranking.resample(claim.payload["grading"])
    with claim.finish():
        ranking.store_replicates(claim.payload["grading"], replicates)
        gradings.advance_batch_of(claim.payload["grading"])


@handler(ranking.RANKING_KIND)
def rank_phase(claim: Claim) -> None:
    ranks = ranking.rank_entries(claim.payload["phase"])
    with claim.finish():
        ranking.store_ranks(claim.payload["phase"], ranks)


def _ends(end: Callable[..., None], state: Work.State) -> Callable[..., None]:
    """Ends a run in this state, after its job failed or was cancelled."""

    def ended(payload: dict[str, Any], error: str = "") -> None:
        end(payload["run"], state, error)

    return ended


@handler(
    judging.JUDGE_KIND,
    on_failed=_ends(judging.end_run, Work.State.FAILED),
    on_cancelled=_ends(judging.end_run, Work.State.CANCELLED),
)
def judge_submission(claim: Claim) -> None:
    """Running it again judges only pages without a verdict; cached answers cost nothing."""
    run = JudgeRun.objects.select_related("submission__phase__board").get(pk=claim.payload["run"])
    if run.is_finished:
        return
    judging.mark_judging(run)
    unscored: dict[str, str] = {}
    with judging.open_run(run) as (asker, budget):
        for group in judging.judge_items(run, asker, go_on=partial(_go_on, claim)):
            with claim.keep():
                judging.store_verdicts(
                    run, {judged.item: judged.result for judged in group if judged.result}
                )
            unscored |= {judged.item.name: judged.reason for judged in group if not judged.result}
    if claim.saw_cancel:
        return
    with claim.finish():
        judging.finish_run(
            run, usage={**vars(budget.usage), "cost": budget.spent}, unscored=unscored
        )


@handler(
    RUN_KIND,
    on_failed=_ends(end_model_run, Work.State.FAILED),
    on_cancelled=_ends(end_model_run, Work.State.CANCELLED),
    nouns=("run", "runs"),
)
def run_model(claim: Claim) -> None:
    """Running it again asks only about items without an answer."""
    runs = ModelRun.objects.select_related("phase__board", "release__dataset", "created_by")
    run = runs.get(pk=claim.payload["run"])
    if run.is_finished:
        return
    running.mark_run(run)
    log, fault = running.DatabaseLog(run, claim.keep), ""
    if claim.payload["asks"]:
        totals = running.ask_items(
            run,
            log,
            go_on=lambda: not claim.cancelled(),
            progress=lambda state: claim.progress(state.kept + state.asked - state.failed),
        )
        if claim.saw_cancel:
            return
        fault = running.run_fault(totals)
    if fault:
        with claim.finish():
            end_model_run(run.pk, ModelRun.State.FAILED, fault)
        return
    with running.finished_files(run, log) as (path, manifest):
        try:
            with claim.finish():
                running.submit(run, path, manifest)
        except (RunRefused, SubmissionRefused, ManifestRefused) as refusal:
            with claim.finish():
                end_model_run(run.pk, ModelRun.State.FAILED, str(refusal))
