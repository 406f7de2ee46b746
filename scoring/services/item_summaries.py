"""Item scores in short: written with the score, and afterwards for scores of earlier versions."""

import logging
from typing import Any

from scoring.benchmarks import Benchmark, Options
from scoring.models import Grading, ItemScore
from scoring.models.gradings import ERROR_MARK

logger = logging.getLogger(__name__)

# So many in one look of the upkeep: a few seconds of work.
AT_ONCE = 2_000
_BATCH = 200
_LONGEST_PART = 200
_FIELDS = ["score", "missing", "part", "errors", "figures"]


def summarised(spec: Benchmark, options: Options, score: ItemScore) -> ItemScore:
    """The same row, not saved, with its result in short."""
    summary = spec.summarise(score.result, options)
    score.score, score.part = summary.score, summary.part[:_LONGEST_PART]
    score.missing = bool(score.result["missing"])
    score.errors = ERROR_MARK.join(["", *summary.errors, ""]) if summary.errors else ""
    score.figures = _own_figures(spec, options, score.result)
    return score


def _own_figures(spec: Benchmark, options: Options, result: dict[str, Any]) -> dict[str, float]:
    """The headline figures of a submission that consists of this item alone."""
    alone = spec.aggregate([result], options).scores
    keys = (column.key for column in spec.columns_for(options) if column.headline)
    return {key: value for key in keys if (value := alone.get(key)) is not None}


def summarise_older() -> int:
    """Fills in what rows of earlier versions of the site lack, newest first; how many it did."""
    lacking = ItemScore.objects.filter(figures__isnull=True).order_by("-id")
    rows = list(lacking[:AT_ONCE])
    gradings = Grading.objects.select_related("submission__phase__board").in_bulk(
        {row.grading_id for row in rows}
    )
    for row in rows:
        _look(gradings[row.grading_id], row)
    ItemScore.objects.bulk_update(rows, _FIELDS, batch_size=_BATCH)
    return len(rows)


def _look(grading: Grading, row: ItemScore) -> None:
    try:
        summarised(grading.submission.phase.board.spec, grading.options, row)
    except (KeyError, TypeError):
        # A result that another version wrote must not keep all others from their turn.
        logger.warning("item score %s is of a form that cannot be summarised", row.pk)
        row.part, row.figures = "", {}
