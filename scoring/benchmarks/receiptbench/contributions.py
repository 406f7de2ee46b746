"""What a receipt adds to the figures that have an interval."""

from collections.abc import Iterator, Mapping
from typing import Any

from scoring.benchmarks.contributions import Contribution
from scoring.metrics.receipts import FIELDS, Counts

from .scorer import LEFT_OUT
from .views import OVERALL


def contributions(
    result: Mapping[str, Any],
    options: Mapping[str, str],  # noqa: ARG001 - what they change has been done to the result
) -> Iterator[Contribution]:
    """F1 = 2 TP / (2 TP + FP + FN), over all fields of a sub-task and over all there are."""
    if result["outcome"] == LEFT_OUT:
        return
    for rule in FIELDS:
        counts = Counts(*result["fields"][rule.name]["counts"])
        right, compared = 2 * counts.tp, 2 * counts.tp + counts.fp + counts.fn
        if compared:
            yield Contribution(rule.task, right, compared)
            yield Contribution(OVERALL, right, compared)
