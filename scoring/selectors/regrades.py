"""What organisers see of a board's re-grades."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Q, QuerySet, Sum
from django.shortcuts import get_object_or_404

from scoring.models import Board, Grading, ItemScore, Phase, Regrade, RegradedPhase


@dataclass(frozen=True)
class RegradeProgress:
    """How far a batch is. The number of its submissions may still grow."""

    submissions: int
    submissions_done: int
    items: int
    items_done: int


@dataclass(frozen=True)
class RegradePage:
    regrade: Regrade
    phases: Sequence[RegradedPhase]
    progress: RegradeProgress


def board_regrades(board: Board) -> QuerySet[Regrade]:
    """Newest first, with their phases and releases. Two queries."""
    return (
        board.regrades.select_related("board", "started_by")
        .prefetch_related("phases__phase", "phases__release_before", "phases__release_after")
        .order_by("-id")
    )


def regrade_page(board: Board, pk: int) -> RegradePage:
    regrade = get_object_or_404(board_regrades(board), pk=pk)
    phases = sorted(regrade.phases.all(), key=lambda part: part.phase_id)
    return RegradePage(regrade, phases, _progress(regrade))


def regraded_at(phase: Phase) -> datetime | None:
    """When the results of the phase were last graded again. One query."""
    done = RegradedPhase.objects.filter(phase=phase, regrade__state=Regrade.State.DONE)
    ends = done.order_by("-regrade__finished_at").values_list("regrade__finished_at", flat=True)
    return ends.first()


def _progress(regrade: Regrade) -> RegradeProgress:
    """Two queries."""
    gradings = regrade.gradings.filter(submission__withdrawn_at__isnull=True)
    counted = gradings.aggregate(
        submissions=Count("pk"),
        done=Count("pk", filter=Q(state=Grading.State.DONE)),
        items=Sum("items_total", default=0),
    )
    scored = ItemScore.objects.filter(
        grading__regrade=regrade, grading__submission__withdrawn_at__isnull=True
    )
    return RegradeProgress(
        submissions=counted["submissions"],
        submissions_done=counted["done"],
        items=counted["items"],
        items_done=scored.count(),
    )
