"""The jobs of scoring. Each can be run twice and killed anywhere."""

from typing import Any

from celery.signals import worker_init

from portal.jobs.handlers import Claim, handler

from .benchmarks import BENCHMARKS, get_benchmark
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


def _chunk_failed(payload: dict[str, Any], error: str) -> None:
    part = f"Items {payload['first']} to {payload['last']}"
    fail_grading(pk=payload["grading"], reason=f"{part}: {owner_words(error)}")


def _aggregate_failed(payload: dict[str, Any], error: str) -> None:
    reason = f"Putting the scores together: {owner_words(error)}"
    fail_grading(pk=payload["grading"], reason=reason)


@handler(CHUNK_KIND, on_failed=_chunk_failed)
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

    scores = score_chunk(chunk, go_on=go_on)
    if scores is None:
        return
    with claim.finish():
        store_scores(grading_id=grading_id, scores=scores)


@handler(AGGREGATE_KIND, on_failed=_aggregate_failed)
def aggregate(claim: Claim) -> None:
    scores = aggregate_grading(claim.payload["grading"])
    if scores is None:
        return
    with claim.finish():
        finish_grading(grading=lock_grading(claim.payload["grading"]), scores=scores)
