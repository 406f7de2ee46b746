"""Grading one chunk of items: read, score, store."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from portal.datasets.models import ReleaseItem
from scoring.models import Grading, ItemScore, Prediction

from .gradings import lock_grading, settle_grading

logger = logging.getLogger(__name__)


class ItemFault(Exception):
    """Items could not be scored. The message names them and quotes neither gold nor prediction."""


@dataclass(frozen=True)
class Chunk:
    """What is left to be scored of a range of positions."""

    grading: Grading
    items: list[ReleaseItem]
    predictions: dict[int, dict[str, Any]]


def load_chunk(*, grading_id: int, first: int, last: int) -> Chunk | None:
    """The items of positions first…last without a score; None if nobody waits for them any more."""
    grading = Grading.objects.select_related("submission__phase__board").get(pk=grading_id)
    if grading.state in {Grading.State.DONE, Grading.State.CANCELLED}:
        return None
    items = grading.submission.phase.items.filter(position__range=(first, last)).exclude(
        pk__in=grading.item_scores.values("item_id")
    )
    predictions = Prediction.objects.filter(
        submission_id=grading.submission_id, item__in=items.values("pk")
    )
    return Chunk(
        grading=grading,
        items=list(items.order_by("position")),
        predictions=dict(predictions.values_list("item_id", "payload")),
    )


@dataclass(frozen=True)
class ChunkScores:
    """The scores of a chunk, and a fault if some of its items could not be scored."""

    scores: list[ItemScore]
    fault: ItemFault | None


def score_chunk(chunk: Chunk, *, go_on: Callable[[int], bool]) -> ChunkScores | None:
    """Scores item by item, outside of any transaction; None when `go_on(done)` said stop.

    An item that cannot be scored keeps no other from being scored.
    """
    scores, faults = [], []
    for done, item in enumerate(chunk.items):
        if not go_on(done):
            return None
        try:
            scores.append(_score_item(chunk, item))
        except ItemFault as fault:
            faults.append(fault)
    more = f" and {len(faults) - 1} more" if len(faults) > 1 else ""
    return ChunkScores(scores, ItemFault(f"{faults[0]}{more}") if faults else None)


def _score_item(chunk: Chunk, item: ReleaseItem) -> ItemScore:
    spec = chunk.grading.submission.phase.board.spec
    try:
        result = spec.score_item(item.gold, chunk.predictions.get(item.pk), chunk.grading.options)
    except Exception as error:
        # The exception's own words may quote the gold: they go to the log, never to the owner.
        logger.exception("grading %s: item %s cannot be scored", chunk.grading.pk, item.name)
        raise ItemFault(f"item “{item.name}” cannot be scored ({type(error).__name__})") from None
    return ItemScore(grading=chunk.grading, item=item, result=result)


def store_scores(*, grading_id: int, scores: list[ItemScore]) -> None:
    """Writes item scores in the caller's transaction and, after the last, settles the grading.

    What another run of the same chunk has written already stays as it is.
    """
    grading = lock_grading(grading_id)
    if grading.state == Grading.State.CANCELLED:
        return
    ItemScore.objects.bulk_create(scores, ignore_conflicts=True, batch_size=200)
    settle_grading(grading)
