"""Runs of models as organisers see them, and re-runs: how far a repeated run agrees with its
submission, for all readers.

A re-run is a submission of its own that never gets a row. Scores are compared where the reader sees
exact ones.
"""

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.cache import cache
from django.db.models import Count, QuerySet, Sum
from django.http import Http404

from portal.jobs.selectors import is_cancelling
from scoring.access import Viewer, diagnostics_for
from scoring.benchmarks import Column, deciding_column
from scoring.figures import columns_of, show
from scoring.grading.selectors import finished_grading
from scoring.leaderboard.disclosure import shows_exact_scores
from scoring.leaderboard.services import kept_replicates, paired_test
from scoring.models import (
    Board,
    Grading,
    ItemScore,
    JudgeSpending,
    ModelRun,
    Phase,
    Prediction,
    RunAnswer,
    Submission,
)
from scoring.models.judging import Purpose
from scoring.results.comparisons import Difference, compared_items

PER_PAGE = 50
_REASONS_SHOWN = 20


@dataclass(frozen=True)
class RunProgress:
    """The outcomes so far. `done` counts items that are not asked again."""

    total: int
    done: int
    answered: int
    empty: int
    refused: int
    failed: int
    input_tokens: int
    output_tokens: int


def board_runs(board: Board) -> QuerySet[ModelRun]:
    """Newest first."""
    return (
        ModelRun.objects.filter(phase__board=board)
        .select_related("phase__board", "release__dataset", "submission", "created_by", "rerun_of")
        .order_by("-id")
    )


def run_progress(run: ModelRun) -> RunProgress:
    """One query."""
    by_state = {
        row["state"]: row
        for row in run.answers.order_by()
        .values("state")
        .annotate(
            number=Count("pk"), tokens_in=Sum("input_tokens"), tokens_out=Sum("output_tokens")
        )
    }
    counts = {name: by_state[name]["number"] if name in by_state else 0 for name in _STATES}
    return RunProgress(
        total=run.items_total,
        done=sum(counts.values()) - counts["failed"],
        input_tokens=sum(row["tokens_in"] or 0 for row in by_state.values()),
        output_tokens=sum(row["tokens_out"] or 0 for row in by_state.values()),
        **counts,
    )


_STATES = ("answered", "empty", "refused", "failed")


def spent_by(run: ModelRun) -> float:
    """The money of all jobs of the run, with what killed ones had reserved."""
    rows = JudgeSpending.objects.filter(
        board=run.phase.board_id, purpose=Purpose.MODEL, what=run.job_group
    )
    return rows.total()


def is_stopping(run: ModelRun) -> bool:
    """Whether the run was cancelled and calls are still under way."""
    return not run.is_finished and is_cancelling(run.job_group)


def noted_items(run: ModelRun) -> QuerySet[RunAnswer, tuple[str, str]]:
    """The first items that failed, were refused, were cut off or have another note."""
    noted = run.answers.exclude(reason="").order_by("-state", "item__position")
    return noted.values_list("item__name", "reason")[:_REASONS_SHOWN]


_KEPT_SECONDS = 24 * 3600
_AT_ONCE = 200
_TAG = re.compile(r"<[^<>]*>")
_SPACE = re.compile(r"\s|\\[nrt]")
# Keys that are not part of an answer.
_NO_ANSWER = frozenset({"id", "subset", "output_tokens"})


@dataclass(frozen=True)
class Agreement:
    """How many of the items that either submission answered have the same answer in both."""

    same: int
    compared: int

    @property
    def share(self) -> float | None:
        return self.same / self.compared if self.compared else None


@dataclass(frozen=True)
class RerunItem:
    """An item on which the two runs differ, with the scores of both."""

    name: str
    first: float
    second: float

    @property
    def first_text(self) -> str:
        return show(self.first)

    @property
    def second_text(self) -> str:
        return show(self.second)


@dataclass(frozen=True)
class Rerun:
    """A re-run as a reader may see it."""

    id: int
    created_at: datetime
    state: str | None
    """Of its grading."""
    same: int
    compared: int
    share: float | None
    """Of the compared items, with the same answer."""
    difference: Difference | None
    """Its main score minus that of the submission; None while it is not shown."""
    disputed: Sequence[RerunItem]
    """The items that differ most; empty for readers who may not see individual items."""

    @property
    def percent(self) -> str:
        return "" if self.share is None else f"{100 * self.share:.1f}%"


def same_answer(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Whether two predictions are the same without case, markup and white space.

    >>> same_answer({"id": "a", "html": "<p>Loss (350)</p>"}, {"id": "a", "html": "loss  (350)"})
    True
    >>> same_answer({"id": "a", "html": "<p>Loss (350)</p>"}, {"id": "a", "html": "loss 350"})
    False
    """
    return _plain(first) == _plain(second)


def _plain(payload: Mapping[str, Any]) -> str:
    answer = {key: value for key, value in payload.items() if key not in _NO_ANSWER}
    text = unicodedata.normalize("NFKC", json.dumps(answer, sort_keys=True, ensure_ascii=False))
    return _SPACE.sub("", _TAG.sub("", text)).casefold()


def agreement(first: Submission, second: Submission) -> Agreement:
    """Cached, because predictions never change. Reads a part of the predictions at a time."""
    key = f"scoring:rerun:1:{first.pk}:{second.pk}"
    result: Agreement | None = cache.get(key)
    if result is None:
        result = _compared(first, second)
        cache.set(key, result, _KEPT_SECONDS)
    return result


def _compared(first: Submission, second: Submission) -> Agreement:
    both = Prediction.objects.filter(submission__in=[first.pk, second.pk])
    items = list(both.order_by("item").values_list("item", flat=True).distinct())
    same = 0
    for start in range(0, len(items), _AT_ONCE):
        part = items[start : start + _AT_ONCE]
        ours, theirs = _payloads(first, part), _payloads(second, part)
        same += sum(
            same_answer(ours[item], theirs[item])
            for item in part
            if item in ours and item in theirs
        )
    return Agreement(same, len(items))


def _payloads(submission: Submission, items: Sequence[int]) -> Mapping[int, dict[str, Any]]:
    predictions = Prediction.objects.filter(submission=submission, item__in=items)
    return dict(predictions.values_list("item", "payload"))


def reruns_of(user: Viewer, submission: Submission) -> list[Rerun]:
    """The re-runs of a submission, newest first."""
    original = _finished(user, submission)
    reruns = Submission.objects.filter(rerun_of=submission).order_by("-id")
    return [_rerun(user, submission, original, rerun) for rerun in reruns]


def _finished(user: Viewer, submission: Submission) -> Grading | None:
    try:
        return finished_grading(user, submission)
    except Http404:
        return None


def _rerun(
    user: Viewer, submission: Submission, original: Grading | None, rerun: Submission
) -> Rerun:
    gradings = rerun.gradings.in_force().select_related("release").order_by("-id")
    latest = gradings.first()
    agreed = agreement(submission, rerun)
    alike = original is not None and latest is not None and _are_alike(original, latest)
    is_exact = alike and shows_exact_scores(user, submission.phase)
    shows = is_exact and original is not None and _shows_items(user, submission, original)
    return Rerun(
        id=rerun.pk,
        created_at=rerun.created_at,
        state=latest.state if latest else None,
        same=agreed.same,
        compared=agreed.compared,
        share=agreed.share,
        difference=_difference(submission.phase, latest, original)
        if is_exact and original and latest
        else None,
        disputed=_disputed(original, latest) if shows and original and latest else (),
    )


def _are_alike(first: Grading, second: Grading) -> bool:
    """Whether both are done, on one release and by one signature."""
    return (
        first.state == second.state == Grading.State.DONE
        and first.release_id == second.release_id
        and first.signature == second.signature
    )


def _shows_items(user: Viewer, submission: Submission, grading: Grading) -> bool:
    return diagnostics_for(user, submission, grading.release) != Phase.Diagnostics.AGGREGATES


def _difference(phase: Phase, first: Grading, second: Grading) -> Difference:
    """With the paired test of comparisons, once both gradings are resampled."""
    column: Column = deciding_column(columns_of(phase.board.spec, first.options))
    ours, theirs = first.scores.get(column.key), second.scores.get(column.key)
    value = None if ours is None or theirs is None else ours - theirs
    replicates = kept_replicates([first, second])
    drawn = (replicates.get(grading.pk, {}).get(column.key) for grading in (first, second))
    return Difference(value, paired_test(*drawn), column)


def _disputed(first: Grading, second: Grading) -> list[RerunItem]:
    duels = compared_items([first, second])
    if duels is None:
        return []
    rows = ItemScore.objects.filter(grading=first, item__in=duels.disputed)
    names = dict(rows.values_list("item_id", "item__name"))
    return [RerunItem(names[item], *scores) for item, scores in duels.disputed.items()]
