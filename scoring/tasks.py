"""The jobs of scoring. Each can be run twice and killed anywhere."""

from typing import Any

from celery.signals import worker_init

from portal.jobs.handlers import Claim, handler
from portal.jobs.upkeep import sweep

from .benchmarks import BENCHMARKS, get_benchmark
from .models import Delivery, Grading
from .selectors.progress import owner_words
from .services.aggregation import aggregate_grading
from .services.chunks import load_chunk, score_chunk, store_scores
from .services.gradings import (
    AGGREGATE_KIND,
    CHUNK_KIND,
    fail_grading,
    finish_grading,
    lock_grading,
    mark_running,
    settle_stranded,
    split_chunk,
)
from .services.notices import (
    DELIVERY_KIND,
    NOTICE_KIND,
    deliver,
    end_delivery,
    prepare_deliveries,
    send_notice,
)


def _load_benchmarks(**_: object) -> None:
    """Loads every scorer before the worker's pool is forked.

    The numerical libraries start threads of their own when they are loaded. In a process of the
    pool those would take the signals that it holds back while it is idle, and the worker would
    hang in its shutdown; threads do not live on across a fork.
    """
    for key in BENCHMARKS:
        get_benchmark(key)


worker_init.connect(_load_benchmarks)
sweep(settle_stranded)


def _chunk_failed(payload: dict[str, Any], _error: str) -> None:
    split_chunk(pk=payload["grading"], first=payload["first"], last=payload["last"])


def _chunk_label(payload: dict[str, Any]) -> str:
    """Counted from 1, as people count."""
    first, last = payload["first"] + 1, payload["last"] + 1
    return f"Item {first}" if first == last else f"Items {first} to {last}"


def _aggregate_failed(payload: dict[str, Any], error: str) -> None:
    reason = f"Putting the scores together: {owner_words(error)}"
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
        # What could be scored stays, and another attempt has only the rest to do.
        with claim.keep():
            store_scores(grading_id=grading_id, scores=found.scores)
        raise found.fault
    with claim.finish():
        store_scores(grading_id=grading_id, scores=found.scores)


@handler(AGGREGATE_KIND, on_failed=_aggregate_failed, nouns=("final step", "final steps"))
def aggregate(claim: Claim) -> None:
    scores = aggregate_grading(claim.payload["grading"])
    if scores is None:
        return
    with claim.finish():
        finish_grading(grading=lock_grading(claim.payload["grading"]), scores=scores)


@handler(NOTICE_KIND)
def tell_of_grading(claim: Claim) -> None:
    """Sends the letter, then queues what webhooks are told; run again, the letter is sent again."""
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
    """Sends one message. An address that was taken away meanwhile is told nothing."""
    deliveries = Delivery.objects.select_related("webhook")
    delivery = deliveries.filter(pk=claim.payload["delivery"]).first()
    if delivery is None or delivery.state != Delivery.State.WAITING:
        return
    status = deliver(delivery)
    with claim.finish():
        end_delivery(delivery, status=status)
