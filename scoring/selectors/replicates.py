"""The stored replicates of gradings, as the metrics take them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from scoring.models import Grading, Phase, Replicate

from .telling import rounded_scores

if TYPE_CHECKING:
    from scoring.metrics.intervals import Replicates

ByFigure = Mapping[str, "Replicates"]


def stored_replicates(row: Replicate) -> "Replicates":
    """The same as was stored."""
    # With these comes scipy, which most pages do without.
    import numpy as np

    from scoring.metrics.intervals import Replicates

    return Replicates(row.value, np.frombuffer(bytes(row.values), dtype="<f8"), row.key)


def kept_replicates(gradings: Sequence[Grading]) -> dict[int, ByFigure]:
    """By the grading's key and figure, of those that were resampled. One query."""
    found: defaultdict[int, dict[str, Replicates]] = defaultdict(dict)
    for row in Replicate.objects.filter(grading__in=gradings):
        found[row.grading_id][row.figure] = stored_replicates(row)
    return dict(found)


def told_intervals(phase: Phase, grading_id: int | None) -> dict[str, list[float]]:
    """The 95 % intervals of a grading by figure, as far as the phase tells them: rounded as scores
    are, and none of a phase in parts, whose gradings are resampled as a whole. One query."""
    if phase.has_parts:
        return {}
    rows = Replicate.objects.filter(grading=grading_id, low__isnull=False).order_by("figure")
    ends = {row.figure: (row.low, row.high) for row in rows.defer("values")}
    low, high = (
        rounded_scores(phase, {figure: pair[side] for figure, pair in ends.items()})
        for side in (0, 1)
    )
    return {figure: [low[figure], high[figure]] for figure in ends}


def grading_stamp(grading: Grading) -> str:
    """Of no other finished grading, also not of one with the same number on another site."""
    at = grading.finished_at
    return f"{grading.pk}-{at.timestamp() if at else 0}"
