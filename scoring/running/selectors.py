"""Runs of models as pages and API show them, for organisers."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, QuerySet, Sum

from portal.jobs.selectors import is_cancelling, queue_position
from scoring.grading.selectors import Progress
from scoring.models import Board, JudgeSpending, ModelRun, RunAnswer
from scoring.models.judging import Purpose

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


@dataclass(frozen=True)
class RunPage:
    """A run with its progress."""

    run: ModelRun
    progress: RunProgress
    queue: Progress | None
    """While it is not finished."""
    is_cancelling: bool
    """Whether it was cancelled and calls are still under way."""
    spent: float
    """In the currency of the prices, with what killed workers had reserved."""
    reasons: Sequence[tuple[str, str]]
    """The first items without an answer, with the reasons."""
    may_submit: bool
    """Whether it can be submitted as it is."""


def board_runs(board: Board) -> QuerySet[ModelRun]:
    """Newest first."""
    return (
        ModelRun.objects.filter(phase__board=board)
        .select_related("phase__board", "release__dataset", "submission", "created_by", "rerun_of")
        .order_by("-id")
    )


def run_progress(run: ModelRun) -> RunProgress:
    """One query."""
    found = {
        row["state"]: row
        for row in run.answers.order_by()
        .values("state")
        .annotate(
            number=Count("pk"), tokens_in=Sum("input_tokens"), tokens_out=Sum("output_tokens")
        )
    }
    counts = {name: found[name]["number"] if name in found else 0 for name in _STATES}
    return RunProgress(
        total=run.items_total,
        done=sum(counts.values()) - counts["failed"],
        input_tokens=sum(row["tokens_in"] or 0 for row in found.values()),
        output_tokens=sum(row["tokens_out"] or 0 for row in found.values()),
        **counts,
    )


_STATES = ("answered", "empty", "refused", "failed")


def spent_by(run: ModelRun) -> float:
    """The money of all jobs of the run, with what killed ones had reserved."""
    rows = JudgeSpending.objects.filter(
        board=run.phase.board_id, purpose=Purpose.MODEL, what=run.job_group
    )
    return rows.total()


def run_page(run: ModelRun) -> RunPage:
    progress = run_progress(run)
    failed = RunAnswer.objects.filter(run=run, state="failed") if progress.failed else None
    reasons: list[tuple[str, str]] = []
    if failed is not None:
        named = failed.order_by("item__position").values_list("item__name", "reason")
        reasons = list(named[:_REASONS_SHOWN])
    return RunPage(
        run=run,
        progress=progress,
        queue=None
        if run.is_finished
        else Progress(progress.done, progress.total, "", queue_position(run.job_group)),
        is_cancelling=not run.is_finished and is_cancelling(run.job_group),
        spent=spent_by(run),
        reasons=reasons,
        may_submit=run.may_go_on and progress.done > 0 and not run.phase.completeness_rule,
    )
