"""Grades one chunk of items, and summarises each item for lists."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.conf import settings

from portal.datasets.models import ReleaseItem
from scoring.access import is_release_open
from scoring.benchmarks import Benchmark, Options
from scoring.benchmarks.base import ItemScorer, Judging
from scoring.judge.asking import Judged, judge_all
from scoring.judge.endpoint import Stopped, Unscored
from scoring.judging.services import JudgingRefused, judged_result, open_board_judge
from scoring.models import Grading, ItemScore, Prediction
from scoring.models.gradings import ERROR_MARK

from .services import UNNAMED, lock_grading, settle_grading

logger = logging.getLogger(__name__)

# The number of rows that one run of the upkeep summarises: a few seconds of work.
AT_ONCE = 2_000
_BATCH = 200
_LONGEST_PART = 200
_FIELDS = ["score", "missing", "part", "errors", "figures"]


def summarised(spec: Benchmark, options: Options, score: ItemScore) -> ItemScore:
    """The same row, not saved, with the summary of its result."""
    summary = spec.summarise(score.result, options)
    score.score, score.part = summary.score, summary.part[:_LONGEST_PART]
    score.missing = bool(score.result["missing"])
    score.errors = ERROR_MARK.join(["", *summary.errors, ""]) if summary.errors else ""
    score.figures = _own_figures(spec, options, score.result)
    return score


def _own_figures(spec: Benchmark, options: Options, result: dict[str, Any]) -> dict[str, float]:
    """The headline figures of the item alone."""
    alone = spec.aggregate([result], options).scores
    keys = (column.key for column in spec.columns_for(options) if column.headline)
    return {key: value for key in keys if (value := alone.get(key)) is not None}


def summarise_older() -> int:
    """Summarises rows of earlier versions of the site, newest first, and returns their number."""
    lacking = ItemScore.objects.filter(figures__isnull=True).order_by("-id")
    rows = list(lacking[:AT_ONCE])
    gradings = Grading.objects.select_related("submission__phase__board").in_bulk(
        {row.grading_id for row in rows}
    )
    for row in rows:
        _summarise_row(gradings[row.grading_id], row)
    ItemScore.objects.bulk_update(rows, _FIELDS, batch_size=_BATCH)
    return len(rows)


def _summarise_row(grading: Grading, row: ItemScore) -> None:
    try:
        summarised(grading.submission.phase.board.spec, grading.options, row)
    except (KeyError, TypeError):
        # An unreadable result of another version must not block all other rows.
        logger.warning("item score %s cannot be summarised: unknown form", row.pk)
        row.part, row.figures = "", {}


class ItemFault(Exception):
    """Items cannot be scored. The message names them, without gold or prediction."""


class JudgeAwaited(Exception):
    """The judge is unavailable: not set up, not answering or without budget."""


@dataclass(frozen=True)
class Chunk:
    """The unscored items of a range of positions."""

    grading: Grading
    items: list[ReleaseItem]
    predictions: dict[str, dict[str, Any]]
    """By the item's name."""

    @property
    def spec(self) -> Benchmark:
        return self.grading.submission.phase.board.spec

    def words_for(self, item: ReleaseItem) -> str:
        """The item's name in a message to the submitter."""
        is_known = item.name in self.predictions or is_release_open(self.grading.release)
        return f"item “{item.name}”" if is_known else UNNAMED


def load_chunk(*, grading_id: int, first: int, last: int) -> Chunk | None:
    """The items of positions first…last without a score; None if the grading has ended."""
    grading = Grading.objects.select_related("submission__phase__board", "release__dataset").get(
        pk=grading_id
    )
    if grading.state in {Grading.State.DONE, Grading.State.CANCELLED}:
        return None
    open_items = grading.items.filter(position__range=(first, last)).exclude(
        pk__in=grading.item_scores.values("item_id")
    )
    items = list(open_items.order_by("position"))
    return Chunk(
        grading=grading,
        items=items,
        predictions=_predictions(grading, [each.name for each in items]),
    )


def _predictions(grading: Grading, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Predictions by the item's name. They may belong to another release of the dataset than the
    grading's, with items of the same names."""
    items = ReleaseItem.objects.filter(
        release__dataset=grading.release.dataset_id, name__in=names
    ).order_by()
    predictions = Prediction.objects.filter(
        submission_id=grading.submission_id, item__in=items.values("pk")
    )
    return dict(predictions.order_by().values_list("item__name", "payload"))


@dataclass(frozen=True)
class ChunkScores:
    """The scores of a chunk, and a fault if some of its items have no score."""

    scores: list[ItemScore]
    fault: ItemFault | JudgeAwaited | None


GoOn = Callable[[int], bool]


def score_chunk(chunk: Chunk, *, go_on: GoOn) -> ChunkScores | None:
    """Scores item by item, outside of any transaction; None if `go_on(done)` returned False.

    All other items are scored even if one cannot be scored.
    """
    spec, options = chunk.spec, chunk.grading.options
    if spec.judging is not None and (model := spec.judge_model(options)):
        return _score_judged(chunk, spec.judging, model, go_on=go_on)
    scores, faults = [], []
    for done, item in enumerate(chunk.items):
        if not go_on(done):
            return None
        try:
            scores.append(_score_item(chunk, spec.score_item, item))
        except ItemFault as fault:
            faults.append(fault)
    return ChunkScores(scores, _as_one(faults))


def _score_judged(chunk: Chunk, judging: Judging, model: str, *, go_on: GoOn) -> ChunkScores | None:
    """Like `score_chunk`, with a judge that is asked about several items at once. Its answers are
    cached, so that an interrupted chunk asks nothing twice."""
    scores: list[ItemScore] = []
    faults: list[ItemFault] = []
    grading = chunk.grading
    board = grading.submission.phase.board
    try:
        with open_board_judge(board, model, what=grading.job_group) as (asker, _):
            score = partial(_score_item, chunk, partial(judged_result, asker, judging))
            for begun in range(0, len(chunk.items), settings.JUDGE_CONCURRENCY):
                if not go_on(begun):
                    return None
                group = chunk.items[begun : begun + settings.JUDGE_CONCURRENCY]
                for each in judge_all(group, partial(_or_fault, score), len(group)):
                    if each.is_stopped:
                        return ChunkScores(scores, JudgeAwaited(each.reason))
                    _add_judged(chunk, each, scores, faults)
    except JudgingRefused as refusal:
        return ChunkScores(scores, JudgeAwaited(str(refusal)))
    return ChunkScores(scores, _as_one(faults))


def _or_fault(
    score: Callable[[ReleaseItem], ItemScore], item: ReleaseItem
) -> ItemScore | ItemFault:
    try:
        return score(item)
    except ItemFault as fault:
        return fault


def _add_judged(
    chunk: Chunk,
    judged: Judged[ReleaseItem, ItemScore | ItemFault],
    scores: list[ItemScore],
    faults: list[ItemFault],
) -> None:
    if isinstance(judged.result, ItemScore):
        scores.append(judged.result)
    else:
        unscored = f"{chunk.words_for(judged.item)} has no verdict from the judge: {judged.reason}"
        faults.append(judged.result or ItemFault(unscored))


def _as_one(faults: Sequence[ItemFault]) -> ItemFault | None:
    more = f" and {len(faults) - 1} more" if len(faults) > 1 else ""
    return ItemFault(f"{faults[0]}{more}") if faults else None


def _score_item(chunk: Chunk, score_item: ItemScorer, item: ReleaseItem) -> ItemScore:
    """Raises ItemFault; with a judge also Unscored or Stopped."""
    options = chunk.grading.options
    try:
        result = score_item(item.gold, chunk.predictions.get(item.name), options)
        score = ItemScore(grading=chunk.grading, item=item, result=result)
        return summarised(chunk.spec, options, score)
    except (Unscored, Stopped):
        raise
    except Exception as error:
        # The exception's message may quote the gold: log it, but never show it to the owner.
        logger.exception("grading %s: item %s cannot be scored", chunk.grading.pk, item.name)
        words = chunk.words_for(item)
        raise ItemFault(f"{words} cannot be scored ({type(error).__name__})") from None


def store_scores(*, grading_id: int, scores: list[ItemScore]) -> None:
    """Writes item scores in the caller's transaction and settles the grading.

    Scores that another run of the same chunk has already written are kept.
    """
    grading = lock_grading(grading_id)
    if grading.state == Grading.State.CANCELLED:
        return
    ItemScore.objects.bulk_create(scores, ignore_conflicts=True, batch_size=200)
    settle_grading(grading)
