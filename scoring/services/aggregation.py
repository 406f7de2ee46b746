"""The last step of a grading: the item scores put together."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from scoring.benchmarks import Scores
from scoring.models import Grading
from scoring.selectors.parts import PRIVATE, PUBLIC, public_items

_AT_ONCE = 200


@dataclass(frozen=True)
class Aggregate:
    """The scores over all items and, of a phase in parts, those of each part."""

    scores: Scores
    parts: dict[str, dict[str, float | None]] = field(default_factory=dict)


def aggregate_grading(grading_id: int) -> Aggregate | None:
    """The scores of a wholly scored grading; None if nobody waits for them any more."""
    grading = Grading.objects.select_related("submission__phase__board").get(pk=grading_id)
    if grading.is_finished:
        return None
    phase = grading.submission.phase
    spec = phase.board.spec
    scores = spec.aggregate(_results(grading), grading.options)
    if not phase.has_parts:
        return Aggregate(scores)
    public = public_items(phase, grading.release_id)
    parts = {
        part: spec.aggregate(_results(grading, public, is_in=is_in), grading.options).scores
        for part, is_in in ((PUBLIC, True), (PRIVATE, False))
    }
    return Aggregate(scores, parts)


def _results(
    grading: Grading, items: frozenset[int] | None = None, *, is_in: bool = True
) -> Iterator[Any]:
    """The item scores in the release's order: all of them, or those in (or not in) `items`."""
    rows = grading.item_scores.order_by("item__position").values_list("item_id", "result")
    for item, result in rows.iterator(chunk_size=_AT_ONCE):
        if items is None or (item in items) == is_in:
            yield result
