"""The last step of a grading: the item scores put together."""

from scoring.benchmarks import Scores
from scoring.models import Grading


def aggregate_grading(grading_id: int) -> Scores | None:
    """The scores of a wholly scored grading; None if nobody waits for them any more."""
    grading = Grading.objects.select_related("submission__phase__board").get(pk=grading_id)
    if grading.is_finished:
        return None
    results = grading.item_scores.order_by("item__position").values_list("result", flat=True)
    spec = grading.submission.phase.board.spec
    return spec.aggregate(results.iterator(chunk_size=200), grading.options)
